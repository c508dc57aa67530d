"""How vectors lie in FAISS: all in one flat list up to a size, above it in lists of near ones, of which a question reads a few.

Flat is exact and its time grows with the blocks. Above `LISTS_FROM` an inverted file takes its place (FAISS's
IVF with SQ8): the vectors are dealt to the nearest of about 4 sqrt(n) means, one byte a number, and a question reads the lists of the means
nearest to it. What it finds is scored again by the vectors themselves, which lie beside it. It is built in two minutes for a million, its
files are read from disk as they are needed, and a filter costs no recall: the fewer blocks are allowed, the more lists are read.

How many lists are read is not a constant: it is raised by a quarter until a sample of questions finds what the flat index would, and
the recall that this comes to is kept with the index.
"""

from __future__ import annotations

import math
import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kbcite.retrieval.centring import Centroids, centre
from kbcite.retrieval.vectors import Vectors, to_unit_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

Ids: TypeAlias = "npt.NDArray[np.int64]"

LISTS_FROM = 100_000
"""Blocks. A question takes the flat index 6 ms at 50,000, 12 at 100,000 and 23 at 200,000, and lists 2, 2.5 and 3, at a recall of .97
(95th percentile, one thread; `python -m tests.bench.vectors COUNT` prints both): what is exact stays so while it is not slow."""
RECALL = 0.98
"""Share of the ten nearest that have to be among the hundred found, on the sample, which at a million is kinder than other questions by .015."""
CANDIDATES = 100
"""Found by the bytes, then scored again by the vectors themselves: at a million the order of the bytes alone loses 3 points of recall."""
TRAINED_ON = 40
"""Vectors a list that the means are made from; FAISS asks for 39 at least."""
SAMPLE = 200
NEAREST = 10
QUESTION_COSINE = 0.6
"""Of a question of the sample with the block it is made from: questions of people have .52 with the block nearest to them."""
_BATCH = 20_000


class RowsFile:
    """Rows of a file of float16, taken like those of an array. Read and not mapped: the pages around each row would stay as memory."""

    def __init__(self, path: Path, dim: int) -> None:
        self._file = path.open("rb", buffering=0)
        weakref.finalize(self, self._file.close)
        self._row_bytes = dim * np.dtype(np.float16).itemsize
        self._lock = Lock()

    def __getitem__(self, rows: Ids) -> npt.NDArray[np.float16]:
        with self._lock:
            found = [self._row(row) for row in rows.tolist()]
        return np.frombuffer(b"".join(found), np.float16).reshape(len(rows), -1)

    def _row(self, row: int) -> bytes:
        self._file.seek(row * self._row_bytes)
        return self._file.read(self._row_bytes)


@dataclass(frozen=True, slots=True)
class Laid:
    """Vectors in FAISS."""

    index: Any
    recall: float
    """Share of the ten nearest that are among the hundred found, on the sample; 1 for the flat index."""
    exact: npt.NDArray[np.float16] | RowsFile | None = None
    """The vectors (n, d) in the order of their numbers, where the index holds them in bytes; their cosines are off by less than .001."""


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
    exact = np.empty((count, dim), np.float16)
    place = np.argsort(np.argsort(ids))
    for first in range(0, count, _BATCH):
        rows = np.arange(first, min(count, first + _BATCH))
        batch = _centred(vectors, languages, centroids, rows)
        index.add_with_ids(batch, ids[rows])
        exact[place[rows]] = batch
        best.look_at(questions @ batch.T, ids[rows])
    index.nprobe = min(8, lists)
    while (recall := _recall(index, questions, best.ids)) < RECALL and index.nprobe < lists:
        index.nprobe = min(lists, math.ceil(1.25 * index.nprobe))
    return Laid(index, recall, exact)


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


def read(path: Path) -> Any:
    """The index of a file, left on the disk until a question reads of it; its caller has checked the file."""
    import faiss

    return faiss.read_index(str(path), 0 if os.name == "nt" else faiss.IO_FLAG_MMAP_IFC)  # no file is mapped on Windows


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
