"""Whether the spans of a document hold: what stands in the page at the place of each is what the document says."""

from __future__ import annotations

import html
import re

from kbcite.records import CleanDocument, Span

_MARKUP = re.compile(r"<!--.*?-->|</?[a-zA-Z!?][^<>]*>", re.DOTALL)
_NOT_OF_THE_PAGE = re.compile(r"^[> ]*(?:\d+\. |```\w*$)|!\[[^\]]*\]\(\)", re.MULTILINE)
"""Numbers of list items and languages of code are made, alternative texts of images stand in attributes."""


def wrong_spans(document: CleanDocument, source: str) -> list[tuple[str, str]]:
    """For each span that does not hold: what the document says, and what the decoded page has there."""
    pairs = [
        (document.text[span.start : span.end], source[span.source_start : span.source_end]) for span in document.spans
    ]
    return [(said, stands) for said, stands in pairs if _letters(said) != _letters(_seen(stands))]


def disordered_spans(document: CleanDocument) -> list[Span]:
    """The spans that begin before the end of the one before them, in the document or in the page."""
    return [
        span
        for before, span in zip(document.spans, document.spans[1:], strict=False)
        if span.start < before.end or span.source_start < before.source_end
    ]


def untraced_words(document: CleanDocument) -> list[str]:
    """The words that no span leads from to the page."""
    untraced = list(document.text)
    for span in document.spans:
        untraced[span.start : span.end] = " " * (span.end - span.start)
    return re.findall(r"\w+", _NOT_OF_THE_PAGE.sub("", "".join(untraced)))


def _seen(source: str) -> str:
    return html.unescape(_MARKUP.sub("", source))


def _letters(text: str) -> str:
    return "".join(text.split())
