"""Door: nearest blocks by cosine, in FAISS, with its files.

Two files in a folder: `blocks-DIGEST.faiss`, and `index.json`, which names it and says what is in it. The vectors are
written first under a name of their own, `index.json` is renamed over the old one, and only then is the old vector file
removed: a kill at any moment leaves a whole index, the old or the new. Both files are compared with their checksums before a byte of
them is believed; that of `index.json` is its own last entry, of all that stands before it.
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
from kbcite.retrieval.vectors import Vectors

if TYPE_CHECKING:
    import numpy.typing as npt

FORMAT = 2
METADATA_NAME = "index.json"
_CHECKSUM = b', "checksum": "'
REBUILD = 'run "kbcite index --rebuild"'

Ids: TypeAlias = "npt.NDArray[np.int64]"


class VectorIndex:
    """A flat index over centred vectors: exact, and 4 ms a question at 20,000 blocks on one thread."""

    def __init__(
        self,
        index: Any,
        block_ids: Sequence[str],
        fingerprint: str,
        centroids: Centroids,
        dim: int,
        generation: int,
    ) -> None:
        import faiss

        self._index = index
        self.block_ids = tuple(block_ids)
        """In the order given to `build`."""
        self.fingerprint = fingerprint
        """Of the encoder that made the vectors."""
        self.centroids = centroids
        self.dim = dim
        self.generation = generation
        """Of the database that it was made from; another one there means that it may be behind."""
        self._names: dict[int, str] = dict(
            zip(faiss.vector_to_array(index.id_map).tolist(), self.block_ids, strict=True)
        )

    @classmethod
    def build(
        cls,
        block_ids: Sequence[str],
        vectors: Vectors,
        languages: Sequence[str],
        fingerprint: str,
        generation: int = 0,
    ) -> VectorIndex:
        """An index of blocks. vectors: float32 (n, d), unit length, not centred. Raises StoreError where two IDs collide."""
        import faiss

        centroids = centroids_of(vectors, languages, fingerprint)
        index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
        if len(block_ids):
            ids = np.array(_distinct_ids(block_ids), np.int64)
            index.add_with_ids(centre(vectors, languages, centroids), ids)
        return cls(index, block_ids, fingerprint, centroids, vectors.shape[1], generation)

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
        if allowed is None:
            scores, ids = self._index.search(centred, k)
            return ids, scores
        chosen = np.array(sorted(vector_id(block_id) for block_id in allowed), np.int64)
        parameters = faiss.SearchParameters()
        parameters.sel = faiss.IDSelectorBatch(chosen)
        scores, ids = self._index.search(centred, k, params=parameters)
        return ids, scores

    def nearest(
        self, query: Vectors, language: str, k: int, allowed: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """(block ID, cosine) of the blocks nearest one query, float32 (d,), best first."""
        ids, scores = self.search(query[None, :], language, k, allowed)
        return [
            (self._names[number], float(score))
            for number, score in zip(ids[0].tolist(), scores[0].tolist(), strict=True)
            if number >= 0
        ]

    def block_id(self, number: int) -> str:
        """The block behind an id that `search` returned."""
        return self._names[number]

    def save(self, folder: Path) -> None:
        """Puts the index in place of the one in the folder."""
        import faiss

        data = faiss.serialize_index(self._index).tobytes()
        checksum = hashlib.sha256(data).hexdigest()
        name = f"blocks-{checksum[:16]}.faiss"
        metadata = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "dim": self.dim,
            "generation": self.generation,
            "count": len(self.block_ids),
            "ids_digest": ids_digest(self.block_ids),
            "file": name,
            "sha256": checksum,
            "centroids": {language: mean.tolist() for language, mean in self.centroids.items()},
            "block_ids": self.block_ids,
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder / name, data)
            _write(folder / METADATA_NAME, signed(json.dumps(metadata).encode()))
            for old in folder.glob("blocks-*.faiss*"):
                if old.name != name:
                    old.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot write the vector index to {folder}: {error.strerror or error}; free space there"
            ) from error

    @classmethod
    def load(cls, folder: Path) -> VectorIndex:
        """The index in a folder. Raises NotFound where there is none, StoreError where it is damaged."""
        import faiss

        metadata = read_metadata(folder)
        if not (folder / str(metadata["file"])).exists():
            metadata = read_metadata(folder)  # a writer put a new index in place between the two looks
        path = folder / str(metadata["file"])
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror or error}; {REBUILD}") from error
        if hashlib.sha256(data).hexdigest() != metadata["sha256"]:
            raise StoreError(f"{path} is damaged: its checksum is not the one in {METADATA_NAME}; {REBUILD}")
        index = faiss.deserialize_index(np.frombuffer(data, np.uint8))
        centroids = {language: np.array(mean, np.float32) for language, mean in metadata["centroids"].items()}
        return cls(
            index,
            metadata["block_ids"],
            metadata["fingerprint"],
            centroids,
            metadata["dim"],
            metadata["generation"],
        )


def read_metadata(folder: Path) -> dict[str, Any]:
    """What `index.json` says: `fingerprint`, `dim`, `count`, `ids_digest` ... Raises NotFound or StoreError as `load` does."""
    path = folder / METADATA_NAME
    try:
        metadata = json.loads(_verified(path.read_bytes()))
    except FileNotFoundError as error:
        raise NotFound(f'no index at {folder}; run "kbcite index" first') from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} is damaged: {error}; {REBUILD}") from error
    needed = {"file", "sha256", "fingerprint", "dim", "generation", "count", "ids_digest", "centroids", "block_ids"}
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT or not needed <= set(metadata):
        raise StoreError(f"{path} is damaged or of another version; {REBUILD}")
    return metadata


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


def _distinct_ids(block_ids: Sequence[str]) -> list[int]:
    names: dict[int, str] = {}
    for block_id in block_ids:
        other = names.setdefault(vector_id(block_id), block_id)
        if other != block_id:
            raise StoreError(f"blocks {other} and {block_id} have the same number in the vector index; report this")
    return list(names)


def _write(path: Path, data: bytes) -> None:
    """Written beside, flushed to the disk, renamed; then the folder too, so that the new name outlives a power cut."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
