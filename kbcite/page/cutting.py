"""Where a long run of text is cut: at places that its own content names, so that an edit does not move the cuts after it.

A run is a list of units (sentences, list items, table rows, code lines, or small sections). From the last cut on, every
boundary that leaves a block of a fitting size is a candidate. The strongest kind of boundary wins: between two parts,
then two list items, two sentences, two rows. Among equals, the one where the text before and after shares the fewest words,
and then a checksum of the text after it. All of that depends on the text close to the boundary, not on how much came
before: after an edit the old cuts come back as soon as they are candidates again, mostly at once.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate

from kbcite.words import CJK, count_words, terms

WINDOW_TOKENS = 480
"""What an encoder of 512 tokens takes, less its prefix and a margin for this estimate."""
CJK_PER_TOKEN = 1.45
OTHERS_PER_TOKEN = 4.2
"""Characters per token of the multilingual e5 vocabulary, on Wikipedia paragraphs in both languages."""

AIM_FILL = 0.58
"""A block of this share of the window is large enough even if it has fewer words: 404 Chinese characters, 1,170 English."""
TINY_WORDS = 60
"""Under this a piece says too little to be found or cited alone."""

_COHESION_CHARS = 300
_CJK_CHARS = re.compile(f"[{CJK}]+")


class Boundary(IntEnum):
    """How natural a cut before a unit is."""

    GLUE = 0
    """After a heading, a label, or the line that announces a list, a table or code."""
    LINE = 1
    """Between two rows of a table, two lines of code."""
    SENTENCE = 2
    ITEM = 3
    PART = 4


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
    """How large blocks should be; `scaled(0.5)` is for what should be half as large."""

    min_words: float
    max_words: float
    window: float = WINDOW_TOKENS
    tiny_words: float = TINY_WORDS

    def scaled(self, factor: float) -> Sizes:
        return Sizes(self.min_words * factor, self.max_words * factor, self.window * factor, self.tiny_words)

    def fill(self, words: float, tokens: float) -> float:
        """Share of the largest block that a text fills; over 1 it does not fit."""
        return max(words / self.max_words, tokens / self.window)

    def is_large(self, words: float, tokens: float) -> bool:
        """Whether a text of this size has reached the aim."""
        return words >= self.min_words or tokens >= AIM_FILL * self.window

    def is_small(self, words: float, tokens: float) -> bool:
        return words < self.min_words / 2 and tokens < AIM_FILL / 2 * self.window


_RANK = {
    Boundary.PART: (0, 4, 8, 9),
    Boundary.ITEM: (0, 2, 5, 7),
    Boundary.SENTENCE: (0, 1, 4, 6),
    Boundary.LINE: (0, 1, 2, 3),
    Boundary.GLUE: (0, 0, 0, 1),
}
"""How good a cut is, by the kind of boundary and by the size it leaves: under tiny, under small, under the aim, at the aim."""


def estimate_tokens(text: str) -> float:
    """Tokens of a text for a multilingual encoder, by its characters."""
    cjk = sum(map(len, _CJK_CHARS.findall(text)))
    return cjk / CJK_PER_TOKEN + (len(text) - cjk) / OTHERS_PER_TOKEN


def make_unit(text: str, start: int, end: int, boundary: Boundary, context: str = "") -> Unit:
    piece = text[start:end]
    blank_after = 1 / OTHERS_PER_TOKEN
    return Unit(start, end, boundary, count_words(piece), estimate_tokens(piece) + blank_after, context)


def cut_run(text: str, units: Sequence[Unit], sizes: Sizes) -> list[tuple[int, int]]:
    """Groups of the units, in order, as index ranges; each fits the sizes unless it is a single unit that does not."""
    words = [0, *accumulate(unit.words for unit in units)]
    tokens = [0.0, *accumulate(unit.tokens for unit in units)]
    groups = []
    start = 0
    while sizes.fill(words[-1] - words[start], tokens[-1] - tokens[start]) > 1 and start < len(units) - 1:
        best, best_key = start + 1, (-1, -math.inf, 0)
        for cut in range(start + 1, len(units)):
            size = words[cut] - words[start], tokens[cut] - tokens[start]
            if cut > start + 1 and sizes.fill(*size) > 1:
                break
            rank = _rank(units[cut].boundary, size, (words[-1] - words[cut], tokens[-1] - tokens[cut]), sizes)
            if (
                rank >= best_key[0]
                and (key := (rank, -_cohesion(text, units, cut), _checksum(text, units[cut]))) > best_key
            ):
                best, best_key = cut, key
        groups.append((start, best))
        start = best
    groups.append((start, len(units)))
    return groups


def _rank(boundary: Boundary, size: tuple[float, float], rest: tuple[float, float], sizes: Sizes) -> int:
    if size[0] < sizes.tiny_words:
        column = 0
    elif sizes.is_small(*size):
        column = 1
    else:
        column = 3 if sizes.is_large(*size) else 2
    rank = _RANK[boundary][column]
    if rest[0] < sizes.tiny_words:
        return 0
    return max(0, rank - 3) if sizes.is_small(*rest) else rank


def _cohesion(text: str, units: Sequence[Unit], cut: int) -> float:
    """Share of the terms of the smaller side of a boundary that the other side has too."""
    before, after = units[cut - 1], units[cut]
    left = set(terms(text[max(before.start, before.end - _COHESION_CHARS) : before.end]))
    right = set(terms(text[after.start : min(after.end, after.start + _COHESION_CHARS)]))
    return len(left & right) / max(1, min(len(left), len(right)))


def _checksum(text: str, unit: Unit) -> int:
    return zlib.crc32(text[unit.start : unit.end].encode("utf-8", "surrogatepass"))
