"""Where a quote stands in the text of its page's body, as annotation programs count: code points of `document.body.textContent`."""

from __future__ import annotations

from dataclasses import dataclass

from kbcite.page.byte_span import source_span
from kbcite.page.provenance import page_source
from kbcite.page.shown_text import body_text
from kbcite.records import Span

CONTEXT = 32
"""Characters of what stands before and after: what other annotation programs keep, too."""


@dataclass(frozen=True, slots=True)
class TextPosition:
    exact: str
    """The page's own text from the first to the last character of the quote."""
    prefix: str
    suffix: str
    start: int
    end: int


def find_position(
    body: bytes, content_type: str | None, spans: tuple[Span, ...], start: int, end: int
) -> TextPosition | None:
    """The place of a document's text from `start` to `end`; None where nothing of it came from the page's body."""
    source = page_source(body, content_type)
    inside = source_span(spans, start, end)
    if inside is None:
        return None
    page = body_text(source)
    first, last = page.place(*inside)
    if first >= last:
        return None
    return TextPosition(
        page.text[first:last],
        page.text[max(0, first - CONTEXT) : first],
        page.text[last : last + CONTEXT],
        first,
        last,
    )
