"""The whole way of one answer: how its question was read, and every candidate with its scores and why it was left out.

What the answer's own record holds already (steps, checks, times) is not repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


def trace_of(question: str, retrieved: Sequence[RetrievedBlock], sources: Sequence[Source]) -> Trace:
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
            tuple(source.n for source in sources if source.block_id == hit.block.id),
        )
        for hit in retrieved
    )
    return Trace(read.kind.value, read.language, tuple(f.text for f in read.figures), read.is_joined, candidates)


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
                },
                "dropped": c.dropped,
                "cited_as": list(c.cited_as),
            }
            for c in trace.candidates
        ],
    }


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
    )
