"""Index: blocks → vectors, the FAISS index and the word index.

A vector is computed once a block and encoder and kept in the database; the FAISS file is made from those, so a kill loses
at most the batch in hand and a rebuild embeds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kbcite.errors import ModelMismatch, NotFound, StoreError
from kbcite.retrieval.encoder import Encoder
from kbcite.retrieval.vector_index import VectorIndex, ids_digest, keep_stamps, mismatch, read_metadata
from kbcite.store.database import Database

COMMIT_EVERY = 64


@dataclass(frozen=True, slots=True)
class Embedded:
    """A batch of new vectors, stored."""

    blocks: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index holds at the end."""

    blocks: int
    embedded: int
    reused: int
    added: int
    removed: int
    """Blocks that came into and left the word index."""
    written: bool
    """False where the FAISS file held just these blocks already."""
    recall: float
    """Share of the ten nearest that the vector index finds, measured when it was built; 1 where it is exact."""


def index_blocks(
    database: Database,
    encoder: Encoder,
    folder: Path,
    *,
    rebuild: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Embedded | Indexed]:
    """Brings both indexes to exactly the live blocks, embedding what has no vector yet.

    Raises ModelMismatch where the index is of another encoder and `rebuild` was not asked for.
    """
    if not rebuild:
        refuse_mismatch(folder, encoder.fingerprint)
    with database.transaction():
        if rebuild:
            database.words.clear()
        words = database.words.sync(database.blocks.live())
    encoder_id = database.vectors.encoder_id(encoder.fingerprint, encoder.dim)
    missing = database.vectors.missing(encoder_id)
    embedded = 0
    for first in range(0, len(missing), COMMIT_EVERY):
        if should_stop():
            break
        batch = missing[first : first + COMMIT_EVERY]
        vectors = encoder.encode_passages([block.text for block in batch])
        with database.transaction():
            database.vectors.save(encoder_id, [block.id for block in batch], vectors)
        embedded += len(batch)
        yield Embedded(len(batch))
    ids = database.vectors.live_ids(encoder.fingerprint)
    generation = database.vectors.generation()
    index = None if rebuild else _whole(folder, ids, generation)
    written = index is None
    if index is None:
        live, languages, vectors = database.vectors.live(encoder.fingerprint)
        index = VectorIndex.build(live, vectors, languages, encoder.fingerprint, generation)
        index.save(folder)
    yield Indexed(len(ids), embedded, len(ids) - embedded, words.added, words.removed, written, index.recall)


@dataclass(frozen=True, slots=True)
class Compacted:
    vectors: int
    """Of retired blocks, deleted."""
    words: int
    """Retired blocks taken out of the word index."""
    freed: int
    """Bytes by which the database became smaller."""


def compact(database: Database) -> Compacted:
    """Drops vectors and words of blocks that stand on no current page and that no saved answer cites, and gives the space back.

    Texts, places and the archive stay: answers and their checks rest on them. A block that comes back is embedded again.
    """
    before = _size(database)
    with database.transaction():
        words = database.words.sync(database.blocks.live()).removed
        vectors = database.vectors.drop_retired()
        database.words.optimize()
    database.connection.execute("VACUUM")
    return Compacted(vectors, words, before - _size(database))


def _size(database: Database) -> int:
    """Bytes of the database file once everything is written to it."""
    (pages,), (size,) = (
        database.connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
    )
    return int(pages * size)


def refuse_mismatch(folder: Path, fingerprint: str) -> None:
    """Raises ModelMismatch if the index in the folder is of another encoder; a missing or damaged one will be made anew."""
    try:
        built_with = read_metadata(folder)["fingerprint"]
    except (NotFound, StoreError):
        return
    if built_with != fingerprint:
        raise ModelMismatch(mismatch(built_with, fingerprint))


def _whole(folder: Path, ids: list[str], generation: int) -> VectorIndex | None:
    """The saved index if it is whole, holds just these blocks, and says so of this state of the database."""
    try:
        index = VectorIndex.load(folder, thorough=True)
    except (NotFound, StoreError):
        return None
    if index.generation != generation or ids_digest(index.block_ids) != ids_digest(ids):
        return None
    keep_stamps(folder)
    return index
