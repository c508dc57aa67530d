"""Verify: saved answers against the archived bytes, and any text with `[n]` against the stored pages; offline, without a model.

Of each citation four things are checked, each on the one before: the archive holds the bytes and their SHA-256 is right; the
recorded bytes are those of the quote; the quote's words stand at that place of the decoded page; the document read from the page
has the quote at its recorded span. The bytes of a rendered page are what a browser made; those that it made them of, which the server
sent, are to be whole too. A change of the page on the web since touches none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kbcite.answer.citations import Sentence
from kbcite.answer.cited_text import parse_cited_text
from kbcite.answer.claims import ClaimCheck
from kbcite.answer.grounding import GOOD, Statement, check_statement, evidence_of
from kbcite.answer.record import from_record
from kbcite.answer.weights import base_weight, fold, share, stems
from kbcite.answer.wording import values_of_sources
from kbcite.errors import StoreError
from kbcite.fetch_records import Snapshot
from kbcite.page.byte_span import byte_span
from kbcite.page.chunking import chunk_document
from kbcite.page.provenance import foreign_words, page_source
from kbcite.records import (
    Answer,
    Block,
    Claim,
    CleanDocument,
    Occurrence,
    PageState,
    Place,
    RetrievedBlock,
    Scores,
    Source,
    SourceType,
    Verdict,
)
from kbcite.stages.verify_report import Check, CitationReport, Report, SentenceReport
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.urls import host_of, resolve, url_key

OK = "ok"
NEAREST_BLOCKS = 4
"""Blocks of a page, those that share most words with a sentence, that the sentence is checked against."""
MAX_READ = 64
"""Decoded pages kept in memory between citations."""


def rests_on_forgotten(record: Mapping[str, Any], database: Database) -> bool:
    """True for a saved answer that cites a page whose bytes were erased on purpose: there is nothing left to check."""
    places = forgotten_places(database.connection)
    urls = [source.url for source in from_record(record).sources] if places else []
    return any(not places.isdisjoint((url_key(url), host_of(url))) for url in urls)


@dataclass(frozen=True, slots=True)
class _Read:
    """Archived bytes with everything that was read from them."""

    body: bytes
    snapshot: Snapshot
    source: str
    documents: tuple[CleanDocument, ...]


@dataclass
class Verifier:
    """The doors of a store, and the pages read so far."""

    database: Database
    archive: Archive
    allows: Callable[[str], bool] = lambda _url: True
    """Whether the stored page at an address may be read for a text: a page that may not is told as one that is not stored."""
    today: Mapping[str, CleanDocument] | None = None
    """What the pages that a text lists say today, by the listed address; None checks it against what is stored."""
    _read: dict[str, _Read | str] = field(default_factory=dict)

    # ------------------------------------------------------------ saved answers

    def answer(self, record: Mapping[str, Any]) -> Report:
        """A record `kbcite.answer/1` against the archive. Raises UsageError for another kind of record."""
        answer = from_record(record)
        citations = tuple(self._citation(source) for source in answer.sources)
        sentences = tuple(self._claim(answer, claim) for claim in answer.claims)
        return Report(answer.id, answer.question, answer.created_at, citations, sentences, _marker_problems(answer))

    def _citation(self, source: Source) -> CitationReport:
        at = source.snapshot
        span = (at.byte_start, at.byte_end) if at.byte_start is not None and at.byte_end is not None else None
        return CitationReport(
            source.n,
            source.url,
            source.title,
            source.heading_chain,
            at.digest,
            source.fetched_at,
            span,
            tuple(self._checks(source, span)),
        )

    def _checks(self, source: Source, recorded: tuple[int, int] | None) -> list[Check]:
        read = self._open(source.snapshot.digest)
        if isinstance(read, str):
            return [Check("archive", read, False)]
        checks = [Check("archive", OK, True), *self._received(source.snapshot.digest)]
        quote = source.quote
        document = _with_quote(read, source)
        if document is None:
            found = next((d for d in read.documents if quote.text and quote.text in d.text), None)
            why = (
                "no document read from these bytes is stored"
                if not read.documents
                else f"the quote stands at {found.text.index(quote.text)}, not at {quote.start}"
                if found
                else "the quote is not in the document read from these bytes"
            )
            return [*checks, Check("document", why, False)]
        if recorded is not None:
            span = byte_span(read.body, read.snapshot.content_type, document.spans, quote.start, quote.end)
            wrong = "" if span == recorded else f"the quote's bytes are {span}, recorded are {recorded}"
            checks.append(Check("bytes", wrong or OK, not wrong))
        foreign = foreign_words(document.text, document.spans, read.source, quote.start, quote.end)
        wrong = f"not on the page: {', '.join(foreign[:5])}" if foreign else ""
        return [*checks, Check("page", wrong or OK, not wrong), Check("document", OK, True)]

    def _received(self, digest: str) -> Iterator[Check]:
        """Whether what the server sent can be read, where the cited bytes are a rendering of it."""
        received = self.archive.received_of(digest)
        if received is not None:
            is_whole = self.archive.is_whole(received)
            yield Check("received", OK if is_whole else "what the server sent cannot be read any more", is_whole)

    def _claim(self, answer: Answer, claim: Claim) -> SentenceReport:
        """The sentence with the verdict it has today under the same checks as when it was given."""
        text = answer.text[claim.start : claim.end]
        numbers = tuple(marker.n for marker in claim.markers)
        sources = [source for source in answer.sources if source.n in numbers]
        if not sources:
            return SentenceReport(text, numbers, "uncited", 0.0, True)
        if values := values_of_sources(text):
            given = fold("".join(source.quote.text for source in sources))
            return _of_sources(text, numbers, [value for value in values if fold(value) not in given])
        blocks = [block for source in sources if (block := self._evidence(source))]
        if len(blocks) < len(sources):
            return SentenceReport(text, numbers, claim.verdict, claim.score, True, "not checked again: see its source")
        check = check_statement(Statement(text, tuple(range(len(blocks)))), blocks, None, None)
        holds = check.verdict in GOOD or claim.verdict not in GOOD
        detail = "" if holds else f"was {claim.verdict} when it was given; {_outcomes(check)}"
        return SentenceReport(text, numbers, check.verdict, check.score, holds, detail)

    def _evidence(self, source: Source) -> RetrievedBlock | None:
        """The block that the source's quote stands in."""
        read = self._open(source.snapshot.digest)
        document = None if isinstance(read, str) else _with_quote(read, source)
        if document is None:
            return None
        return next(
            (
                _as_retrieved(block, at, document)
                for block, at in self._blocks(document)
                if at.start <= source.quote.start and source.quote.end <= at.end
            ),
            None,
        )

    # ------------------------------------------------------------ any text

    def text(self, name: str, text: str) -> Report:
        """Each sentence of a text with `[n]` and a list of sources against the stored pages of its sources."""
        parts = parse_cited_text(text)
        # What is quoted without a number is somebody else's word, or a notice.
        sentences = tuple(
            self._sentence(sentence, dict(part.addresses))
            for part in parts
            for sentence in part.sentences
            if sentence.is_factual and (sentence.numbers or not sentence.text.startswith(">"))
        )
        problems = () if parts[0].addresses else ("no list of sources with addresses at its end",)
        return Report(name, "", "", (), sentences, problems)

    def _sentence(self, sentence: Sentence, addresses: Mapping[int, str]) -> SentenceReport:
        urls = tuple(addresses[n] for n in sentence.numbers if n in addresses)
        return replace(self._by_its_pages(sentence, addresses), urls=urls)

    def _by_its_pages(self, sentence: Sentence, addresses: Mapping[int, str]) -> SentenceReport:
        text, numbers = sentence.text, sentence.numbers
        if not numbers:
            return SentenceReport(text, numbers, "uncited", 0.0, True)
        if missing := [n for n in numbers if n not in addresses]:
            listed = ", ".join(f"[{n}]" for n in missing)
            return SentenceReport(text, numbers, "no_such_source", 0.0, False, f"{listed} is not in the list")
        readings = {n: self._readings(addresses[n]) for n in numbers}
        if unknown := [addresses[n] for n in numbers if not readings[n]]:
            return SentenceReport(text, numbers, "not_stored", 0.0, False, f"no stored text of {', '.join(unknown)}")
        if values := values_of_sources(text):
            given = fold("".join(document.text for found in readings.values() for document in found))
            return _of_sources(text, numbers, [value for value in values if fold(value) not in given])
        best: tuple[ClaimCheck, tuple[CleanDocument, ...]] | None = None
        # Versions of the cited pages, the newest first: a text may have been true when it was written.
        for version in range(max(len(found) for found in readings.values())):
            documents = tuple(found[min(version, len(found) - 1)] for found in readings.values())
            blocks = [self._nearest(text, document) for document in documents]
            check = check_statement(Statement(text, tuple(range(len(blocks)))), blocks, None, None)
            if best is None or (check.verdict in GOOD) > (best[0].verdict in GOOD):
                best = check, documents
            if check.verdict is Verdict.SUPPORTED:
                best = check, documents
                break
        assert best is not None  # there is at least one reading
        check, documents = best
        is_ok = check.verdict in GOOD
        older = [d for d, found in zip(documents, readings.values(), strict=True) if d is not found[0]]
        detail = "" if is_ok else _outcomes(check)
        if is_ok and older:
            detail = "as archived, no longer on the page: " + ", ".join(f"{d.url} {d.digest[:12]}" for d in older)
        return SentenceReport(text, numbers, check.verdict, check.score, is_ok, detail)

    def _readings(self, url: str) -> list[CleanDocument]:
        if self.today is not None:
            return [self.today[url]] if url in self.today else []
        resolved = resolve(url, url)
        page = self.database.pages.get(resolved, url_key(resolved)) if resolved else None
        return self.database.documents.readings(page.id) if page and self.allows(page.url) else []

    def _nearest(self, text: str, document: CleanDocument) -> RetrievedBlock:
        """The block of a document that supports a sentence best."""
        wanted = stems(text)
        blocks = [_as_retrieved(block, at, document) for block, at in self._blocks(document)]
        blocks.sort(key=lambda b: share(wanted, frozenset(stems(evidence_of(b))), base_weight), reverse=True)
        checked = [
            (check_statement(Statement(text, (0,)), [block], None, None), block) for block in blocks[:NEAREST_BLOCKS]
        ]
        return max(checked, key=lambda pair: (pair[0].verdict in GOOD, pair[0].score))[1]

    # ------------------------------------------------------------ doors

    def _blocks(self, document: CleanDocument) -> Sequence[tuple[Block, Occurrence]]:
        """The document's blocks; all of it as one where it has none."""
        whole = Block("", document.text, 0, "")
        return (
            self.database.blocks.of_document(document.id)
            or chunk_document(document.text, title=document.metadata.title)
            or [(whole, Occurrence("", 0, len(document.text), (), 0))]
        )

    def _open(self, digest: str) -> _Read | str:
        """The archived bytes and their readings, or why there are none."""
        if digest not in self._read:
            if len(self._read) >= MAX_READ:
                self._read.clear()
            self._read[digest] = self._load(digest)
        return self._read[digest]

    def _load(self, digest: str) -> _Read | str:
        if not self.archive.has(digest):
            return f"the archive has no bytes {digest[:12]}: the page was forgotten, or the answer is of another store"
        try:
            body = self.archive.get(digest)
        except StoreError as error:
            return str(error)
        snapshot = self.database.pages.snapshot_by_digest(digest)
        if snapshot is None:
            return f"no page is stored with the bytes {digest[:12]}"
        documents = tuple(self.database.documents.of_digest(digest))
        return _Read(body, snapshot, page_source(body, snapshot.content_type), documents)


def _with_quote(read: _Read, source: Source) -> CleanDocument | None:
    """The reading that has the quote at its recorded span."""
    quote = source.quote
    return next((d for d in read.documents if d.text[quote.start : quote.end] == quote.text), None)


def _as_retrieved(block: Block, at: Occurrence, document: CleanDocument) -> RetrievedBlock:
    """A stored block in the form that the checks take."""
    place = Place(
        document_id=document.id,
        start=at.start,
        end=at.end,
        heading_chain=at.heading_chain,
        url=document.url,
        title=document.metadata.title,
        published_at=document.metadata.published_at,
        fetched_at="",
        source_type=SourceType.WEB,
        state=PageState.ALIVE,
        digest=document.digest,
        ordinal=at.ordinal,
        text=document.text[at.start : at.end],
        context=at.context,
    )
    return RetrievedBlock(block, place, Scores(0.0, 0.0, 0.0))


def _marker_problems(answer: Answer) -> tuple[str, ...]:
    """What is wrong with the numbers of a record: marks that are not where it says, numbers without a source."""
    numbers = [source.n for source in answer.sources]
    problems = [f"source [{n}] is listed twice" for n in sorted(set(numbers)) if numbers.count(n) > 1]
    for claim in answer.claims:
        for marker in claim.markers:
            if answer.text[marker.start : marker.end] != f"[{marker.n}]":
                problems.append(f"the text has no [{marker.n}] at {marker.start}")
            if marker.n not in numbers:
                problems.append(f"[{marker.n}] has no source")
    return tuple(problems)


def _outcomes(check: ClaimCheck) -> str:
    return ", ".join(f"{name} {outcome}" for name, outcome in check.checks if outcome != OK)


def _of_sources(text: str, numbers: tuple[int, ...], lost: Sequence[str]) -> SentenceReport:
    """A sentence of kbcite's own on how its sources compare: each value in it stands in one of them."""
    detail = f"none of them says {', '.join(lost)}" if lost else "says how its sources compare"
    verdict = Verdict.UNSUPPORTED if lost else Verdict.SUPPORTED
    return SentenceReport(text, numbers, verdict, 0.0 if lost else 1.0, not lost, detail)
