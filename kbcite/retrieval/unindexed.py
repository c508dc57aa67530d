"""Blocks that are in no index, judged as if they were: what a page fetched while answering is worth to the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kbcite.records import Block, Place, RetrievedBlock
from kbcite.retrieval.centring import Centroids, centre
from kbcite.retrieval.encoder import Encoder
from kbcite.retrieval.ranking import Candidate, RankingOptions, rank
from kbcite.retrieval.vectors import Vectors
from kbcite.words import language_of

MAX_WORDS = 400
"""Words that are embedded, besides the best block of each page: a long page must not cost more than its fetch."""

VectorsOf = Callable[[Sequence[Block]], Vectors]
"""Blocks → their vectors, float32 (n, d), unit length, not centred."""


def judge(
    question: str,
    blocks: Sequence[tuple[Block, Place]],
    coverage: Sequence[float],
    encoder: Encoder,
    vectors_of: VectorsOf,
    centroids: Centroids,
    options: RankingOptions,
) -> list[RetrievedBlock]:
    """The blocks ranked, best first, with reasons in `dropped` as for indexed ones. coverage: of each block.

    centroids: those of the index, so that the scores compare with its. A text that stands twice is judged once.
    """
    places: dict[str, list[Place]] = {}
    for block, place in blocks:
        places.setdefault(block.id, []).append(place)
    chosen = {blocks[n][0].id: (blocks[n][0], coverage[n]) for n in _worth_it(blocks, coverage)}
    if not chosen:
        return []
    texts = [block for block, _ in chosen.values()]
    query = centre(encoder.encode_queries([question]), [language_of(question)], centroids)[0]
    vectors = centre(vectors_of(texts), [block.language for block in texts], centroids)
    candidates = [
        Candidate(block, tuple(places[block.id]), float(vector @ query), covered)
        for (block, covered), vector in zip(chosen.values(), vectors, strict=True)
    ]
    return rank(question, candidates, options)


def _worth_it(blocks: Sequence[tuple[Block, Place]], coverage: Sequence[float]) -> list[int]:
    """Which blocks are embedded: the best of each page by coverage, then the best of all as long as there is room."""
    order = sorted(range(len(blocks)), key=lambda n: (-coverage[n], n))
    best: dict[str, int] = {}
    for n in order:
        best.setdefault(blocks[n][1].url, n)
    chosen = list(best.values())
    words = sum(blocks[n][0].words for n in chosen)
    for n in order:
        if n not in best.values() and words + blocks[n][0].words <= MAX_WORDS:
            chosen.append(n)
            words += blocks[n][0].words
    return chosen
