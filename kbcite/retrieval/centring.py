"""Vectors without what a language adds to them.

multilingual-e5 puts every text of one language in one direction: in a store of Chinese and English pages a Chinese
question finds the English page that answers it at rank 1 in 0.4 % of cases. With the mean of each language
subtracted, from blocks theirs and from the question that of its own language, in more than half.

For the built-in encoder the means ship with kbcite. They come from texts that say the same in both languages, so that
their difference is the language's alone, and scores do not move as a store grows. Means of the store's own blocks, which
take away what the store is about as well, measured the same within a language and worse across (Hit@5 .77 instead of .85
from Chinese to English): `python -m tests.bench.qa_run retrieval DATA OUT`. Other encoders have nothing else; with few
blocks such a mean is shrunk towards zero, down to the single block that would be centred onto nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kbcite.retrieval.vectors import Vectors, to_unit_length

if TYPE_CHECKING:
    import numpy.typing as npt

SHRINKAGE_BLOCKS = 50
"""Zero counts as that many blocks in the mean of a store's own."""

Centroids: TypeAlias = "Mapping[str, npt.NDArray[np.float32]]"
"""Mean vector by language."""


def shipped_centroids(fingerprint: str) -> Centroids:
    """Means that ship with kbcite for an encoder; empty for encoders it does not know."""
    shipped = json.loads((files("kbcite.retrieval") / "centroids.json").read_text(encoding="utf-8"))
    if shipped["fingerprint"] != fingerprint:
        return {}
    return {language: np.array(mean, np.float32) for language, mean in shipped["centroids"].items()}


def centroids_of(vectors: Vectors, languages: Sequence[str], fingerprint: str) -> Centroids:
    """What is to be subtracted in each language from vectors of an encoder: what ships for it, or the shrunk means."""
    if shipped := shipped_centroids(fingerprint):
        return shipped
    labels = np.asarray(languages)
    sums = {language: vectors[labels == language].sum(axis=0) for language in sorted(set(languages))}
    return {
        language: total / np.float32(languages.count(language) + SHRINKAGE_BLOCKS) for language, total in sums.items()
    }


def centre(vectors: Vectors, languages: Sequence[str], centroids: Centroids) -> Vectors:
    """Unit vectors less the mean of their language; one of a language without a mean stays as it is."""
    nothing = np.zeros(vectors.shape[1], np.float32)
    if not languages:
        return vectors
    means = np.stack([centroids.get(language, nothing) for language in languages])
    return to_unit_length(vectors - means)
