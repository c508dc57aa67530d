"""Links that open a page at the quoted words: text fragments (https://wicg.github.io/scroll-to-text-fragment/).

A browser takes the first place where the words of the link stand, whole words only, each term within one block of the page. A
link that lights up another passage is worse than none, so each is proven against the page's text in the order in which it is shown:
its words must be found once, and there. Where they stand several times, what stands before or after the quote is put into the link too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote as percent_encode

from kbcite.patterns import pattern
from kbcite.words import CJK, normalise

WHOLE = 60
"""Quotes up to this many characters stand whole in the link; longer ones by their first and last words."""
MOST_WORDS = 300
"""Characters that one term of a link may have."""
_SHORT = {True: 6, False: 18}
"""Characters that the first and the last words of a long quote have at least: Chinese, others."""
_CONTEXTS = 6
"""Lengths of what stands before and after that are tried."""
_INSIDE = ".,:;'\u2019\u00b7"
"""Marks that can stand inside a word or number."""
_GAP = 8
"""White space characters that may stand between the quote and what is around it; the page's are folded."""
_IS_CHINESE = pattern(f"[{CJK}]")
_MARKUP = pattern(r"^[ \t]*(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)]\s+)+|\*\*|`+", re.MULTILINE)
_CELLS = pattern(r"\s*(?<!\\)\|\s*")
_STOPS = "。.；;！!？?…，,、：:"


@dataclass(frozen=True, slots=True)
class Fragment:
    """The terms of a text directive; empty where it has none."""

    start: str
    end: str = ""
    prefix: str = ""
    suffix: str = ""

    def directive(self) -> str:
        prefix = f"{_encoded(self.prefix)}-," if self.prefix else ""
        end = f",{_encoded(self.end)}" if self.end else ""
        suffix = f",-{_encoded(self.suffix)}" if self.suffix else ""
        return f"{prefix}{_encoded(self.start)}{end}{suffix}"


def page_link(url: str, page: str, start: int, end: int) -> str | None:
    """The URL with a text fragment for `page[start:end]`; None where no fragment can be proven to be found there only.

    page: the text as shown, a line each block, white space folded.
    """
    fragment = find_fragment(page, start, end)
    return f"{url.partition('#')[0]}#:~:text={fragment.directive()}" if fragment else None


def deep_link(url: str, quote: str, document_text: str) -> str | None:
    """The URL with a text fragment for a quote, proven against a document's Markdown alone; None where it is not unique there."""
    page, wanted = "\n".join(_lines(document_text)), "\n".join(_lines(quote))
    start = page.find(wanted)
    if not wanted or start < 0 or page.find(wanted, start + 1) >= 0:
        return None
    return page_link(url, page, start, start + len(wanted))


def find_fragment(page: str, start: int, end: int) -> Fragment | None:
    """The shortest of the fragments tried that a browser finds at `page[start:end]` and nowhere else."""
    start, end = _trimmed(page, start, end)
    if start >= end or not _is_bounded(page, start):
        return None
    haystack = _Haystack(page)
    for first, last in _ranges(page, start, end):
        if haystack.places(Fragment(page[slice(*first)], page[slice(*last)] if last else "")) == [(start, end)]:
            return _fragment(page, first, last)
    for first, last in _ranges(page, start, end):
        for before in _before(page, start):
            fragment = _fragment(page, first, last, before)
            if haystack.places(fragment) == [(start, end)]:
                return fragment
    # What follows must follow at once, so the stops that end the quote are part of it here.
    closed = end
    while closed < len(page) and page[closed] in _STOPS:
        closed += 1
    for first, last in _ranges(page, start, closed):
        for after in _after(page, closed):
            fragment = _fragment(page, first, last, None, after)
            if haystack.places(fragment) == [(start, closed)]:
                return fragment
    return None


def _fragment(
    page: str,
    first: tuple[int, int],
    last: tuple[int, int] | None,
    before: tuple[int, int] | None = None,
    after: tuple[int, int] | None = None,
) -> Fragment:
    words = [page[slice(*span)] if span else "" for span in (first, last, before, after)]
    return Fragment(*words)


# ---------------------------------------------------------------- terms


def _trimmed(page: str, start: int, end: int) -> tuple[int, int]:
    """The quote without blanks and closing stops around it, its end at the end of a word."""
    while start < end and (page[start].isspace() or not _is_bounded(page, start)):
        start += 1
    while end > start and (page[end - 1].isspace() or page[end - 1] in _STOPS or not _is_bounded(page, end)):
        end -= 1
    return start, end


def _ranges(page: str, start: int, end: int) -> Iterator[tuple[tuple[int, int], tuple[int, int] | None]]:
    """Ways to name the quote, short ones first: whole, or from its first to its last words."""
    first_end = page.find("\n", start, end)
    if first_end < 0:
        first_end = end
        if end - start <= WHOLE:
            yield (start, end), None
            return
    last_start = page.rfind("\n", start, end) + 1 or start
    lasts = [at for at in range(end - 1, last_start - 1, -1) if _may_begin(page, at, last_start)]
    enough = _SHORT[bool(_IS_CHINESE.search(page, start, end))]
    last = next((at for at in lasts if end - at >= enough), last_start)
    stops = [at for at in range(start + 1, first_end + 1) if _may_end(page, at, first_end)]
    longer = [at for at in stops if at - start >= enough or at == first_end]
    for stop in [*longer[:_CONTEXTS], *longer[-1:]]:
        if stop <= last and stop - start <= MOST_WORDS and end - last <= MOST_WORDS:
            yield (start, stop), (last, end)
    if first_end == end and end - start <= MOST_WORDS:
        yield (start, end), None


def _may_begin(page: str, at: int, low: int) -> bool:
    return at == low or (_is_bounded(page, at) and page[at].isalnum())


def _may_end(page: str, at: int, high: int) -> bool:
    return at == high or (_is_bounded(page, at) and page[at - 1].isalnum())


def _before(page: str, start: int) -> Iterator[tuple[int, int]]:
    """What stands right before the quote, in one block, growing."""
    end = start
    while end > 0 and page[end - 1].isspace():
        end -= 1
    low = max(page.rfind("\n", 0, end) + 1, end - MOST_WORDS)
    begins = [at for at in range(end - 1, low - 1, -1) if _is_bounded(page, at) and page[at].isalnum()]
    yield from ((at, end) for at in [*begins[1:_CONTEXTS], *begins[-1:]])


def _after(page: str, end: int) -> Iterator[tuple[int, int]]:
    """What stands right after the quote, in one block, growing."""
    start = end
    while start < len(page) and page[start].isspace():
        start += 1
    line_end = page.find("\n", start)
    high = min(line_end if line_end >= 0 else len(page), start + MOST_WORDS)
    ends = [at for at in range(start + 1, high + 1) if _is_bounded(page, at) and page[at - 1].isalnum()]
    yield from ((start, at) for at in [*ends[1:_CONTEXTS], *ends[-1:]])


def _is_bounded(page: str, at: int) -> bool:
    """True at a place that every browser takes for the edge of a word; between two Chinese characters that depends on its dictionary.

    `3.4`, `10,000` and `don't` are one word (https://www.unicode.org/reports/tr29/#Word_Boundaries).
    """
    if at <= 0 or at >= len(page):
        return True
    left, right = page[at - 1], page[at]
    if _is_word(left) and _is_word(right):
        return False
    inner = (left in _INSIDE and _is_word(right) and _is_word(page[at - 2 : at - 1])) or (
        right in _INSIDE and _is_word(left) and _is_word(page[at + 1 : at + 2])
    )
    return not inner


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_" or (bool(character) and unicodedata.combining(character) > 0)


# ---------------------------------------------------------------- finding


class _Haystack:
    """A page folded as browsers compare: case, width and accents do not count."""

    def __init__(self, page: str) -> None:
        known: dict[str, str] = {character: _folded(character) for character in set(page)}
        parts = [known[character] for character in page]
        self._text = "".join(parts)
        self._map: Sequence[int] = range(len(page) + 1)
        """For each character of the folded text its place in the page."""
        if any(len(folded) != 1 for folded in known.values()):
            self._map = [i for i, folded in enumerate(parts) for _ in folded] + [len(page)]

    def places(self, fragment: Fragment) -> list[tuple[int, int]]:
        """Everywhere the fragment could be found; words inside longer words count too, for what a word is differs between browsers."""
        start, end = _folded(fragment.start), _folded(fragment.end)
        prefix, suffix = _folded(fragment.prefix), _folded(fragment.suffix)
        found = []
        at = self._text.find(start) if start else -1
        while at >= 0:
            before = self._text[max(0, at - len(prefix) - _GAP) : at].rstrip()
            if before.endswith(prefix) and (stop := self._stop(at + len(start), end, suffix)) > 0:
                found.append((self._map[at], self._map[stop - 1] + 1))
            at = self._text.find(start, at + 1)
        return found

    def _stop(self, stop: int, end: str, suffix: str) -> int:
        """Where a fragment ends whose first term ends at `stop`: a browser goes on to the next `end` that the suffix follows."""
        while stop >= 0:
            if end:
                last = self._text.find(end, stop)
                stop = last + len(end) if last >= 0 else -1
            if stop < 0 or self._text[stop : stop + len(suffix) + _GAP].lstrip().startswith(suffix):
                return stop
            if not end:
                return -1
        return -1


def _folded(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", normalise(text)) if not unicodedata.combining(c))


# ---------------------------------------------------------------- Markdown


def _lines(text: str) -> list[str]:
    """Lines as a page shows them: each table cell is a line of its own."""
    cells = (
        cell for line in text.splitlines() for cell in (_CELLS.split(line) if line.lstrip().startswith("|") else [line])
    )
    return [
        line
        for line in (" ".join(_MARKUP.sub("", cell).split()) for cell in cells)
        if line and not set(line) <= set("-: ")
    ]


def _encoded(words: str) -> str:
    return percent_encode(words, safe="").replace("-", "%2D")
