"""One question: retrieved blocks → an answer whose every sentence is cited and checked, or a refusal with a reason.

Refusal is decided before a model is asked (nothing found, nothing relevant, everything stale) and after (nothing that it said
holds); it is never left to the prompt. The steps that were taken are in the record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kbcite.answer import freshness
from kbcite.answer.assembling import DocumentText
from kbcite.answer.choosing import choose
from kbcite.answer.claims import Similarity
from kbcite.answer.confidence import confidence, less_sure
from kbcite.answer.conflicts import Difference, find_difference
from kbcite.answer.cross_check import CrossCheck, cross_check
from kbcite.answer.drafting import draft_extractive, draft_with_model
from kbcite.answer.freshness import TIME_SENSITIVE, WINDOWS, classify_question
from kbcite.answer.grounding import evidence_of
from kbcite.answer.kinds import ONLY_DATES
from kbcite.answer.llm import Complete
from kbcite.answer.outcomes import Frame, answered, refused, retrieval_of
from kbcite.answer.passage_ranking import Candidate, Nearness, rank_passages
from kbcite.answer.questions import Kind, Question, read_question, subject_of
from kbcite.answer.respelling import respell
from kbcite.answer.unsaid import NEVER, Unsaid, find_unsaid, find_unsaid_across
from kbcite.answer.weights import Weigh, idf_over
from kbcite.answer.wording import respelt_notice
from kbcite.patterns import pattern
from kbcite.records import Answer, RefusalReason, RetrievedBlock
from kbcite.words import language_of

WELL_SAID = 0.5
"""A passage that says this share of the question itself is shown, however low the cosines: in a store of a few pages they
say little."""
SAID_TRUST = 0.8
"""What the share of the question that a passage says is worth as confidence."""
LACKED = 1.0
"""Share of a question that counts as unsaid where the figure, date or name that it asks for is not there."""
RIVALS = 12
RIVAL_SCORE = 0.7
"""Where the chosen passages leave too much unsaid, the first RIVALS others of at least this share of the best score are tried."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    max_sentences: int = 3
    """Of an extractive answer."""
    threshold: float = 0.45
    """What `RetrievedBlock.dropped` was decided by; goes into the record."""
    min_confidence: float = 0.1
    """Below this confidence an extractive answer is a refusal; a model may still find what words and cosine do not show.
    0 answers from any passage, whatever of the question it leaves unsaid."""
    min_coverage: float = 0.8
    max_quote_chars: int = 600
    question_class: str | None = None
    """A caller's own class; None leaves it to the rules."""
    windows: tuple[tuple[str, int | None], ...] = tuple(WINDOWS.items())
    time_sensitive: frozenset[str] = TIME_SENSITIVE
    """Classes that stale evidence does not answer."""
    is_high_risk: bool = False
    """Two or three sources are compared, and the outcome is said."""
    model: str = ""
    """The name that goes into the record; used only where there is a model."""


def answer(
    question: str,
    retrieved: Sequence[RetrievedBlock],
    options: AnswerOptions,
    *,
    now: str,
    answer_id: str,
    trace_id: str,
    complete: Complete | None = None,
    delimiter: str = "",
    document_text: DocumentText | None = None,
    weigh: Weigh | None = None,
    similarity: Similarity | None = None,
    nearness: Nearness | None = None,
) -> Answer:
    """The answer record: answered with numbered sources, or refused.

    retrieved: best first; those with `dropped` set are counted and not used. complete: a model, or None for the extractive
    answer. delimiter: a random word for this request, needed with a model. document_text: for deep links and exactness.
    weigh: term weights of the whole collection. nearness: ranks passages in another language than the question's. Raises what `complete` raises.
    """
    read = read_question(question)
    used = [block for block in retrieved if block.dropped is None]
    question_class = options.question_class or classify_question(question)
    window_s = dict(options.windows)[question_class]
    retrieval = retrieval_of(retrieved, options.threshold)
    frame = Frame(answer_id, trace_id, now, read, retrieval, question_class, window_s)
    if not retrieved:
        return refused(frame, RefusalReason.EMPTY_RECALL, ("nothing was found",))
    if not used:
        return refused(frame, RefusalReason.BELOW_THRESHOLD, ("no block is relevant enough",))
    path: tuple[str, ...] = ()
    stale: list[RetrievedBlock] = []
    if question_class in options.time_sensitive:
        fresh = [b for b in used if not freshness.is_stale(b.place, window_s, now)]
        if not fresh:
            return refused(frame, RefusalReason.STALE_ONLY, ("every block is older than the window",), stale=used)
        if stale := [block for block in used if block not in fresh]:
            path = (f"left out {len(stale)} stale blocks",)
        used = fresh

    weigh = weigh or idf_over([evidence_of(block) for block in retrieved])
    text, mended = respell(question, "\n".join(evidence_of(block) for block in retrieved))
    asked = read_question(text) if mended else read
    evidence = _read_evidence(asked, used, options, weigh, nearness)
    if complete is None:
        outcome = _extract(frame, evidence, retrieved, options, weigh, nearness)
        foreign = [block for block in used if block.block.language != read.language]
        if isinstance(outcome, Answer) and 0 < len(foreign) < len(used) and nearness is not None:
            # What its own language does not say, another one may.
            evidence = _read_evidence(asked, foreign, options, weigh, nearness)
            other = _extract(frame, evidence, retrieved, options, weigh, nearness)
            outcome = other if not isinstance(other, Answer) else outcome
        if isinstance(outcome, Answer):
            older = _read_evidence(asked, stale, options, weigh, nearness) if stale else None
            if older and not isinstance(_extract(frame, older, retrieved, options, weigh, nearness), Answer):
                told = (*path, "what answers is older than the window")
                return refused(frame, RefusalReason.STALE_ONLY, told, stale=stale)
            return outcome
        chosen, sure = outcome
        draft = draft_extractive(chosen, evidence.used, weigh, similarity)
    else:
        sure = evidence.sure
        draft = draft_with_model(question, read.language, used, complete, delimiter, now, weigh, similarity)
    draft = replace(draft, path=(*path, *draft.path))
    if not any(statement.is_factual for statement in draft.statements):
        return replace(
            refused(frame, RefusalReason.CITATION_CHECK_FAILED, draft.path, retries=draft.retries, confidence=sure),
            usage=draft.usage,
            method=options.model if complete else "extractive",
        )
    said = answered(
        frame,
        draft,
        sure,
        evidence.used,
        evidence.difference,
        evidence.checked,
        weigh,
        document_text,
        max_quote_chars=options.max_quote_chars,
        min_coverage=options.min_coverage,
        method=options.model if complete else "extractive",
    )
    notices = [respelt_notice(word, other, read.language) for word, other in mended]
    return replace(said, notices=(*notices, *said.notices))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the blocks say of a question."""

    question: Question
    used: Sequence[RetrievedBlock]
    ranked: Sequence[Candidate]
    sure: float
    difference: Difference | None
    checked: CrossCheck | None


def _read_evidence(
    question: Question,
    used: Sequence[RetrievedBlock],
    options: AnswerOptions,
    weigh: Weigh,
    nearness: Nearness | None,
) -> _Evidence:
    ranked = rank_passages(question, used, weigh, nearness)
    sure = round(confidence(question, ranked, used), 4)
    checked = cross_check(question, ranked, used) if options.is_high_risk else None
    # What a thing is, is told in other words on every page; and what a cross-check says, it says of the same values.
    is_compared = checked is None and not subject_of(question)
    difference = find_difference(question, ranked, used, weigh) if is_compared else None
    return _Evidence(question, used, ranked, sure, difference, checked)


def _extract(
    frame: Frame,
    evidence: _Evidence,
    retrieved: Sequence[RetrievedBlock],
    options: AnswerOptions,
    weigh: Weigh,
    nearness: Nearness | None,
) -> tuple[list[Candidate], float] | Answer:
    """The passages that make the answer and how sure it is, or the refusal where they do not answer."""
    ranked, used, sure, checked = evidence.ranked, evidence.used, evidence.sure, evidence.checked
    if not ranked or (sure < options.min_confidence and ranked[0].coverage < WELL_SAID):
        return refused(
            frame,
            RefusalReason.BELOW_THRESHOLD,
            ("no passage answers it",),
            confidence=sure,
            best=sure,
            needed=options.min_confidence,
        )
    chosen = choose(evidence.question, ranked, used, weigh, options.max_sentences, nearness)
    # In a store of a few pages the cosines are low whatever is asked: then what the passage says speaks for it.
    trust = max(sure, SAID_TRUST * ranked[0].coverage)
    chosen, unsaid = _that_say_it(evidence.question, chosen, ranked, used, retrieved, trust, weigh)
    sure = round(less_sure(sure, unsaid.share), 4)
    if options.min_confidence and trust < unsaid.needed:
        words = ", ".join(unsaid.words) or "what is asked for"
        return refused(
            frame,
            RefusalReason.BELOW_THRESHOLD,
            (f"no passage says: {words}",),
            confidence=sure,
            best=round(trust, 4),
            needed=min(1.0, unsaid.needed),
            unsaid=unsaid.words,
        )
    if checked is not None and checked.agreeing:
        first = checked.agreeing[0].candidate
        chosen = [first, *(c for c in chosen if c not in [v.candidate for v in checked.differing] and c != first)]
    if difference := evidence.difference:
        chosen = [difference.preferred, *(c for c in chosen if c not in (difference.preferred, difference.other))]
    return chosen[: options.max_sentences], sure


def _that_say_it(
    question: Question,
    chosen: list[Candidate],
    ranked: Sequence[Candidate],
    used: Sequence[RetrievedBlock],
    retrieved: Sequence[RetrievedBlock],
    trust: float,
    weigh: Weigh,
) -> tuple[list[Candidate], Unsaid]:
    """The chosen passages, or else the first good one of another block, of which enough says what the question says.

    With what the first of them leaves unsaid; in another language only names and figures can be looked for.
    """
    everything = "\n".join(evidence_of(block) for block in retrieved)
    if language_of(chosen[0].passage.text) != question.language:
        evidence = [evidence_of(used[c.block]) for c in chosen]
        lacks = _lacks_what_is_asked(question, chosen)
        return chosen, Unsaid((), NEVER, LACKED) if lacks else find_unsaid_across(question, evidence, everything)
    first: Unsaid | None = None
    rivals = [[c] for c in ranked[:RIVALS] if c.block != chosen[0].block and c.score >= RIVAL_SCORE * ranked[0].score]
    for candidates in (chosen, *rivals):
        if language_of(candidates[0].passage.text) != question.language:
            continue
        # One thing is said by one page: what others say beside it does not make it the answer.
        pages = {used[c.block].place.url for c in (candidates if question.is_joined else candidates[:1])}
        evidence = [evidence_of(used[c.block]) for c in candidates if used[c.block].place.url in pages]
        if _lacks_what_is_asked(question, candidates):
            unsaid = Unsaid((), NEVER, LACKED)
        else:
            unsaid = find_unsaid(question, [c.passage.text for c in candidates], evidence, everything, weigh)
        if trust >= unsaid.needed:
            return candidates, unsaid
        first = first or unsaid
    return chosen, first or Unsaid((), 0.0)


def _lacks_what_is_asked(question: Question, candidates: Sequence[Candidate]) -> bool:
    """True where a price, a number, a date or a name is asked for and none is there; a time is often told without figures."""
    best = max(c.kind for c in candidates)
    if question.kind is Kind.PRICE:
        return best < 1.0
    if question.kind is Kind.TIME:
        return best == 0.0 and bool(_WHAT_DATE.search(question.text)) and not _in_words(candidates)
    if question.kind is Kind.PERSON:
        return best == 0.0 and bool(_WHICH_PERSON.search(question.text))
    counted = question.kind is Kind.QUANTITY and _HOW_MANY.search(question.text)
    return bool(counted) and best <= ONLY_DATES and not _in_words(candidates)


def _in_words(candidates: Sequence[Candidate]) -> bool:
    return any(_COUNTS.search(c.passage.shown) for c in candidates)


_HOW_MANY = pattern(r"(?<!多大程度)多少|几|\bhow many\b", re.IGNORECASE)
_WHICH_PERSON = pattern(r"(?<![位构司门方队军国])是谁|谁是|(?:导演|主演|编剧|作者|主席|总统|总理|首相)[？?]*$")
"""Asks for the name of a person; `管理单位是谁`, and `谁` alone, may be a firm or an army."""
_WHAT_DATE = pattern(
    r"时间(?:是什么时候)?[？?]?$|日期|哪一?[年天日]|几[月号]|何时.*的[？?]?$|什么时候.*的[？?]?$"
    r"|\b(?:what|which) (?:year|date|day|month)\b|^when (?:was|were|did)\b",
    re.IGNORECASE,
)
"""Asks for a date, not under which conditions."""
_COUNTS = pattern(
    r"[一二两三四五六七八九十百千万亿半数几多][个名位人次年天座种项届家条集岁枚块只部场级层成分倍]|一半|多数|少数|没有|无数|许多|大量"
    r"|\b(?:many|several|few|none|no|half|most|all|every|dozens?|hundreds?|thousands?|[mb]illions?|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|once|twice|double|single)\b",
    re.IGNORECASE,
)
"""Numbers in words."""


def refuse(
    question: str,
    reason: RefusalReason,
    *,
    now: str,
    answer_id: str,
    trace_id: str,
    threshold: float = 0.0,
    retrieved: Sequence[RetrievedBlock] = (),
    path: tuple[str, ...] = (),
    question_class: str | None = None,
    window_s: int | None = None,
) -> Answer:
    """A refusal that no evidence decides: a domain that is not allowed, labels that hide everything.

    question_class, window_s: the caller's own; without a class the rules say both.
    """
    read = read_question(question)
    if question_class is None:
        by_rule = classify_question(question)
        question_class, window_s = by_rule, WINDOWS[by_rule]
    retrieval = retrieval_of(retrieved, threshold)
    return refused(Frame(answer_id, trace_id, now, read, retrieval, question_class, window_s), reason, path)
