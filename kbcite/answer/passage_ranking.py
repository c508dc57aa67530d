"""The passages of the retrieved blocks, best first: no model needed (SPEC 48).

A passage is scored by how much of the question it says itself (idf-weighted terms), then by how much its neighbours,
its headings and its page say, by whether it holds the kind of thing asked for (a figure, a date, a person), by how well its
block was ranked, and by whether its years and amounts agree with the question's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kbcite.answer.figures import Figure, find_figures, is_in
from kbcite.answer.headings import (
    ASKED_BY,
    asked_by_heading,
    heading_of,
    is_asked_again,
    is_question,
    likeness,
    wanted_terms,
)
from kbcite.answer.passages import Passage, first_cell, split_passages
from kbcite.answer.questions import FOCUS, Kind, Question, answers_kind, defines, focus_terms, keys, subject_of
from kbcite.answer.said_as import with_said
from kbcite.answer.weights import Weigh, idf_over, share, stems
from kbcite.patterns import pattern
from kbcite.records import RetrievedBlock, SourceType
from kbcite.words import language_of

Nearness = Callable[[str, Sequence[str]], Sequence[float]]
"""Question and passages -> a similarity each, higher is nearer: across languages, where words say nothing."""
NEARNESS = 0.9
CODE_FINE = 0.4
"""Code is full of figures that answer no question for one."""
CODE_ALONE = 0.25
"""What a code block loses that no sentence leads in to: its names say words of the question by chance."""
CODE_LONG = 0.2
LONG_CODE = 600
"""Characters from which a code block is a program, not an example of one thing."""
DEFINES = 0.6
"""For a sentence that says what the thing asked about is."""
OPENING = 0.3
"""For the first sentence under a heading, by the share of the question that the heading says: a manual answers there."""
KEYED = 0.3
"""For the row of a table whose first cell is, letter by letter, a word of the question."""
OTHER_LANGUAGE = 0.15
"""What a sentence in another language than the question's loses beside those in its own."""
MOST_FOREIGN = 80
"""Passages in another language that are laid beside the question."""
NEIGHBOUR = 0.25
PAGE = 0.25
KIND_BONUS = 0.26
RANK_BONUS = 0.12
FIGURE_PENALTY = 0.35
ENTRY = 0.2
"""What the entry of one function in a reference, or a row without a command, loses where it is asked how something is done."""
HEADED = 0.4
"""For what stands under a heading that names what is asked for, and nothing else, where a section answers: how, and which things."""
LISTED = 0.2
"""For a row or item where several things are asked for, by the share of the question that its heading or lead-in says."""
_LISTED = frozenset({"row", "item"})
_LEANING = frozenset({"row", "item", "code", "list"})
"""Kinds of passage that say little by themselves: the words of their heading or lead-in are theirs."""
_REFERENCES = pattern(
    r"参考(?:文献|资料)|注释|引用|外部链接|references|notes|external links|further reading|bibliography", re.IGNORECASE
)
_POINTS = pattern(
    r"\b(?:following|next) (?:table|list|figure)\b|\b(?:table|list|figure)s? below\b|[如以]?下[表图]", re.IGNORECASE
)
"""A sentence that says where the answer stands."""
_CHANGE_NOTE = pattern(
    r"^(?:(?:changed|new|deprecated|removed) (?:in|since) version|在? ?[\d.]+ ?版(?:本)?(?:更改|新增|移除))", re.I
)
_ON_CHANGE = pattern(r"chang|\bnew\b|version|added|since|deprecat|remov|when|更改|新增|版本|何时|变化", re.IGNORECASE)
_COMMAND = pattern(r"[a-z][a-z\d.+-]* \S.*")
_CALL = pattern(r"[\w.]+\([^)]*\):\s")
_ARGUMENTS = pattern(r"\([^)]*\)(?=:\s)")
_BOILERPLATE = pattern(r"©|copyright|all rights reserved|责任编辑|相关推荐|版权所有|点击查看|回复【", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage of one retrieved block and how well it answers."""

    block: int
    """Index into the retrieved blocks."""
    passage: Passage
    score: float
    coverage: float
    """Share of the question's weight that the passage itself says."""
    kind: float
    """1 where it holds what was asked for, 0 where not."""
    said: frozenset[str]
    """The question's terms that it says, itself or through its context."""


def rank_passages(
    question: Question,
    blocks: Sequence[RetrievedBlock],
    weigh: Weigh | None = None,
    nearness: Nearness | None = None,
) -> list[Candidate]:
    """Every passage of the blocks, best first.

    weigh: how much a term matters, from the whole collection where the caller knows it; else from these blocks alone.
    nearness: what passages in another language than the question's are ranked by; without it, by kind and block alone.
    """
    texts = [block.place.text or block.block.text for block in blocks]
    weigh = focused(question.text, weigh or idf_over(texts))
    wanted = wanted_terms(question)
    subject = subject_of(question)
    looked_up = keys(question.text)
    found: list[Candidate] = []
    for index, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        page = " ".join((block.place.title, *block.place.heading_chain))
        page_terms = frozenset(stems(page))
        text_terms = frozenset(stems(text))
        block_figures = find_figures(f"{page} {block.place.published_at or ''} {text}")
        passages = [p for p in split_passages(text, block.place.context) if p.kind != "table"]
        own = [with_said(wanted, frozenset(stems(_without_arguments(passage)))) for passage in passages]
        is_first = [
            (passage.kind == "sentence" or (passage.kind == "code" and bool(_lead_in(passage))))
            and (not i or passages[i - 1].context != passage.context)
            for i, passage in enumerate(passages)
        ]
        for i, passage in enumerate(passages):
            if passage.kind == "list" and question.kind not in (Kind.LIST, Kind.HOW, Kind.REASON):
                continue
            if passage.kind == "code" and subject:
                continue  # a definition is a sentence
            after = passages[i + 1] if i + 1 < len(passages) else None
            if after is not None and after.kind == "code" and after.start <= passage.start and not subject:
                continue  # the code that it announces is part of it
            context = with_said(wanted, frozenset(stems(passage.context)) | page_terms)
            beside = [] if passage.kind == "row" else [*own[max(0, i - 1) : i], *own[i + 1 : i + 2]]
            near = own[i].union(context, *beside)
            coverage = share(wanted, own[i] | context if passage.kind in _LEANING else own[i], weigh)
            kind = answers_kind(question, passage.shown)
            if subject:
                kind = defines(subject, passage.shown, passage.context or page)
                coverage = max(coverage, kind)  # it speaks of the subject, by whatever part of its name
            elif question.kind is Kind.HOW and passage.kind == "row":
                kind = 1.0 if _COMMAND.fullmatch(first_cell(passage)) else 0.2
            elif question.kind is Kind.HOW and passage.kind == "code" and _lead_in(passage):
                kind = 1.0
            is_keyed = first_cell(passage) in looked_up
            if is_keyed and question.kind is Kind.OTHER:
                kind = 1.0
            score = (
                coverage
                + NEIGHBOUR * share(wanted, near, weigh)
                + PAGE * share(wanted, text_terms | page_terms, weigh)
                + KIND_BONUS * kind
                + RANK_BONUS * _rank_prior(index, block)
                - FIGURE_PENALTY * _figures_missed(question.figures, find_figures(passage.text), block_figures)
            )
            score -= _poverty(passage, question, kind)
            if question.kind is Kind.HOW or (question.kind is Kind.LIST and passage.kind != "sentence"):
                score += HEADED * max(
                    likeness(wanted, heading, weigh) for heading in (*block.place.heading_chain[-1:], passage.context)
                )
            if question.kind is Kind.HOW and (_CALL.match(passage.shown) or (passage.kind == "row" and kind < 1.0)):
                score -= ENTRY
            if question.kind is Kind.LIST and passage.kind in _LISTED:
                score += LISTED * asked_by_heading(wanted, passage, block, weigh)
            score += DEFINES * kind if subject else KEYED if is_keyed else 0.0
            if passage.kind == "code":
                lead = _lead_in(passage)
                said_by_lead = share(wanted, with_said(wanted, frozenset(stems(lead))), weigh)
                score -= max(CODE_ALONE, coverage / 2) if not lead else max(0.0, coverage - said_by_lead) / 2
                score -= CODE_LONG if len(passage.text) > LONG_CODE else 0.0
                score -= CODE_FINE if question.asks_for_figure else 0.0
            if is_first[i]:
                asked = asked_by_heading(wanted, passage, block, weigh)
                if subject or (question.kind is Kind.HOW and not is_question(heading_of(passage, block))):
                    asked *= kind
                score += OPENING * asked
                if not subject and (
                    asked >= ASKED_BY or is_asked_again(question, wanted, heading_of(passage, block), weigh)
                ):
                    score += max(0.0, 1.0 - coverage)
                    coverage = 1.0
            if block.block.language == question.language != language_of(passage.shown):
                score -= OTHER_LANGUAGE
            found.append(Candidate(index, passage, score, coverage, kind, frozenset(wanted) & (own[i] | context)))
    found = _by_nearness(question, found, blocks, nearness)
    return sorted(found, key=lambda c: (-round(c.score, 6), c.block, c.passage.start))


def _by_nearness(
    question: Question, found: list[Candidate], blocks: Sequence[RetrievedBlock], nearness: Nearness | None
) -> list[Candidate]:
    """The candidates, those in another language than the question's with a score that does not go by words."""
    foreign = [c for c in found if blocks[c.block].block.language != question.language][:MOST_FOREIGN]
    if nearness is None or not foreign or blocks[0].block.language == question.language:
        return found  # a page in the question's own language came first: words tell
    near = nearness(question.text, [f"{c.passage.context} {c.passage.shown}".strip() for c in foreign])
    low, high = min(near), max(near)
    subject = subject_of(question)
    score = {
        id(c): c.score
        if subject and c.kind >= 0.4  # a definition is known by its form
        else NEARNESS * (value - low) / ((high - low) or 1.0)
        + (KIND_BONUS + (DEFINES if subject else 0.0)) * c.kind
        + RANK_BONUS * _rank_prior(c.block, blocks[c.block])
        - _poverty(c.passage, question, c.kind)
        - (CODE_FINE if c.passage.kind == "code" and question.asks_for_figure else 0.0)
        for c, value in zip(foreign, near, strict=True)
    }
    return [replace(c, score=score.get(id(c), c.score)) for c in found]


def focused(text: str, weigh: Weigh) -> Weigh:
    """The weights with what a question asks for counted FOCUS times."""
    focus = focus_terms(text)
    return lambda term: weigh(term) * (FOCUS if term in focus else 1.0)


def _without_arguments(passage: Passage) -> str:
    """The text of a passage; `sort(*, key=None, reverse=False): Sort the list` does not speak of reversing."""
    if _CALL.match(passage.shown):
        return _ARGUMENTS.sub("", passage.shown, count=1)
    return passage.text


def _lead_in(passage: Passage) -> str:
    """The sentence before a code block that announces it; empty where none does."""
    return re.split(r"^[ \t]*(?:```|~~~)", passage.text, maxsplit=1, flags=re.MULTILINE)[0]


def _rank_prior(index: int, block: RetrievedBlock) -> float:
    internal = 0.15 if block.place.source_type is SourceType.INTERNAL else 0.0
    return 1.0 / (1 + index) + internal


def _figures_missed(asked: Sequence[Figure], own: list[Figure], around: list[Figure]) -> float:
    """0 where each figure of the question stands in the passage; dearer where the passage has another of the same kind."""
    if not asked:
        return 0.0
    missed = 0.0
    for figure in asked:
        if is_in(figure, own):
            continue
        rivals = [f for f in own if f.kind == figure.kind and (f.year is None) == (figure.year is None)]
        if not is_in(figure, around):
            missed += 1.0
        elif rivals and figure.kind in ("date", "ordinal"):
            missed += 0.6
        else:
            missed += 0.15
    return missed / len(asked)


def _poverty(passage: Passage, question: Question, kind: float) -> float:
    """What a passage loses that answers nothing by its form: a question, a fragment, a lead-in without the thing asked for."""
    text = passage.shown.rstrip("”’\"')）]】 ")
    if text.endswith(("?", "？")) or len(text) < 4 or text.casefold() == question.text.casefold():
        return 0.4
    if _BOILERPLATE.search(text) or text.startswith("^") or _REFERENCES.fullmatch(passage.context.strip()):
        return 0.4
    note = _CHANGE_NOTE.match(text) or _CHANGE_NOTE.match(passage.context)
    if _POINTS.search(text) or (note and not _ON_CHANGE.search(question.text)):
        return 0.3
    if text.count("）") + text.count(")") > text.count("（") + text.count("("):
        return 0.2  # the end of a sentence that is cut
    if text.endswith((":", "：")):
        return 0.05 if kind == 1.0 and question.asks_for_figure else 0.4
    return 0.0
