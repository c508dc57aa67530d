"""Texts as encoders can take them, and vectors as the index can."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""float32 (n, d), rows of unit length."""

_UNENCODABLE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """The text without what encoders stumble over: NUL (C strings end there) becomes a space, lone surrogates U+FFFD."""
    return _UNENCODABLE.sub("\ufffd", text.replace("\0", " "))


def to_unit_length(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Rows divided by their length; a zero row stays zero."""
    vectors = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.float32(1e-12)), np.float32)
