"""How vectors lie in FAISS: all in one flat list up to a size, above it in lists of near ones, of which a question reads a few.

Flat is exact and its time grows with the blocks. Above `LISTS_FROM` an inverted file takes its place (FAISS's
IVF with SQ8): the vectors are dealt to the nearest of about 4 sqrt(n) means, one byte a number, and a question reads the lists of the means
nearest to it. It is built in two minutes for a million, its file is read from disk list by list,
and a filter costs no recall: the fewer blocks are allowed, the more lists are read.

How many lists are read is not a constant: it is raised by a quarter until a sample of questions finds what the flat index would, and
the recall that this comes to is kept with the index.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kbcite.retrieval.centring import Centroids, centre
from kbcite.retrieval.vectors import Vectors, to_unit_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

Ids: TypeAlias = "npt.NDArray[np.int64]"

LISTS_FROM = 50_000
"""Blocks. At 60,000 the lists take 9 ms a question on one thread (`python -m tests.bench.vectors 60000`); flat takes 4 ms at 20,000 and
grows with the blocks."""
RECALL = 0.96
"""Share of the ten nearest that have to be among the hundred found, on the sample."""
CANDIDATES = 100
"""Found by the bytes, then scored again by the stored vectors: at a million the order of the bytes alone loses 3 points of recall."""
TRAINED_ON = 40
"""Vectors a list that the means are made from; FAISS asks for 39 at least."""
SAMPLE = 200
NEAREST = 10
QUESTION_COSINE = 0.6
"""Of a question of the sample with the block it is made from: questions of people have .52 with the block nearest to them."""
_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class Laid:
    """Vectors in FAISS."""

    index: Any
    recall: float
    """Share of the ten nearest that are among the hundred found, on the sample; 1 for the flat index."""


def lay(ids: Ids, vectors: Vectors, languages: Sequence[str], centroids: Centroids) -> Laid:
    """Vectors, float32 (n, d) of unit length, centred, under the numbers `ids`, int64 (n,)."""
    import faiss

    count, dim = vectors.shape
    if count < LISTS_FROM:
        flat = faiss.IndexIDMap2(faiss.IndexFlatIP(dim))
        if count:
            flat.add_with_ids(centre(vectors, languages, centroids), ids)
        return Laid(flat, 1.0)
    lists = number_of_lists(count)
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dim), dim, lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.niter = 10
    index.cp.spherical = True
    chance = np.random.default_rng(0)
    chosen = np.sort(chance.choice(count, min(count, TRAINED_ON * lists), replace=False))
    index.train(_centred(vectors, languages, centroids, chosen))
    questions = _questions(_centred(vectors, languages, centroids, np.sort(chance.choice(count, SAMPLE))), chance)
    best = _Best(len(questions))
    for first in range(0, count, _BATCH):
        rows = np.arange(first, min(count, first + _BATCH))
        batch = _centred(vectors, languages, centroids, rows)
        index.add_with_ids(batch, ids[rows])
        best.look_at(questions @ batch.T, ids[rows])
    index.nprobe = min(8, lists)
    while (recall := _recall(index, questions, best.ids)) < RECALL and index.nprobe < lists:
        index.nprobe = min(lists, math.ceil(1.25 * index.nprobe))
    return Laid(index, recall)


def number_of_lists(count: int) -> int:
    """The power of two next to four times the square root of a number of vectors: 1,024 for 50,000, 4,096 for a million."""
    return int(2 ** round(math.log2(4 * math.sqrt(max(1, count)))))


def search_parameters(index: Any, allowed: Ids | None) -> Any:
    """What FAISS is told where only some numbers are allowed: so many more lists that as many of them are looked at as otherwise."""
    import faiss

    if allowed is None:
        return None
    selector = faiss.IDSelectorBatch(allowed)
    parameters: Any = faiss.SearchParametersIVF() if has_lists(index) else faiss.SearchParameters()
    parameters.sel = selector
    if has_lists(index):
        wanted = math.ceil(index.nprobe * index.ntotal / max(1, len(allowed)))
        parameters.nprobe = min(index.nlist, wanted)
    return parameters


def has_lists(index: Any) -> bool:
    return hasattr(index, "nprobe")


def numbers_of(index: Any) -> Ids:
    """The numbers of all vectors, in ascending order."""
    import faiss

    if not has_lists(index):
        return np.sort(faiss.vector_to_array(index.id_map))
    lists = faiss.downcast_InvertedLists(index.invlists)
    sizes = [lists.list_size(i) for i in range(index.nlist)]
    each = [faiss.rev_swig_ptr(lists.get_ids(i), size).copy() for i, size in enumerate(sizes) if size]
    return np.sort(np.concatenate(each))


def read(path: Path, *, lists: bool) -> Any:
    """The index of a file, flat or of lists, left on the disk until a question reads of it; its caller has checked the file."""
    import faiss

    # FAISS maps no file on Windows: there all of it is read.
    mapped = faiss.IO_FLAG_MMAP if lists else faiss.IO_FLAG_MMAP_IFC
    index: Any = faiss.read_index(str(path), 0 if os.name == "nt" else mapped)
    if lists and hasattr(on_disk := faiss.downcast_InvertedLists(index.invlists), "prefetch_nthread"):
        on_disk.prefetch_nthread = 0  # by itself it starts 32 threads a question
    return index


def _centred(
    vectors: Vectors, languages: Sequence[str], centroids: Centroids, rows: npt.NDArray[np.integer]
) -> Vectors:
    return centre(vectors[rows], [languages[row] for row in rows.tolist()], centroids)


def _questions(near: Vectors, chance: np.random.Generator) -> Vectors:
    """Vectors as far from these as questions are from what answers them, along the directions in which the vectors themselves differ."""
    mixed = chance.standard_normal((len(near), len(near)), np.float32) @ (near - near.mean(axis=0))
    away = to_unit_length(mixed - (mixed * near).sum(axis=1, keepdims=True) * near)
    return to_unit_length(QUESTION_COSINE * near + math.sqrt(1 - QUESTION_COSINE**2) * away)


def _recall(index: Any, questions: Vectors, nearest: Ids) -> float:
    _, found = index.search(questions, CANDIDATES)
    held = [len(set(ours) & set(exact)) for ours, exact in zip(found.tolist(), nearest.tolist(), strict=True)]
    return float(np.mean(held)) / NEAREST


class _Best:
    """The nearest of each question among all that was looked at."""

    def __init__(self, questions: int) -> None:
        self.ids = np.full((questions, NEAREST), -1, np.int64)
        self._scores = np.full((questions, NEAREST), -np.inf, np.float32)

    def look_at(self, scores: npt.NDArray[np.float32], ids: Ids) -> None:
        """scores: float32 (questions, n) of the vectors with these numbers."""
        scores = np.concatenate([self._scores, scores], axis=1)
        names = np.concatenate([self.ids, np.broadcast_to(ids, (len(scores), len(ids)))], axis=1)
        top = np.argpartition(-scores, NEAREST - 1, axis=1)[:, :NEAREST]
        self.ids, self._scores = np.take_along_axis(names, top, 1), np.take_along_axis(scores, top, 1)
