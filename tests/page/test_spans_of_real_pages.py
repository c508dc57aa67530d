"""Each span of every document of a folder of real pages leads to its place in the decoded page.

KBCITE_BENCH_DATA names the folder: it holds `extract/dev/pages.jsonl` (`id`, `url`, `content_type` a line) and the bytes of each page
in `extract/dev/html/ID.html.gz`. Without it only the golden pages are looked at (`tests/test_golden.py`).
"""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kbcite.page.cleaning import clean_page
from kbcite.page.encoding import decode, strip_invisible
from kbcite.records import CleanDocument
from tests.spans import disordered_spans, untraced_words, wrong_spans

FOLDER = Path(os.environ.get("KBCITE_BENCH_DATA", "")) / "extract" / "dev"
MOST_UNTRACED = 0.001
"""Share of the characters of all documents whose place is not found: markup inside of words, texts that a parser moved."""


@cache
def rows() -> list[dict[str, Any]]:
    if not (FOLDER / "pages.jsonl").is_file():
        return []
    return [json.loads(line) for line in (FOLDER / "pages.jsonl").read_text("utf-8").splitlines()]


def read(row: dict[str, Any]) -> tuple[CleanDocument | None, str]:
    data = gzip.decompress((FOLDER / "html" / f"{row['id']}.html.gz").read_bytes())
    outcome = clean_page(data, row["url"] or "", row["content_type"])
    document = outcome if isinstance(outcome, CleanDocument) else None
    return document, strip_invisible(decode(data, row["content_type"]).text)


@pytest.mark.slow
@pytest.mark.skipif(not rows(), reason="KBCITE_BENCH_DATA names no folder with real pages")
def test_every_span_holds_and_nearly_every_word_has_one() -> None:
    wrong: dict[str, list[Any]] = {}
    characters = untraced = 0
    for row in rows():
        document, source = read(row)
        if document is None:
            continue
        if faults := [*wrong_spans(document, source), *disordered_spans(document)]:
            wrong[row["id"]] = faults
        characters += len(document.text)
        untraced += sum(map(len, untraced_words(document)))
    assert wrong == {}
    assert untraced <= MOST_UNTRACED * characters
