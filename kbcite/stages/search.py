"""Search: a question → the blocks that may answer it, from what is indexed now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from kbcite.errors import ModelMismatch, NotFound, StoreError
from kbcite.records import SourceType
from kbcite.retrieval.encoder import Encoder
from kbcite.retrieval.ranking import RankingOptions
from kbcite.retrieval.reranker import Rerank
from kbcite.retrieval.search import Found, retrieve
from kbcite.retrieval.vector_index import VectorIndex, mismatch
from kbcite.store.database import Database


def open_index(database: Database, encoder: Encoder, folder: Path) -> VectorIndex:
    """The vector index over the live blocks that have a vector; a file that lies behind the database is caught up in memory.

    Raises NotFound where nothing is embedded, ModelMismatch where the index is of another encoder, StoreError if its file is damaged or the words are old.
    """
    if database.words.is_old():
        raise StoreError(
            'the word index was made by an older kbcite; run "kbcite index" once, which makes it again and embeds nothing'
        )
    missing = NotFound(f'the index at {folder} holds no block that is current; run "kbcite build" first')
    try:
        index = VectorIndex.load(folder)
    except NotFound as error:
        missing = error
    else:
        if index.fingerprint != encoder.fingerprint:
            raise ModelMismatch(mismatch(index.fingerprint, encoder.fingerprint))
        if index.generation == database.vectors.generation() and len(index):
            return index
        if not index.is_exact:
            _catch_up(index, database)
            return index
    ids, languages, vectors = database.vectors.live(encoder.fingerprint)
    if not ids:
        raise missing
    return VectorIndex.build(ids, vectors, languages, encoder.fingerprint)


def _catch_up(index: VectorIndex, database: Database) -> None:
    """A large index takes a minute to make: what came since it was made stands beside it, what went is left out."""
    held, live = set(index.block_ids), set(database.vectors.live_ids(index.fingerprint))
    ids, languages, vectors = database.vectors.of(index.fingerprint, sorted(live - held))
    more = VectorIndex.build(ids, vectors, languages, index.fingerprint, centroids=index.centroids)
    index.catch_up(held - live, more)


def nearness_of(encoder: Encoder) -> Callable[[str, Sequence[str]], Sequence[float]]:
    """A function from a question and passages to the cosine of each with the question."""

    def nearness(question: str, passages: Sequence[str]) -> Sequence[float]:
        query = encoder.encode_queries([question])[0]
        return [float(cosine) for cosine in encoder.encode_passages(list(passages)) @ query]

    return nearness


def search_blocks(
    question: str,
    database: Database,
    encoder: Encoder,
    index: VectorIndex,
    options: RankingOptions,
    source_type: SourceType | None = None,
    labels: Collection[str] = (),
    rerank: Rerank | None = None,
) -> Found:
    """The candidates for a question, best first; a source type and labels filter before anything is retrieved (SPEC 46)."""
    allowed = database.blocks.ids_allowed(source_type, labels) if source_type or labels else None
    return retrieve(
        question,
        encoder,
        index,
        database.words.search,
        lambda ids: database.blocks.load(ids, source_type, labels),
        options,
        allowed,
        rerank,
    )
