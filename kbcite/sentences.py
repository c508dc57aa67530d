"""Sentences of Chinese and English text, as spans, so that a piece can always be traced to where it stood."""

from __future__ import annotations

import re

_END = re.compile(r"[。！？!?…]+[\"”』」’)）\]】]*|[；;](?=\s|$)|\.(?=[\"”’)\]]*(?:\s|$))[\"”’)\]]*|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Inc|Co|Ltd|Corp|Gen|Sen|Rep|Fig|Eq|al|cf|approx|e\.g|i\.e|[A-Z])|(?<!\w)\d+)$"
)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, white space around them left out; together they hold every other character."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match.group().startswith(".") and _ABBREVIATION.search(text, start, match.start()):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))]


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if end > start else None
