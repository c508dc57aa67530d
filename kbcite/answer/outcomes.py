"""The record of an outcome: an answer made of a draft, or a refusal, with what a reader must know beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.answer import freshness
from kbcite.answer.assembling import DocumentText, assemble
from kbcite.answer.claims import ClaimCheck
from kbcite.answer.conflicts import Difference
from kbcite.answer.cross_check import DISAGREE, CheckedValue, CrossCheck
from kbcite.answer.drafting import Draft
from kbcite.answer.grounding import Statement, coverage, support
from kbcite.answer.questions import Question
from kbcite.answer.weights import Weigh
from kbcite.answer.wording import (
    CONFLICT_NOTICE,
    LIVE_NOTICE,
    cross_check_sentence,
    difference_sentence,
    low_coverage_notice,
    newest_notice,
    refusal_message,
    stale_notice,
    unsaid_notice,
)
from kbcite.records import (
    Answer,
    Conflict,
    Freshness,
    Grounding,
    Refusal,
    RefusalReason,
    Retrieval,
    RetrievedBlock,
    Source,
    SourceType,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """What every outcome of one question shares."""

    id: str
    trace_id: str
    now: str
    question: Question
    retrieval: Retrieval
    question_class: str
    window_s: int | None


def retrieval_of(retrieved: Sequence[RetrievedBlock], threshold: float) -> Retrieval:
    """How many candidates there were, and what became of them."""
    scores = [block.scores.relevance for block in retrieved]
    used = sum(block.dropped is None for block in retrieved)
    return Retrieval(
        len(scores), sum(score >= threshold for score in scores), used, threshold, max(scores, default=None)
    )


def refused(
    frame: Frame,
    reason: RefusalReason,
    path: tuple[str, ...],
    stale: Sequence[RetrievedBlock] = (),
    retries: int = 0,
    confidence: float | None = None,
    best: float | None = None,
    needed: float | None = None,
    unsaid: tuple[str, ...] = (),
) -> Answer:
    """The refusal. best and needed: the number that decided and its bar, where it was not the relevance of the blocks."""
    language = frame.question.language
    newest = max((block.place.published_at or block.place.fetched_at for block in stale), default=None)
    message = refusal_message(reason, language)
    notices: tuple[str, ...] = (newest_notice(newest[:10], language),) if newest else ()
    if unsaid:
        notices += (unsaid_notice(unsaid, language),)
    if needed is None:
        best = frame.retrieval.best_score
        needed = frame.retrieval.threshold if reason is RefusalReason.BELOW_THRESHOLD else None
    person = reason in (RefusalReason.NO_PERMISSION, RefusalReason.CITATION_CHECK_FAILED)
    return Answer(
        id=frame.id,
        trace_id=frame.trace_id,
        created_at=frame.now,
        question=frame.question.text,
        lang=language,
        text=message,
        claims=(),
        sources=(),
        grounding=Grounding(0.0, 0.0, retries, 0, (*path, f"refused: {reason.value}"), confidence),
        retrieval=frame.retrieval,
        freshness=Freshness(str(frame.question_class), frame.window_s, newest),
        refusal=Refusal(reason, message, best, "human" if person else "clarify", needed),
        notices=notices,
    )


def answered(
    frame: Frame,
    draft: Draft,
    sure: float,
    used: Sequence[RetrievedBlock],
    difference: Difference | None,
    checked: CrossCheck | None,
    weigh: Weigh,
    document_text: DocumentText | None,
    *,
    max_quote_chars: int,
    min_coverage: float,
    method: str,
) -> Answer:
    """The answer that a draft makes, with what the sources say differently and what a reader must know beside it."""
    language = frame.question.language
    statements = list(draft.statements)
    said = _difference_statement(difference, statements, language) if difference else None
    if said:
        statements.append(said)
    if checked is not None:
        statements.append(_checked_statement(checked, statements, language))
    assembled = assemble(statements, used, frame.now, max_quote_chars, weigh, document_text)
    conflicts: tuple[Conflict, ...] = ()
    if difference and said:
        numbers = assembled.numbers[-1]
        values = tuple(zip(difference.values, (numbers[0], numbers[-1]), strict=True))
        conflicts = (Conflict(frame.question.text, values, difference.reason),)
    if checked is not None:
        values = tuple(zip((value.text for value in _values_of(checked)), assembled.numbers[-1], strict=True))
        conflicts = (Conflict(frame.question.text, values, checked.ruling),) if checked.differing else ()
    share = coverage(statements)
    fresh = freshness.report(assembled.sources, frame.question_class, frame.window_s, frame.now)
    return Answer(
        id=frame.id,
        trace_id=frame.trace_id,
        created_at=frame.now,
        question=frame.question.text,
        lang=language,
        text=assembled.text,
        claims=assembled.claims,
        sources=assembled.sources,
        grounding=Grounding(
            round(share, 4), round(support(statements), 4), draft.retries, draft.dropped_markers, draft.path, sure
        ),
        retrieval=frame.retrieval,
        freshness=fresh,
        conflicts=conflicts,
        method=method,
        usage=draft.usage,
        notices=(
            *([CONFLICT_NOTICE[language]] if checked is not None and checked.ruling == DISAGREE else []),
            *_notices(assembled.sources, fresh, frame.now, share, min_coverage, language),
        ),
    )


def _difference_statement(difference: Difference, statements: Sequence[Statement], language: str) -> Statement:
    """The sentence that says that sources differ, citing both."""
    preferred, other = difference.preferred, difference.other
    return Statement(
        difference_sentence(difference.values, difference.reason, language),
        (preferred.block, other.block),
        "\n" if statements else "",
        check=ClaimCheck(Verdict.SUPPORTED, 1.0, (("conflict", "stated"),)),
        spans=tuple((c.block, c.passage.start, c.passage.end) for c in (preferred, other)),
    )


def _values_of(checked: CrossCheck) -> tuple[CheckedValue, ...]:
    return (*checked.agreeing, *checked.differing)


def _checked_statement(checked: CrossCheck, statements: Sequence[Statement], language: str) -> Statement:
    """The sentence that says what comparing the sources gave, citing each of them."""
    agreed = checked.agreeing[0].text if checked.agreeing else ""
    others = [value.text for value in checked.differing]
    candidates = [value.candidate for value in _values_of(checked)]
    return Statement(
        cross_check_sentence(agreed, checked.count, others, language),
        tuple(c.block for c in candidates),
        "\n" if statements else "",
        check=ClaimCheck(Verdict.SUPPORTED, 1.0, (("cross_check", "agree" if agreed else "differ"),)),
        spans=tuple((c.block, c.passage.start, c.passage.end) for c in candidates),
    )


def _notices(
    sources: Sequence[Source], fresh: Freshness, now: str, share: float, min_coverage: float, language: str
) -> tuple[str, ...]:
    found = []
    if any(source.source_type is SourceType.LIVE for source in sources):
        found.append(LIVE_NOTICE[language])
        found.extend(
            newest_notice((source.published_at or source.fetched_at)[:10], language)
            for source in sources[:1]
            if source.source_type is SourceType.LIVE
        )
    if freshness.is_old_news(fresh, now) and fresh.newest_source:
        found.append(newest_notice(fresh.newest_source[:10], language))
    if fresh.stale_sources:
        found.append(stale_notice(fresh.stale_sources, language))
    if share < min_coverage:
        found.append(low_coverage_notice(share, language))
    return tuple(found)
