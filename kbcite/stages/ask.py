"""Ask: a question → an answer record, checked; then saved with the passages that it cites."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kbcite.answer.answering import AnswerOptions, answer, refuse
from kbcite.answer.deep_link import page_link
from kbcite.answer.llm import Complete
from kbcite.answer.passage_ranking import Nearness
from kbcite.answer.questions import clauses, read_question
from kbcite.answer.record import to_record
from kbcite.answer.trace import Trace, trace_of
from kbcite.answer.trace import to_record as trace_to_record
from kbcite.clock import Clock
from kbcite.page.byte_span import byte_span, source_span
from kbcite.page.provenance import page_source
from kbcite.page.shown_text import shown_text
from kbcite.records import Answer, RetrievedBlock, SnapshotReference, Source
from kbcite.stages.ask_live import LiveLook
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.sqlite import only_reads

Counts = tuple[tuple[str, int], ...]
Retrieve = Callable[[str], Sequence[RetrievedBlock]]
"""A question → its candidates, best first; those that are not to be used say why in `dropped`."""


@dataclass(frozen=True, slots=True)
class Answered:
    answer: Answer
    cited: tuple[tuple[int, str, int, str], ...]
    """(n, block ID, document, digest) of each source: what the store needs to open it again."""
    trace: Trace | None = None
    began_ns: int = 0
    """When the question began by the machine's clock, in nanoseconds since the epoch."""


def answer_question(
    question: str,
    database: Database,
    archive: Archive,
    retrieve: Retrieve,
    complete: Complete | None,
    options: AnswerOptions,
    clock: Clock,
    nearness: Nearness | None = None,
    look: LiveLook | None = None,
) -> Answered:
    """The answer or refusal, not saved yet. Raises what `retrieve` and `complete` raise.

    nearness: ranks passages in another language than the question's. look: fetches pages beside the retrieval where the question asks
    for it; its class is the question's.
    """
    began, began_ns = time.perf_counter(), time.time_ns()
    if look is not None:
        look.begin(question)
        options = replace(options, question_class=look.question_class, is_high_risk=look.is_high_risk)
    begun = time.perf_counter()
    retrieved = retrieve_each_clause(question, retrieve)
    found = time.perf_counter()
    looked = look.finish(retrieved) if look is not None else None
    seen = time.perf_counter()
    if looked is not None:
        retrieved = looked.blocks
    answer_id, trace_id = f"a{secrets.token_hex(6)}", secrets.token_hex(16)
    if looked is not None and looked.refusal is not None:
        window_s = dict(options.windows).get(options.question_class or "")
        outcome = refuse(
            question,
            looked.refusal,
            now=clock(),
            threshold=options.threshold,
            retrieved=retrieved,
            path=looked.use.why,
            question_class=options.question_class,
            window_s=window_s,
            answer_id=answer_id,
            trace_id=trace_id,
        )
    else:
        outcome = answer(
            question,
            retrieved,
            options,
            now=clock(),
            complete=complete,
            delimiter=secrets.token_hex(8),
            document_text=database.documents.text,
            nearness=nearness,
            answer_id=answer_id,
            trace_id=trace_id,
        )
    if look is not None and looked is not None:
        usage = _summed(outcome.usage, look.usage)
        outcome = replace(outcome, freshness=replace(outcome.freshness, live=looked.use), usage=usage)
    document_of = {source.n: _document_of(source, retrieved) for source in outcome.sources}
    sources = tuple(_with_bytes(source, document_of[source.n], database, archive) for source in outcome.sources)
    done = time.perf_counter()
    timing = [("retrieve", _ms(begun, found)), ("answer", _ms(seen, done)), ("total", _ms(began, done))]
    if looked is not None:
        timing.insert(0, ("question", _ms(began, begun)))
        if looked.use.triggered:
            timing.insert(2, ("live", _ms(found, seen)))
    outcome = replace(outcome, sources=sources, timing_ms=tuple(timing))
    cited = [(source.n, source.block_id, document_of[source.n], source.snapshot.digest) for source in sources]
    trace = trace_of(question, retrieved, sources, looked.trace if looked else None)
    return Answered(outcome, tuple(cited), trace, began_ns)


OF_A_CLAUSE = 2
"""Blocks that the clause of a question adds, beside those of the whole."""


def retrieve_each_clause(question: str, retrieve: Retrieve) -> Sequence[RetrievedBlock]:
    """The candidates of a question; where it asks two things, the best ones of each are used too."""
    found = retrieve(question)
    parts = clauses(read_question(question))
    if not parts:
        return found
    used = [block for block in found if block.dropped is None]
    ids = {block.block.id for block in used}
    for part in parts:
        best = [block for block in retrieve(part.text) if block.dropped is None][:OF_A_CLAUSE]
        used += [block for block in best if block.block.id not in ids]
        ids.update(block.block.id for block in best)
    return [*used, *(block for block in found if block.block.id not in ids)]


def save_answer(database: Database, answered: Answered) -> bool:
    """Keep an answer and its trace for `show`, `trace` and later audits; False for a store that can only be read."""
    if only_reads(database.connection):
        return False
    trace = trace_to_record(answered.trace) if answered.trace else None
    database.answers.save(to_record(answered.answer), answered.cited, trace)
    return True


def _document_of(source: Source, retrieved: Sequence[RetrievedBlock]) -> int:
    """The document that the source's block was retrieved from."""
    return next(block.place.document_id for block in retrieved if block.block.id == source.block_id)


def _with_bytes(source: Source, document_id: int, database: Database, archive: Archive) -> Source:
    """The source with the place of its quote in the archived bytes, where that can be told exactly, and a link proven on that page."""
    document = database.documents.get(document_id)
    snapshot = database.pages.snapshot_by_digest(source.snapshot.digest)
    if document is None or snapshot is None:
        return source
    body = archive.get(source.snapshot.digest)
    quote = source.quote
    place = byte_span(body, snapshot.content_type, document.spans, quote.start, quote.end)
    inside = source_span(document.spans, quote.start, quote.end)
    if inside:
        page = shown_text(page_source(body, snapshot.content_type))
        source = replace(source, deep_link=page_link(source.url, page.text, *page.place(*inside)))
    return replace(source, snapshot=SnapshotReference(source.snapshot.digest, *place)) if place else source


def _summed(first: Counts, second: Counts) -> Counts:
    return tuple(sum((Counter(dict(counts)) for counts in (first, second)), Counter()).items())


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 1)
