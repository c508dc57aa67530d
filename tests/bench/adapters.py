"""kbcite behind the plain signatures that score scripts call."""

from __future__ import annotations

from kbcite.page import encoding
from kbcite.page.cleaning import clean_page
from kbcite.page.head import read_head
from kbcite.page.metadata import read_metadata
from kbcite.page.tree import parse_html
from kbcite.records import Skipped


def decode(data: bytes, content_type: str | None) -> str:
    return encoding.decode(data, content_type).text


def published(html_bytes: bytes, url: str | None, content_type: str | None) -> str | None:
    root = parse_html(encoding.decode(html_bytes, content_type).text)
    date = read_metadata(root, read_head(root), url or "").published_at
    return date[:10] if date else None


def clean(html_bytes: bytes, url: str | None, content_type: str | None) -> str:
    outcome = clean_page(html_bytes, url or "", content_type)
    return "" if isinstance(outcome, Skipped) else outcome.text
