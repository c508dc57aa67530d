"""The live pool: pages fetched while answering, with their readings, and what of them could not be read.

It keeps them for an hour whatever they were fetched for (SPEC 54), or as long as the longest time to live of a class; each class reads what is
young enough for itself. A `volatile` question goes past what is older than its window of a minute (SPEC 49), while a question of another
class is answered from the same page without a fetch.

A pooled page's bytes are in the archive, its snapshot and document among the others, so that a citation of it opens as any other
does; only, its blocks are not in the index. A page that is known from here alone is marked `is_live` until a crawl takes it up.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from kbcite.clock import from_text, seconds_between, to_text
from kbcite.fetch_records import FetchedPage
from kbcite.records import Block, CleanDocument, Occurrence, PageState, SourceType
from kbcite.store.documents import pack_spans
from kbcite.urls import url_key

PAGE = "page"
KEPT_S = 3600
COUNTED_FOR = timedelta(days=30)
"""How long a fetch counts towards making its page a scheduled one."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """What one address brought when it was fetched last."""

    url: str
    """After redirects."""
    document_id: int | None
    outcome: str
    """`page`, or the reason why there is none."""
    detail: str
    fetched_at: str


class Pool:
    """Writes belong into the database's `transaction()`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def get(self, url: str, now: str, ttl_s: int) -> Pooled | None:
        """What an address brought at most `ttl_s` seconds ago."""
        row = self._sql.execute(
            "SELECT url, document_id, outcome, detail, fetched_at FROM live_pool WHERE url_key = ?", (url_key(url),)
        ).fetchone()
        found = Pooled(*row) if row else None
        # A clock that was set back makes nothing fresh.
        return found if found and 0 <= seconds_between(found.fetched_at, now) <= ttl_s else None

    def save_page(
        self,
        page: FetchedPage,
        digest: str,
        document: CleanDocument,
        pieces: Sequence[tuple[Block, Occurrence]],
        *,
        rules: tuple[str, str],
        source: str,
        source_type: SourceType,
        labels: tuple[str, ...],
    ) -> int:
        """Keep a page's reading, and return its document; the bytes must be in the archive already.

        rules: those of cleaning and of chunking. A reading that is stored and chunked already keeps its blocks.
        """
        page_id, snapshot_id = self._snapshot(page, digest, source, source_type, labels)
        at = page.fetched_at
        known = self._sql.execute(
            "SELECT id, chunk_rules FROM documents WHERE snapshot_id = ? AND clean_rules = ?", (snapshot_id, rules[0])
        ).fetchone()
        if known is None:
            document_id = self._insert_document(page_id, snapshot_id, document, rules, at)
        else:
            document_id = int(known[0])
        if known is None or known[1] is None:
            self._insert_blocks(document_id, pieces, at)
        self._note(page.url, page.final_url, document_id, PAGE, "", at)
        return document_id

    def save_failure(self, url: str, outcome: str, detail: str, at: str) -> None:
        """Keep why an address brought nothing to use, so that it is not asked again at once."""
        self._note(url, url, None, outcome, detail, at)

    def count_fetch(self, url: str, at: str) -> int:
        """Note that a page was fetched for a question; how often that was the case lately, this time included."""
        since = to_text(from_text(at) - COUNTED_FOR)
        self._sql.execute("INSERT INTO live_fetches VALUES(?, ?)", (url_key(url), at))
        self._sql.execute("DELETE FROM live_fetches WHERE at < ?", (since,))
        row = self._sql.execute("SELECT count(*) FROM live_fetches WHERE url_key = ?", (url_key(url),)).fetchone()
        return int(row[0])

    def purge(self, now: str, ttl_s: int) -> int:
        """Let go of what is older than `ttl_s` and an hour; the number of addresses. Bytes and readings stay: answers may cite them."""
        before = to_text(from_text(now) - timedelta(seconds=max(ttl_s, KEPT_S)))
        gone = self._sql.execute("DELETE FROM live_pool WHERE fetched_at < ?", (before,)).rowcount
        if gone:
            self._sql.execute(
                """DELETE FROM live_vectors WHERE block_num NOT IN
                   (SELECT o.block_num FROM live_pool p JOIN occurrences o ON o.document_id = p.document_id)"""
            )
        return gone

    def vectors(self, encoder: str, block_ids: Sequence[str]) -> dict[str, bytes]:
        """The vectors of blocks that have one of this encoder: float32, little endian, unit length, not centred."""
        rows = self._sql.execute(
            """SELECT b.id, coalesce(v.vector, l.vector) FROM blocks b
               LEFT JOIN live_vectors l ON l.block_num = b.num AND l.encoder = ?1
               LEFT JOIN vectors v ON v.block_num = b.num AND v.encoder_id = (SELECT id FROM encoders WHERE fingerprint = ?1)
               WHERE b.id IN (SELECT value FROM json_each(?2)) AND coalesce(v.vector, l.vector) IS NOT NULL""",
            (encoder, json.dumps(list(block_ids))),
        )
        return dict(rows.fetchall())

    def save_vectors(self, encoder: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors of pooled blocks by block ID."""
        self._sql.executemany(
            "INSERT OR REPLACE INTO live_vectors SELECT ?, num, ? FROM blocks WHERE id = ?",
            [(encoder, vector, block_id) for block_id, vector in vectors.items()],
        )

    def is_scheduled(self, url: str) -> bool:
        """Whether rechecks visit the page anyway."""
        row = self._sql.execute(
            """SELECT 1 FROM pages p LEFT JOIN aliases a ON a.page_id = p.id
               WHERE (p.url = ? OR a.url_key = ?) AND NOT p.is_live LIMIT 1""",
            (url, url_key(url)),
        ).fetchone()
        return row is not None

    def seen_at(self, urls: Sequence[str]) -> dict[str, tuple[str, int]]:
        """(when its stored bytes last held, answers in a row that it is gone) of each stored page among the addresses."""
        found = {}
        for url in urls:
            row = self._sql.execute(
                "SELECT fetched_at, misses FROM pages WHERE url = ? AND NOT is_live", (url,)
            ).fetchone()
            if row is None:
                row = self._sql.execute(
                    """SELECT p.fetched_at, p.misses FROM aliases a JOIN pages p ON p.id = a.page_id
                       WHERE a.url_key = ? AND NOT p.is_live""",
                    (url_key(url),),
                ).fetchone()
            if row:
                found[url] = (str(row[0]), int(row[1]))
        return found

    def title_of(self, url: str) -> str:
        """The title of the page as it was last read; empty where it was not."""
        row = self._sql.execute(
            """SELECT d.title FROM pages p LEFT JOIN aliases a ON a.page_id = p.id JOIN documents d ON d.page_id = p.id
               WHERE p.url = ? OR a.url_key = ? ORDER BY d.id DESC LIMIT 1""",
            (url, url_key(url)),
        ).fetchone()
        return str(row[0]) if row else ""

    # ------------------------------------------------------------ rows

    def _note(self, url: str, final_url: str, document_id: int | None, outcome: str, detail: str, at: str) -> None:
        self._sql.executemany(
            "INSERT OR REPLACE INTO live_pool VALUES(?, ?, ?, ?, ?, ?)",
            [(key, final_url, document_id, outcome, detail, at) for key in {url_key(url), url_key(final_url)}],
        )

    def _snapshot(
        self, page: FetchedPage, digest: str, source: str, source_type: SourceType, labels: tuple[str, ...]
    ) -> tuple[int, int]:
        """The page's row and its snapshot with these bytes, made where there is none."""
        at = page.fetched_at
        row = self._sql.execute("SELECT id, is_live FROM pages WHERE url = ?", (page.final_url,)).fetchone()
        if row is None:
            row = self._sql.execute(
                """INSERT INTO pages(url, source, source_type, labels, state, first_seen_at, fetched_at, changed_at, due_at,
                   is_live) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 1) RETURNING id, is_live""",
                (
                    page.final_url,
                    source,
                    source_type,
                    json.dumps(labels, ensure_ascii=False),
                    PageState.ALIVE,
                    at,
                    at,
                    at,
                    at,
                ),
            ).fetchone()
        page_id, is_live = row
        known = self._sql.execute(
            "SELECT id FROM snapshots WHERE page_id = ? AND digest = ? ORDER BY id DESC LIMIT 1", (page_id, digest)
        ).fetchone()
        snapshot_id = known[0] if known else self._insert_snapshot(page_id, page, digest)
        if is_live:
            self._sql.execute(
                "UPDATE pages SET snapshot_id = ?, fetched_at = ? WHERE id = ?", (snapshot_id, at, page_id)
            )
        return int(page_id), int(snapshot_id)

    def _insert_snapshot(self, page_id: int, page: FetchedPage, digest: str) -> int:
        (snapshot_id,) = self._sql.execute(
            """INSERT INTO snapshots(page_id, digest, status, headers, request_headers, final_url, redirects, fetched_at,
               encoded_length) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
            (
                page_id,
                digest,
                page.status,
                json.dumps(page.headers),
                json.dumps(page.request_headers),
                page.final_url,
                json.dumps(page.redirects),
                page.fetched_at,
                page.encoded_length,
            ),
        ).fetchone()
        return int(snapshot_id)

    def _insert_document(
        self, page_id: int, snapshot_id: int, document: CleanDocument, rules: tuple[str, str], at: str
    ) -> int:
        """A new reading. Its rules of chunking are told in the INSERT: an UPDATE would say that the index is out of date."""
        (document_id,) = self._sql.execute(
            """INSERT INTO documents(page_id, snapshot_id, clean_rules, chunk_rules, title, text, spans, metadata, encoding,
               fingerprint, cleaned_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
            (
                page_id,
                snapshot_id,
                *rules,
                document.metadata.title,
                document.text,
                pack_spans(document.spans),
                json.dumps(asdict(document.metadata), ensure_ascii=False),
                document.encoding,
                document.fingerprint,
                at,
            ),
        ).fetchone()
        return int(document_id)

    def _insert_blocks(self, document_id: int, pieces: Sequence[tuple[Block, Occurrence]], at: str) -> None:
        self._sql.execute("DELETE FROM occurrences WHERE document_id = ?", (document_id,))
        for block, o in pieces:
            self._sql.execute(
                "INSERT OR IGNORE INTO blocks(id, text, words, language, first_seen_at) VALUES(?, ?, ?, ?, ?)",
                (block.id, block.text, block.words, block.language, at),
            )
            self._sql.execute(
                "INSERT INTO occurrences SELECT ?, ?, num, ?, ?, ?, ? FROM blocks WHERE id = ?",
                (
                    document_id,
                    o.ordinal,
                    o.start,
                    o.end,
                    json.dumps(o.heading_chain, ensure_ascii=False),
                    o.context,
                    block.id,
                ),
            )
