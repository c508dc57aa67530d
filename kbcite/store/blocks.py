"""Blocks and the places where they stand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kbcite.records import Block, Occurrence, PageState, Place, SourceType


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """What storing a document's blocks did to the set of live blocks."""

    kept: int
    new: int
    retired: int


_PLACE_COLUMNS = """o.document_id, o.start, o.end, o.heading_chain, p.url, d.title, json_extract(d.metadata, '$.published_at'),
    p.fetched_at, p.source_type, p.state, s.digest, p.labels, o.ordinal, substr(d.text, o.start + 1, o.end - o.start), o.context"""
_PLACE_FROM = """JOIN documents d ON d.id = o.document_id JOIN pages p ON p.id = d.page_id
    JOIN snapshots s ON s.id = d.snapshot_id"""


class Blocks:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def save(
        self,
        document_id: int,
        pieces: Sequence[tuple[Block, Occurrence]],
        chunk_rules: str,
        at: str,
        searched_id: int | None,
    ) -> ChunkCounts:
        """Store a document's blocks and let them be searched in place of those of `searched_id`; known blocks are reused."""
        before = self._ids_of(searched_id) if searched_id is not None else set()
        now = {block.id for block, _ in pieces}
        new = 0
        for block, _ in pieces:
            new += self._sql.execute(
                "INSERT OR IGNORE INTO blocks(id, text, words, language, first_seen_at) VALUES(?, ?, ?, ?, ?)",
                (block.id, block.text, block.words, block.language, at),
            ).rowcount
        self._sql.execute("DELETE FROM occurrences WHERE document_id = ?", (document_id,))
        self._sql.executemany(
            "INSERT INTO occurrences SELECT ?, ?, num, ?, ?, ?, ? FROM blocks WHERE id = ?",
            [
                (
                    document_id,
                    o.ordinal,
                    o.start,
                    o.end,
                    json.dumps(o.heading_chain, ensure_ascii=False),
                    o.context,
                    o.block_id,
                )
                for _, o in pieces
            ],
        )
        self._sql.execute("UPDATE documents SET chunk_rules = ? WHERE id = ?", (chunk_rules, document_id))
        self._sql.execute(
            """UPDATE pages SET document_id = reading_id, state = CASE state WHEN 'changed' THEN 'alive' ELSE state END
               WHERE reading_id = ?""",
            (document_id,),
        )
        gone = before - now
        still_live = sum(self.is_live(block_id) for block_id in gone)
        return ChunkCounts(kept=len(now) - new, new=new, retired=len(gone) - still_live)

    def _ids_of(self, document_id: int) -> set[str]:
        rows = self._sql.execute(
            "SELECT b.id FROM occurrences o JOIN blocks b ON b.num = o.block_num WHERE o.document_id = ?",
            (document_id,),
        )
        return {row[0] for row in rows}

    def is_live(self, block_id: str) -> bool:
        """True if the block stands on the current reading of a page that is neither dead nor moved."""
        return (
            self._sql.execute(
                "SELECT 1 FROM live_occurrences o JOIN blocks b ON b.num = o.block_num WHERE b.id = ? LIMIT 1",
                (block_id,),
            ).fetchone()
            is not None
        )

    def live_count(self) -> int:
        return int(self._sql.execute("SELECT count(DISTINCT block_num) FROM live_occurrences").fetchone()[0])

    def live(self) -> Iterator[tuple[Block, str]]:
        """Every live block with its contexts: titles and headings above it on all its pages, and repeated table headers."""
        rows = self._sql.execute(
            """SELECT b.id, b.text, b.words, b.language,
                      json_group_array(json_array(d.title, o.heading_chain, o.context))
               FROM live_occurrences o JOIN blocks b ON b.num = o.block_num JOIN documents d ON d.id = o.document_id
               GROUP BY b.num ORDER BY b.num"""
        )
        for block_id, text, words, language, contexts in rows:
            yield Block(block_id, text, words, language), _context(json.loads(contexts))

    def get(self, block_id: str) -> Block | None:
        row = self._sql.execute("SELECT id, text, words, language FROM blocks WHERE id = ?", (block_id,)).fetchone()
        return Block(*row) if row else None

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        rows = self._sql.execute(
            "SELECT id FROM blocks WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", (prefix, prefix + "\uffff", limit)
        )
        return [row[0] for row in rows]

    def load(
        self, ids: Iterable[str], source_type: SourceType | None = None, labels: Collection[str] = ()
    ) -> dict[str, tuple[Block, tuple[Place, ...]]]:
        """Blocks by ID with their live places, the one to cite first in front; only places of that type with one of the labels.

        Blocks that stand on no such place are left out.
        """
        found = {}
        for block_id in ids:
            block = self.get(block_id)
            places = self.places(block_id, live_only=True) if block else ()
            places = tuple(
                place for place in places if _is_allowed(place.source_type, place.labels, source_type, labels)
            )
            if block and places:
                found[block_id] = (block, places)
        return found

    def ids_allowed(self, source_type: SourceType | None, labels: Collection[str]) -> set[str]:
        """IDs of the live blocks that stand on a page of that type with one of the labels."""
        rows = self._sql.execute(
            """SELECT DISTINCT b.id, p.source_type, p.labels FROM live_occurrences o
               JOIN blocks b ON b.num = o.block_num JOIN pages p ON p.id = o.page_id"""
        )
        return {
            block_id
            for block_id, type_, own in rows
            if _is_allowed(SourceType(type_), json.loads(own), source_type, labels)
        }

    def places(self, block_id: str, *, live_only: bool) -> tuple[Place, ...]:
        """Where a block stands, or stood; the internal and lately published first."""
        table = "live_occurrences" if live_only else "occurrences"
        rows = self._sql.execute(
            f"SELECT {_PLACE_COLUMNS} FROM {table} o JOIN blocks b ON b.num = o.block_num {_PLACE_FROM} WHERE b.id = ?",
            (block_id,),
        )
        places = [_place(row) for row in rows]
        places.sort(key=lambda place: (place.url, place.document_id, place.start))
        places.sort(key=lambda place: place.published_at or "", reverse=True)
        places.sort(key=lambda place: place.source_type != SourceType.INTERNAL)
        return tuple(places)

    def of_document(self, document_id: int) -> list[tuple[Block, Occurrence]]:
        """A document's blocks in their order."""
        rows = self._sql.execute(
            """SELECT b.id, b.text, b.words, b.language, o.start, o.end, o.heading_chain, o.ordinal, o.context
               FROM occurrences o JOIN blocks b ON b.num = o.block_num WHERE o.document_id = ? ORDER BY o.ordinal""",
            (document_id,),
        )
        return [
            (Block(*row[:4]), Occurrence(row[0], row[4], row[5], tuple(json.loads(row[6])), row[7], row[8]))
            for row in rows
        ]


def _is_allowed(
    own_type: SourceType, own_labels: Collection[str], source_type: SourceType | None, labels: Collection[str]
) -> bool:
    return (source_type is None or own_type == source_type) and (not labels or not set(labels).isdisjoint(own_labels))


def _context(contexts: list[list[str]]) -> str:
    parts: dict[str, None] = {}
    for title, chain, repeated in contexts:
        parts.update(dict.fromkeys([title, *json.loads(chain), repeated]))
    return "\n".join(part for part in parts if part)


def _place(row: tuple[Any, ...]) -> Place:
    (
        document_id,
        start,
        end,
        chain,
        url,
        title,
        published,
        fetched,
        source_type,
        state,
        digest,
        labels,
        ordinal,
        text,
        context,
    ) = row
    return Place(
        document_id=document_id,
        start=start,
        end=end,
        heading_chain=tuple(json.loads(chain)),
        url=url,
        title=title,
        published_at=published,
        fetched_at=fetched,
        source_type=SourceType(source_type),
        state=PageState(state),
        digest=digest,
        labels=tuple(json.loads(labels)),
        ordinal=ordinal,
        text=text,
        context=context,
    )
