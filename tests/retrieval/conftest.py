from __future__ import annotations

import pytest

from kbcite.retrieval.builtin_encoder import BuiltinEncoder


@pytest.fixture(scope="session")
def builtin() -> BuiltinEncoder:
    return BuiltinEncoder(threads=2)
