"""One answer and its trace as spans, the way monitoring tools see a request: steps with their times, sizes and outcomes.

They hold no text of a page, a question or an answer: lengths, codes, numbers and addresses, these without user, query and fragment. The
trace's ID is the answer's, so that `kbcite trace ID` tells the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kbcite.answer.trace import LiveTrace, Trace, TracedCandidate, TracedFetch
from kbcite.records import Answer, Claim

MAX_CANDIDATES = 20
Value = str | bool | int | float | tuple[str, ...]
Attributes = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Span:
    """A step; times in milliseconds from the start of the question."""

    name: str
    began_ms: float
    ended_ms: float
    attributes: Attributes
    events: tuple[tuple[str, Attributes], ...] = ()
    """(name, attributes) of what happened in it."""
    below: tuple[Span, ...] = field(default=())


def spans_of(answer: Answer, trace: Trace | None) -> Span:
    """The span of a whole answer, with those of its steps below."""
    timing = dict(answer.timing_ms)
    total = timing.get("total", 0.0)
    live = trace.live if trace else None
    steps = [_retrieval(answer, trace, live, timing.get("retrieve", 0.0))]
    if live is not None and live.fetches:
        steps.append(_look(answer, live))
    steps.append(_wording(answer, total - timing.get("answer", 0.0), total))
    return Span("kbcite ask", 0.0, total, _kept(_about(answer, trace)), below=tuple(steps))


def _about(answer: Answer, trace: Trace | None) -> dict[str, Value | None]:
    fresh, live = answer.freshness, trace.live if trace else None
    about: dict[str, Value | None] = {
        "kbcite.answer.id": answer.id,
        "kbcite.answer.status": answer.status,
        "kbcite.answer.length": len(answer.text),
        "kbcite.answer.sources": len(answer.sources),
        "kbcite.answer.conflicts": len(answer.conflicts),
        "kbcite.answer.refusal": answer.refusal.reason.value if answer.refusal else None,
        "kbcite.question.length": len(answer.question),
        "kbcite.question.language": answer.lang,
        "kbcite.question.kind": trace.kind if trace else None,
        "kbcite.question.class": fresh.question_class,
        "kbcite.question.window_s": fresh.window_s,
    }
    if live is not None:
        about |= {
            # Behind the comma stands what a model said instead of a class.
            "kbcite.question.class_by": live.class_by.partition(",")[0],
            "kbcite.live.way": live.way,
            "kbcite.live.triggers": tuple(trigger.partition(":")[0] for trigger in live.triggers),
            "kbcite.live.disbelieved": len(live.invalid),
            "kbcite.live.refused": len(live.refused),
        }
    return about


def _retrieval(answer: Answer, trace: Trace | None, live: LiveTrace | None, took_ms: float) -> Span:
    row = answer.retrieval
    began, ended = live.retrieval_ms if live else (0.0, took_ms)
    attributes = {
        "kbcite.retrieval.candidates": row.candidates,
        "kbcite.retrieval.above_threshold": row.above_threshold,
        "kbcite.retrieval.used": row.used,
        "kbcite.retrieval.threshold": row.threshold,
        "kbcite.retrieval.best_score": row.best_score,
    }
    candidates = trace.candidates[:MAX_CANDIDATES] if trace else ()
    return Span("retrieve", began, ended, _kept(attributes), tuple(("candidate", _candidate(c)) for c in candidates))


def _candidate(candidate: TracedCandidate) -> Attributes:
    return _kept(
        {
            "kbcite.block.id": candidate.block_id,
            "url.full": _bare(candidate.url),
            "kbcite.candidate.relevance": candidate.scores.relevance,
            "kbcite.candidate.dropped": candidate.dropped,
            "kbcite.candidate.cited_as": tuple(str(n) for n in candidate.cited_as),
        }
    )


def _look(answer: Answer, live: LiveTrace) -> Span:
    use = answer.freshness.live
    attributes = {"kbcite.live.outcome": use.outcome if use else None, "kbcite.live.overlap_ms": live.overlap_ms}
    fetched = [fetch for fetch in live.fetches if fetch.way == "fetch"]
    began = min((fetch.began_ms for fetch in fetched), default=live.retrieval_ms[1])
    ended = use.elapsed_ms if use else max((fetch.ended_ms for fetch in fetched), default=began)
    return Span("look at pages", began, ended, _kept(attributes), below=tuple(_fetch(f, began) for f in live.fetches))


def _fetch(fetch: TracedFetch, began_ms: float) -> Span:
    is_pooled = fetch.way == "pool"
    attributes: dict[str, Value | None] = {
        "url.full": _bare(fetch.url),
        "kbcite.fetch.way": fetch.way,
        "kbcite.fetch.why": fetch.why.partition(" http")[0],
        "kbcite.fetch.outcome": fetch.outcome,
        "kbcite.fetch.is_used": fetch.is_used,
    }
    times = (began_ms, began_ms) if is_pooled else (fetch.began_ms, fetch.ended_ms)
    return Span("read from the pool" if is_pooled else "fetch", *times, _kept(attributes))


def _wording(answer: Answer, began_ms: float, ended_ms: float) -> Span:
    grounding = answer.grounding
    attributes: dict[str, Value | None] = {
        "kbcite.answer.method": answer.method,
        "kbcite.answer.claims": len(answer.claims),
        "kbcite.grounding.coverage": grounding.coverage,
        "kbcite.grounding.support": grounding.support,
        "kbcite.grounding.confidence": grounding.confidence,
        "kbcite.grounding.retries": grounding.retries,
        "kbcite.grounding.dropped_markers": grounding.dropped_markers,
        **{f"kbcite.usage.{name}": count for name, count in answer.usage},
    }
    return Span("answer", began_ms, ended_ms, _kept(attributes), tuple(("check", _check(c)) for c in answer.claims))


def _check(claim: Claim) -> Attributes:
    return {
        "kbcite.claim.length": claim.end - claim.start,
        "kbcite.claim.verdict": claim.verdict.value,
        "kbcite.claim.score": claim.score,
        "kbcite.claim.sources": tuple(str(marker.n) for marker in claim.markers),
    }


def _kept(attributes: Mapping[str, Value | None]) -> Attributes:
    """The attributes that have a value; spans know no null."""
    return {name: value for name, value in attributes.items() if value is not None}


def _bare(url: str) -> str:
    """The address without what may be secret in it: user, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
