"""Encoder over a sentence-transformers model: a folder, or a name on the Hugging Face hub."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kbcite.errors import UsageError
from kbcite.retrieval.vectors import Vectors, clean_text, to_unit_length

# Twice as fast as 64 for paragraphs on two cores, because less is padding.
BATCH_SIZE = 4

_E5 = re.compile(r"(?:^|[-_])e5(?:[-_]|$)", re.IGNORECASE)
_INSTRUCT = re.compile(r"instruct|mistral", re.IGNORECASE)


class SentenceEncoder:
    """Texts go in with the model's own prompts; e5 models, whose repositories state none, get `query: ` and `passage: `."""

    def __init__(self, model: str, threads: int, offline: bool) -> None:
        """Raises UsageError where the package is missing or the model cannot be had."""
        if offline:
            # Read when the hub's package is first imported; local_files_only alone leaves some look-ups in place.
            os.environ["HF_HUB_OFFLINE"] = "1"
        try:
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ModuleNotFoundError as error:
            raise UsageError(
                f'encoder "st:{model}" needs the package {error.name}; run "pip install sentence-transformers"'
            ) from error
        torch.set_num_threads(threads)
        # No bars and no report of unused weights on standard error.
        untyped: Any = logging
        untyped.set_verbosity_error()
        untyped.disable_progress_bar()
        if model.startswith((".", "/", "~")) and not Path(model).expanduser().is_dir():
            raise UsageError(f'no folder {model}, which encoder = "st:{model}" names; correct it under [index]')
        path = str(Path(model).expanduser()) if model.startswith("~") else model
        try:
            self._model = SentenceTransformer(path, local_files_only=offline)
        except (OSError, ValueError) as error:
            raise UsageError(_why_not_loaded(model, offline, error)) from error
        self._prompts = _prompts(model, self._model.prompts)
        dim = self._model.get_embedding_dimension()
        if dim is None:
            raise UsageError(f'model "{model}" does not state its vector size; choose another under [index] encoder')
        self.dim = int(dim)
        self.max_tokens = int(self._model.max_seq_length or 512)
        name = Path(path).name if Path(path).is_dir() else model
        prompts = "|".join(self._prompts)
        self.fingerprint = f"st/{name}/{_weights_digest(self._model)}/torch/{prompts}/{self.dim}"

    def encode_queries(self, texts: list[str]) -> Vectors:
        return self._encode(texts, self._prompts[0], self._model.encode_query)

    def encode_passages(self, texts: list[str]) -> Vectors:
        return self._encode(texts, self._prompts[1], self._model.encode_document)

    def _encode(self, texts: list[str], prompt: str, encode: Any) -> Vectors:
        cleaned = [clean_text(text) for text in texts]
        if not cleaned:
            return to_unit_length(self._model.encode(["x"], show_progress_bar=False)[:0])
        return to_unit_length(encode(cleaned, prompt=prompt, batch_size=BATCH_SIZE, show_progress_bar=False))


def _prompts(model: str, own: Mapping[str, str | None]) -> tuple[str, str]:
    """Prefixes of questions and of passages."""
    query = own.get("query") or ""
    passage = next((own[name] or "" for name in ("document", "passage", "corpus") if own.get(name)), "")
    name = Path(model).name
    if not query and not passage and _E5.search(name) and not _INSTRUCT.search(name):
        return "query: ", "passage: "
    return query, passage


def _weights_digest(model: Any) -> str:
    """Twelve hexadecimal digits over the shape and the first 4096 values of each tensor: any training changes those.

    BERT's pooler is left out: sentence-transformers pools by itself, and where a model has none it is made up at random.
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        if ".pooler." in name:
            continue
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        digest.update(tensor.flatten()[:4096].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:12]


def _why_not_loaded(model: str, offline: bool, error: Exception) -> str:
    if offline:
        return f'model "{model}" is not on this machine; run "kbcite index" once without --offline, or give a folder'
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f'cannot load model "{model}": {reason}; give a folder or a name on the hub, or set encoder = "builtin"'
