"""Pages, their other addresses, their snapshots and visits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kbcite.fetch_records import Evidence, FetchedPage, Snapshot
from kbcite.records import PageState, SourceType
from kbcite.store.sqlite import as_json
from kbcite.urls import url_key


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page as stored; what crawling and rechecking decide by."""

    id: int
    url: str
    source: str
    source_type: SourceType
    labels: tuple[str, ...]
    state: PageState
    snapshot_id: int | None
    document_id: int | None
    digest: str | None
    etag: str | None
    last_modified: str | None
    fetched_at: str
    changed_at: str
    due_at: str
    misses: int
    missing_since: str | None
    failures: int
    moved_to: str | None
    marked_at: str | None
    """When it was named out of date; None once it was visited after that."""

    @property
    def url_key(self) -> str:
        return url_key(self.url)

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.state, self.misses, self.missing_since, self.failures)


@dataclass(frozen=True, slots=True)
class StaleSnapshot:
    """A page's current snapshot that has no reading under the current cleaning rules."""

    page_id: int
    snapshot_id: int
    snapshot: Snapshot


_COLUMNS = """p.id, p.url, p.source, p.source_type, p.labels, p.state, p.snapshot_id, p.document_id, s.digest, p.etag,
    p.last_modified, p.fetched_at, p.changed_at, p.due_at, p.misses, p.missing_since, p.failures, p.moved_to, p.marked_at"""


class Pages:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def get(self, url: str, url_key: str) -> PageRow | None:
        """The page with this URL, or of which this is another address."""
        row = self._sql.execute(
            f"""SELECT {_COLUMNS} FROM pages p LEFT JOIN snapshots s ON s.id = p.snapshot_id WHERE p.url = ?
                UNION ALL
                SELECT {_COLUMNS} FROM aliases a JOIN pages p ON a.page_id = p.id
                LEFT JOIN snapshots s ON s.id = p.snapshot_id WHERE a.url_key = ? LIMIT 1""",
            (url, url_key),
        ).fetchone()
        return _page(row) if row else None

    def of_answer(self, url: str, url_key: str, digest: str) -> PageRow | None:
        """The page that an answer at this URL belongs to.

        An address that only was an alias (a redirect, a canonical link) and now brings other bytes is a page of its own.
        """
        page = self.get(url, url_key)
        if page is None or page.url == url or page.digest == digest or page.url_key == url_key:
            return page
        return None

    def all(self) -> Iterator[PageRow]:
        for row in self._sql.execute(
            f"SELECT {_COLUMNS} FROM pages p LEFT JOIN snapshots s ON s.id = p.snapshot_id ORDER BY p.url"
        ):
            yield _page(row)

    def due(self, now: str, limit: int = -1) -> list[PageRow]:
        """Pages whose next visit is due, longest overdue first; dead pages come up for revival too."""
        rows = self._sql.execute(
            f"""SELECT {_COLUMNS} FROM pages p LEFT JOIN snapshots s ON s.id = p.snapshot_id
                WHERE NOT p.is_live AND (p.due_at <= ?1 OR p.marked_at IS NOT NULL) ORDER BY p.due_at, p.url LIMIT ?2""",
            (now, limit),
        )
        return [_page(row) for row in rows]

    def next_due_at(self) -> str | None:
        """When the first of all pages is due; None where there are none."""
        at: str | None = self._sql.execute("SELECT min(due_at) FROM pages WHERE NOT is_live").fetchone()[0]
        return at

    def count(self) -> int:
        return int(self._sql.execute("SELECT count(*) FROM pages").fetchone()[0])

    def states(self) -> dict[str, int]:
        return dict(self._sql.execute("SELECT state, count(*) FROM pages GROUP BY state").fetchall())

    def count_of_source(self, source: str) -> int:
        return int(self._sql.execute("SELECT count(*) FROM pages WHERE source = ?", (source,)).fetchone()[0])

    def save_fetch(
        self,
        url: str,
        page: FetchedPage,
        digest: str,
        *,
        source: str,
        source_type: SourceType,
        labels: tuple[str, ...],
        due_at: str,
        state: PageState = PageState.ALIVE,
        is_same_text: bool = False,
    ) -> bool:
        """Record a full answer for a page; its bytes must be in the archive already. True if the bytes are new for it.

        is_same_text: the bytes differ and say the same, so that the visit counts as one that found no change.
        """
        row = self._sql.execute(
            "SELECT p.id, s.digest FROM pages p LEFT JOIN snapshots s ON s.id = p.snapshot_id WHERE p.url = ?", (url,)
        ).fetchone()
        at, labels_text = page.fetched_at, json.dumps(labels, ensure_ascii=False)
        is_new = row is None or row[1] != digest
        if row is None:
            (page_id,) = self._sql.execute(
                """INSERT INTO pages(url, source, source_type, labels, state, first_seen_at, fetched_at, changed_at, due_at)
                   VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
                (url, source, source_type, labels_text, state, at, at, at, due_at),
            ).fetchone()
        else:
            page_id = row[0]
        snapshot_id = None
        if is_new:
            snapshot_id = self._sql.execute(
                """INSERT INTO snapshots(page_id, digest, status, headers, request_headers, final_url, redirects, fetched_at,
                   encoded_length) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                (
                    page_id,
                    digest,
                    page.status,
                    as_json(page.headers),
                    as_json(page.request_headers),
                    page.final_url,
                    as_json(page.redirects),
                    at,
                    page.encoded_length,
                ),
            ).lastrowid
        self._sql.execute(
            """UPDATE pages SET source = ?, source_type = ?, labels = ?, state = ?, fetched_at = ?, due_at = ?, etag = ?,
               last_modified = ?, snapshot_id = coalesce(?, snapshot_id), changed_at = iif(?, ?, changed_at), marked_at = NULL,
               is_live = 0, misses = 0, missing_since = NULL, failures = 0, moved_to = NULL WHERE id = ?""",
            (
                source,
                source_type,
                labels_text,
                state,
                at,
                due_at,
                page.header("etag"),
                page.header("last-modified"),
                snapshot_id,
                is_new,
                at,
                page_id,
            ),
        )
        self._visit(page_id, at, "changed" if is_new and not is_same_text else "unchanged", page.status, "")
        return is_new

    def labels(self) -> set[str]:
        """Every label that a page has."""
        query = "SELECT DISTINCT value FROM pages, json_each(pages.labels) WHERE json_valid(pages.labels)"
        return {label for (label,) in self._sql.execute(query)}

    def apply_source(self, source: str, source_type: SourceType, labels: tuple[str, ...]) -> None:
        """Give a source's pages the type and labels that the settings say now; nothing is written where they have them."""
        wanted = (str(source_type), json.dumps(labels, ensure_ascii=False), source)
        differs = "source = ?3 AND (source_type != ?1 OR labels != ?2)"
        if self._sql.execute(f"SELECT 1 FROM pages WHERE {differs} LIMIT 1", wanted).fetchone():
            self._sql.execute(f"UPDATE pages SET source_type = ?1, labels = ?2 WHERE {differs}", wanted)

    def save_unchanged(self, page_id: int, at: str, due_at: str, page: FetchedPage | None = None) -> None:
        """Record that the stored bytes still hold: because the server says so, or by the answer `page`."""
        if page is not None:
            self._sql.execute(
                "UPDATE pages SET etag = ?, last_modified = ? WHERE id = ?",
                (page.header("etag"), page.header("last-modified"), page_id),
            )
        self._sql.execute(
            """UPDATE pages SET state = CASE WHEN state = 'changed' THEN state ELSE 'alive' END, fetched_at = ?, due_at = ?,
               marked_at = NULL, misses = 0, missing_since = NULL, failures = 0, moved_to = NULL WHERE id = ?""",
            (at, due_at, page_id),
        )
        self._visit(page_id, at, "unchanged", page.status if page is not None else 304, "")

    def save_trouble(
        self,
        page_id: int,
        at: str,
        *,
        evidence: Evidence,
        due_at: str,
        status: int | None,
        detail: str,
        moved_to: str | None = None,
    ) -> None:
        """Record a visit that brought no page: what was seen, and the state that the evidence adds up to."""
        self._sql.execute(
            """UPDATE pages SET state = ?, due_at = ?, marked_at = NULL, misses = ?, missing_since = ?, failures = ?, moved_to = ?
               WHERE id = ?""",
            (
                evidence.state,
                due_at,
                evidence.misses,
                evidence.missing_since,
                evidence.failures,
                moved_to,
                page_id,
            ),
        )
        self._visit(page_id, at, str(evidence.state), status, detail)

    def postpone(self, page_id: int, due_at: str) -> None:
        """Move the next visit of a page that could not be visited for a reason of ours: whitelist, robots.txt."""
        self._sql.execute("UPDATE pages SET due_at = ?, marked_at = NULL WHERE id = ?", (due_at, page_id))

    def mark(self, page_id: int, at: str) -> None:
        """Name a page out of date: it is visited before all others by the next recheck, whenever it was due."""
        self._sql.execute("UPDATE pages SET marked_at = ? WHERE id = ?", (at, page_id))

    def _visit(self, page_id: int, at: str, outcome: str, status: int | None, detail: str) -> None:
        self._sql.execute("INSERT INTO visits VALUES(?, ?, ?, ?, ?)", (page_id, at, outcome, status, detail))

    def visits(self, page_id: int) -> list[tuple[str, str, int | None, str]]:
        """(time, outcome, status, detail) of each visit, first to last."""
        return self._sql.execute(
            "SELECT at, outcome, status, detail FROM visits WHERE page_id = ? ORDER BY at, rowid", (page_id,)
        ).fetchall()

    def history(self, page_id: int, limit: int = 40) -> list[tuple[str, bool]]:
        """(time, changed) of the last visits that saw the page, oldest first: what its schedule goes by."""
        rows = self._sql.execute(
            """SELECT at, outcome FROM visits WHERE page_id = ? AND outcome IN ('changed', 'unchanged')
               ORDER BY at DESC, rowid DESC LIMIT ?""",
            (page_id, limit),
        ).fetchall()
        return [(at, outcome == "changed") for at, outcome in reversed(rows)]

    def since_full_fetch(self, page_id: int) -> tuple[int, str | None]:
        """How many times in a row the server said “not modified”, and when the page last came in full."""
        (last,) = self._sql.execute(
            "SELECT max(at) FROM visits WHERE page_id = ? AND status BETWEEN 200 AND 299", (page_id,)
        ).fetchone()
        (count,) = self._sql.execute(
            "SELECT count(*) FROM visits WHERE page_id = ? AND status = 304 AND at > ?", (page_id, last or "")
        ).fetchone()
        return int(count), last

    def add_alias(self, url_key: str, url: str) -> None:
        """Remember another address of the page at `url`."""
        self._sql.execute(
            "INSERT INTO aliases SELECT ?, id FROM pages WHERE url = ? ON CONFLICT DO UPDATE SET page_id = excluded.page_id",
            (url_key, url),
        )

    def snapshots(self, page_id: int) -> list[Snapshot]:
        """A page's snapshots, oldest first."""
        rows = self._sql.execute(
            """SELECT p.url, s.digest, s.status, s.headers, s.final_url, s.fetched_at FROM snapshots s
               JOIN pages p ON p.id = s.page_id WHERE s.page_id = ? ORDER BY s.fetched_at, s.id""",
            (page_id,),
        )
        return [_snapshot(row) for row in rows]

    def snapshot_by_digest(self, digest: str) -> Snapshot | None:
        row = self._sql.execute(
            """SELECT p.url, s.digest, s.status, s.headers, s.final_url, s.fetched_at FROM snapshots s
               JOIN pages p ON p.id = s.page_id WHERE s.digest = ? ORDER BY s.id LIMIT 1""",
            (digest,),
        ).fetchone()
        return _snapshot(row) if row else None

    def stale_snapshots(self, clean_rules: str) -> list[StaleSnapshot]:
        """Current snapshots not yet read, or read or skipped under other rules."""
        rows = self._sql.execute(
            """SELECT p.id, s.id, p.url, s.digest, s.status, s.headers, s.final_url, s.fetched_at
               FROM pages p JOIN snapshots s ON s.id = p.snapshot_id
               LEFT JOIN documents d ON d.id = p.reading_id AND d.snapshot_id = s.id AND d.clean_rules = ?1
               LEFT JOIN skipped_snapshots k ON k.snapshot_id = s.id AND k.clean_rules = ?1
               WHERE d.id IS NULL AND k.snapshot_id IS NULL AND NOT p.is_live ORDER BY p.id""",
            (clean_rules,),
        )
        return [StaleSnapshot(row[0], row[1], _snapshot(row[2:])) for row in rows]


def _page(row: tuple[Any, ...]) -> PageRow:
    return PageRow(row[0], row[1], row[2], SourceType(row[3]), tuple(json.loads(row[4])), PageState(row[5]), *row[6:])


def _snapshot(row: tuple[Any, ...]) -> Snapshot:
    url, digest, status, headers, final_url, fetched_at = row
    return Snapshot(url, digest, status, tuple((k, v) for k, v in json.loads(headers)), final_url, fetched_at)
