"""From a place in a document back to the bytes that were fetched."""

from __future__ import annotations

from kbcite.page.encoding import decode, strip_invisible
from kbcite.records import Span


def byte_span(
    body: bytes, content_type: str | None, spans: tuple[Span, ...], start: int, end: int
) -> tuple[int, int] | None:
    """Offsets in `body` of the bytes that the document's text from `start` to `end` was read from.

    The span begins with the first and ends with the last character that came from the page; markup between them is inside.
    None where the bytes cannot be pointed at exactly: damaged characters, or invisible ones removed before the place.
    """
    place = source_span(spans, start, end)
    if place is None:
        return None
    source_start, source_end = place
    decoded = decode(body, content_type)
    text = strip_invisible(decoded.text)
    before = text[:source_start].encode(decoded.encoding, "replace")
    passage = text[source_start:source_end].encode(decoded.encoding, "replace")
    mark = next((mark for mark in (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff") if body.startswith(mark)), b"")
    offset = len(mark) + len(before)
    if body[offset : offset + len(passage)] != passage:
        return None
    return offset, offset + len(passage)


def source_span(spans: tuple[Span, ...], start: int, end: int) -> tuple[int, int] | None:
    """Where the document's text from `start` to `end` stands in the decoded page; None where nothing of it came from the page."""
    inside = [span for span in spans if span.start < end and span.end > start]
    if not inside:
        return None
    first, last = inside[0], inside[-1]
    return (
        first.source_start + (max(start, first.start) - first.start if _is_plain(first) else 0),
        last.source_end - (last.end - min(end, last.end) if _is_plain(last) else 0),
    )


def _is_plain(span: Span) -> bool:
    """True where the span's characters stand in the page one for one, without entities or folded white space."""
    return span.end - span.start == span.source_end - span.source_start
