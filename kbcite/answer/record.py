"""An Answer as the JSON record `kbcite.answer/1`, and back; the schema ships beside this file (answer.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from kbcite.errors import UsageError
from kbcite.records import (
    Answer,
    Claim,
    Conflict,
    Freshness,
    Grounding,
    LiveUse,
    Marker,
    PageState,
    Quote,
    Refusal,
    RefusalReason,
    Retrieval,
    Scores,
    SnapshotReference,
    Source,
    SourceType,
    Verdict,
)

SCHEMA = "kbcite.answer/1"


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the record."""
    text = files("kbcite.answer").joinpath("answer.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def to_record(answer: Answer) -> dict[str, Any]:
    """The record of an answer, ready for `json.dumps`; offsets are code points of `answer.text`."""
    freshness = answer.freshness
    return {
        "schema": SCHEMA,
        "id": answer.id,
        "trace_id": answer.trace_id,
        "created_at": answer.created_at,
        "question": answer.question,
        "lang": answer.lang,
        "status": answer.status,
        "method": answer.method,
        "answer": {"text": answer.text, "claims": [_claim(claim) for claim in answer.claims]},
        "sources": {
            "internal": [_source(s) for s in answer.sources if s.source_type is SourceType.INTERNAL],
            "web": [_source(s) for s in answer.sources if s.source_type is not SourceType.INTERNAL],
        },
        "conflicts": [
            {
                "what": conflict.what,
                "values": [{"value": value, "n": n} for value, n in conflict.values],
                "ruling": conflict.ruling,
            }
            for conflict in answer.conflicts
        ],
        "grounding": {
            "coverage": answer.grounding.coverage,
            "support": answer.grounding.support,
            "retries": answer.grounding.retries,
            "dropped_markers": answer.grounding.dropped_markers,
            "path": list(answer.grounding.path),
            "confidence": answer.grounding.confidence,
        },
        "freshness": {
            "class": freshness.question_class,
            "window_s": freshness.window_s,
            "newest_source": freshness.newest_source,
            "stale_sources": list(freshness.stale_sources),
            **({"live": _live(freshness.live)} if freshness.live else {}),
        },
        "retrieval": {
            "candidates": answer.retrieval.candidates,
            "above_threshold": answer.retrieval.above_threshold,
            "used": answer.retrieval.used,
            "threshold": answer.retrieval.threshold,
            "best_score": answer.retrieval.best_score,
        },
        "usage": dict(answer.usage),
        "timing_ms": dict(answer.timing_ms),
        "notices": list(answer.notices),
        "refusal": _refusal(answer.refusal) if answer.refusal else None,
    }


def from_record(record: Mapping[str, Any]) -> Answer:
    """The answer that a record holds. Raises UsageError for a record of another schema or with parts missing."""
    if record.get("schema") != SCHEMA:
        raise UsageError(f"the record says schema {record.get('schema')!r}, not {SCHEMA!r}; save it with `ask --json`")
    try:
        return _answer(record)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"the record is not a whole {SCHEMA} answer: {error!r}; save it again with `ask --json`"
        ) from error


def _live(use: LiveUse) -> dict[str, Any]:
    return {
        "triggered": use.triggered,
        "why": list(use.why),
        "urls": list(use.urls),
        "elapsed_ms": use.elapsed_ms,
        "outcome": use.outcome,
        "filters": list(use.filters),
    }


def _read_live(row: Mapping[str, Any]) -> LiveUse:
    return LiveUse(
        row["triggered"],
        tuple(row["why"]),
        tuple(row["urls"]),
        row["elapsed_ms"],
        row["outcome"],
        tuple(row["filters"]),
    )


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "start": claim.start,
        "end": claim.end,
        "markers": [{"n": m.n, "start": m.start, "end": m.end} for m in claim.markers],
        "verdict": claim.verdict.value,
        "score": claim.score,
        "checks": dict(claim.checks),
    }


def _source(source: Source) -> dict[str, Any]:
    scores = source.scores
    return {
        "n": source.n,
        "block_id": source.block_id,
        "url": source.url,
        "title": source.title,
        "heading_chain": list(source.heading_chain),
        "published_at": source.published_at,
        "fetched_at": source.fetched_at,
        "age_s": source.age_s,
        "source_type": source.source_type.value,
        "state": source.state.value,
        "quote": {
            "text": source.quote.text,
            "start": source.quote.start,
            "end": source.quote.end,
            "exact": source.quote.exact,
        },
        "deep_link": source.deep_link,
        "snapshot": {
            "sha256": source.snapshot.digest,
            "byte_start": source.snapshot.byte_start,
            "byte_end": source.snapshot.byte_end,
        },
        "also": list(source.also),
        "scores": None
        if scores is None
        else {
            "dense": scores.dense,
            "coverage": scores.coverage,
            "fused": scores.fused,
            "relevance": scores.relevance,
            **({} if scores.rerank is None else {"rerank": scores.rerank}),
            **({} if scores.kept is None else {"kept": scores.kept}),
        },
    }


def _refusal(refusal: Refusal) -> dict[str, Any]:
    return {
        "reason": refusal.reason.value,
        "message": refusal.message,
        "best_score": refusal.best_score,
        "next": refusal.next,
        "needed": refusal.needed,
    }


def _answer(record: Mapping[str, Any]) -> Answer:
    grounding, freshness, retrieval = record["grounding"], record["freshness"], record["retrieval"]
    sources = [*record["sources"]["internal"], *record["sources"]["web"]]
    refusal = record["refusal"]
    return Answer(
        id=record["id"],
        trace_id=record["trace_id"],
        created_at=record["created_at"],
        question=record["question"],
        lang=record["lang"],
        text=record["answer"]["text"],
        claims=tuple(_read_claim(row) for row in record["answer"]["claims"]),
        sources=tuple(sorted((_read_source(row) for row in sources), key=lambda source: source.n)),
        grounding=Grounding(
            grounding["coverage"],
            grounding["support"],
            grounding["retries"],
            grounding["dropped_markers"],
            tuple(grounding["path"]),
            grounding.get("confidence"),
        ),
        retrieval=Retrieval(
            retrieval["candidates"],
            retrieval["above_threshold"],
            retrieval["used"],
            retrieval["threshold"],
            retrieval["best_score"],
        ),
        freshness=Freshness(
            freshness["class"],
            freshness["window_s"],
            freshness["newest_source"],
            tuple(freshness["stale_sources"]),
            _read_live(freshness["live"]) if freshness.get("live") else None,
        ),
        refusal=None
        if refusal is None
        else Refusal(
            RefusalReason(refusal["reason"]),
            refusal["message"],
            refusal["best_score"],
            refusal["next"],
            refusal.get("needed"),
        ),
        conflicts=tuple(
            Conflict(row["what"], tuple((value["value"], value["n"]) for value in row["values"]), row["ruling"])
            for row in record["conflicts"]
        ),
        method=record["method"],
        usage=tuple(record["usage"].items()),
        timing_ms=tuple(record["timing_ms"].items()),
        notices=tuple(record["notices"]),
    )


def _read_claim(row: Mapping[str, Any]) -> Claim:
    return Claim(
        row["start"],
        row["end"],
        tuple(Marker(m["n"], m["start"], m["end"]) for m in row["markers"]),
        Verdict(row["verdict"]),
        row["score"],
        tuple(row["checks"].items()),
    )


def _read_source(row: Mapping[str, Any]) -> Source:
    scores = row["scores"]
    return Source(
        n=row["n"],
        block_id=row["block_id"],
        url=row["url"],
        title=row["title"],
        heading_chain=tuple(row["heading_chain"]),
        published_at=row["published_at"],
        fetched_at=row["fetched_at"],
        age_s=row["age_s"],
        source_type=SourceType(row["source_type"]),
        state=PageState(row["state"]),
        quote=Quote(row["quote"]["text"], row["quote"]["start"], row["quote"]["end"], row["quote"]["exact"]),
        deep_link=row["deep_link"],
        snapshot=SnapshotReference(
            row["snapshot"]["sha256"], row["snapshot"]["byte_start"], row["snapshot"]["byte_end"]
        ),
        also=tuple(row["also"]),
        scores=None if scores is None else Scores(**scores),
    )
