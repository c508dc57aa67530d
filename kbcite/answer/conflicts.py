"""Where retrieved passages disagree: the same statement with another value in the same place (SPEC 45).

Two passages of different pages conflict where they say nearly the same words around different fillings, or where both answer
a question of number, time or price with different figures of one unit. The internal document wins, then the live page, then the newer
page; the reader is told in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.answer.extractive import Candidate
from kbcite.answer.figures import Figure, find_figures, is_in
from kbcite.answer.questions import Kind, Question
from kbcite.answer.slots import differing_runs
from kbcite.answer.weights import Weigh, share, stems
from kbcite.clock import from_text
from kbcite.records import Place, RetrievedBlock, SourceType


@dataclass(frozen=True, slots=True)
class Difference:
    """Two passages that give one thing two values."""

    preferred: Candidate
    other: Candidate
    values: tuple[str, str]
    reason: str
    """Why the first is preferred: `internal`, `live`, `newer` or `rank`."""


def find_difference(
    question: Question, best: Candidate, ranked: Sequence[Candidate], blocks: Sequence[RetrievedBlock], weigh: Weigh
) -> Difference | None:
    """The first passage, best first, that contradicts the best one; None where none does."""
    for other in ranked[:40]:
        if other.block == best.block or other.score < 0.6 * best.score:
            continue
        if values := _values(question, best, other, weigh):
            first, second = blocks[best.block].place, blocks[other.block].place
            order, reason = precedence(first, second)
            if order >= 0:
                return Difference(best, other, values, reason)
            return Difference(other, best, (values[1], values[0]), reason)
    return None


def precedence(first: Place, second: Place) -> tuple[int, str]:
    """1 if the first place is to be believed before the second, -1 if the other way round, 0 if nothing decides; and why."""
    for wanted, reason in ((SourceType.INTERNAL, "internal"), (SourceType.LIVE, "live")):
        if (first.source_type is wanted) != (second.source_type is wanted):
            return (1 if first.source_type is wanted else -1), reason
    if first.published_at and second.published_at and first.published_at != second.published_at:
        newer = from_text(first.published_at) > from_text(second.published_at)
        return (1 if newer else -1), "newer"
    return 0, "rank"


def _values(question: Question, best: Candidate, other: Candidate, weigh: Weigh) -> tuple[str, str] | None:
    mine, theirs = best.passage.shown, other.passage.shown
    if runs := differing_runs(mine, theirs):
        return runs
    if question.kind not in (Kind.QUANTITY, Kind.TIME, Kind.PRICE):
        return None
    subject = [term for term in stems(question.text) if weigh(term) > 0.2]
    both = min(share(subject, frozenset(stems(text)), weigh) for text in (mine, theirs))
    if both < 0.6:
        return None
    asked = list(question.figures)
    a, b = ([f for f in find_figures(text) if not is_in(f, asked)] for text in (mine, theirs))
    return _only_differing(a, b)


def _only_differing(a: list[Figure], b: list[Figure]) -> tuple[str, str] | None:
    """The values where each side has one figure of a kind and unit, and they differ."""
    for figure in a:
        same_a = [f for f in a if _comparable(f, figure)]
        same_b = [f for f in b if _comparable(f, figure)]
        if len(same_a) == len(same_b) == 1 and not is_in(figure, same_b) and not is_in(same_b[0], [figure]):
            return _said(figure), _said(same_b[0])
    return None


def _comparable(a: Figure, b: Figure) -> bool:
    if a.kind != b.kind:
        return False
    if a.kind == "date":
        return (a.year is None, a.month is None, a.day is None) == (b.year is None, b.month is None, b.day is None)
    return a.unit == b.unit


def _said(figure: Figure) -> str:
    unit = figure.unit if figure.kind == "number" and not figure.text.endswith(figure.unit) else ""
    return f"{figure.text} {unit}".strip() if unit.isascii() else f"{figure.text}{unit}"
