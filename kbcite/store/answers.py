"""Saved answers, with the passages that they cite."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class Answers:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def save(
        self,
        record: Mapping[str, Any],
        cited: Sequence[tuple[int, str, int, str]],
        trace: Mapping[str, Any] | None = None,
    ) -> None:
        """Store an answer's record (`kbcite.answer/1`), what it cites: (n, block ID, document, digest) each, and its trace."""
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            self._sql.execute(
                """INSERT INTO answers(id, trace_id, created_at, question, status, record, trace, seq)
                   VALUES(?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM answers))""",
                (
                    record["id"],
                    record["trace_id"],
                    record["created_at"],
                    record["question"],
                    record["status"],
                    json.dumps(record, ensure_ascii=False),
                    None if trace is None else zlib.compress(json.dumps(trace, ensure_ascii=False).encode()),
                ),
            )
            self._sql.executemany(
                "INSERT INTO answer_sources VALUES(?, ?, ?, ?, ?)", [(record["id"], *row) for row in cited]
            )
        except BaseException:
            self._sql.rollback()
            raise
        self._sql.commit()

    def get(self, answer_id: str) -> dict[str, Any] | None:
        row = self._sql.execute("SELECT record FROM answers WHERE id = ?", (answer_id,)).fetchone()
        return json.loads(row[0]) if row else None

    def latest(self) -> dict[str, Any] | None:
        row = self._sql.execute("SELECT record FROM answers ORDER BY seq DESC, created_at DESC LIMIT 1").fetchone()
        return json.loads(row[0]) if row else None

    def newest(self, limit: int = -1) -> Iterator[dict[str, Any]]:
        """Records of the last answers, the newest first; all of them for a negative limit."""
        # Read whole before the first is handed out: whoever goes through them may save an answer meanwhile.
        rows = self._sql.execute(
            "SELECT record FROM answers ORDER BY seq DESC, created_at DESC LIMIT ?", (limit,)
        ).fetchall()
        return (json.loads(row[0]) for row in rows)

    def trace(self, answer_id: str) -> dict[str, Any] | None:
        """The trace of an answer; None where it was saved without one."""
        row = self._sql.execute("SELECT trace FROM answers WHERE id = ?", (answer_id,)).fetchone()
        return json.loads(zlib.decompress(row[0])) if row and row[0] is not None else None

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        """IDs of the answers whose ID, or trace ID, begins so."""
        rows = self._sql.execute(
            """SELECT id FROM answers WHERE id >= ?1 AND id < ?2
               UNION SELECT id FROM answers WHERE trace_id >= ?1 AND trace_id < ?2 ORDER BY id LIMIT ?3""",
            (prefix, prefix + "\uffff", limit),
        )
        return [row[0] for row in rows]

    def cited(self, answer_id: str, n: int) -> tuple[str, int, str] | None:
        """(block ID, document, digest) of one numbered source of an answer."""
        row = self._sql.execute(
            "SELECT block_id, document_id, digest FROM answer_sources WHERE answer_id = ? AND n = ?", (answer_id, n)
        ).fetchone()
        return (row[0], row[1], row[2]) if row else None

    def count(self) -> int:
        return int(self._sql.execute("SELECT count(*) FROM answers").fetchone()[0])
