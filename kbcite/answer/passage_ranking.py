"""The passages of the retrieved blocks, best first: no model needed (SPEC 48).

A passage is scored by how much of the question it says itself (idf-weighted terms), then by how much its neighbours,
its headings and its page say, by whether it holds the kind of thing asked for (a figure, a date, a person), by how well its
block was ranked, and by whether its years and amounts agree with the question's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
from kbcite.answer.kinds import CANNOT, answers_kind
from kbcite.answer.passages import Passage, first_cell, split_passages
from kbcite.answer.questions import FOCUS, Kind, Question, asks_default, defines, focus_terms, keys, subject_of
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
REFERRED = 0.6
"""What the words of the sentence before count for one that refers back to it.

Of 432 questions each over English and Chinese paragraphs that one sentence is to answer, 4 and 5 more get the right one with .6,
3 and 4 with .8, no more English ones with .3 (`python -m tests.bench.qa_run answers DATA OUT xquad_en xquad_zh`).
"""
ENTRY = 0.2
"""What the entry of one function in a reference, a row without a command, or what cannot be done loses where it is asked how."""
GOES_ON = 0.1
"""What a sentence loses that goes on with a definition: the first one says what the thing is or does."""
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
_REFERS_BACK = pattern(
    r"(?:[A-Z][a-z]+, |(?:and|but|however|thus|later|also),? )?(?:it|its|this|these|they|their|he|his|she|her|such|both)\b"
    r"|(?:\w+ ){1,3}(?:these|this|those|it|them)\b"
    r"|[^，。]{0,6}(?:[这该它她他]|其(?![中次他它实余])|(?<![因如除])此(?![前外后时]))",
    re.IGNORECASE,
)
"""`It is also known as …`, `Most of these …`: what it speaks of stands in the sentence before."""
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
    asked = _Asked(question, wanted_terms(question), weigh, subject_of(question), keys(question.text))
    found = [
        candidate
        for index, block in enumerate(blocks)
        for candidate in _candidates(asked, _read_block(asked, index, block))
    ]
    found = _by_nearness(question, found, blocks, nearness)
    return sorted(found, key=lambda c: (-round(c.score, 6), c.block, c.passage.start))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is looked for."""

    question: Question
    wanted: Sequence[str]
    weigh: Weigh
    subject: str
    """What is to be defined; empty where something else is asked."""
    looked_up: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Read:
    """A block, taken apart."""

    index: int
    block: RetrievedBlock
    page: str
    """Title and headings."""
    page_terms: frozenset[str]
    all_terms: frozenset[str]
    figures: list[Figure]
    passages: list[Passage]
    said: list[frozenset[str]]
    """What each passage says itself."""


def _read_block(asked: _Asked, index: int, block: RetrievedBlock) -> _Read:
    text = block.place.text or block.block.text
    page = " ".join((block.place.title, *block.place.heading_chain))
    page_terms = frozenset(stems(page))
    passages = [p for p in split_passages(text, block.place.context) if p.kind != "table"]
    return _Read(
        index,
        block,
        page,
        page_terms,
        page_terms.union(stems(text)),
        find_figures(f"{page} {block.place.published_at or ''} {text}"),
        passages,
        [with_said(asked.wanted, frozenset(stems(_without_arguments(passage)))) for passage in passages],
    )


def _candidates(asked: _Asked, read: _Read) -> Iterator[Candidate]:
    question, subject, passages = asked.question, asked.subject, read.passages
    for i, passage in enumerate(passages):
        if passage.kind == "list" and question.kind not in (Kind.LIST, Kind.HOW, Kind.REASON):
            continue
        if passage.kind == "code" and subject:
            continue  # a definition is a sentence
        after = passages[i + 1] if i + 1 < len(passages) else None
        if after is not None and after.kind == "code" and after.start <= passage.start and not subject:
            continue  # the code that it announces is part of it
        yield _candidate(asked, read, i)


def _candidate(asked: _Asked, read: _Read, i: int) -> Candidate:
    """The passage with its score: what it says, what stands around it, and how it says it."""
    question, wanted, weigh, passage = asked.question, asked.wanted, asked.weigh, read.passages[i]
    context = with_said(wanted, frozenset(stems(passage.context)) | read.page_terms)
    beside = [] if passage.kind == "row" else [*read.said[max(0, i - 1) : i], *read.said[i + 1 : i + 2]]
    coverage = share(wanted, read.said[i] | context if passage.kind in _LEANING else read.said[i], weigh)
    if i and _refers_back(passage, read.passages[i - 1]) and _kind_of(asked, read, read.passages[i - 1]) < 1.0:
        coverage += REFERRED * (share(wanted, read.said[i] | read.said[i - 1], weigh) - coverage)
    is_keyed = first_cell(passage) in asked.looked_up
    kind = 1.0 if is_keyed and question.kind is Kind.OTHER else _kind_of(asked, read, passage)
    if asked.subject:
        coverage = max(coverage, kind)  # it speaks of the subject, by whatever part of its name
    score = (
        coverage
        + NEIGHBOUR * share(wanted, read.said[i].union(context, *beside), weigh)
        + PAGE * share(wanted, read.all_terms, weigh)
        + KIND_BONUS * kind
        + RANK_BONUS * _rank_prior(read.index, read.block)
        - FIGURE_PENALTY * _figures_missed(question.figures, find_figures(passage.text), read.figures)
        + (DEFINES * kind if asked.subject else KEYED if is_keyed and (kind or not question.asks_for_figure) else 0.0)
        + _under_its_heading(asked, read, passage)
        - _poverty(passage, question, kind)
        - _fine_for_form(asked, passage, coverage, kind)
    )
    if _opens_its_section(read, i):
        heading = heading_of(passage, read.block)
        by_heading = asked_by_heading(wanted, passage, read.block, weigh)
        if asked.subject or (question.kind is Kind.HOW and not is_question(heading)):
            by_heading *= kind
        score += OPENING * by_heading
        if not asked.subject and (by_heading >= ASKED_BY or is_asked_again(question, wanted, heading, weigh)):
            score += max(0.0, 1.0 - coverage)
            coverage = 1.0
    if read.block.block.language == question.language != language_of(passage.shown):
        score -= OTHER_LANGUAGE
    return Candidate(read.index, passage, score, coverage, kind, frozenset(wanted) & (read.said[i] | context))


def _refers_back(passage: Passage, before: Passage) -> bool:
    """True for a sentence that speaks of what the one before it names."""
    is_pair = passage.kind == before.kind in ("sentence", "item") and passage.context == before.context
    return is_pair and bool(_REFERS_BACK.match(passage.shown))


def _kind_of(asked: _Asked, read: _Read, passage: Passage) -> float:
    """How far the passage holds the kind of thing that is asked for, 0 to 1."""
    if asked.subject:
        said = passage.text if passage.term else passage.shown
        return defines(asked.subject, said, passage.context or read.page)
    if asked.question.kind is Kind.HOW and passage.kind == "row":
        return 1.0 if _COMMAND.fullmatch(first_cell(passage)) else 0.2
    if asked.question.kind is Kind.HOW and passage.kind == "code" and _lead_in(passage):
        return 1.0
    return answers_kind(asked.question, passage.shown)


def _under_its_heading(asked: _Asked, read: _Read, passage: Passage) -> float:
    """What a passage gains by the heading that it stands under."""
    kind, gain = asked.question.kind, 0.0
    if kind is Kind.HOW or (kind is Kind.LIST and passage.kind != "sentence"):
        headings = (*read.block.place.heading_chain[-1:], passage.context)
        gain += HEADED * max(likeness(asked.wanted, heading, asked.weigh) for heading in headings)
    if kind is Kind.LIST and passage.kind in _LISTED:
        gain += LISTED * asked_by_heading(asked.wanted, passage, read.block, asked.weigh)
    return gain


def _fine_for_form(asked: _Asked, passage: Passage, coverage: float, kind: float) -> float:
    """What the entries of a reference and code lose."""
    fine = 0.0
    is_entry = _CALL.match(passage.shown) or (passage.kind == "row" and kind < 1.0)
    if asked.question.kind is Kind.HOW and (is_entry or kind == CANNOT):
        fine += ENTRY
    if passage.term:
        fine += GOES_ON
    if passage.kind == "code":
        lead = _lead_in(passage)
        by_lead = share(asked.wanted, with_said(asked.wanted, frozenset(stems(lead))), asked.weigh)
        fine += max(CODE_ALONE, coverage / 2) if not lead else max(0.0, coverage - by_lead) / 2
        fine += CODE_LONG if len(passage.text) > LONG_CODE else 0.0
        fine += CODE_FINE if asked.question.asks_for_figure or asks_default(asked.question) else 0.0
    return fine


def _opens_its_section(read: _Read, i: int) -> bool:
    passage = read.passages[i]
    if passage.kind != "sentence" and not (passage.kind == "code" and _lead_in(passage)):
        return False
    return not i or read.passages[i - 1].context != passage.context


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
    if passage.term:
        return f"{passage.term} {passage.text}"  # what a definition goes on to say, it says of the same thing
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
