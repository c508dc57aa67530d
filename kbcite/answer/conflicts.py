"""Where retrieved passages disagree: the same statement with another value in the same place (SPEC 45).

Two passages of different pages conflict where they say nearly the same words around different fillings, or where both answer
a question of number, time or price with different figures of one unit. The internal document wins, then the live page, then the newer
page; the reader is told in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from kbcite.answer.figures import Figure, as_written, find_figures, is_in
from kbcite.answer.passage_ranking import Candidate
from kbcite.answer.questions import Question
from kbcite.answer.slots import differing_runs
from kbcite.answer.weights import Weigh, is_stop, share, stems
from kbcite.clock import from_text
from kbcite.patterns import pattern
from kbcite.records import Place, RetrievedBlock, SourceType
from kbcite.words import language_of, normalise

GOOD_ENOUGH = 0.6
"""Share of the best passage's score from which another passage speaks to the question."""
SAME_SUBJECT = 0.6
"""Share of the question's words that both passages must say before their figures are held against one another."""

COPIES_AMONG = 6
"""Blocks, best first, among which copies are looked for."""
LONGEST_COPY = 2500
"""Characters; laying longer blocks side by side takes too long."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two passages that give one thing two values."""

    preferred: Candidate
    other: Candidate
    values: tuple[str, str]
    reason: str
    """Why the first is preferred: `internal`, `live`, `newer` or `rank`."""


def find_difference(
    question: Question, ranked: Sequence[Candidate], blocks: Sequence[RetrievedBlock], weigh: Weigh
) -> Difference | None:
    """The first two good passages of different pages that contradict one another; None where none do."""
    whole = [c for c in ranked if c.passage.kind not in ("list", "code")]
    if not whole:
        return None
    good = [c for c in whole[:24] if c.score >= GOOD_ENOUGH * whole[0].score]
    for index, one in enumerate(good[:8]):
        for other in good[index + 1 :]:
            if not _same_page(one, other, blocks) and (values := _values(question, one, other, weigh)):
                return _ordered(one, other, values, blocks)
    return _between_copies(question, whole, blocks)


def _between_copies(
    question: Question, ranked: Sequence[Candidate], blocks: Sequence[RetrievedBlock]
) -> Difference | None:
    """Where two blocks are copies of one another but for one place, the passages that hold it."""
    for first, second in combinations(range(min(len(blocks), COPIES_AMONG)), 2):
        a, b = blocks[first].place, blocks[second].place
        if a.url == b.url or len(a.text) > LONGEST_COPY or not 0.7 < len(a.text) / max(1, len(b.text)) < 1.4:
            continue
        runs = differing_runs(a.text, b.text)
        if runs is None or _names_the_question(runs, question):
            continue
        if not all(map(_may_be_a_value, runs)) or not _are_one_script(runs):
            continue
        holders = [
            next((c for c in ranked if c.block == n and run in c.passage.text), None)
            for n, run in zip((first, second), runs, strict=True)
        ]
        if holders[0] is not None and holders[1] is not None:
            return _ordered(holders[0], holders[1], runs, blocks)
    return None


def _same_page(one: Candidate, other: Candidate, blocks: Sequence[RetrievedBlock]) -> bool:
    return blocks[one.block].place.url == blocks[other.block].place.url


def _names_the_question(runs: tuple[str, str], question: Question) -> bool:
    """True where the question itself names a value: it tells which of two things is spoken of, 2015 is not 2020.

    A value of several English words is named by one that only it holds: `Reverse the elements` against `Sort the items`.
    """
    if any(normalise(run) in normalise(question.text) for run in runs):
        return True
    asked = {term for term in stems(question.text) if term.isascii() and term.isalpha() and not is_stop(term)}
    first, second = (asked.intersection(stems(run)) for run in runs)
    return first != second


def _ordered(one: Candidate, other: Candidate, values: tuple[str, str], blocks: Sequence[RetrievedBlock]) -> Difference:
    order, reason = precedence(blocks[one.block].place, blocks[other.block].place)
    if order >= 0:
        return Difference(one, other, values, reason)
    return Difference(other, one, (values[1], values[0]), reason)


def precedence(first: Place, second: Place) -> tuple[int, str]:
    """1 if the first place is to be believed before the second, -1 if the other way round, 0 if nothing decides; and why."""
    for wanted, reason in ((SourceType.INTERNAL, "internal"), (SourceType.LIVE, "live")):
        if (first.source_type is wanted) != (second.source_type is wanted):
            return (1 if first.source_type is wanted else -1), reason
    if first.published_at and second.published_at and first.published_at != second.published_at:
        newer = from_text(first.published_at) > from_text(second.published_at)
        return (1 if newer else -1), "newer"
    return 0, "rank"


def _values(question: Question, one: Candidate, other: Candidate, weigh: Weigh) -> tuple[str, str] | None:
    """What the two passages hold in the same place; None where they agree or speak of different things."""
    mine, theirs = one.passage.shown, other.passage.shown
    if runs := differing_runs(mine, theirs):
        if _names_the_question(runs, question):
            return None
        if not all(map(_may_be_a_value, runs)) or not _are_one_script(runs):
            return None
        return runs if any(c.isdigit() for c in runs[0]) or not question.asks_for_figure else None
    if not question.asks_for_figure:
        return None
    subject = [term for term in stems(question.text) if weigh(term) > 0.2]
    if min(share(subject, frozenset(stems(text)), weigh) for text in (mine, theirs)) < SAME_SUBJECT:
        return None
    a, b = find_figures(mine), find_figures(theirs)
    asked = question.figures
    if not all(is_in(figure, a) and is_in(figure, b) for figure in asked):
        return None
    years = [{f.year for f in found if f.year and not is_in(f, asked)} for found in (a, b)]
    if not question.asks_for_date and years[0] != years[1]:
        return None
    wanted = [
        [f for f in found if not is_in(f, asked) and (f.kind == "date") == question.asks_for_date] for found in (a, b)
    ]
    differing = _only_differing(*wanted)
    return (as_written(differing[0], mine), as_written(differing[1], theirs)) if differing else None


def _may_be_a_value(run: str) -> bool:
    """False for what only words a sentence otherwise: several small English words, Chinese with a comma or a particle, a unit."""
    if language_of(run) != "zh":
        return not (run.islower() and " " in run) or any(c.isdigit() for c in run)
    if any(c.isdigit() for c in run):
        return not _COMMA.search(run)
    return not _COMMA.search(run) and not _PARTICLE.search(run) and run not in _UNITS


def _are_one_script(runs: tuple[str, str]) -> bool:
    """False for a name and its transliteration, 谷歌 and Google."""
    return language_of(runs[0]) == language_of(runs[1]) or any(c.isdigit() for c in "".join(runs))


_COMMA = pattern(r"[，、；。]|,(?!\d)")
_PARTICLE = pattern("[了到您你我着吗呢们这那就都也]|是$")
_UNITS = frozenset("公里 千米 公尺 米 公分 厘米 公斤 千克 公克 克 公顷 平方公里 平方千米 毫米".split())


def _only_differing(a: list[Figure], b: list[Figure]) -> tuple[Figure, Figure] | None:
    """The figures where each side has one figure of a kind and unit, and they differ."""
    for figure in a:
        same_a = [f for f in a if _comparable(f, figure)]
        same_b = [f for f in b if _comparable(f, figure)]
        if len(same_a) == len(same_b) == 1 and not is_in(figure, same_b) and not is_in(same_b[0], [figure]):
            return figure, same_b[0]
    return None


def _comparable(a: Figure, b: Figure) -> bool:
    if a.kind != b.kind:
        return False
    if a.kind == "date":
        return (a.year is None, a.month is None, a.day is None) == (b.year is None, b.month is None, b.day is None)
    return a.unit == b.unit
