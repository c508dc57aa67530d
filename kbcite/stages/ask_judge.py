"""Judging the blocks of live pages: with the vectors that the store has of them, and the others embedded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kbcite.records import Block, Place, RetrievedBlock
from kbcite.retrieval.centring import Centroids
from kbcite.retrieval.encoder import Encoder, encode_few
from kbcite.retrieval.ranking import RankingOptions
from kbcite.retrieval.unindexed import judge
from kbcite.retrieval.vectors import Vectors
from kbcite.store.database import Database


class LiveJudge:
    """Ranks blocks that are in no index."""

    def __init__(
        self, database: Database, encoder: Encoder, centroids: Callable[[], Centroids], options: RankingOptions
    ) -> None:
        self._database = database
        self._encoder = encoder
        self._centroids = centroids
        self._options = options

    def __call__(self, question: str, pieces: Sequence[tuple[Block, Place]]) -> list[RetrievedBlock]:
        passages = [
            (block.text, "\n".join((place.title, *place.heading_chain, place.context))) for block, place in pieces
        ]
        coverage = self._database.words.coverage(question, passages)
        return judge(question, pieces, coverage, self._encoder, self._vectors_of, self._centroids(), self._options)

    def _vectors_of(self, blocks: Sequence[Block]) -> Vectors:
        known = self._database.pool.vectors(self._encoder.fingerprint, [block.id for block in blocks])
        missing = [block for block in blocks if block.id not in known]
        if missing:
            encoded = encode_few(self._encoder, [block.text for block in missing])
            new = {b.id: vector.astype("<f4").tobytes() for b, vector in zip(missing, encoded, strict=True)}
            with self._database.transaction():
                self._database.pool.save_vectors(self._encoder.fingerprint, new)
            known |= new
        return np.stack([np.frombuffer(known[block.id], "<f4") for block in blocks]).astype(np.float32)
