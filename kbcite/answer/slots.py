"""Two sentences laid side by side: where they share the words around a place and differ in what fills it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from kbcite.answer.weights import is_stop, stem
from kbcite.words import CJK, normalise

ALIKE = 0.6
"""Share of the shorter sentence's tokens that must stand in the same order for two sentences to be one statement."""
_TOKEN = re.compile(f"[{CJK}]|\\d[\\d.,:]*\\d|[^\\W_{CJK}]+(?:[.\\-'’][^\\W_{CJK}]+)*|[%‰]")


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
    """What fills the one place in which two sentences that say the same otherwise differ; None where they do not."""
    a, b = _tokens(first), _tokens(second)
    words_a, words_b = [t for t, _, _ in a], [t for t, _, _ in b]
    if min(len(a), len(b)) < 4:
        return None
    same = sum(block.size for block in SequenceMatcher(None, words_a, words_b, autojunk=False).get_matching_blocks())
    if same < ALIKE * max(len(a), len(b)):
        return None
    for a1, a2, b1, b2 in _replaced(words_a, words_b, 12):
        if all(map(is_stop, words_a[a1:a2])) or all(map(is_stop, words_b[b1:b2])):
            continue
        return first[a[a1][1] : a[a2 - 1][2]], second[b[b1][1] : b[b2 - 1][2]]
    return None


def _replaced(a: Sequence[str], b: Sequence[str], longest: int) -> list[tuple[int, int, int, int]]:
    """Runs of a and b that replace one another between shared words."""
    found = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "replace" and a2 == len(a) and b2 == len(b):
            b2 = min(b2, b1 + a2 - a1)  # past the end of one sentence the other goes on
        if tag != "replace" or a2 - a1 > longest or b2 - b1 > longest:
            continue
        before, after = _shared(a, b, a1, b1, -1), _shared(a, b, a2, b2, 1)
        if before + after >= 2 and (before or not a1) and (after or a2 == len(a)):
            found.append((a1, a2, b1, b2))
    return found


def _shared(a: Sequence[str], b: Sequence[str], i: int, j: int, step: int) -> int:
    count = 0
    i, j = (i - 1, j - 1) if step < 0 else (i, j)
    while 0 <= i < len(a) and 0 <= j < len(b) and a[i] == b[j] and count < 4:
        count, i, j = count + 1, i + step, j + step
    return count
