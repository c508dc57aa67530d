"""Door: texts -> unit vectors. Which encoder stands behind it is a name in the settings; each is imported only when it is opened."""

from __future__ import annotations

import os
from typing import Protocol, runtime_checkable

from kbcite.errors import UsageError
from kbcite.retrieval.vectors import Vectors


class Encoder(Protocol):
    @property
    def fingerprint(self) -> str:
        """What must be equal for vectors to be comparable: backend, model, weights, engine, prefixes, dimension."""

    @property
    def dim(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that one pass of the model sees."""

    def encode_queries(self, texts: list[str]) -> Vectors: ...

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found; a text's vector never depends on the texts beside it."""


@runtime_checkable
class EncodesFew(Protocol):
    """An encoder with a quick way for a passage or two."""

    def encode_few(self, texts: list[str]) -> Vectors: ...


@runtime_checkable
class EncodesAhead(Protocol):
    """An encoder that can work on a question while its caller does other things."""

    def begin(self, question: str) -> None:
        """Starts in a thread; `encode_queries` of just this question then waits for that vector instead of making another."""


def encode_few(encoder: Encoder, texts: list[str]) -> Vectors:
    """Vectors of a few passages that are wanted at once, without loading what only many are worth."""
    return encoder.encode_few(texts) if isinstance(encoder, EncodesFew) else encoder.encode_passages(texts)


def open_encoder(name: str, threads: int = 0, offline: bool = False) -> Encoder:
    """The encoder of a name: `builtin`, `st:NAME_OR_FOLDER` or `litellm:PROVIDER/MODEL`.

    threads 0 means as many as there are cores. Raises UsageError for an unknown name, a missing package, a model that is
    not on this machine while offline; the message names the fix.
    """
    threads = threads or available_cores()
    backend, _, model = name.partition(":")
    if name == "builtin":
        from kbcite.retrieval.builtin_encoder import BuiltinEncoder

        return BuiltinEncoder(threads)
    if backend == "st" and model:
        from kbcite.retrieval.sentence_encoder import SentenceEncoder

        return SentenceEncoder(model, threads, offline)
    if backend == "litellm" and "/" in model:
        from kbcite.retrieval.provider_encoder import ProviderEncoder

        return ProviderEncoder(model, offline)
    raise UsageError(f'unknown encoder "{name}"; use builtin, st:NAME_OR_FOLDER or litellm:PROVIDER/MODEL')


def available_cores() -> int:
    """Cores that this process may use, which under containers and taskset is fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
