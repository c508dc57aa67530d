"""Dates that a clock which ran ahead has left in a store, taken back once the clock is right: nothing is to wait for a day that is far off.

Pages that were visited then are due at once, whatever else that run put off is taken up, and visits count as made now. When bytes
were fetched and answers given stays as it was recorded.
"""

from __future__ import annotations

import sqlite3
from datetime import timedelta

from kbcite.clock import from_text, to_text

TOLERANCE = timedelta(hours=1)
"""A clock that is put right by less has put nothing off for long."""

_IS_AHEAD = """SELECT 1 WHERE (SELECT at FROM visits ORDER BY rowid DESC LIMIT 1) > :limit
    OR EXISTS (SELECT 1 FROM crawl_passes WHERE max(started_at, coalesce(ended_at, '')) > :limit)
    OR EXISTS (SELECT 1 FROM robots WHERE fetched_at > :limit)"""
"""The last visit, and what there is a row of for each source and host: looked at by every run, so it must cost nothing."""

_CURES = (
    "UPDATE pages SET due_at = :now WHERE id IN (SELECT page_id FROM visits WHERE at > :limit)",
    "UPDATE pages SET missing_since = :now WHERE missing_since > :limit",
    "UPDATE visits SET at = :now WHERE at > :limit",
    # A `not_before` of '9999' is for good, and no date.
    "UPDATE frontier SET not_before = '' WHERE updated_at > :limit AND not_before < '9999'",
    "UPDATE frontier SET updated_at = :now WHERE updated_at > :limit",
    "UPDATE crawl_passes SET started_at = min(started_at, :now), ended_at = min(ended_at, :now)",
    # Kept, as the last good copy may have to serve where the host gives none.
    "UPDATE robots SET fetched_at = :now, expires_at = :now WHERE fetched_at > :limit",
    "UPDATE render_verdicts SET at = :now WHERE at > :limit",
)


def take_back_dates(connection: sqlite3.Connection, now: str) -> bool:
    """Whether there were dates ahead of `now`; they are taken back. Belongs into the database's `transaction()`."""
    times = {"now": now, "limit": to_text(from_text(now) + TOLERANCE)}
    if connection.execute(_IS_AHEAD, times).fetchone() is None:
        return False
    for statement in _CURES:
        connection.execute(statement, times)
    return True
