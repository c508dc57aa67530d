"""Which of the ranked passages make the answer: few, whole, and nothing beside the point.

Further passages are taken only while they add: words of the question that are still unsaid, the rest of the list, the other
half of the question, or what a section that asks the question goes on to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kbcite.answer.headings import ASKED_BY, asked_by_heading, heading_of, is_asked_again, wanted_terms
from kbcite.answer.passage_ranking import Candidate, Nearness, rank_passages
from kbcite.answer.passages import Passage, first_cell, split_passages
from kbcite.answer.questions import Kind, Question, halves, keys, subject_of
from kbcite.answer.said_as import SAID_AS, with_said
from kbcite.answer.weights import Weigh, share, stems
from kbcite.patterns import pattern
from kbcite.records import RetrievedBlock

TERSE = 40
"""Characters up to which the first sentence under a heading that asks is only the start of an answer: `Yes, there is.`"""
SAYS_LITTLE = 0.3
"""Share of the question below which a first sentence before an example is a remark, and the reason stands further down."""
ALIKE = 0.8
"""Share of the best item's score from which all items of its list answer a question for several things."""
WANTED_ADDITION = 0.15
"""A further passage must add at least this share of the question, or answer a question for several things."""
GOOD_ADDITION = 0.6
"""And score at least this share of the best one."""
GOOD_STEP = 0.85
"""The same where one thing is asked for: what another page says beside it is no part of the answer."""
OWN_TERMS = 0.6
"""What a passage that says all that one half of a question has for itself is preferred by, as a share of the best score; .15 and .3 find less
(`rgb_zh_int` of `python -m tests.bench.qa_run answers`)."""
OWN_KIND = 0.3
"""And one that holds what the half asks for."""
OWN_WEIGHT = 0.75
"""Weight, over that of the question's heaviest term, from which a term that a row or item says and its heading does not tells it
from those beside it."""
_ONE_THING = frozenset({Kind.PRICE, Kind.QUANTITY, Kind.TIME})
"""What one passage answers, where it holds a figure or a date."""
_ON_A_CASE = pattern(
    r"\b(?:if|happens?|unless|late|later)\b|如果|若|怎么办|会怎样|会怎么样|后果|逾期|超时|超过", re.IGNORECASE
)
_OTHER_CASE = pattern(
    r"(?:but )?if\b|otherwise\b|after that\b|in that case\b|如果|如|若|否则|逾期|超过|反之", re.IGNORECASE
)
_COMPARES = pattern(r"\bdifferences? between\b|\bcompare|区别|差别|不同之处|对比|比较", re.IGNORECASE)
_REFERS = pattern(r"(?:this|these|that|those|it|they)\b|[这那此该它]", re.IGNORECASE)


def choose(
    question: Question,
    ranked: Sequence[Candidate],
    blocks: Sequence[RetrievedBlock],
    weigh: Weigh,
    limit: int,
    nearness: Nearness | None = None,
) -> list[Candidate]:
    """The passages that make the answer, best first: few, from different documents where two facts are asked for."""
    chosen: list[Candidate] = []
    if not ranked:
        return chosen
    wanted = wanted_terms(question)
    total = sum(weigh(term) for term in wanted) or 1.0
    best = ranked[0]
    if best.passage.kind == "row" and _COMPARES.search(question.text):
        if rows := _named_rows(question, best, blocks):
            return rows[:limit]
        if table := _whole_around(best, blocks):
            return [table]
    parts = halves(question) if limit > 1 else []
    for half, other in zip(parts, reversed(parts), strict=True):
        # Each half has its own best passage; a passage that serves both stands for both.
        own = _best_of_half(half, other, rank_passages(half, blocks, weigh, nearness), weigh)
        if not any(_is_same(own, c) for c in chosen):
            chosen.append(own)
    chosen = chosen or [best]
    if not question.is_joined:
        if best.passage.kind in ("list", "code"):
            return chosen  # the whole list or example is the answer
        if whole := _with_its_like(question, best, ranked, blocks, weigh):
            return whole[:limit]
        if (question.kind in _ONE_THING and best.kind == 1.0) or (subject_of(question) and best.kind >= 0.5):
            return [*_referred_to(best, blocks), best][-limit:]
        if section := _under_its_heading(question, best, blocks, weigh, limit):
            return section
    if len(chosen) > 1 and all(c.passage.kind == "row" for c in chosen):
        return chosen  # each thing has its row
    if condition := _condition_after(question, best, blocks):
        chosen.append(condition)
    wide = question.is_joined or question.kind in (Kind.LIST, Kind.REASON)
    while len(chosen) < limit:
        said = frozenset().union(*(c.said for c in chosen))
        pages = {blocks[c.block].place.url for c in chosen}
        top, gain = None, 0.0
        for c in ranked[:60]:
            if any(_is_same(c, o) for o in chosen) or _repeats(c, chosen):
                continue
            added = sum(weigh(term) for term in c.said - said) / total
            value = c.score + 1.5 * added + (0.15 if blocks[c.block].place.url not in pages else 0.0)
            good = GOOD_ADDITION if question.is_joined else GOOD_STEP
            is_needed = (wide and not c.passage.term) or added >= WANTED_ADDITION
            enough = c.score >= good * best.score and is_needed
            if enough and value > gain:
                top, gain = c, value
        if top is None:
            break
        chosen.append(top)
    return chosen


def _best_of_half(half: Question, other: Question, ranked: Sequence[Candidate], weigh: Weigh) -> Candidate:
    """The passage that answers this half best: what it says of it that is not of the other one, and whether it holds what is asked for."""
    theirs = frozenset(stems(other.text))
    own = [term for term in wanted_terms(half) if term not in theirs]
    best = ranked[0].score

    def worth(c: Candidate) -> float:
        return c.score + best * (OWN_TERMS * share(own, c.said, weigh) + OWN_KIND * (c.kind == 1.0))

    return max(ranked[:60], key=worth)


def _with_its_like(
    question: Question, best: Candidate, ranked: Sequence[Candidate], blocks: Sequence[RetrievedBlock], weigh: Weigh
) -> list[Candidate]:
    """The whole list or the rows of a table, where the best item or row answers by its heading or lead-in alone; else nothing."""
    passage, place = best.passage, blocks[best.block].place
    if passage.kind not in ("row", "item") or subject_of(question):
        return []
    around = _whole_around(best, blocks)
    wanted = wanted_terms(question)
    page = " ".join((place.title, *place.heading_chain))
    common = with_said(wanted, frozenset(stems(f"{passage.context} {page}")))
    own = (set(wanted) & with_said(wanted, frozenset(stems(passage.text)))) - common
    heaviest = max(map(weigh, wanted))
    beside = [
        c.score
        for c in ranked
        if c.block == best.block and c.passage.context == passage.context and c.passage.kind == "item"
    ]
    are_alike = question.kind is Kind.LIST and passage.kind == "item" and min(beside) >= ALIKE * best.score
    if not are_alike and any(term in SAID_AS or weigh(term) >= OWN_WEIGHT * heaviest for term in own):
        return []
    if passage.kind == "item" or (question.kind is Kind.LIST and around):
        return [around] if around else []
    if question.kind in _ONE_THING:
        return []
    rows = [c for c in ranked if c.block == best.block and c.passage.kind == "row"]
    like = [c for c in rows if c.passage.context == passage.context and c.score >= 0.9 * best.score]
    return sorted(like, key=lambda c: c.passage.start) if len(like) > 1 else []


def _named_rows(question: Question, best: Candidate, blocks: Sequence[RetrievedBlock]) -> list[Candidate]:
    """The rows of the best one's table that the question names, where it names several of them."""
    place, named = blocks[best.block].place, keys(question.text)
    rows = [
        p for p in split_passages(place.text, place.context) if p.kind == "row" and p.context == best.passage.context
    ]
    compared = [replace(best, passage=row) for row in rows if first_cell(row) in named]
    return compared if len(compared) > 1 else []


def _whole_around(best: Candidate, blocks: Sequence[RetrievedBlock]) -> Candidate | None:
    """The whole list or table that an item or row is part of, where it is short enough to be given whole."""
    place, passage = blocks[best.block].place, best.passage
    wholes = (p for p in split_passages(place.text, place.context) if p.kind in ("list", "table"))
    around = next((p for p in wholes if p.start <= passage.start and passage.end <= p.end), None)
    return replace(best, passage=around) if around else None


def _referred_to(best: Candidate, blocks: Sequence[RetrievedBlock]) -> list[Candidate]:
    """The sentence before one that starts with `this`: what it speaks of; else nothing."""
    if best.passage.kind not in ("sentence", "item") or not _REFERS.match(best.passage.shown):
        return []
    place = blocks[best.block].place
    before = [p for p in split_passages(place.text, place.context) if p.end <= best.passage.start]
    if not before or before[-1].kind != best.passage.kind or before[-1].context != best.passage.context:
        return []
    return [replace(best, passage=before[-1])]


def _condition_after(question: Question, best: Candidate, blocks: Sequence[RetrievedBlock]) -> Candidate | None:
    """What the next sentence says of the other case, `If you cancel later, …`, where the question is about a case."""
    if best.passage.kind != "sentence" or not _ON_A_CASE.search(question.text):
        return None
    place = blocks[best.block].place
    after = next((p for p in split_passages(place.text, place.context) if p.start >= best.passage.end), None)
    if after is None or after.kind != "sentence" or "\n" in place.text[best.passage.end : after.start]:
        return None
    return replace(best, passage=after) if _OTHER_CASE.match(after.shown) else None


def _under_its_heading(
    question: Question, best: Candidate, blocks: Sequence[RetrievedBlock], weigh: Weigh, limit: int
) -> list[Candidate]:
    """What stands under a heading that asks the question itself, from its first sentence on; nothing where that says all.

    A section that opens with a remark and an example is told from the sentence on that says most of the question.
    """
    place = blocks[best.block].place
    is_terse = len(best.passage.shown) <= TERSE
    if best.passage.kind != "sentence" or (question.kind not in (Kind.REASON, Kind.HOW) and not is_terse):
        return []
    wanted = wanted_terms(question)
    asked = asked_by_heading(wanted, best.passage, blocks[best.block], weigh)
    if asked < ASKED_BY and not is_asked_again(question, wanted, heading_of(best.passage, blocks[best.block]), weigh):
        return []
    under = [p for p in split_passages(place.text, place.context) if p.context == best.passage.context]
    if not under or under[0].start != best.passage.start:
        return []
    whole = _without_leads(under)
    said = [share(wanted, with_said(wanted, frozenset(stems(p.text))), weigh) for p in whole]
    first = 0
    if question.kind is Kind.REASON and said[0] < SAYS_LITTLE and [p.kind for p in whole[1:2]] == ["code"]:
        first = max((i for i, p in enumerate(whole) if p.kind == "sentence"), key=lambda i: said[i])
    run: list[Passage] = []
    for passage in whole[first : first + limit]:
        run.append(passage)
        if passage.kind != "sentence":
            break
    return [replace(best, passage=passage) for passage in run] if len(run) > 1 else []


def _without_leads(passages: Sequence[Passage]) -> list[Passage]:
    """Sentences and code in order; a sentence that leads in to code only as part of it."""
    kept = [p for p in passages if p.kind in ("sentence", "code")]
    return [p for p, after in zip(kept, [*kept[1:], None], strict=True) if after is None or after.start > p.start]


def _is_same(one: Candidate, other: Candidate) -> bool:
    return one.block == other.block and one.passage.start == other.passage.start


def _repeats(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    own = set(stems(candidate.passage.shown))
    return any(len(own & (other := set(stems(c.passage.shown)))) > 0.75 * min(len(own), len(other)) for c in chosen)
