"""A language model on this machine: a GGUF file behind xllamacpp's OpenAI-compatible server on loopback.

    pip install --group model      # or: pip install gguf xllamacpp

`write_babbler` makes a model of a hundred kilobytes whose weights are random: it runs the whole path and says nothing that is so.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

WORDS = "the pool opens at seven a day ticket costs euros not in is 6.50 2 . [1] [2] [1][2]"
WIDTH, INNER, HEADS, LAYERS = 32, 64, 2, 2


def write_babbler(path: Path, seed: int) -> None:
    """Writes a llama of two layers with random weights, whose tokens are bytes, a few words and marks."""
    import gguf

    random = np.random.default_rng(seed)
    tokens = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    words = [f"\u2581{word}".encode() for word in WORDS.split()]
    normal, unknown, control, byte = (
        gguf.TokenType.NORMAL,
        gguf.TokenType.UNKNOWN,
        gguf.TokenType.CONTROL,
        gguf.TokenType.BYTE,
    )
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(1 << 16)
    file.add_embedding_length(WIDTH)
    file.add_block_count(LAYERS)
    file.add_feed_forward_length(INNER)
    file.add_head_count(HEADS)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_vocab_size(len(tokens) + len(words))
    file.add_tokenizer_model("llama")
    file.add_token_list([*tokens, *words])
    file.add_token_scores([0.0] * (len(tokens) + len(words)))
    file.add_token_types([unknown, control, control, *[byte] * 256, *[normal] * len(words)])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:")

    def matrix(name: str, *shape: int) -> None:
        file.add_tensor(name, random.normal(0, 0.5, shape).astype(np.float32))

    def ones(name: str) -> None:
        file.add_tensor(name, np.ones(WIDTH, np.float32))

    matrix("token_embd.weight", len(tokens) + len(words), WIDTH)
    matrix("output.weight", len(tokens) + len(words), WIDTH)
    ones("output_norm.weight")
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"blk.{layer}.{name}.weight", WIDTH, WIDTH)
        for name in ("ffn_gate", "ffn_up"):
            matrix(f"blk.{layer}.{name}.weight", INNER, WIDTH)
        matrix(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
        ones(f"blk.{layer}.attn_norm.weight")
        ones(f"blk.{layer}.ffn_norm.weight")
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


@contextmanager
def serve_gguf(path: Path, context: int) -> Iterator[str]:
    """The base address of a running server of that model, with a context of so many tokens."""
    import xllamacpp

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = xllamacpp.CommonParams()
    options.model.path = str(path)
    options.n_ctx = context
    options.n_parallel = 1
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 2
    options.hostnames = ["127.0.0.1"]
    options.port = port
    options.verbosity = 0
    server = xllamacpp.Server(options)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server  # which stops it
