"""How a page was read → lines for a terminal of 80 columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kbcite.render import one_line, printable

if TYPE_CHECKING:
    from kbcite.page.explanation import Explanation

WIDTH = 80
_LABEL = 12
_INDENT = "    "


def explanation_lines(explained: Explanation) -> Iterator[str]:
    """Encoding, notes, metadata, kept and removed blocks; everything that the page says is escaped, and cut to the width."""
    if explained.url:
        yield _fitted("page", explained.url)
    yield _fitted("encoding", f"{explained.encoding}, decided by {explained.how}")
    for place, label in explained.declared:
        yield _fitted("", f"{place} says {label}")
    if explained.damage:
        yield _fitted("", f"share of characters lost {explained.damage:.3%}")
    if explained.confidence < 1:
        yield _fitted("", f"confidence {explained.confidence:.2f}")
    for number, note in enumerate(explained.notes):
        yield _fitted("" if number else "notes", note)
    for fact in explained.facts:
        place = f"  ({fact.place})"
        yield _fitted(fact.field.removesuffix("_at"), fact.value, place)
    if explained.refused:
        yield _fitted("refused", explained.refused)
    if explained.kept:
        yield "\nkept"
    for region in explained.kept:
        yield from _block(
            f"{region.length:,} characters, score {region.score:,.0f} ({region.share:.0%} of the page), {region.link_density:.0%} links",
            region.text,
            region.path,
        )
    if explained.cuts:
        yield "\nremoved, in the order of the page"
    for cut in explained.cuts:
        yield from _block(f"{cut.rule}: {cut.length:,} characters, {cut.link_density:.0%} links", cut.text)


def _block(facts: str, text: str, path: str = "") -> Iterator[str]:
    if path:
        # What stands innermost tells most.
        shown = printable(path)
        while _width(shown) > WIDTH - 2 and " > " in shown:
            shown = shown.removeprefix("… > ").partition(" > ")[2]
            shown = f"… > {shown}" if " > " in shown else shown
        yield "  " + _cut_to(shown, WIDTH - 2)
    yield f"  {one_line(facts, WIDTH - 2)}"
    yield _INDENT + _cut_to(one_line(text, WIDTH), WIDTH - len(_INDENT))


def _fitted(label: str, text: str, place: str = "") -> str:
    """A labelled line; where it is too long the text gives way, and not the place it was read from."""
    room = WIDTH - _LABEL - _width(place)
    return f"{label:<{_LABEL}}{_cut_to(one_line(text, 10 * WIDTH), room)}{printable(place)}"


def _cut_to(text: str, columns: int) -> str:
    if _width(text) <= columns:
        return text
    shown, used = "", 1
    for character in text:
        used += _width(character)
        if used > columns:
            break
        shown += character
    return f"{shown}…"


def _width(text: str) -> int:
    """Columns of a terminal that the text takes: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
