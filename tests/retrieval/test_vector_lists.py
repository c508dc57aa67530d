"""Vectors in lists, as a large index keeps them; the size from which it does is lowered here."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from kbcite.errors import StoreError
from kbcite.retrieval import vector_lists
from kbcite.retrieval.vector_index import VectorIndex
from kbcite.retrieval.vectors import to_unit_length

COUNT, DIM = 4000, 48
IDS = [f"b{i}" for i in range(COUNT)]
LANGUAGES = ["zh" if i % 3 else "en" for i in range(COUNT)]
_CHANCE = np.random.default_rng(3)
_TOPICS = _CHANCE.normal(0.1, 1, (60, DIM))
VECTORS = to_unit_length(_TOPICS[_CHANCE.integers(0, 60, COUNT)] + _CHANCE.normal(0, 0.8, (COUNT, DIM)))
QUESTIONS = to_unit_length(VECTORS[:100] + _CHANCE.normal(0, 0.1, (100, DIM)))


@pytest.fixture
def flat() -> VectorIndex:
    return VectorIndex.build(IDS, VECTORS, LANGUAGES, "st/test")


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> VectorIndex:
    monkeypatch.setattr(vector_lists, "LISTS_FROM", 1000)
    return VectorIndex.build(IDS, VECTORS, LANGUAGES, "st/test")


def names(found: list[tuple[str, float]]) -> list[str]:
    return [name for name, _ in found]


def test_lists_find_what_the_flat_index_finds_and_say_how_surely(flat: VectorIndex, lists: VectorIndex) -> None:
    assert flat.is_exact and not lists.is_exact
    held = [len({*names(lists.nearest(q, "zh", 100))} & {*names(flat.nearest(q, "zh", 10))}) / 10 for q in QUESTIONS]
    assert np.mean(held) >= 0.95
    assert lists.recall >= vector_lists.RECALL and flat.recall == 1


def test_the_scores_are_those_of_the_flat_index(flat: VectorIndex, lists: VectorIndex) -> None:
    exact = dict(flat.nearest(QUESTIONS[5], "zh", 10))
    found = dict(lists.nearest(QUESTIONS[5], "zh", 10))
    assert found == {name: pytest.approx(score, abs=1e-3) for name, score in exact.items()}


@pytest.mark.parametrize("every", [2, 20, 200, 4000])
def test_a_filter_costs_no_recall(flat: VectorIndex, lists: VectorIndex, every: int) -> None:
    allowed = {*IDS[1::every], "b-of-no-index"}
    held = []
    for question in QUESTIONS[:40]:
        exact = names(flat.nearest(question, "zh", 10, allowed))
        found = names(lists.nearest(question, "zh", 100, allowed))
        assert set(found) <= allowed
        held.append(len(set(exact) & set(found)) / len(exact))
    assert np.mean(held) >= 0.95


def test_a_saved_index_of_lists_comes_back_the_same(lists: VectorIndex, tmp_path: Path) -> None:
    lists.save(tmp_path)
    loaded = VectorIndex.load(tmp_path)
    assert loaded.block_ids == lists.block_ids
    assert loaded.recall == lists.recall
    for question in QUESTIONS[:10]:
        assert loaded.nearest(question, "en", 20) == lists.nearest(question, "en", 20)


@pytest.mark.parametrize("file", ["*.faiss", "*.f16"])
@pytest.mark.parametrize("seen_by", ["time", "size", "a thorough look"])
def test_damage_of_a_large_index_is_seen(lists: VectorIndex, tmp_path: Path, seen_by: str, file: str) -> None:
    lists.save(tmp_path)
    (path,) = tmp_path.glob(file)
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data[:-1] if seen_by == "size" else data)
    if seen_by != "time":
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StoreError, match='run "kbcite index --rebuild"'):
        VectorIndex.load(tmp_path, thorough=seen_by == "a thorough look")


def test_a_copied_index_is_read_whole_and_good(lists: VectorIndex, tmp_path: Path) -> None:
    lists.save(tmp_path)
    (path,) = tmp_path.glob("*.faiss")
    os.utime(path, (1, 1))
    assert len(VectorIndex.load(tmp_path)) == COUNT


def test_saving_again_leaves_no_other_files(flat: VectorIndex, lists: VectorIndex, tmp_path: Path) -> None:
    lists.save(tmp_path)
    flat.save(tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".faiss", ".json"]


def test_a_large_index_is_caught_up_without_being_made_anew(lists: VectorIndex) -> None:
    question = VECTORS[7]
    new = VectorIndex.build(["new"], VECTORS[7:8], ["zh"], "st/test", centroids=lists.centroids)
    assert names(lists.nearest(question, LANGUAGES[7], 3))[0] == "b7"
    lists.catch_up(["b7"], new)
    found = names(lists.nearest(question, LANGUAGES[7], 3))
    assert found[0] == "new" and "b7" not in found
