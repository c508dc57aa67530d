"""Documents: the readings of snapshots."""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from kbcite.records import CleanDocument, Metadata, Quote, Skipped, Span, Stage


@dataclass(frozen=True, slots=True)
class StaleDocument:
    """A page's latest document, still to be chunked."""

    id: int
    url: str
    searched_id: int | None
    """The document of the same page whose blocks are searched until then."""


_COLUMNS = "d.id, p.url, s.digest, d.text, d.spans, d.metadata, d.encoding, d.fingerprint"
_FROM = "FROM documents d JOIN pages p ON p.id = d.page_id JOIN snapshots s ON s.id = d.snapshot_id"


class Documents:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def save(self, page_id: int, snapshot_id: int, document: CleanDocument, clean_rules: str, at: str) -> int:
        """Store a reading and make it the page's latest one; its blocks are searched once it is chunked."""
        self._sql.execute("DELETE FROM skipped_snapshots WHERE snapshot_id = ?", (snapshot_id,))
        (document_id,) = self._sql.execute(
            """INSERT INTO documents(page_id, snapshot_id, clean_rules, title, text, spans, metadata, encoding, fingerprint,
               cleaned_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT(snapshot_id, clean_rules) DO UPDATE SET cleaned_at = excluded.cleaned_at RETURNING id""",
            (
                page_id,
                snapshot_id,
                clean_rules,
                document.metadata.title,
                document.text,
                pack_spans(document.spans),
                json.dumps(asdict(document.metadata), ensure_ascii=False),
                document.encoding,
                document.fingerprint,
                at,
            ),
        ).fetchone()
        self._sql.execute("UPDATE pages SET reading_id = ? WHERE id = ?", (document_id, page_id))
        return int(document_id)

    def save_skipped(self, page_id: int, snapshot_id: int, skipped: Skipped, clean_rules: str) -> None:
        """Record that a snapshot has no main text; the page then has no current document."""
        self._sql.execute(
            "INSERT OR REPLACE INTO skipped_snapshots VALUES(?, ?, ?, ?)",
            (snapshot_id, clean_rules, skipped.reason, skipped.detail),
        )
        self._sql.execute("UPDATE pages SET reading_id = NULL, document_id = NULL WHERE id = ?", (page_id,))

    def skipped(self) -> list[Skipped]:
        rows = self._sql.execute(
            """SELECT p.url, k.reason, k.detail FROM skipped_snapshots k JOIN pages p ON p.snapshot_id = k.snapshot_id
               ORDER BY p.url"""
        )
        return [Skipped(url, Stage.CLEAN, reason, detail) for url, reason, detail in rows]

    def get(self, document_id: int) -> CleanDocument | None:
        row = self._sql.execute(f"SELECT {_COLUMNS} {_FROM} WHERE d.id = ?", (document_id,)).fetchone()
        return _document(row) if row else None

    def of_page(self, page_id: int) -> CleanDocument | None:
        """The page's latest document."""
        row = self._sql.execute(
            f"SELECT {_COLUMNS} {_FROM} WHERE p.id = ? AND d.id = p.reading_id", (page_id,)
        ).fetchone()
        return _document(row) if row else None

    def of_digest(self, digest: str) -> list[CleanDocument]:
        """Every reading of the snapshots with these bytes, the newest first."""
        rows = self._sql.execute(f"SELECT {_COLUMNS} {_FROM} WHERE s.digest = ? ORDER BY d.id DESC", (digest,))
        return [_document(row) for row in rows]

    def quoted(self, digest: str, quote: Quote) -> CleanDocument | None:
        """The reading of these bytes that has a quote at its recorded place; None where there is none."""
        readings = self.of_digest(digest) if quote.text else []
        return next((d for d in readings if d.text[quote.start : quote.end] == quote.text), None)

    def readings(self, page_id: int) -> list[CleanDocument]:
        """Every reading of a page, the newest first."""
        rows = self._sql.execute(f"SELECT {_COLUMNS} {_FROM} WHERE d.page_id = ? ORDER BY d.id DESC", (page_id,))
        return [_document(row) for row in rows]

    def text(self, document_id: int) -> str:
        """A document's text; empty if it is no longer stored."""
        row = self._sql.execute("SELECT text FROM documents WHERE id = ?", (document_id,)).fetchone()
        return row[0] if row else ""

    def count(self) -> int:
        return int(self._sql.execute("SELECT count(*) FROM pages WHERE reading_id IS NOT NULL").fetchone()[0])

    def stale(self, chunk_rules: str) -> list[StaleDocument]:
        """Latest documents whose blocks are not those that are searched, or were cut by other rules."""
        rows = self._sql.execute(
            """SELECT d.id, p.url, p.document_id FROM pages p JOIN documents d ON d.id = p.reading_id
               WHERE p.document_id IS NOT d.id OR d.chunk_rules IS NOT ? ORDER BY d.id""",
            (chunk_rules,),
        )
        return [StaleDocument(*row) for row in rows]

    def title_and_text(self, document_id: int) -> tuple[str, str]:
        row = self._sql.execute("SELECT title, text FROM documents WHERE id = ?", (document_id,)).fetchone()
        return row[0], row[1]


def _document(row: tuple[Any, ...]) -> CleanDocument:
    document_id, url, digest, text, spans, metadata, encoding, fingerprint = row
    return CleanDocument(
        url, digest, text, unpack_spans(spans), Metadata(**json.loads(metadata)), encoding, fingerprint, document_id
    )


def pack_spans(spans: tuple[Span, ...]) -> bytes:
    """Spans as deflated little-endian 32-bit numbers, four a span."""
    flat = [n for span in spans for n in (span.start, span.end, span.source_start, span.source_end)]
    return zlib.compress(struct.pack(f"<{len(flat)}I", *flat))


def unpack_spans(blob: bytes) -> tuple[Span, ...]:
    raw = zlib.decompress(blob)
    return tuple(Span(*numbers) for numbers in struct.iter_unpack("<4I", raw))
