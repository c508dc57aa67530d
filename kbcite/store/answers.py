"""Saved answers, with the passages that they cite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any


class Answers:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def save(self, record: dict[str, Any], cited: Sequence[tuple[int, str, int, str]]) -> None:
        """Store an answer's record (`kbcite.answer/1`) and what it cites: (n, block ID, document, digest) each."""
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            self._sql.execute(
                """INSERT INTO answers(id, trace_id, created_at, question, status, record, seq)
                   VALUES(?, ?, ?, ?, ?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM answers))""",
                (
                    record["id"],
                    record["trace_id"],
                    record["created_at"],
                    record["question"],
                    record["status"],
                    json.dumps(record, ensure_ascii=False),
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

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        rows = self._sql.execute(
            "SELECT id FROM answers WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", (prefix, prefix + "\uffff", limit)
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
