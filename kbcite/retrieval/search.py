"""A question -> the blocks that answer it, through doors: encoder, vector index, word search and the store's blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from kbcite.records import Block, Place, RetrievedBlock
from kbcite.retrieval.encoder import Encoder
from kbcite.retrieval.ranking import Candidate, RankingOptions, fuse, rank
from kbcite.retrieval.reranker import Rerank
from kbcite.retrieval.vectors import Vectors
from kbcite.words import language_of

NEAREST = 100
"""Blocks asked of the vector index; of them and the word hits, the best CANDIDATES are loaded and looked at."""
CANDIDATES = 50

WordSearch = Callable[[str, Collection[str] | None], Mapping[str, float]]
"""Question, and the blocks to look at if not all -> coverage by block ID, best first."""
LoadBlocks = Callable[[Iterable[str]], Mapping[str, tuple[Block, tuple[Place, ...]]]]
"""Block IDs -> blocks and their places, the one to cite first in front. What may not be shown is left out."""


class NearestBlocks(Protocol):
    """What `VectorIndex` offers; another vector store stands behind the same method."""

    def nearest(
        self, query: Vectors, language: str, k: int, allowed: Collection[str] | None = None
    ) -> list[tuple[str, float]]: ...


@dataclass(frozen=True, slots=True)
class Found:
    """Everything one question found, best first."""

    question: str
    language: str
    threshold: float
    blocks: tuple[RetrievedBlock, ...]
    """All candidates; `dropped` says why one is not used."""

    @property
    def used(self) -> tuple[RetrievedBlock, ...]:
        return tuple(block for block in self.blocks if block.dropped is None)


def retrieve(
    question: str,
    encoder: Encoder,
    index: NearestBlocks,
    word_search: WordSearch,
    load_blocks: LoadBlocks,
    options: RankingOptions,
    allowed: Collection[str] | None = None,
    rerank: Rerank | None = None,
) -> Found:
    """The blocks for a question, ranked. With `allowed`, no other block is looked at (labels filter before retrieval)."""
    language = language_of(question)
    query = encoder.encode_queries([question])[0]
    dense = dict(index.nearest(query, language, NEAREST, allowed))
    coverage = word_search(question, allowed)
    # Word hits beyond the nearest get their cosine too: every candidate is judged by both.
    if others := [block_id for block_id in islice(coverage, NEAREST) if block_id not in dense]:
        dense.update(index.nearest(query, language, len(others), others))
    order = sorted(dense, key=lambda block_id: -fuse(dense[block_id], coverage.get(block_id, 0.0)))
    candidates = [
        Candidate(block, places, dense[block_id], coverage.get(block_id, 0.0))
        for block_id, (block, places) in load_blocks(order[:CANDIDATES]).items()
    ]
    return Found(question, language, options.threshold, tuple(rank(question, candidates, options, rerank)))
