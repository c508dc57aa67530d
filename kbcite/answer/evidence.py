"""A text that claims are held against, read once: its sentences, their terms, its figures and the words around each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kbcite.answer.figures import Figure, find_figures, same_figure
from kbcite.answer.weights import Weigh, is_stop, stems
from kbcite.sentences import split_sentences

FURTHER = 0.03
"""What a second sentence costs: where one says as much, one is taken."""
REACH = 35
"""Characters on either side of a figure that tell what it counts."""


@dataclass(frozen=True, slots=True)
class Evidence:
    text: str
    sentences: tuple[str, ...]
    windows: tuple[tuple[int, int, frozenset[str]], ...]
    """Each sentence and each two neighbours: from which to which, and their terms, with those of the claim that they say in another form."""
    everything: frozenset[str]
    """The terms of all of it, likewise."""
    own: frozenset[str]
    """The terms that stand in it letter by letter."""
    figures: tuple[Figure, ...]
    around: tuple[frozenset[str], ...]
    """Of each figure, the terms beside it."""


def read_evidence(text: str, claim_terms: Iterable[str], claimed: Sequence[Figure]) -> Evidence:
    """The evidence as a claim with these terms and figures needs it: `Nov 10` says `November 10`, `director` says `direct`."""
    spans = split_sentences(text) or [(0, len(text))]
    terms = [set(stems(text[start:end])) for start, end in spans]
    own = frozenset(stems(text))
    figures = tuple(find_figures(text))
    for term in set(claim_terms) - own:
        if others := _akin(term, own):
            for said in terms:
                if not others.isdisjoint(said):
                    said.add(term)
    for figure in claimed:
        for (start, end), said in zip(spans, terms, strict=True):
            if any(start <= other.start < end and same_figure(figure, other) for other in figures):
                said.update(stems(figure.text))
    windows: list[tuple[int, int, frozenset[str]]] = []
    for i, said in enumerate(terms):
        windows.append((i, i + 1, frozenset(said)))
        if i + 1 < len(terms):
            windows.append((i, i + 2, frozenset(said | terms[i + 1])))
    return Evidence(
        text,
        tuple(text[start:end] for start, end in spans),
        tuple(windows),
        own.union(*terms),
        own,
        figures,
        tuple(frozenset(words_around(text, figure, REACH)) for figure in figures),
    )


def words_around(text: str, figure: Figure, reach: int) -> list[str]:
    return stems(text[max(0, figure.start - reach) : figure.start] + " " + text[figure.end : figure.end + reach])


def best_window(
    claim_terms: Iterable[str], evidence: Evidence, weigh: Weigh, widest: int = 2
) -> tuple[float, int, int]:
    """The best share of the claim's words in one or two neighbouring sentences, and from which to which sentence it stands."""
    weights = {term: weigh(term) for term in claim_terms}
    total = sum(weights.values()) or 1.0
    best, start, end = -1.0, 0, 0
    for first, after, said in evidence.windows:
        if after - first <= widest:
            found = sum(weight for term, weight in weights.items() if term in said)
            if (value := found / total - FURTHER * (after - first - 1)) > best:
                best, start, end = value, first, after
    return max(0.0, best), start, end


_ENDINGS = frozenset(
    ["", *"er or ist ian ion ation ition ment al ial ic ical ity ness ive ative abl ibl ism anc enc ant ent ship ary ory "
     "dom hood y ous iz is en n an ans ers ors ists".split()]
)  # fmt: skip
_DOERS = frozenset(["", "er", "or", "ist", "ers", "ors", "ists"])
"""Who does a thing: `drum`, `drummer`."""


def _akin(term: str, others: frozenset[str]) -> frozenset[str]:
    """English words made of the same word as the term: `music` and `musician`, `direct` and `director`."""
    if len(term) < 4 or not term.isascii() or not term.isalpha() or is_stop(term):
        return frozenset()
    return frozenset(other for other in others if other[:4] == term[:4] and _same_word(term, other))


def _same_word(one: str, other: str) -> bool:
    common = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    ends = (one[common:], other[common:])
    if "" in ends and len(longer := max(ends)) > 2 and longer[0] == one[common - 1]:
        ends = ("", longer[1:])  # the last letter doubled
    return all(end in (_ENDINGS if common >= 5 else _DOERS) for end in ends)
