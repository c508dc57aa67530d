"""The crawl's frontier: what is to be fetched, what became of each URL, and the robots.txt copies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from kbcite.fetch_records import RobotsCopy


class UrlState(StrEnum):
    QUEUED = "queued"
    IN_FLIGHT = "in_flight"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class NewUrl:
    """A URL that was found, with where and how deep."""

    url_key: str
    url: str
    source: str
    host: str
    depth: int
    discovered_from: str | None = None


@dataclass(frozen=True, slots=True)
class FrontierRow:
    url_key: str
    url: str
    source: str
    host: str
    depth: int
    state: UrlState
    reason: str
    detail: str
    tries: int
    not_before: str
    discovered_from: str | None
    updated_at: str


_IS_DUE = """CASE WHEN state = 'done' AND reason = ''
    THEN url_key IN (SELECT a.url_key FROM pages p JOIN aliases a ON a.page_id = p.id
        WHERE p.due_at <= :now OR p.marked_at IS NOT NULL)
    ELSE not_before <= :now END"""
NEVER = "9999"
"""A `not_before` that does not come: only other settings, or the user, bring the URL up again."""

_COLUMNS = "url_key, url, source, host, depth, state, reason, detail, tries, not_before, discovered_from, updated_at"


class Frontier:
    """Writes belong into the database's `transaction()`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    # ------------------------------------------------------------ passes

    def begin_pass(
        self, source: str, now: str, *, rules: str = "", keep: bool = False, everything: bool = False
    ) -> None:
        """Make a source ready for crawling: what an ended or killed run left is queued, and what is due again.

        rules: the source's settings; where they are not those of its last pass, everything known is queued again, and so it is with
        `everything`. With `keep` what was settled stays so, due or not.
        """
        row = self._sql.execute("SELECT ended_at, rules FROM crawl_passes WHERE source = ?", (source,)).fetchone()
        is_unfinished = row is not None and row[0] is None
        known_rules = row[1] if row is not None else ""
        self.release(source)
        if keep:
            if not is_unfinished:
                self._sql.execute(
                    "INSERT OR REPLACE INTO crawl_passes VALUES(?, ?, NULL, ?)", (source, now, known_rules)
                )
            return
        if everything or (known_rules != rules and not is_unfinished):
            self._queue_again(source, "1", now)
        else:
            self._queue_again(source, _IS_DUE, now)
        if not is_unfinished or everything:
            self._sql.execute("INSERT OR REPLACE INTO crawl_passes VALUES(?, ?, NULL, ?)", (source, now, rules))

    def _queue_again(self, source: str, condition: str, now: str) -> None:
        self._sql.execute(
            f"""UPDATE frontier SET state = 'queued', reason = '', detail = '', tries = 0, not_before = '',
                   is_urgent = url_key IN (SELECT a.url_key FROM pages p JOIN aliases a ON a.page_id = p.id WHERE p.marked_at IS NOT NULL)
               WHERE source = :source AND state IN ('done', 'failed', 'skipped') AND {condition}""",
            {"source": source, "now": now},
        )

    def end_pass(self, source: str, now: str) -> None:
        self._sql.execute("UPDATE crawl_passes SET ended_at = ? WHERE source = ?", (now, source))

    def release(self, source: str) -> int:
        """Queue again what is in flight; how many that were."""
        return self._sql.execute(
            "UPDATE frontier SET state = 'queued' WHERE source = ? AND state = 'in_flight'", (source,)
        ).rowcount

    def with_unread_links(self, source: str) -> list[FrontierRow]:
        """Pages of a source whose bytes are newer than their links here: a recheck has stored them."""
        rows = self._sql.execute(
            f"""SELECT {_COLUMNS} FROM frontier WHERE source = ? AND state = 'done' AND reason = '' AND EXISTS (
                    SELECT 1 FROM aliases a JOIN pages p ON p.id = a.page_id
                    WHERE a.url_key = frontier.url_key AND p.url = frontier.url AND p.changed_at > frontier.updated_at)
                ORDER BY id""",
            (source,),
        )
        return [_row(row) for row in rows]

    def links_were_read(self, url_key: str, now: str) -> None:
        self._sql.execute("UPDATE frontier SET updated_at = ? WHERE url_key = ?", (now, url_key))

    # ------------------------------------------------------------ URLs

    def add(self, found: Iterable[NewUrl], now: str) -> int:
        """Queue URLs that are not known yet; how many were new. A known one that waits keeps its lesser depth."""
        before = self._sql.total_changes
        rows = [(new.url_key, new.url, new.source, new.host, new.depth, new.discovered_from, now) for new in found]
        self._sql.executemany(
            """INSERT INTO frontier(url_key, url, source, host, depth, state, discovered_from, updated_at)
               VALUES(?, ?, ?, ?, ?, 'queued', ?, ?) ON CONFLICT DO NOTHING""",
            rows,
        )
        added = self._sql.total_changes - before
        if added < len(rows):
            self._sql.executemany(
                "UPDATE frontier SET depth = ?, source = ? WHERE url_key = ? AND state = 'queued' AND depth > ?",
                [(row[4], row[2], row[0], row[4]) for row in rows],
            )
        return added

    def hosts(self, source: str, now: str) -> list[str]:
        """Hosts with URLs of the source that may be fetched now."""
        rows = self._sql.execute(
            "SELECT DISTINCT host FROM frontier WHERE state = 'queued' AND source = ? AND not_before <= ?",
            (source, now),
        )
        return [host for (host,) in rows]

    def claim(self, host: str, source: str, limit: int, now: str) -> list[FrontierRow]:
        """Up to `limit` queued URLs of a host, urgent ones first, then the least deep; they are in flight from here on."""
        rows = self._sql.execute(
            f"""SELECT id, {_COLUMNS} FROM frontier WHERE state = 'queued' AND host = ? AND source = ? AND not_before <= ?
               ORDER BY is_urgent DESC, depth, id LIMIT ?""",
            (host, source, now, limit),
        ).fetchall()
        self._sql.executemany(
            "UPDATE frontier SET state = 'in_flight', is_urgent = 0 WHERE id = ?", [row[:1] for row in rows]
        )
        return [replace(_row(row[1:]), state=UrlState.IN_FLIGHT) for row in rows]

    def requeue(self, url_key: str) -> None:
        """Put a URL in front of the queue, whatever became of it."""
        self._sql.execute(
            """UPDATE frontier SET state = 'queued', reason = '', detail = '', not_before = '', depth = 0, is_urgent = 1
               WHERE url_key = ?""",
            (url_key,),
        )

    def settle(
        self,
        url_key: str,
        state: UrlState,
        now: str,
        reason: str = "",
        detail: str = "",
        tries: int = 1,
        not_before: str = "",
    ) -> None:
        """Record what became of a URL. not_before: when it is worth another look, where it brought no page; empty is the next run."""
        self._sql.execute(
            """UPDATE frontier SET state = ?, reason = ?, detail = ?, updated_at = ?, not_before = ?, tries = ?
               WHERE url_key = ?""",
            (state, reason, detail, now, not_before, tries, url_key),
        )

    def defer(self, url_key: str, now: str, reason: str, detail: str, not_before: str = "") -> None:
        """Put a URL back into the queue, for a later run where `not_before` says so."""
        self._sql.execute(
            """UPDATE frontier SET state = 'queued', reason = ?, detail = ?, updated_at = ?, not_before = ?
               WHERE url_key = ?""",
            (reason, detail, now, not_before, url_key),
        )

    def settle_queued(self, source: str, state: UrlState, now: str, reason: str, *, not_before: str = "") -> int:
        """The same for every URL of a source that still waits; how many they were."""
        return self._sql.execute(
            """UPDATE frontier SET state = ?, reason = ?, updated_at = ?, not_before = ?
               WHERE source = ? AND state = 'queued'""",
            (state, reason, now, not_before, source),
        ).rowcount

    def count_queued(self, source: str, host: str) -> int:
        """How many URLs of a source wait on a host."""
        (count,) = self._sql.execute(
            "SELECT count(*) FROM frontier WHERE state = 'queued' AND source = ? AND host = ?", (source, host)
        ).fetchone()
        return int(count)

    def get(self, url_key: str) -> FrontierRow | None:
        """What is known of a URL: the answer to "why was it not fetched?"."""
        row = self._sql.execute(f"SELECT {_COLUMNS} FROM frontier WHERE url_key = ?", (url_key,)).fetchone()
        return _row(row) if row else None

    def rows(self, source: str, *states: UrlState) -> list[FrontierRow]:
        """A source's URLs in the given states, all without any, in the order they were found."""
        wanted = states or tuple(UrlState)
        marks = ", ".join("?" * len(wanted))
        rows = self._sql.execute(
            f"SELECT {_COLUMNS} FROM frontier WHERE source = ? AND state IN ({marks}) ORDER BY id",
            (source, *wanted),
        )
        return [_row(row) for row in rows]

    def counts(self, source: str) -> dict[str, int]:
        """How many URLs of a source are in each state."""
        return dict(
            self._sql.execute(
                "SELECT state, count(*) FROM frontier WHERE source = ? GROUP BY state", (source,)
            ).fetchall()
        )

    def count_pages(self, source: str) -> int:
        """How many pages the source's current pass has brought; other addresses of them are not counted."""
        (count,) = self._sql.execute(
            "SELECT count(*) FROM frontier WHERE source = ? AND state = 'done' AND reason = ''", (source,)
        ).fetchone()
        return int(count)

    # ------------------------------------------------------------ robots.txt

    def robots(self) -> dict[str, RobotsCopy]:
        """The robots.txt copies by host, expired ones too: the last good one may still serve."""
        rows = self._sql.execute("SELECT host, outcome, body, detail, fetched_at, expires_at FROM robots")
        return {row[0]: RobotsCopy(*row) for row in rows}

    def save_robots(self, copy: RobotsCopy) -> None:
        self._sql.execute(
            "INSERT OR REPLACE INTO robots VALUES(?, ?, ?, ?, ?, ?)",
            (copy.host, copy.outcome, copy.body, copy.detail, copy.fetched_at, copy.expires_at),
        )


def _row(row: tuple[Any, ...]) -> FrontierRow:
    url_key, url, source, host, depth, state, *rest = row
    return FrontierRow(url_key, url, source, host, depth, UrlState(state), *rest)
