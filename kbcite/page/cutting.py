"""Where a long run of text is cut: at places that its own content names, so that an edit does not move the cuts after it.

A run is a list of units (sentences, list items, table rows, code lines, or small sections). A boundary between two units is
better the more natural it is: before a label, between two parts, two list items, two sentences, two rows. Among equals, the
better one is where the text before and after it shares fewer words; then a checksum of the text after it decides. None of
that depends on what stands further away.

A boundary that is the best one within half a block before and after it is an **anchor**, and the run is cut at every anchor.
What lies between two anchors mostly fits one block. Where it does not, it is cut from its beginning on, each time at the best
boundary that leaves a block of a fitting size. So an edit can change only the anchors close to it, and the blocks between them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate, chain, pairwise, takewhile

from kbcite.words import CJK, count_words, terms

WINDOW_TOKENS = 480
"""What an encoder of 512 tokens takes, less its prefix and a margin for this estimate."""
TOKENS_PER_CJK, TOKENS_PER_LETTER, TOKENS_PER_DIGIT, TOKENS_PER_MARK = 0.70, 0.26, 0.61, 0.94
"""Fitted to the vocabulary of multilingual-e5 on 1,955 blocks of news and manuals, Chinese and English: for nine blocks in ten
the estimate lies within 25 % of the truth. By characters alone, code and tables had up to 1.9 times as many tokens.
`pytest tests/page/test_cutting.py -m slow` counts again."""

TOKENS_PER_WORD = 1.4
"""English; a Chinese word has 1.2."""

AIM_FILL = 0.6
"""A block of this share of the window is large enough even if it has fewer words: 395 Chinese characters, 1,200 English."""
ANCHOR_REACH = 0.5
"""Share of a block. One of 60 paragraphs was edited, in 240 made-up texts: 1.3 to 1.8 blocks had new text on average, at most two
in 94 % of texts, never more than 4. Without anchors it was up to 7; with a reach of 1.0 too, and blocks were larger by 3 %."""
TINY_WORDS = 60
"""And 84 tokens: code has few words. For small sections that are joined, and for blocks set to be small, a quarter of the aim."""

_COHESION_CHARS = 300
_CJK_RUN = re.compile(f"[{CJK}]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_BLANKS = re.compile(r"\s+")


class Boundary(IntEnum):
    """How natural a cut before a unit is."""

    GLUE = 0
    """After a heading, a label, or the line that announces a list, a table or code."""
    LINE = 1
    """Between two rows of a table, two lines of code."""
    SENTENCE = 2
    ITEM = 3
    PART = 4
    LABEL = 5
    """Before a short line that looks like a heading."""


@dataclass(frozen=True, slots=True)
class Unit:
    start: int
    end: int
    boundary: Boundary
    """Before it."""
    words: int
    tokens: float
    context: str = ""
    """From further up, to be repeated where a block begins here."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large blocks should be."""

    min_words: float
    max_words: float
    window: float = WINDOW_TOKENS
    overlap_words: float = 0

    @property
    def tiny_words(self) -> float:
        return min(TINY_WORDS, self.min_words / 4)

    def scaled(self, factor: float) -> Sizes:
        """For blocks that should be larger or smaller by a factor."""
        return replace(
            self, min_words=self.min_words * factor, max_words=self.max_words * factor, window=self.window * factor
        )

    def without_overlap(self) -> Sizes:
        """What is left for a block's own text."""
        overlap_tokens = self.overlap_words * TOKENS_PER_WORD
        return replace(self, max_words=self.max_words - self.overlap_words, window=self.window - overlap_tokens)

    def fill(self, words: float, tokens: float) -> float:
        """Share of the largest block that a text fills; over 1 it does not fit."""
        return max(words / self.max_words, tokens / self.window)

    def is_large(self, words: float, tokens: float) -> bool:
        """Whether a text of this size has reached the aim."""
        return words >= self.min_words or tokens >= AIM_FILL * self.window

    def is_tiny(self, words: float, tokens: float) -> bool:
        """Whether a text is too small to be found or cited alone."""
        return words < self.tiny_words and tokens < self.tiny_words * TOKENS_PER_WORD

    def is_small(self, words: float, tokens: float) -> bool:
        return words < self.min_words / 2 and tokens < AIM_FILL / 2 * self.window


_RANK = {
    Boundary.LABEL: (0, 4, 9, 9),
    Boundary.PART: (0, 4, 8, 9),
    Boundary.ITEM: (0, 2, 5, 7),
    Boundary.SENTENCE: (0, 1, 4, 6),
    Boundary.LINE: (0, 1, 2, 3),
    Boundary.GLUE: (0, 0, 0, 1),
}
"""By the kind of boundary and the size of the block before it: under tiny, under small, under the aim, at the aim."""


def estimate_tokens(text: str) -> float:
    """Tokens of a text for a multilingual encoder, by the kinds of its characters."""
    cjk, letters, digits, blanks = (
        sum(map(len, pattern.findall(text))) for pattern in (_CJK_RUN, _LETTERS, _DIGITS, _BLANKS)
    )
    marks = len(text) - letters - digits - blanks
    return (
        TOKENS_PER_CJK * cjk + TOKENS_PER_LETTER * (letters - cjk) + TOKENS_PER_DIGIT * digits + TOKENS_PER_MARK * marks
    )


def make_unit(text: str, start: int, end: int, boundary: Boundary, context: str = "") -> Unit:
    piece = text[start:end]
    return Unit(start, end, boundary, count_words(piece), estimate_tokens(piece), context)


def cut_run(text: str, units: Sequence[Unit], sizes: Sizes) -> list[tuple[int, int]]:
    """Groups of the units, in order, as index ranges; each fits the sizes unless it is a single unit that does not."""
    ruler = _Ruler(
        (0, *accumulate(unit.words for unit in units)), (0.0, *accumulate(unit.tokens for unit in units)), sizes
    )
    if ruler.fill(0, len(units)) <= 1:
        return [(0, len(units))]
    marks = [_mark(text, units, i) for i in range(len(units))]
    ends = [*_anchors(marks, ruler), len(units)]
    return [group for start, end in pairwise((0, *ends)) for group in _cut_gap(marks, ruler, start, end)]


@dataclass(frozen=True, slots=True, order=True)
class _Mark:
    """How good a boundary is; the greater, the better."""

    boundary: Boundary
    separation: float
    """1 where the texts on both sides share no word, 0 where the smaller has none of its own."""
    checksum: int


@dataclass(frozen=True, slots=True)
class _Ruler:
    """Sizes of any stretch of the units, from running sums."""

    words: tuple[int, ...]
    tokens: tuple[float, ...]
    sizes: Sizes

    def size(self, start: int, end: int) -> tuple[int, float]:
        return self.words[end] - self.words[start], self.tokens[end] - self.tokens[start]

    def fill(self, start: int, end: int) -> float:
        return self.sizes.fill(*self.size(start, end))


def _mark(text: str, units: Sequence[Unit], cut: int) -> _Mark:
    """The mark of the boundary before a unit."""
    before, after = units[max(0, cut - 1)], units[cut]
    left = set(terms(text[max(before.start, before.end - _COHESION_CHARS) : before.end]))
    right = set(terms(text[after.start : min(after.end, after.start + _COHESION_CHARS)]))
    shared = len(left & right) / max(1, min(len(left), len(right)))
    checksum = zlib.crc32(text[after.start : after.end].encode("utf-8", "surrogatepass"))
    return _Mark(after.boundary, 1 - shared, checksum)


def _anchors(marks: Sequence[_Mark], ruler: _Ruler) -> list[int]:
    """Boundaries that are the best within `ANCHOR_REACH` on both sides, and not too close to either end."""
    last = len(marks)

    def is_anchor(cut: int) -> bool:
        if marks[cut].boundary is Boundary.GLUE or min(ruler.fill(0, cut), ruler.fill(cut, last)) < AIM_FILL / 2:
            return False
        near_before = takewhile(lambda i: ruler.fill(i, cut) < ANCHOR_REACH, range(cut - 1, 0, -1))
        near_after = takewhile(lambda i: ruler.fill(cut, i) < ANCHOR_REACH, range(cut + 1, last))
        return all(marks[i] < marks[cut] for i in chain(near_before, near_after))

    return [cut for cut in range(1, last) if is_anchor(cut)]


def _cut_gap(marks: Sequence[_Mark], ruler: _Ruler, start: int, end: int) -> Iterator[tuple[int, int]]:
    while ruler.fill(start, end) > 1 and start < end - 1:
        best = _best_cut(marks, ruler, start, end)
        yield start, best
        start = best
    yield start, end


def _best_cut(marks: Sequence[_Mark], ruler: _Ruler, start: int, end: int) -> int:
    fitting = [start + 1, *takewhile(lambda cut: ruler.fill(start, cut) <= 1, range(start + 2, end))]
    return max(fitting, key=lambda cut: (_rank(marks[cut].boundary, ruler, start, cut, end), marks[cut]))


def _rank(boundary: Boundary, ruler: _Ruler, start: int, cut: int, end: int) -> int:
    """How good a cut is by the kind of its boundary and by the sizes that it leaves before and after it."""
    sizes, size, rest = ruler.sizes, ruler.size(start, cut), ruler.size(cut, end)
    if sizes.is_tiny(*size):
        column = 0
    elif sizes.is_small(*size):
        column = 1
    else:
        column = 3 if sizes.is_large(*size) else 2
    rank = _RANK[boundary][column]
    if sizes.is_tiny(*rest):
        return 0
    return max(0, rank - 3) if sizes.is_small(*rest) else rank


def overlap_start(units: Sequence[Unit], first: int, previous_start: int, sizes: Sizes) -> int:
    """Index of the unit at which a block begins that repeats the last sentences before its first own unit."""
    words, tokens = sizes.overlap_words, sizes.overlap_words * TOKENS_PER_WORD
    while first > 0:
        before = units[first - 1]
        words, tokens = words - before.words, tokens - before.tokens
        goes_on = units[first].boundary not in (Boundary.LINE, Boundary.LABEL) and before.boundary is not Boundary.LINE
        if not goes_on or before.start <= previous_start or min(words, tokens) < 0:
            break
        first -= 1
    return first
