"""Door: a question and passages → how well each answers it, by a cross-encoder of sentence-transformers. Off unless a model is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from kbcite.errors import UsageError
from kbcite.retrieval.vectors import clean_text

Rerank: TypeAlias = Callable[[str, Sequence[str]], list[float]]
"""Question and passages → a score each, higher is better; comparable within one call alone."""

BATCH_SIZE = 8


def open_reranker(model: str, threads: int, offline: bool) -> Rerank:
    """The cross-encoder in a folder or of a name on the Hugging Face hub.

    threads 0 means as many as there are cores. Raises UsageError where the package is missing or the model cannot be had.
    """
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's package is first imported
    try:
        import torch
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging
    except ModuleNotFoundError as error:
        raise UsageError(
            f'--rerank "{model}" needs the package {error.name}; run "pip install sentence-transformers"'
        ) from error
    if threads:
        torch.set_num_threads(threads)
    untyped: Any = logging
    untyped.set_verbosity_error()
    untyped.disable_progress_bar()
    path = Path(model).expanduser()
    if model.startswith((".", "/", "~")) and not path.is_dir():
        raise UsageError(f"no folder {model} to rerank with; correct --rerank, or rerank under [ask]")
    try:
        encoder: Any = CrossEncoder(str(path) if path.is_dir() else model, local_files_only=offline)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if offline:
            reason = "it is not on this machine, and --offline forbids to fetch it"
        raise UsageError(f'cannot rerank with "{model}": {reason}; give a folder or a name on the hub') from error
    if encoder.num_labels != 1:
        raise UsageError(
            f'cannot rerank with "{model}": it gives {encoder.num_labels} scores a passage; give one for ranking'
        )

    def rerank(question: str, passages: Sequence[str]) -> list[float]:
        pairs = [(clean_text(question), clean_text(passage)) for passage in passages]
        return [float(score) for score in encoder.predict(pairs, batch_size=BATCH_SIZE, show_progress_bar=False)]

    return rerank
