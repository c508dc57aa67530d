"""A quoted passage and what its page says now: whether it still stands there, what took its place, and the difference in words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from kbcite.patterns import pattern
from kbcite.sentences import split_sentences
from kbcite.words import CJK

ALIKE = 0.45
"""Share of words in common (Dice) from which a sentence is taken for the new wording of a quoted one. A sentence of ten words that
lost half of them stays above it, two sentences about other things on one page stay below."""
_MARKS = pattern(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+)+|\*\*|`+", re.MULTILINE)
_RULE_ROW = pattern(r"^[ \t]*\|[ \t:|-]+\|[ \t]*(?:\n|$)", re.MULTILINE)
"""The line under a table's head: no words of the page."""
_TOKEN = pattern(rf"[{CJK}]|\d+(?:[.,:/-]\d+)*|[^\W\d_{CJK}]+|\s+|.", re.DOTALL)
_WORD = pattern(rf"[{CJK}]|\d+(?:[.,:/-]\d+)*|[^\W\d_{CJK}]+")


@dataclass(frozen=True, slots=True)
class Change:
    """A run of the difference of two texts."""

    kind: str
    """`same`, `removed` or `added`."""
    text: str


def still_stands(quote: str, quoted_in: str, start: int, text: str) -> bool:
    """True where the words of a quote stand in a page's text as they stood in `quoted_in` at `start`.

    Marks of Markdown and white space do not count; a number that grew by a digit does. A row of a table also needs its table's
    head: the same figure below another one says something else.
    """
    if quote.lstrip().startswith("|"):
        wanted, head = _rows(quote), _plain(_head(quoted_in, start))
        lines = text.splitlines()
        rows = [_plain(line) for line in lines]
        return any(
            rows[i : i + len(wanted)] == wanted and _plain(_head_above(lines, i)) == head
            for i in range(len(rows) - len(wanted) + 1)
        )
    needle, hay = _plain(quote), _plain(text)
    at = hay.find(needle)
    while needle and at >= 0:
        if _is_whole(hay, at, at + len(needle)):
            return True
        at = hay.find(needle, at + 1)
    return False


def nearest_passage(quote: str, text: str) -> str:
    """What a page says now in place of a quote: for each of its sentences the most alike of the page; empty where none is."""
    spans = split_sentences(text)
    bags = [_bag(text[start:end]) for start, end in spans]
    found: set[int] = set()
    for start, end in split_sentences(quote):
        own = _bag(quote[start:end])
        likeness, index = max(((_dice(own, bag), -i) for i, bag in enumerate(bags)), default=(0.0, 0))
        if likeness >= ALIKE:
            found.add(-index)
    pieces: list[tuple[int, int]] = []
    for i in sorted(found):
        start, end = spans[i]
        if pieces and i - 1 in found:
            pieces[-1] = pieces[-1][0], end
        else:
            pieces.append((start, end))
    return "\n".join(text[start:end] for start, end in pieces)


def word_difference(old: str, new: str) -> tuple[Change, ...]:
    """The two texts as one, in runs; what little is common between two changes and says nothing by itself belongs to them."""
    a, b = (_TOKEN.findall(_RULE_ROW.sub("", text)) for text in (old, new))
    changes: list[Change] = []
    removed: list[str] = []
    added: list[str] = []

    def close() -> None:
        for kind, tokens in (("removed", removed), ("added", added)):
            if tokens:
                changes.append(Change(kind, "".join(tokens)))
                tokens.clear()

    opcodes = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    for number, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        is_inner = 0 < number < len(opcodes) - 1
        if tag == "equal" and not (is_inner and _says_nothing(a[i1:i2])):
            close()
            changes.append(Change("same", "".join(a[i1:i2])))
        else:
            removed += a[i1:i2]
            added += b[j1:j2]
    close()
    return tuple(changes)


def _says_nothing(tokens: list[str]) -> bool:
    """True for blanks, punctuation and at most one Chinese character: read word by word between two changes, they only disturb."""
    words = [token for token in tokens if _WORD.match(token)]
    return len(words) <= 1 and all(len(word) == 1 and not word.isascii() for word in words)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", _MARKS.sub("", text)).split())


def _is_whole(text: str, start: int, end: int) -> bool:
    """False where the found words are the middle of a longer word or number: `price 14` in `price 149`."""
    return not (_joins(text[start - 1 : start], text[start], text[max(0, start - 2) : start - 1])) and not (
        _joins(text[end - 1], text[end : end + 1], text[end + 1 : end + 2])
    )


def _joins(left: str, right: str, beyond: str) -> bool:
    """True where two neighbouring characters belong to one word or number; `beyond` is the one behind the outer of them."""
    if left.isascii() and right.isascii() and left.isalnum() and right.isalnum():
        return True
    return (left.isdigit() and right in ".," and beyond.isdigit()) or (
        right.isdigit() and bool(left) and left in ".," and beyond.isdigit()
    )


def _rows(quote: str) -> list[str]:
    return [_plain(line) for line in quote.splitlines() if line.strip()]


def _head(text: str, start: int) -> str:
    """The first row of the table that the text at `start` stands in."""
    lines = text[: text.find("\n", start) if text.find("\n", start) >= 0 else len(text)].splitlines()
    return _head_above(lines, len(lines) - 1)


def _head_above(lines: list[str], i: int) -> str:
    while i > 0 and lines[i - 1].lstrip().startswith("|"):
        i -= 1
    return lines[i]


def _bag(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def _dice(a: Counter[str], b: Counter[str]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0
