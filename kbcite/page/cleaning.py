"""Bytes of a page → its clean document, or why there is none: the page room's steps in their order."""

from __future__ import annotations

import hashlib

from kbcite.page.encoding import decode, not_plain, strip_invisible, utf8_of
from kbcite.page.extraction import NoContent, extract
from kbcite.page.fingerprint import masked_fingerprint
from kbcite.page.head import read_head
from kbcite.page.metadata import read_metadata
from kbcite.page.readability_check import why_unreadable
from kbcite.page.tree import parse_html
from kbcite.records import CleanDocument, Skipped, Stage

CLEAN_RULES = "6"
"""Version of all rules between bytes and document; documents of another version are stale. Raised with every change of one."""


def clean_page(data: bytes, url: str, content_type: str | None) -> CleanDocument | Skipped:
    """The main content of a page with what the page says about itself.

    The same bytes give the same document. Spans count in `strip_invisible(decode(data, content_type).text)`.
    """
    decoded = decode(data, content_type)
    utf8 = utf8_of(decoded, data)
    unusual = not_plain(utf8)
    if reason := why_unreadable(decoded, unusual):
        return Skipped(url, Stage.CLEAN, reason, f"decoded as {decoded.encoding} by {decoded.how}")
    text = strip_invisible(decoded.text, unusual)
    root = parse_html(text, utf8 if text is decoded.text else None)
    head = read_head(root)
    metadata = read_metadata(root, head, url)
    content = extract(root, head, text, url)
    if isinstance(content, NoContent):
        return Skipped(url, Stage.CLEAN, content.reason, content.detail)
    return CleanDocument(
        url=url,
        digest=hashlib.sha256(data).hexdigest(),
        text=content.text,
        spans=content.spans,
        metadata=metadata,
        encoding=decoded.encoding,
        fingerprint=masked_fingerprint(metadata.title, content.text),
    )
