"""What a browser made of a page, in the place of the page: the bytes that the server sent go along."""

from __future__ import annotations

from dataclasses import replace

from kbcite.fetch_records import RENDERED_BY, FetchedPage, ReceivedBytes

_STALE_HEADERS = frozenset("content-type content-encoding content-length transfer-encoding etag last-modified".split())
"""Headers of the received bytes that do not hold for the rendered ones; without validators a rendered page is never `not modified`."""


def as_rendered(page: FetchedPage, html: bytes, browser: str) -> FetchedPage:
    """The page with this HTML, UTF-8, as its body, and what was received beside it; `browser` is its name and version."""
    kept = tuple((name, value) for name, value in page.headers if name not in _STALE_HEADERS)
    headers = (*kept, ("content-type", "text/html; charset=utf-8"), (RENDERED_BY, browser))
    return replace(page, body=html, headers=headers, received=ReceivedBytes(page.headers, page.body))
