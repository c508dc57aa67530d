"""The whole way of one answer: how its question was read, and every candidate with its scores and why it was left out.

What the answer's own record holds already (steps, checks, times) is not repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kbcite.answer.questions import read_question
from kbcite.errors import UsageError
from kbcite.records import RetrievedBlock, Scores, Source

SCHEMA = "kbcite.trace/1"


@dataclass(frozen=True, slots=True)
class TracedCandidate:
    block_id: str
    url: str
    title: str
    heading_chain: tuple[str, ...]
    published_at: str | None
    fetched_at: str
    scores: Scores
    dropped: str | None
    """Why it was not used; None if it was."""
    cited_as: tuple[int, ...]
    """The numbers of the answer's sources that are cut from it."""


@dataclass(frozen=True, slots=True)
class TracedFetch:
    """One page that was looked at while answering. Times in milliseconds from the start of the question."""

    url: str
    why: str
    """`live page`, `stale hit`, `named`, `below URL` ..."""
    way: str
    """`pool`, or `fetch`."""
    began_ms: float
    ended_ms: float
    outcome: str
    """`page`, or the reason why it was not fit: `timeout`, `too_old`, `off_topic`, `gave_up` ..."""
    detail: str
    is_used: bool


@dataclass(frozen=True, slots=True)
class LiveTrace:
    """Whether pages were looked at while answering, why, and what came of each."""

    question_class: str
    window_s: int | None
    way: str
    """`stored`, `pool` or `live`: what was decided."""
    reason: str
    triggers: tuple[str, ...]
    retrieval_ms: tuple[float, float]
    """When the retrieval began and ended."""
    fetches: tuple[TracedFetch, ...] = ()
    invalid: tuple[tuple[str, str], ...] = ()
    """(URL, reason) of stored pages that were not believed: `page_gone`, `corrected by URL`, `superseded`."""
    refused: tuple[tuple[str, str], ...] = ()
    """(URL, reason) of what the whitelist kept out."""
    class_by: str = ""
    """Who gave the class, as `Classified.by`; empty in traces of before."""

    @property
    def overlap_ms(self) -> float:
        """How long retrieval and the fetches ran side by side."""
        began, ended = self.retrieval_ms
        spans = [(max(began, f.began_ms), min(ended, f.ended_ms)) for f in self.fetches if f.way == "fetch"]
        return max((end - start for start, end in spans if end > start), default=0.0)


@dataclass(frozen=True, slots=True)
class Trace:
    kind: str
    """What the question was taken to ask for: `price`, `time`, `definition` ..."""
    language: str
    figures: tuple[str, ...]
    """Years, rounds and amounts of the question that an answer must agree with."""
    is_joined: bool
    """True where it may ask for two things at once."""
    candidates: tuple[TracedCandidate, ...]
    """Best first, those that were left out among them."""
    live: LiveTrace | None = None


def trace_of(
    question: str, retrieved: Sequence[RetrievedBlock], sources: Sequence[Source], live: LiveTrace | None = None
) -> Trace:
    """The trace of a question whose candidates and cited sources are known."""
    read = read_question(question)
    candidates = tuple(
        TracedCandidate(
            hit.block.id,
            hit.place.url,
            hit.place.title,
            hit.place.heading_chain,
            hit.place.published_at,
            hit.place.fetched_at,
            hit.scores,
            hit.dropped,
            tuple(source.n for source in sources if hit.dropped is None and source.block_id == hit.block.id),
        )
        for hit in retrieved
    )
    return Trace(read.kind.value, read.language, tuple(f.text for f in read.figures), read.is_joined, candidates, live)


def to_record(trace: Trace) -> dict[str, Any]:
    """The trace ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "question": {
            "kind": trace.kind,
            "language": trace.language,
            "figures": list(trace.figures),
            "is_joined": trace.is_joined,
        },
        "candidates": [
            {
                "block_id": c.block_id,
                "url": c.url,
                "title": c.title,
                "heading_chain": list(c.heading_chain),
                "published_at": c.published_at,
                "fetched_at": c.fetched_at,
                "scores": {
                    "dense": c.scores.dense,
                    "coverage": c.scores.coverage,
                    "fused": c.scores.fused,
                    "relevance": c.scores.relevance,
                    **({} if c.scores.kept is None else {"kept": c.scores.kept}),
                },
                "dropped": c.dropped,
                "cited_as": list(c.cited_as),
            }
            for c in trace.candidates
        ],
        "live": _live_record(trace.live) if trace.live else None,
    }


def _live_record(live: LiveTrace) -> dict[str, Any]:
    return {**asdict(live), "overlap_ms": live.overlap_ms}


def _read_live(row: Mapping[str, Any]) -> LiveTrace:
    return LiveTrace(
        row["question_class"],
        row["window_s"],
        row["way"],
        row["reason"],
        tuple(row["triggers"]),
        tuple(row["retrieval_ms"]),
        tuple(TracedFetch(**one) for one in row["fetches"]),
        tuple((url, why) for url, why in row["invalid"]),
        tuple((url, why) for url, why in row["refused"]),
        row.get("class_by", ""),
    )


def from_record(record: Mapping[str, Any]) -> Trace:
    """The trace that a record holds. Raises UsageError for a record of another schema."""
    if record.get("schema") != SCHEMA:
        raise UsageError(f"the trace says schema {record.get('schema')!r}, not {SCHEMA!r}; it is of another kbcite")
    question = record["question"]
    return Trace(
        question["kind"],
        question["language"],
        tuple(question["figures"]),
        question["is_joined"],
        tuple(
            TracedCandidate(
                row["block_id"],
                row["url"],
                row["title"],
                tuple(row["heading_chain"]),
                row["published_at"],
                row["fetched_at"],
                Scores(**row["scores"]),
                row["dropped"],
                tuple(row["cited_as"]),
            )
            for row in record["candidates"]
        ),
        _read_live(record["live"]) if record.get("live") else None,
    )
