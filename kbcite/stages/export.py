"""Export: saved answers and their sources in the formats of other programs.

The same page cited by several answers is one entry of a bibliography and several annotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kbcite.answer.annotations import to_annotation
from kbcite.answer.bibliography import CitedPage
from kbcite.answer.record import from_record
from kbcite.page.text_position import TextPosition, find_position
from kbcite.records import Answer, Source
from kbcite.store.archive import Archive
from kbcite.store.database import Database


@dataclass(frozen=True, slots=True)
class Exporter:
    database: Database
    archive: Archive

    def cited_pages(self, records: Iterable[Mapping[str, Any]]) -> list[CitedPage]:
        """Each cited version of a page once, in the order of first use, with what is known of author and site."""
        pages: dict[tuple[str, str], CitedPage] = {}
        for record in records:
            answer = from_record(record)
            for source in answer.sources:
                key = source.url, source.snapshot.digest
                if key not in pages:
                    pages[key] = self._page(answer, source)
        return list(pages.values())

    def _page(self, answer: Answer, source: Source) -> CitedPage:
        document = next(iter(self.database.documents.of_digest(source.snapshot.digest)), None)
        metadata = document.metadata if document else None
        return CitedPage(
            url=source.url,
            title=source.title or source.url,
            published_at=source.published_at,
            fetched_at=source.fetched_at,
            digest=source.snapshot.digest,
            author=metadata.author if metadata else None,
            site_name=metadata.site_name if metadata else None,
            language=(metadata.language if metadata else None) or answer.lang,
        )

    def annotations(self, records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """One Web Annotation for each citation, with the place of its quote in the archived page's text where it can be told."""
        for record in records:
            answer = from_record(record)
            for source in answer.sources:
                at = self._position(source)
                if at is None:
                    yield to_annotation(answer, source, source.quote.text, None, None)
                else:
                    yield to_annotation(answer, source, at.exact, (at.prefix, at.suffix), (at.start, at.end))

    def _position(self, source: Source) -> TextPosition | None:
        snapshot = self.database.pages.snapshot_by_digest(source.snapshot.digest)
        if snapshot is None or not self.archive.has(source.snapshot.digest):
            return None
        document = self.database.documents.quoted(source.snapshot.digest, source.quote)
        if document is None:
            return None
        body = self.archive.get(source.snapshot.digest)
        return find_position(body, snapshot.content_type, document.spans, source.quote.start, source.quote.end)
