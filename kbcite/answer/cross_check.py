"""High-risk questions: what two or three sources say to the same question, compared (SPEC 57).

Of each page the passage that answers best is taken, and of it the one figure that is of the kind and unit asked about. Two pages that
agree carry the answer, and a third that differs is named; where no two agree, the reader is told before anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.answer.figures import Figure, as_written, find_figures, is_in
from kbcite.answer.passage_ranking import Candidate
from kbcite.answer.questions import Question
from kbcite.records import RetrievedBlock

GOOD_ENOUGH = 0.6
"""Share of the best passage's score from which another page's passage speaks to the question."""
MAX_PAGES = 3
MAJORITY, DISAGREE = "majority", "disagree"


@dataclass(frozen=True, slots=True)
class CheckedValue:
    text: str
    """As the page writes it: `5%`, `30 天`."""
    candidate: Candidate
    pages: int
    """That say so in these words: a text that stands on several pages is one block."""


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The values of at least two pages; those that agree stand first."""

    agreeing: tuple[CheckedValue, ...]
    """Empty where no two pages agree."""
    differing: tuple[CheckedValue, ...]

    @property
    def ruling(self) -> str:
        return MAJORITY if self.agreeing else DISAGREE

    @property
    def count(self) -> int:
        """Pages that agree."""
        return sum(value.pages for value in self.agreeing)


def cross_check(question: Question, ranked: Sequence[Candidate], blocks: Sequence[RetrievedBlock]) -> CrossCheck | None:
    """What the best passages of two or three pages say; None where fewer hold a value that can be compared."""
    best: dict[str, Candidate] = {}
    for candidate in ranked:
        if candidate.passage.kind != "list" and candidate.score >= GOOD_ENOUGH * ranked[0].score:
            best.setdefault(blocks[candidate.block].place.url, candidate)
    values: list[tuple[Figure, CheckedValue]] = []
    for candidate in list(best.values()):
        figure = _value(question, candidate, values[0][0] if values else None)
        if figure is not None:
            place, also = blocks[candidate.block].place, blocks[candidate.block].also
            pages = len({place.url, *(other.url for other in also)})
            values.append((figure, CheckedValue(as_written(figure, candidate.passage.shown), candidate, pages)))
        if len(values) == MAX_PAGES:
            break
    if sum(value.pages for _, value in values) < 2:
        return None
    groups = [[other for figure, other in values if _same(figure, first)] for first, _ in values]
    largest = max(groups, key=lambda group: sum(value.pages for value in group))
    if sum(value.pages for value in largest) < 2:
        return CrossCheck((), tuple(value for _, value in values))
    return CrossCheck(tuple(largest), tuple(value for _, value in values if value not in largest))


def _value(question: Question, candidate: Candidate, like: Figure | None) -> Figure | None:
    """The figure that answers in a passage: the only one of its kind and unit, that of `like` where there is one."""
    found = [f for f in find_figures(candidate.passage.shown) if not is_in(f, question.figures)]
    wanted = [f for f in found if (f.kind == "date") == question.asks_for_date and not (f.kind != "date" and f.is_year)]
    for figure in wanted:
        alike = [other for other in wanted if _comparable(other, figure)]
        if len(alike) == 1 and (like is None or _comparable(figure, like)):
            return figure
    return None


def _comparable(a: Figure, b: Figure) -> bool:
    return a.kind == b.kind and a.unit == b.unit


def _same(a: Figure, b: Figure) -> bool:
    return is_in(a, [b]) and is_in(b, [a])
