"""What two readings of one page differ in, counted in words and shown by line.

Lines that are equal are set aside first; each run of lines that differ is then compared token by token. A token is a
word (each Chinese character is one), the mark at the start of a line with its indentation (`## `, `  - `, `> `, or just
the line break), or a punctuation character. White space inside a line and blank lines say nothing and are not compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kbcite.urls import split
from kbcite.words import CJK

SAME_SHARE = 0.9
MAX_TOKEN_PAIRS = 100_000_000
"""Runs of lines whose tokens make more pairs are taken to differ altogether: finding what two long texts on different things have
in common takes seconds that grow with the square of their length, and tells nothing."""

_LINE_MARK = r"^[ \t]*(?:#{1,6} |> ?|[-*+] |\d{1,9}[.)] |:[ ]|\| |```)*"
_TOKEN = re.compile(f"(?P<mark>{_LINE_MARK})|(?P<word>[{CJK}]|[^\\W{CJK}]+)|(?P<other>[^\\s])")
_WORD = re.compile(f"[{CJK}]|[^\\W{CJK}]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a line; `changed` where the other reading does not have it."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class DifferingLine:
    side: str
    """`-` only in the expected text, `+` only in the found one, ` ` in both (shown for orientation)."""
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Difference:
    missing: int
    """Words of the expected text that were not found in their place."""
    superfluous: int
    """Words found that are not expected there."""
    marks: int
    """Line marks, line breaks and punctuation characters that differ."""
    words: int
    """Words of the expected text."""
    hunks: tuple[tuple[DifferingLine, ...], ...]
    """Runs of lines that differ, in order, with one line of context around each."""

    @property
    def f1(self) -> float:
        """Agreement in words, 0 to 1."""
        common = self.words - self.missing
        total = self.words + common + self.superfluous
        return 2 * common / total if total else 1.0


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int
    start: int
    end: int


def compare(expected: str, found: str) -> Difference:
    """What `found` lacks, adds and marks otherwise."""
    old, new = _lines(expected), _lines(found)
    missing = superfluous = marks = 0
    hunks = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        old_tokens, new_tokens = _tokens(old[a:b]), _tokens(new[c:d])
        old_changed, new_changed = _changed(old_tokens, new_tokens)
        missing += sum(token.kind == "word" for token in old_changed)
        superfluous += sum(token.kind == "word" for token in new_changed)
        marks += max(sum(token.kind != "word" for token in side) for side in (old_changed, new_changed))
        if old_changed or new_changed:
            hunks.append(
                (
                    *_context(old[max(a - 1, 0) : a]),
                    *_shown("-", old[a:b], old_changed),
                    *_shown("+", new[c:d], new_changed),
                    *_context(old[b : b + 1]),
                )
            )
    return Difference(missing, superfluous, marks, sum(len(_WORD.findall(line)) for line in old), tuple(hunks))


def share_kept(old: str, new: str) -> float:
    """Share of the old text, in characters, that stands in lines of the new one too; 1 for an empty one."""
    left = Counter(_lines(new))
    total = kept = 0
    for line in _lines(old):
        total += len(line)
        if left[line]:
            left[line] -= 1
            kept += len(line)
    return kept / total if total else 1.0


def is_same_but_for_address(one: str, one_url: str, other: str, other_url: str) -> bool:
    """Whether two pages say the same, but that each may repeat its own address: how a site words "not found"."""
    masked, other_masked = _without_address(one, one_url), _without_address(other, other_url)
    return min(share_kept(masked, other_masked), share_kept(other_masked, masked)) >= SAME_SHARE


def _without_address(text: str, url: str) -> str:
    parts = split(url)
    path = parts.path if parts else url
    name = path.rstrip("/").rpartition("/")[2]
    for spelling in (url, path, name, name.partition(".")[0]):
        # A name of a letter or two stands in too many words.
        if len(spelling) > 2:
            text = text.replace(spelling, "\N{OBJECT REPLACEMENT CHARACTER}")
    return text


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip(" >\t")]


def _tokens(lines: Sequence[str]) -> list[_Token]:
    tokens = []
    for number, line in enumerate(lines):
        for match in _TOKEN.finditer(line):
            tokens.append(_Token(match.lastgroup or "", match.group(), number, match.start(), match.end()))
    return tokens


def _changed(old: Sequence[_Token], new: Sequence[_Token]) -> tuple[list[_Token], list[_Token]]:
    """The tokens of each side that the other does not have in its place."""
    if len(old) * len(new) > MAX_TOKEN_PAIRS:
        return list(old), list(new)
    matcher = SequenceMatcher(None, [_key(token) for token in old], [_key(token) for token in new], autojunk=False)
    old_changed: list[_Token] = []
    new_changed: list[_Token] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            old_changed.extend(old[a:b])
            new_changed.extend(new[c:d])
    return old_changed, new_changed


def _key(token: _Token) -> tuple[bool, str]:
    return token.kind == "mark", token.text


def _context(lines: Sequence[str]) -> Iterator[DifferingLine]:
    for line in lines:
        yield DifferingLine(" ", (Part(line, False),))


def _shown(side: str, lines: Sequence[str], changed: Sequence[_Token]) -> Iterator[DifferingLine]:
    """The lines with their changed runs; words that stand side by side are one run."""
    for number, line in enumerate(lines):
        parts: list[Part] = []
        at = 0
        for start, end in _joined([(token.start, token.end) for token in changed if token.line == number], line):
            if start > at:
                parts.append(Part(line[at:start], False))
            parts.append(Part(line[start:end], True))
            at = end
        if at < len(line):
            parts.append(Part(line[at:], False))
        yield DifferingLine(side, tuple(parts))


def _joined(spans: Sequence[tuple[int, int]], line: str) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and _is_within_one(line, joined[-1][1], start):
            joined[-1] = joined[-1][0], end
        elif end > start:
            joined.append((start, end))
    return joined


def _is_within_one(line: str, end: int, start: int) -> bool:
    """Whether what lies between two changed runs belongs to both: white space, or the point or colon of a number."""
    between = line[end:start]
    return not between.strip() or (between in ".,:-/" and line[end - 1].isdigit() and line[start].isdigit())
