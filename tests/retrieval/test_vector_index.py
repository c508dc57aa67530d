from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbcite.errors import ModelMismatch, NotFound, StoreError
from kbcite.retrieval import vector_index
from kbcite.retrieval.vector_index import VectorIndex, ids_digest, read_metadata, vector_id
from kbcite.retrieval.vectors import to_unit_length

IDS = [f"b{i}" for i in range(120)]
LANGUAGES = ["zh" if i % 3 else "en" for i in range(120)]
VECTORS = to_unit_length(np.random.default_rng(7).normal(0.3, 1, (120, 16)))


@pytest.fixture
def index() -> VectorIndex:
    return VectorIndex.build(IDS, VECTORS, LANGUAGES, "st/test")


def test_a_block_scores_1_against_itself_and_is_first(index: VectorIndex) -> None:
    for i in (1, 2):
        ids, scores = index.search(VECTORS[i : i + 1], LANGUAGES[i], 3)
        assert index.block_id(int(ids[0, 0])) == IDS[i]
        assert scores[0, 0] == pytest.approx(1, abs=1e-5)
        assert (np.diff(scores[0]) <= 0).all()


def test_ids_are_of_the_block_ids_alone(index: VectorIndex) -> None:
    other = VectorIndex.build(IDS[::-1], VECTORS[::-1].copy(), LANGUAGES[::-1], "st/test")
    ids, scores = index.search(VECTORS[:5], "en", 10)
    other_ids, other_scores = other.search(VECTORS[:5], "en", 10)
    assert ids.dtype == np.int64
    assert np.array_equal(ids, other_ids)
    assert np.allclose(scores, other_scores, atol=1e-6)
    assert vector_id("b1") == int(index.search(VECTORS[1:2], "zh", 1)[0][0, 0])


def test_fewer_blocks_than_asked_for_are_filled_with_minus_1() -> None:
    small = VectorIndex.build(IDS[:2], VECTORS[:2], LANGUAGES[:2], "st/test")
    assert (small.search(VECTORS[:1], "zh", 4)[0][0] == -1).tolist() == [False, False, True, True]
    assert len(small.nearest(VECTORS[0], "zh", 4)) == 2


def test_an_index_of_nothing_finds_nothing() -> None:
    empty = VectorIndex.build([], np.empty((0, 16), np.float32), [], "st/test")
    assert empty.nearest(VECTORS[0], "zh", 5) == []


def test_only_allowed_blocks_are_looked_at(index: VectorIndex) -> None:
    allowed = {"b3", "b50", "b77"}
    found = index.nearest(VECTORS[10], "zh", 100, allowed)
    everything = dict(index.nearest(VECTORS[10], "zh", 120))
    assert {block_id for block_id, _ in found} == allowed
    assert dict(found) == {block_id: pytest.approx(everything[block_id]) for block_id in allowed}
    assert index.nearest(VECTORS[10], "zh", 100, frozenset()) == []


def test_a_question_of_another_size_is_a_mismatch(index: VectorIndex) -> None:
    with pytest.raises(ModelMismatch, match="kbcite index --rebuild"):
        index.search(np.ones((1, 8), np.float32), "zh", 1)


def test_a_saved_index_comes_back_the_same(index: VectorIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "vectors")
    loaded = VectorIndex.load(tmp_path / "vectors")
    assert loaded.nearest(VECTORS[4], "zh", 9) == index.nearest(VECTORS[4], "zh", 9)
    assert (sorted(loaded.block_ids), loaded.fingerprint, loaded.dim) == (sorted(IDS), "st/test", 16)
    assert read_metadata(tmp_path / "vectors")["ids_digest"] == ids_digest(reversed(IDS))


def test_saving_again_replaces_the_files_and_leaves_no_others(index: VectorIndex, tmp_path: Path) -> None:
    index.save(tmp_path)
    VectorIndex.build(IDS[:5], VECTORS[:5], LANGUAGES[:5], "st/test").save(tmp_path)
    assert sorted(VectorIndex.load(tmp_path).block_ids) == IDS[:5]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".faiss", ".json"]


def test_a_kill_between_the_two_files_leaves_the_old_index(
    index: VectorIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.save(tmp_path)
    write = vector_index._write

    def killed_at_the_second(path: Path, data: bytes) -> None:
        if path.suffix == ".json":
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(vector_index, "_write", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        VectorIndex.build(IDS[:5], VECTORS[:5], LANGUAGES[:5], "st/test").save(tmp_path)
    assert sorted(VectorIndex.load(tmp_path).block_ids) == sorted(IDS)


def test_no_index_is_said_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match='run "kbcite index" first'):
        VectorIndex.load(tmp_path)


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "json"])
def test_damage_is_seen_before_faiss_reads_a_byte(index: VectorIndex, tmp_path: Path, damage: str) -> None:
    index.save(tmp_path)
    (vectors,) = tmp_path.glob("*.faiss")
    metadata = tmp_path / "index.json"
    if damage == "flip":
        data = bytearray(vectors.read_bytes())
        data[len(data) // 2] ^= 1
        vectors.write_bytes(data)
    elif damage == "cut":
        vectors.write_bytes(vectors.read_bytes()[:-100])
    elif damage == "remove":
        vectors.unlink()
    else:
        metadata.write_bytes(metadata.read_bytes()[:-10])
    with pytest.raises(StoreError, match='run "kbcite index --rebuild"'):
        VectorIndex.load(tmp_path)


def test_an_index_of_another_version_is_told_from_a_damaged_one(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text('{"format": 1, "file": "blocks.faiss"}')
    with pytest.raises(StoreError, match='another version of kbcite; run "kbcite index"'):
        read_metadata(tmp_path)


def test_two_blocks_with_one_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "vector_id", lambda block_id: 5)
    with pytest.raises(StoreError, match="same number"):
        VectorIndex.build(IDS[:2], VECTORS[:2], LANGUAGES[:2], "st/test")
