"""Vectors of blocks, one a block and encoder: computed once, kept for good (SPEC 32, 34)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbcite.records import Block

if TYPE_CHECKING:
    import numpy as np


class Vectors:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def encoder_id(self, fingerprint: str, dim: int) -> int:
        self._sql.execute("INSERT OR IGNORE INTO encoders(fingerprint, dim) VALUES(?, ?)", (fingerprint, dim))
        return int(self._sql.execute("SELECT id FROM encoders WHERE fingerprint = ?", (fingerprint,)).fetchone()[0])

    def missing(self, encoder_id: int) -> list[Block]:
        """Live blocks without a vector of this encoder, in the order they were first seen."""
        rows = self._sql.execute(
            """SELECT id, text, words, language FROM blocks b
               WHERE num IN (SELECT block_num FROM live_occurrences)
                 AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder_id = ? AND v.block_num = b.num) ORDER BY num""",
            (encoder_id,),
        )
        return [Block(*row) for row in rows]

    def save(self, encoder_id: int, ids: Sequence[str], vectors: np.ndarray) -> None:
        """Store unit vectors, float32 (n, d), one a block ID."""
        self._sql.executemany(
            "INSERT OR IGNORE INTO vectors SELECT ?, num, ? FROM blocks WHERE id = ?",
            [
                (encoder_id, vector.astype("<f4").tobytes(), block_id)
                for block_id, vector in zip(ids, vectors, strict=True)
            ],
        )

    def live(self, fingerprint: str) -> tuple[list[str], list[str], np.ndarray]:
        """(block IDs, languages, vectors float32 (n, d)) of the live blocks that have a vector, in a fixed order."""
        matching = """vectors v JOIN encoders e ON e.id = v.encoder_id JOIN blocks b ON b.num = v.block_num
                      WHERE e.fingerprint = ? AND v.block_num IN (SELECT block_num FROM live_occurrences)"""
        (count,) = self._sql.execute(f"SELECT count(*) FROM {matching}", (fingerprint,)).fetchone()
        return self._read(matching, fingerprint, (fingerprint,), count)

    def of(self, fingerprint: str, block_ids: Sequence[str]) -> tuple[list[str], list[str], np.ndarray]:
        """The same of blocks by ID, those that have a vector."""
        # CROSS keeps this order of look-ups: SQLite, which takes a list for long, would go through all vectors.
        matching = """json_each(?) named CROSS JOIN blocks b ON b.id = named.value CROSS JOIN encoders e
                      CROSS JOIN vectors v ON v.encoder_id = e.id AND v.block_num = b.num WHERE e.fingerprint = ?"""
        return self._read(matching, fingerprint, (json.dumps(block_ids), fingerprint), len(block_ids))

    def _read(
        self, matching: str, fingerprint: str, parameters: tuple[str, ...], most: int
    ) -> tuple[list[str], list[str], np.ndarray]:
        import numpy as np

        # Filled row by row: a million vectors are 1.5 GB, and are never held twice.
        vectors = np.empty((most, self._dim(fingerprint)), np.float32)
        ids, languages = [], []
        rows = self._sql.execute(f"SELECT b.id, b.language, v.vector FROM {matching} ORDER BY b.id", parameters)
        for i, (block_id, language, vector) in enumerate(rows):
            ids.append(block_id)
            languages.append(language)
            vectors[i] = np.frombuffer(vector, "<f4")
        return ids, languages, vectors[: len(ids)]

    def drop_retired(self) -> int:
        """Deletes the vectors of blocks that stand on no current page and that no saved answer cites; how many. Their texts stay."""
        return self._sql.execute(
            """DELETE FROM vectors WHERE block_num NOT IN (SELECT block_num FROM live_occurrences) AND block_num NOT IN
               (SELECT b.num FROM answer_sources a JOIN blocks b ON b.id = a.block_id)"""
        ).rowcount

    def _dim(self, fingerprint: str) -> int:
        row = self._sql.execute("SELECT dim FROM encoders WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return int(row[0]) if row else 0

    def live_ids(self, fingerprint: str) -> list[str]:
        """IDs of the live blocks that have a vector: what an index of this encoder should hold, in a fixed order."""
        rows = self._sql.execute(
            """SELECT b.id FROM vectors v JOIN encoders e ON e.id = v.encoder_id JOIN blocks b ON b.num = v.block_num
               WHERE e.fingerprint = ? AND v.block_num IN (SELECT block_num FROM live_occurrences) ORDER BY b.id""",
            (fingerprint,),
        )
        return [row[0] for row in rows]

    def generation(self) -> int:
        """Rises with every change to which blocks are live and have vectors."""
        return int(self._sql.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])

    def fingerprints(self) -> list[tuple[str, int]]:
        """(encoder fingerprint, vectors kept) of every encoder that was used, the latest last."""
        return self._sql.execute(
            """SELECT e.fingerprint, count(v.block_num) FROM encoders e LEFT JOIN vectors v ON v.encoder_id = e.id
               GROUP BY e.id ORDER BY e.id"""
        ).fetchall()
