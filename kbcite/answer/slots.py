"""Two sentences laid side by side: where they share the words around a place and differ in what fills it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from kbcite.answer.weights import is_stop
from kbcite.patterns import pattern
from kbcite.words import CJK, normalise, stem

ALIKE = 0.8
"""Share of the words around the differing places that two sentences must have in common to be one statement."""
MOSTLY = 0.5
"""And of all their words."""
_TOKEN = pattern(f"[{CJK}]|\\d[\\d.,:]*\\d|[^\\W_{CJK}]+(?:[.\\-'’][^\\W_{CJK}]+)*|[%‰]")


def _tokens(text: str) -> list[tuple[str, int, int]]:
    return [(stem(normalise(match.group())), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def swapped_runs(claim: str, sentence: str, everything: frozenset[str]) -> list[tuple[str, str]]:
    """Short runs that fill the same place of claim and sentence, where the claim's words are nowhere in the evidence."""
    a, b = _tokens(claim), _tokens(sentence)
    found = []
    for a1, a2, b1, b2 in _replaced([t for t, _, _ in a], [t for t, _, _ in b], 6):
        mine, theirs = [t for t, _, _ in a[a1:a2]], [t for t, _, _ in b[b1:b2]]
        if all(t in everything or is_stop(t) for t in mine) or all(is_stop(t) for t in theirs):
            continue
        found.append((claim[a[a1][1] : a[a2 - 1][2]], sentence[b[b1][1] : b[b2 - 1][2]]))
    return found


def differing_runs(first: str, second: str) -> tuple[str, str] | None:
    """What fills the one place in which two sentences that say the same otherwise differ; None where they do not.

    Two or three such places are one statement told of another thing, and no difference about the first.
    """
    a, b = _tokens(first), _tokens(second)
    words_a, words_b = [t for t, _, _ in a], [t for t, _, _ in b]
    most = (Counter(words_a) & Counter(words_b)).total()  # of any words in common, in whatever order
    if min(len(a), len(b)) < 4 or most < MOSTLY * max(len(a), len(b)):
        return None
    same = sum(block.size for block in SequenceMatcher(None, words_a, words_b, autojunk=False).get_matching_blocks())
    runs = _joined(_replaced(words_a, words_b, 12))
    around = max(len(a) - sum(a2 - a1 for a1, a2, _, _ in runs), len(b) - sum(b2 - b1 for _, _, b1, b2 in runs))
    if same < ALIKE * around or same < MOSTLY * max(len(a), len(b)):
        return None
    places = []
    for a1, a2, b1, b2 in runs:
        if all(map(is_stop, words_a[a1:a2])) or all(map(is_stop, words_b[b1:b2])):
            continue
        mine, theirs = first[a[a1][1] : a[a2 - 1][2]], second[b[b1][1] : b[b2 - 1][2]]
        if _number(mine) is None or _number(mine) != _number(theirs):
            places.append((mine, theirs))
    if not places or len(set(places)) > 1:
        return None
    mine, theirs = places[0]
    if (_number(mine) is None) != (_number(theirs) is None) or max(len(mine), len(theirs)) > 3 * min(
        len(mine), len(theirs)
    ):
        return None
    return places[0]


def _number(run: str) -> str | None:
    """The digits of a run, so that `2,093,476` and `为2093476` are one; None where it has none."""
    digits = re.sub(r"[^\d.]", "", normalise(run)).strip(".")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) or None


def _joined(runs: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Runs with at most one shared token between them as one: two names may have a syllable in common."""
    joined: list[tuple[int, int, int, int]] = []
    for a1, a2, b1, b2 in runs:
        if joined and a1 - joined[-1][1] <= 1 and b1 - joined[-1][3] <= 1:
            joined[-1] = (joined[-1][0], a2, joined[-1][2], b2)
        else:
            joined.append((a1, a2, b1, b2))
    return joined


def _replaced(a: Sequence[str], b: Sequence[str], longest: int) -> list[tuple[int, int, int, int]]:
    """Runs of a and b that replace one another between shared words."""
    found = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "replace" and a2 == len(a) and b2 == len(b):
            b2 = min(b2, b1 + a2 - a1)  # past the end of one sentence the other goes on
        if tag != "replace" or a2 - a1 > longest or b2 - b1 > longest:
            continue
        before, after = _shared(a, b, a1, b1, -1), _shared(a, b, a2, b2, 1)
        if before + after >= 1 and (before or not a1) and (after or a2 == len(a)):
            found.append((a1, a2, b1, b2))
    return found


def _shared(a: Sequence[str], b: Sequence[str], i: int, j: int, step: int) -> int:
    count = 0
    i, j = (i - 1, j - 1) if step < 0 else (i, j)
    while 0 <= i < len(a) and 0 <= j < len(b) and a[i] == b[j] and count < 4:
        count, i, j = count + 1, i + step, j + step
    return count
