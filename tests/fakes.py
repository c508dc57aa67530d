"""A stand-in for an encoder where a test is not about vectors: a bag of hashed terms, so that like texts are near."""

from __future__ import annotations

import hashlib

import numpy as np

from kbcite.words import terms


class BagEncoder:
    dim = 64
    max_tokens = 512

    def __init__(self, fingerprint: str = "bag/1") -> None:
        self.fingerprint = fingerprint
        self.encoded: list[str] = []
        """Every passage it was given, in order."""

    def encode_queries(self, texts: list[str]) -> np.ndarray:
        return np.stack([_bag(text) for text in texts])

    def encode_passages(self, texts: list[str]) -> np.ndarray:
        self.encoded += texts
        return self.encode_queries(texts)


def _bag(text: str) -> np.ndarray:
    vector = np.full(BagEncoder.dim, 1e-3, np.float32)
    for term in terms(text):
        vector[hashlib.sha256(term.encode()).digest()[0] % BagEncoder.dim] += 1
    return vector / np.linalg.norm(vector)
