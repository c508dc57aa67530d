from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from kbcite.errors import UsageError
from kbcite.retrieval.encoder import open_encoder
from kbcite.retrieval.vectors import clean_text, to_unit_length


@pytest.mark.parametrize("name", ["", "bert", "st:", "litellm:gpt", "st"])
def test_an_unknown_name_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(UsageError, match="use builtin, st:NAME_OR_FOLDER or litellm:PROVIDER/MODEL"):
        open_encoder(name)


def test_a_provider_is_refused_offline() -> None:
    with pytest.raises(UsageError, match="--offline forbids"):
        open_encoder("litellm:openai/text-embedding-3-small", offline=True)


def test_opening_the_built_in_encoder_loads_no_heavy_package() -> None:
    code = (
        "import sys; from kbcite.retrieval.encoder import open_encoder; open_encoder('builtin').encode_queries(['hi']);"
        "print([m for m in ('torch', 'onnxruntime', 'litellm', 'transformers', 'tokenizers', 'faiss') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_nul_and_lone_surrogates_are_replaced() -> None:
    assert clean_text("a\0b\ud800c𠮷") == "a b\ufffdc𠮷"


def test_rows_get_unit_length_and_a_zero_row_stays_zero() -> None:
    unit = to_unit_length(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert unit.dtype == np.float32
    assert unit.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]
