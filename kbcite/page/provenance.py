"""Whether a passage of a document says what the fetched page says, character by character."""

from __future__ import annotations

import html
import re
from bisect import bisect_right

from kbcite.page.encoding import decode, strip_invisible
from kbcite.records import Span

_WORD = re.compile(r"\w+")
_ADDED = re.compile(r"^[ \t>]*(?:(?:[-*+] )?\d{1,9}[.)](?= )|```[\w+#.-]*$|~~~[\w+#.-]*$)", re.MULTILINE)
"""What cleaning adds to a page's own words: the numbers of a list, the language of a code block."""


def page_source(body: bytes, content_type: str | None) -> str:
    """The decoded text of a page that the spans of its document point into."""
    return strip_invisible(decode(body, content_type).text)


def foreign_words(text: str, spans: tuple[Span, ...], source: str, start: int, end: int) -> tuple[str, ...]:
    """The words of `text[start:end]` that do not stand at their recorded place in the page; empty where all do.

    A span's slice of the source, entities resolved and white space folded, must be its slice of the text; a word that no
    span holds must be one that cleaning adds.
    """
    founded = bytearray(end - start)
    first = bisect_right(spans, start, key=lambda span: span.end)
    for span in spans[first:]:
        if span.start >= end:
            break
        if _folded(text[span.start : span.end]) == _folded(html.unescape(source[span.source_start : span.source_end])):
            low, high = max(span.start, start), min(span.end, end)
            founded[low - start : high - start] = b"\1" * (high - low)
    for match in _ADDED.finditer(text, text.rfind("\n", 0, start) + 1, end):
        low, high = max(match.start(), start), min(match.end(), end)
        founded[low - start : max(high, low) - start] = b"\1" * max(0, high - low)
    return tuple(
        match.group()
        for match in _WORD.finditer(text, start, end)
        if match.group().strip("_") and not all(founded[match.start() - start : match.end() - start])
    )


def _folded(text: str) -> str:
    return "".join(text.split())
