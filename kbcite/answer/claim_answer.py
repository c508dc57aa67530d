"""Whether what a question asks for, as a claim answers it, stands in the evidence: a figure, a name, a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.answer.evidence import Evidence
from kbcite.answer.figures import Figure, is_in
from kbcite.answer.persons import SURNAMES
from kbcite.answer.questions import Kind, Question, asked_elements
from kbcite.patterns import pattern
from kbcite.words import normalise, simplify


@dataclass(frozen=True, slots=True)
class AnswerSaid:
    """1 where it is said, -1 where it is not, 0 where the claim has no such thing."""

    figure: float = 0.0
    name: float = 0.0
    person: float = 0.0
    run: float = 0.0
    """Characters, up to four, of the longest Chinese run that claim and evidence share and the question has nothing of."""


def answer_said(question: Question, claim: str, figures: Sequence[Figure], evidence: Evidence) -> AnswerSaid:
    if question.asks_for_figure:
        own = [figure for figure in figures if not is_in(figure, question.figures)]
        right_kind = [figure for figure in own if (figure.kind == "date") == question.asks_for_date] or own
        if not right_kind:
            return AnswerSaid()
        if _ASKS_YEAR.search(simplify(question.text)):
            years = {figure.year for figure in evidence.figures if figure.year}
            return AnswerSaid(figure=_sign(any(figure.year in years for figure in right_kind)))
        return AnswerSaid(figure=_sign(any(is_in(figure, evidence.figures) for figure in right_kind)))
    text, asked, claimed = normalise(evidence.text), normalise(question.text), normalise(claim)
    name = person = 0.0
    if elements := asked_elements(question, claim):
        name = _sign(any(normalise(element) in text for element in elements))
    if question.kind is Kind.PERSON and (people := _people(claimed, asked)):
        person = _sign(any(one in text for one in people))
    return AnswerSaid(name=name, person=person, run=_longest_run(claimed, text, asked))


def _sign(is_said: bool) -> float:
    return 1.0 if is_said else -1.0


def _people(claim: str, asked: str) -> set[str]:
    """What may be a person's name in a Chinese claim, that the question does not say."""
    names = {match.group() for match in _PERSON.finditer(claim)}
    names |= {name[:2] for name in names if len(name) == 3 and name[0] in SURNAMES}
    return {name for name in names if name not in asked}


def _longest_run(claim: str, evidence: str, asked: str) -> int:
    runs = _HAN_RUN.findall("".join(c if c not in asked else " " for c in claim))
    return next(
        (
            size
            for size in (4, 3, 2)
            if any(run[i : i + size] in evidence for run in runs for i in range(len(run) - size + 1))
        ),
        0,
    )


_PERSON = pattern(rf"[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|[\u4e00-\u9fff]{{1,5}}(?:[·•‧][\u4e00-\u9fff]{{1,6}})+")
_HAN_RUN = pattern(r"[\u4e00-\u9fff]{2,}")
_ASKS_YEAR = pattern(r"哪一?年|年份|\b(?:what|which) year\b", re.IGNORECASE)
