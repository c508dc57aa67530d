"""Slips of the hand in a question, mended by what the evidence writes: `airprot` for airport."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kbcite.answer.weights import is_stop
from kbcite.patterns import pattern
from kbcite.words import normalise, stem

SHORTEST = 4
"""Letters of a word that may be mended; a shorter one is one slip away from too many."""
_WORD = pattern(rf"(?<![A-Za-z])[A-Za-z]{{{SHORTEST},}}(?![A-Za-z])")


def respell(text: str, evidence: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text with each word that the evidence lacks as the one word of it that is a slip away, and what was mended.

    A slip is two letters in each other's place, one too many or one left out (Damerau 1964, without a letter for another:
    that is as often another word); the first letter is right. A word that only goes on, or stops, is another: Marian is not Maria.
    """
    plain = evidence.lower()
    if all(word in plain or is_stop(word) for word in _WORD.findall(text.lower())):
        return text, ()
    known = frozenset(_WORD.findall(normalise(evidence)))
    stems = {stem(word) for word in known}
    mended: list[tuple[str, str]] = []

    def mend(match: re.Match[str]) -> str:
        word = match.group().lower()
        if word in known or stem(word) in stems or is_stop(word):
            return match.group()
        slips = {other for other in _slips(word, known) if stem(other) != stem(word)}
        near = {other for other in slips if not other.startswith(word) and not word.startswith(other)}
        if len(near) != 1:
            return match.group()
        mended.append((match.group(), near.pop()))
        return mended[-1][1]

    return _WORD.sub(mend, text), tuple(mended)


def _slips(word: str, known: frozenset[str]) -> Iterator[str]:
    for i in range(1, len(word)):
        swapped = word[:i] + word[i + 1 : i + 2] + word[i] + word[i + 2 :]
        yield from {swapped, word[:i] + word[i + 1 :]} & known
    yield from (other for other in known if len(other) == len(word) + 1 and _is_without_one(word, other))


def _is_without_one(word: str, longer: str) -> bool:
    """True where the longer word is the word with one more letter, not its first."""
    at = next((i for i, (a, b) in enumerate(zip(word, longer, strict=False)) if a != b), len(word))
    return at > 0 and word[at:] == longer[at + 1 :]
