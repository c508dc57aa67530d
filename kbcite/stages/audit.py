"""Audit: which saved answers went stale, by what the last visits brought of the pages that they cite.

An answer is stale when a passage that it quotes no longer stands on its page, or the page is gone; a change elsewhere on the page does
not count. New bytes that are not cleaned yet are cleaned here, so an audit right after a recheck sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kbcite.answer.passage_change import Change, nearest_passage, still_stands, word_difference
from kbcite.answer.record import from_record
from kbcite.records import CleanDocument, PageState, Skipped, Source
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.pages import PageRow
from kbcite.urls import url_key

CleanPage = Callable[[bytes, str, str | None], CleanDocument | Skipped]
"""Bytes, URL and Content-Type → the page's main content, or why there is none."""
STALE = frozenset({"changed", "removed", "gone"})


@dataclass(frozen=True, slots=True)
class CitedNow:
    """A cited passage and what its page says today."""

    n: int
    url: str
    title: str
    heading_chain: tuple[str, ...]
    outcome: str
    """`same`; `moved`: the same at another address; `changed`: other words in its place; `removed`: nothing like it is left on the
    page; `gone`: the page is."""
    quoted: str
    archived: str
    """The passage in the archived page; differs from `quoted` only in an answer that does not verify."""
    now: str
    """What stands in its place; empty where nothing does."""
    difference: tuple[Change, ...]
    page_state: str
    seen_at: str
    """When the page's bytes of today were last seen."""
    detail: str = ""

    @property
    def is_stale(self) -> bool:
        return self.outcome in STALE


@dataclass(frozen=True, slots=True)
class AuditedAnswer:
    id: str
    created_at: str
    question: str
    text: str
    citations: tuple[CitedNow, ...]

    @property
    def status(self) -> str:
        """`current`, `stale`, or `gone` where each of its stale passages is on a page that is gone."""
        stale = [citation for citation in self.citations if citation.is_stale]
        if not stale:
            return "current"
        return "gone" if all(citation.outcome == "gone" for citation in stale) else "stale"


@dataclass(frozen=True, slots=True)
class _Today:
    """What a page says today."""

    text: str
    digest: str
    trouble: str = ""
    """Why there is no text."""
    is_built: bool = True
    """False for bytes that cleaning has not seen yet: search and `ask` still go by the text before."""


@dataclass
class Auditor:
    database: Database
    archive: Archive
    clean: CleanPage
    unbuilt: set[str] = field(default_factory=set)
    """URLs of pages whose new text is not built yet."""
    _today: dict[int, _Today] = field(default_factory=dict)

    def audit(self, records: Iterable[Mapping[str, Any]]) -> Iterator[AuditedAnswer]:
        """One record an answer; refusals cite nothing and are passed over."""
        for record in records:
            answer = from_record(record)
            if answer.refusal is None:
                citations = tuple(self._citation(answer.id, source) for source in answer.sources)
                yield AuditedAnswer(answer.id, answer.created_at, answer.question, answer.text, citations)

    def _citation(self, answer_id: str, source: Source) -> CitedNow:
        cited = self.database.answers.cited(answer_id, source.n)
        document = self.database.documents.get(cited[1]) if cited else None
        page = self.database.pages.get(document.url, url_key(document.url)) if document else None
        if document is None or page is None:
            return _now(source, "", "gone", None, detail="the page is no longer stored")
        archived = document.text[source.quote.start : source.quote.end]
        if page.state is PageState.DEAD:
            return _now(source, archived, "gone", page, detail=self._last_visit(page))
        detail = ""
        if page.state is PageState.MOVED and page.moved_to:
            detail = f"moved to {page.moved_to}"
            target = self.database.pages.get(page.moved_to, url_key(page.moved_to))
            if target is None or target.state is PageState.DEAD:
                return _now(source, archived, "gone", page, detail=f"{detail}, which is not stored")
            page = target
        elif page.state is PageState.UNREACHABLE:
            detail = self._last_visit(page)
        return self._compared(source, document, archived, page, detail)

    def _compared(self, source: Source, document: CleanDocument, archived: str, page: PageRow, detail: str) -> CitedNow:
        kept = "moved" if page.url != document.url else "same"
        if source.fetched_at > page.fetched_at:  # fetched while answering: nothing newer is known of the page
            return _now(source, archived, kept, page, archived, detail=detail)
        today = self._text_of(page)
        if today.digest == document.digest:
            return _now(source, archived, kept, page, archived, detail=detail)
        if today.trouble:
            return _now(source, archived, "removed", page, detail=today.trouble)
        if still_stands(archived, document.text, source.quote.start, today.text):
            return _now(source, archived, kept, page, archived, detail=detail)
        now = nearest_passage(archived, today.text)
        return _now(source, archived, "changed" if now else "removed", page, now, detail=detail)

    def _text_of(self, page: PageRow) -> _Today:
        if page.id not in self._today:
            self._today[page.id] = today = self._read(page)
            if not today.is_built:
                self.unbuilt.add(page.url)
        return self._today[page.id]

    def _read(self, page: PageRow) -> _Today:
        """The page's text by its current bytes, cleaned now where that was not done yet. Raises StoreError for damaged bytes."""
        reading = self.database.documents.of_page(page.id)
        if page.digest is None:
            return _Today("", "", "the page has no stored bytes")
        if reading is not None and reading.digest == page.digest:
            return _Today(reading.text, reading.digest)
        snapshot = self.database.pages.snapshot_by_digest(page.digest)
        content_type = snapshot.content_type if snapshot else None
        cleaned = self.clean(self.archive.get(page.digest), page.url, content_type)
        if isinstance(cleaned, Skipped):
            return _Today("", page.digest, f"no main text: {cleaned.reason}", is_built=False)
        return _Today(cleaned.text, page.digest, is_built=False)

    def _last_visit(self, page: PageRow) -> str:
        visits = self.database.pages.visits(page.id)
        return visits[-1][3] if visits else ""


def _now(
    source: Source, archived: str, outcome: str, page: PageRow | None, now: str = "", detail: str = ""
) -> CitedNow:
    return CitedNow(
        n=source.n,
        url=source.url,
        title=source.title,
        heading_chain=source.heading_chain,
        outcome=outcome,
        quoted=source.quote.text,
        archived=archived,
        now=now,
        difference=word_difference(archived, now) if outcome == "changed" else (),
        page_state=str(page.state) if page else "",
        seen_at=page.fetched_at if page else "",
        detail=detail,
    )
