"""Door: nearest blocks by cosine, in FAISS, with its files.

Two files in a folder: `blocks-DIGEST.faiss`, and `index.json`, which names it and says what is in it; beside an index of lists a third,
`blocks-DIGEST.f16`, with the vectors that its findings are scored by. The vectors are
written first under names of their own, `index.json` is renamed over the old one, and only then are the old vector files
removed: a kill at any moment leaves a whole index, the old or the new. `index.json` is compared with its checksum, its own last entry,
before a byte of it is believed. The vectors are mapped and read as they are needed: their files are known again by size and time, where
one of these differs by their checksum; `kbcite index` and `kbcite doctor` read all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kbcite.errors import ModelMismatch, NotFound, StoreError
from kbcite.retrieval.centring import Centroids, centre, centroids_of
from kbcite.retrieval.vector_lists import (
    CANDIDATES,
    Ids,
    Laid,
    RowsFile,
    has_lists,
    lay,
    numbers_of,
    read,
    search_parameters,
)
from kbcite.retrieval.vectors import Vectors

if TYPE_CHECKING:
    import numpy.typing as npt

FORMAT = 4
METADATA_NAME = "index.json"
_CHECKSUM = b', "checksum": "'
REBUILD = 'run "kbcite index --rebuild"'

Names: TypeAlias = "npt.NDArray[np.bytes_]"
"""Block IDs in the order of their numbers: 18 bytes each, where a dictionary of texts takes 200."""


class VectorIndex:
    """An index over centred vectors: exact, and 2 ms a question at 20,000 blocks on one thread; lists above `LISTS_FROM` blocks."""

    def __init__(
        self,
        laid: Laid,
        names: Names,
        fingerprint: str,
        centroids: Centroids,
        dim: int,
        generation: int,
    ) -> None:
        self._index = laid.index
        self._exact = laid.exact
        self.recall = laid.recall
        """Share of the ten nearest that it finds, measured when it was built; 1 where it is exact."""
        self._names = names
        self._numbers = numbers_of(laid.index)
        self.fingerprint = fingerprint
        """Of the encoder that made the vectors."""
        self.centroids = centroids
        self.dim = dim
        self.generation = generation
        """Of the database that it was made from; another one there means that it may be behind."""
        self._further: VectorIndex | None = None
        self._gone: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls,
        block_ids: Sequence[str],
        vectors: Vectors,
        languages: Sequence[str],
        fingerprint: str,
        generation: int = 0,
        centroids: Centroids | None = None,
    ) -> VectorIndex:
        """An index of blocks. vectors: float32 (n, d), unit length, not centred. Raises StoreError where two IDs collide.

        centroids: what is subtracted in each language, if not what fits the encoder and these vectors.
        """
        if centroids is None:
            centroids = centroids_of(vectors, languages, fingerprint)
        ids = _numbers(block_ids)
        names = np.array([block_id.encode() for block_id in block_ids], np.bytes_)[np.argsort(ids)]
        return cls(lay(ids, vectors, languages, centroids), names, fingerprint, centroids, vectors.shape[1], generation)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def block_ids(self) -> tuple[str, ...]:
        """All blocks, in the order of their numbers."""
        return tuple(self._names.astype(str).tolist())

    @property
    def is_exact(self) -> bool:
        return not has_lists(self._index)

    def search(
        self, queries: Vectors, language: str, k: int, allowed: Collection[str] | None = None
    ) -> tuple[Ids, npt.NDArray[np.float32]]:
        """Ids and scores of the k blocks nearest each query, best first.

        queries: float32 (q, d), unit length, all of one language. Returns ids int64 (q, k), scores float32 (q, k), cosine of
        centred vectors in [-1, 1]; id -1 where there are fewer than k blocks. With `allowed` only those blocks are
        looked at. Raises ModelMismatch if d is not the index's.
        """
        import faiss

        if queries.shape[1] != self.dim:
            raise ModelMismatch(f"index has vectors of {self.dim} numbers, the question {queries.shape[1]}; {REBUILD}")
        # Threads that wait for each other cost more than they save here: 24 ms instead of 4 on a busy machine of two cores.
        faiss.omp_set_num_threads(1)
        centred = centre(queries, [language] * len(queries), self.centroids)
        chosen = None if allowed is None else np.array(sorted(map(vector_id, allowed)), np.int64)
        scores, ids = self._index.search(centred, k, params=search_parameters(self._index, chosen))
        return ids, scores

    def nearest(
        self, query: Vectors, language: str, k: int, allowed: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """(block ID, cosine) of the blocks nearest one query, float32 (d,), best first."""
        found = self._nearest(query, language, k, allowed)
        if self._further is None:
            return found
        found = [hit for hit in found if hit[0] not in self._gone] + self._further.nearest(query, language, k, allowed)
        return sorted(found, key=lambda hit: -hit[1])[:k]

    def _nearest(
        self, query: Vectors, language: str, k: int, allowed: Collection[str] | None
    ) -> list[tuple[str, float]]:
        if self._exact is None:
            ids, scores = self.search(query[None, :], language, k, allowed)
            held = ids[0] >= 0
            return self._named(np.searchsorted(self._numbers, ids[0][held]), scores[0][held])
        if allowed is not None and len(allowed) <= CANDIDATES:
            rows = self._held(allowed)
        else:
            ids, _ = self.search(query[None, :], language, max(k, CANDIDATES), allowed)
            rows = np.searchsorted(self._numbers, ids[0][ids[0] >= 0])
        scores = self._exact[rows].astype(np.float32) @ centre(query[None, :], [language], self.centroids)[0]
        order = np.argsort(-scores, kind="stable")[:k]
        return self._named(rows[order], scores[order])

    def _named(self, rows: Ids, scores: npt.NDArray[np.float32]) -> list[tuple[str, float]]:
        return list(zip(self._names[rows].astype(str).tolist(), scores.tolist(), strict=True))

    def _held(self, block_ids: Collection[str]) -> Ids:
        """The rows of those of the blocks that are in the index."""
        numbers = np.fromiter(map(vector_id, block_ids), np.int64, len(block_ids))
        rows = np.minimum(np.searchsorted(self._numbers, numbers), len(self) - 1)
        held: Ids = rows[self._numbers[rows] == numbers]
        return held

    def block_id(self, number: int) -> str:
        """The block behind an id that `search` returned."""
        name: bytes = self._names[np.searchsorted(self._numbers, number)]
        return name.decode()

    def catch_up(self, gone: Iterable[str], more: VectorIndex) -> None:
        """From now on `nearest` leaves out what is gone and looks into more, which has the same centroids; neither is saved."""
        self._gone = frozenset(gone)
        self._further = more

    def save(self, folder: Path) -> None:
        """Puts the index in place of the one in the folder."""
        import faiss

        data: memoryview = faiss.serialize_index(self._index).data
        stem = f"blocks-{hashlib.sha256(data).hexdigest()[:16]}"
        parts: dict[str, Iterable[bytes | memoryview]] = {f"{stem}.faiss": [data]}
        if (exact := self._exact) is not None:
            batches = (np.arange(first, min(len(self), first + 20_000)) for first in range(0, len(self), 20_000))
            parts[f"{stem}.f16"] = (exact[rows].tobytes() for rows in batches)
        metadata: dict[str, Any] = {
            "format": FORMAT,
            "files": {},
            "fingerprint": self.fingerprint,
            "dim": self.dim,
            "generation": self.generation,
            "count": len(self),
            "recall": self.recall,
            "ids_digest": ids_digest(self.block_ids),
            "centroids": {language: mean.tolist() for language, mean in self.centroids.items()},
            "block_ids": b" ".join(self._names.tolist()).decode(),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, part in parts.items():
                metadata["files"][name] = [_write(folder / name, part), *_stamp(folder / name)]
            _write(folder / METADATA_NAME, [signed(json.dumps(metadata).encode())])
            for old in folder.glob("blocks-*"):
                if old.name not in parts:
                    old.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot write the vector index to {folder}: {error.strerror or error}; free space there"
            ) from error

    @classmethod
    def load(cls, folder: Path, *, thorough: bool = False) -> VectorIndex:
        """The index in a folder. Raises NotFound where there is none, StoreError where it is damaged.

        thorough: compare the vectors with their checksum even where their file has the size and time it was written with.
        """
        metadata = read_metadata(folder)
        if not all((folder / name).exists() for name in metadata["files"]):
            metadata = read_metadata(folder)  # a writer put a new index in place between the two looks
        exact = None
        for name, (checksum, *stamp) in metadata["files"].items():
            path = folder / name
            try:
                # Of 18 MB for 11,600 blocks, as of 1,200 for a million, a question reads what it needs: to hash them takes longer than to search.
                if thorough or _stamp(path) != stamp:
                    _compare(path, checksum)
                if path.suffix == ".faiss":
                    index = read(path)
                else:
                    exact = RowsFile(path, metadata["dim"])
            except (OSError, RuntimeError) as error:
                reason = error.strerror if isinstance(error, OSError) and error.strerror else error
                raise StoreError(f"cannot read {path}: {reason}; {REBUILD}") from error
        centroids = {language: np.array(mean, np.float32) for language, mean in metadata["centroids"].items()}
        names = np.array(metadata["block_ids"].encode().split(), np.bytes_)
        return cls(
            Laid(index, metadata["recall"], exact),
            names,
            metadata["fingerprint"],
            centroids,
            metadata["dim"],
            metadata["generation"],
        )


def read_metadata(folder: Path) -> dict[str, Any]:
    """What `index.json` says: `fingerprint`, `dim`, `count`, `ids_digest` ... Raises NotFound or StoreError as `load` does."""
    path = folder / METADATA_NAME
    try:
        data = path.read_bytes()
        if (written := _format_of(data)) is not None and written != FORMAT:
            raise StoreError(f'{path} is of another version of kbcite; run "kbcite index", which embeds nothing anew')
        metadata: dict[str, Any] = json.loads(_verified(data))
    except FileNotFoundError as error:
        raise NotFound(f'no index at {folder}; run "kbcite index" first') from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} is damaged: {error}; {REBUILD}") from error
    needed = {
        "files", "recall", "fingerprint", "dim", "generation", "count", "ids_digest", "centroids", "block_ids"
    }  # fmt: skip
    if not needed <= set(metadata):
        raise StoreError(f"{path} is damaged: {', '.join(sorted(needed - set(metadata)))} is missing; {REBUILD}")
    return metadata


def keep_stamps(folder: Path) -> None:
    """Notes size and time of the files that its caller has just compared with their checksums: those of a copied store are new."""
    metadata = read_metadata(folder)
    files = {name: [checksum, *_stamp(folder / name)] for name, (checksum, *_) in metadata["files"].items()}
    if files != metadata["files"]:
        _write(folder / METADATA_NAME, [signed(json.dumps({**metadata, "files": files}).encode())])


def _format_of(data: bytes) -> int | None:
    """The format that an index says it is of; None where it says none."""
    try:
        metadata = json.loads(data)
    except ValueError:
        return None
    written = metadata.get("format") if isinstance(metadata, dict) else None
    return written if isinstance(written, int) else None


def signed(body: bytes) -> bytes:
    """The JSON of an object with the checksum of it as a last entry."""
    return body[:-1] + _CHECKSUM + hashlib.sha256(body).hexdigest().encode() + b'"}'


def _verified(data: bytes) -> bytes:
    """The JSON that was signed. Raises ValueError where it is not as it was."""
    body, mark, checksum = data.rpartition(_CHECKSUM)
    body += b"}"
    if not mark or checksum != hashlib.sha256(body).hexdigest().encode() + b'"}':
        raise ValueError("its checksum is not that of its contents")
    return body


def vector_id(block_id: str) -> int:
    """The number a block has in FAISS: 63 bits of the SHA-256 of its ID."""
    return int.from_bytes(hashlib.sha256(block_id.encode()).digest()[:8], "big") >> 1


def mismatch(built_with: str, wanted: str) -> str:
    """What a user is told where the index is of another encoder."""
    return f'index built with "{built_with}", settings say "{wanted}"; {REBUILD}, or set the old encoder again'


def ids_digest(block_ids: Iterable[str]) -> str:
    """One value for a set of blocks, whatever their order: tells whether an index is behind the database."""
    return hashlib.sha256("\n".join(sorted(block_ids)).encode()).hexdigest()


def _numbers(block_ids: Sequence[str]) -> Ids:
    """Their numbers, in the order given; no two are alike."""
    numbers = np.fromiter(map(vector_id, block_ids), np.int64, len(block_ids))
    order = np.argsort(numbers)
    for i in np.flatnonzero(np.diff(numbers[order]) == 0).tolist():
        one, other = block_ids[order[i]], block_ids[order[i + 1]]
        raise StoreError(f"blocks {one} and {other} have the same number in the vector index; report this")
    return numbers


def _stamp(path: Path) -> list[int]:
    """Size and time of the last change: what a file that nobody touched since is known by."""
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def _compare(path: Path, checksum: str) -> None:
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
            raise StoreError(f"{path} is damaged: its checksum is not the one in {METADATA_NAME}; {REBUILD}")


def _write(path: Path, pieces: Iterable[bytes | memoryview]) -> str:
    """The SHA-256. Written beside, flushed to the disk, renamed; then the folder too, so that the new name outlives a power cut."""
    temporary = path.with_name(path.name + ".tmp")
    checksum = hashlib.sha256()
    with temporary.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            checksum.update(piece)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return checksum.hexdigest()
