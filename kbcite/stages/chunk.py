"""Chunk: documents → blocks with stable IDs, for the documents that were not cut by the current rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kbcite.clock import Clock
from kbcite.records import Block, Occurrence
from kbcite.store.database import Database

COMMIT_EVERY = 50

ChunkText = Callable[[str, str], Sequence[tuple[Block, Occurrence]]]
"""A document's text and title → its blocks and where they stand."""


@dataclass(frozen=True, slots=True)
class Chunked:
    """What one document's blocks did to the store."""

    url: str
    blocks: int
    kept: int
    new: int
    retired: int


def chunk_documents(
    database: Database,
    chunk: ChunkText,
    rules: str,
    clock: Clock,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Chunked]:
    """One record a document, each after it was stored."""
    stale = database.documents.stale(rules)
    for first in range(0, len(stale), COMMIT_EVERY):
        if should_stop():
            return
        done = []
        with database.transaction():
            for document in stale[first : first + COMMIT_EVERY]:
                title, text = database.documents.title_and_text(document.id)
                pieces = chunk(text, title)
                counts = database.blocks.save(document.id, pieces, rules, clock(), document.searched_id)
                done.append(Chunked(document.url, len(pieces), counts.kept, counts.new, counts.retired))
        yield from done
