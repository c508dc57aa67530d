"""Ordering by a real cross-encoder, tiny and untrained; and what `search --explain` says of each candidate."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbcite.retrieval.reranker import open_reranker
from tests.cli.run import Shell


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers over the letters, with random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder = tmp_path_factory.mktemp("models") / "cross"
    folder.mkdir()
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(4)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=512, num_labels=1, initializer_range=0.5,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


QUESTION = "How long may books be kept in the library, and when does the swimming pool open?"


def test_relevant_blocks_stand_in_the_order_of_the_cross_encoder(town: Shell, cross_encoder: Path) -> None:
    plain = town("--json", "search", QUESTION, "--explain", "--threshold", "0").json
    hits = town("--json", "search", QUESTION, "--explain", "--threshold", "0", "--rerank", str(cross_encoder)).json
    scores = [hit["scores"]["rerank"] for hit in hits if hit["scores"]["rerank"] is not None]
    assert len(scores) == len(hits) >= 4
    kept = [hit["scores"]["rerank"] for hit in hits if hit["dropped"] is None]
    assert kept == sorted(kept, reverse=True)
    assert [hit["block"]["id"] for hit in hits] != [hit["block"]["id"] for hit in plain]
    assert {hit["block"]["id"] for hit in hits} == {hit["block"]["id"] for hit in plain}
    assert all(hit["scores"]["rerank"] is None for hit in plain)


def test_its_scores_are_those_of_the_model(cross_encoder: Path) -> None:
    from sentence_transformers import CrossEncoder

    passages = ["The pool opens at seven.", "Books may be kept for four weeks."]
    expected = CrossEncoder(str(cross_encoder)).predict([(QUESTION, passage) for passage in passages])
    assert open_reranker(str(cross_encoder), 1, True)(QUESTION, passages) == pytest.approx(expected.tolist(), abs=1e-4)


def test_the_answer_record_says_that_it_was_used_and_the_setting_does_the_same(
    town: Shell, cross_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "When does the swimming pool open?"
    source = town("--json", "ask", question, "--rerank", str(cross_encoder)).json["sources"]["web"][0]
    assert isinstance(source["scores"]["rerank"], float)
    assert "rerank" not in town("--json", "ask", question).json["sources"]["web"][0]["scores"]
    monkeypatch.setenv("KBCITE_ASK_RERANK", str(cross_encoder))
    assert town("--json", "ask", question).json["sources"]["web"][0]["scores"]["rerank"] == source["scores"]["rerank"]
    assert town("show", "1").code == 0


@pytest.mark.parametrize("kind", ["no folder", "an empty folder", "a name that is not here"])
def test_a_model_that_cannot_be_loaded_is_one_line(town: Shell, tmp_path: Path, kind: str) -> None:
    model = {"no folder": str(tmp_path / "none"), "an empty folder": str(tmp_path), "a name that is not here": "x/none"}
    done = town("--offline", "search", "pool", "--rerank", model[kind])
    assert done.code == 2
    assert "rerank" in done.err and len(done.err.splitlines()) == 1


def test_explain_says_all_of_each_candidate_in_80_columns(town: Shell) -> None:
    shown = town("search", "Which 1999 rules let residents keep books for four weeks?", "--explain").out
    assert "dense 0." in shown and "words " in shown and "fused " in shown
    assert "figures missed 1" in shown
    assert "  left out\n   why: not close enough to the question\n" in shown and "  used\n" in shown
    assert "same text: http" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if "http" not in line and not line[:1].isdigit())
