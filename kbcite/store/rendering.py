"""Which pages of which sites need a browser, from one run to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


class Rendering:
    """Rows are (site, path pattern, need, pages, time). Writes belong into the database's `transaction()`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def verdicts(self) -> list[tuple[str, str, str, int, str]]:
        return self._sql.execute("SELECT site, pattern, need, pages, at FROM render_verdicts").fetchall()

    def save(self, rows: Iterable[tuple[str, str, str, int, str]]) -> None:
        self._sql.executemany("INSERT OR REPLACE INTO render_verdicts VALUES(?, ?, ?, ?, ?)", rows)
