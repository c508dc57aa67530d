"""Encoder behind a provider's embeddings API, through litellm."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from kbcite.errors import ProviderError, UsageError
from kbcite.retrieval.vectors import Vectors, clean_text, to_unit_length

# DashScope takes no more than 10 texts a call; the others gain little from more.
BATCH_SIZE = 10
CONCURRENT_CALLS = 4
TIMEOUT_S = 60.0


class ProviderEncoder:
    """Texts go in without prefixes. Keys and addresses come from the provider's own environment variables."""

    max_tokens = 8192

    def __init__(self, model: str, offline: bool) -> None:
        if offline:
            raise UsageError(
                f'encoder "litellm:{model}" needs the network and --offline forbids it;'
                ' leave --offline out, or set encoder = "builtin" and run "kbcite index --rebuild"'
            )
        self._model = model
        self.fingerprint = f"litellm/{model}"

    @cached_property
    def dim(self) -> int:
        """Asked of the provider with one short text."""
        return int(self.encode_queries(["dimension"]).shape[1])

    def encode_queries(self, texts: list[str]) -> Vectors:
        return self.encode_passages(texts)

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Raises ProviderError where the provider gives no usable vectors after litellm's retries."""
        if not texts:
            return np.empty((0, self.dim), np.float32)
        # Providers reject empty texts.
        cleaned = [clean_text(text) if text.strip() else "." for text in texts]
        batches = [cleaned[start : start + BATCH_SIZE] for start in range(0, len(cleaned), BATCH_SIZE)]
        with ThreadPoolExecutor(CONCURRENT_CALLS) as pool:
            rows = [row for batch in pool.map(self._call, batches) for row in batch]
        if len({len(row) for row in rows}) != 1:
            raise ProviderError(
                f"{self._model} sent vectors of different sizes; ask its provider, or choose another encoder"
            )
        vectors = np.array(rows, np.float32)
        if not np.isfinite(vectors).all():
            raise ProviderError(f"{self._model} sent vectors that are not numbers; ask its provider")
        return to_unit_length(vectors)

    def _call(self, batch: list[str]) -> list[list[float]]:
        from openai import OpenAIError

        try:
            reply = self._litellm.embedding(model=self._model, input=batch, timeout=TIMEOUT_S)
        except OpenAIError as error:
            raise ProviderError(f'encoder "litellm:{self._model}" {_told(error)}') from error
        rows = [row["embedding"] for row in sorted(reply.data, key=lambda row: row["index"])]
        if len(rows) != len(batch):
            raise ProviderError(f"{self._model} sent {len(rows)} vectors for {len(batch)} texts; ask its provider")
        return rows

    @cached_property
    def _litellm(self) -> Any:
        # Without it litellm fetches a price list from the network when it is imported.
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        import litellm

        litellm.suppress_debug_info = True
        return litellm


_CLASS_NAMES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)\s*[:-]\s*)+")
"""What litellm puts before the provider's words, often twice."""


def _told(error: Exception) -> str:
    """What is wrong and what to do, without litellm's names for it."""
    reason = _CLASS_NAMES.sub("", str(error).splitlines()[0]).rstrip(".")
    known = reason.lower()
    if "missing credentials" in known or "incorrect api key" in known:
        return "has no key that its provider takes; set it in the environment, such as OPENAI_API_KEY"
    if "provider not provided" in known:
        return "names no provider; write it like litellm:openai/text-embedding-3-small"
    if "connection error" in known:
        return "cannot be reached; check the network, and its address in the environment, such as OPENAI_BASE_URL"
    return f"gave no vectors: {reason[:120]}; check the model's name, its key and address in the environment"
