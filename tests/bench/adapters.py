"""kbcite behind the plain signatures that score scripts call."""

from __future__ import annotations

from kbcite.page import encoding


def decode(data: bytes, content_type: str | None) -> str:
    return encoding.decode(data, content_type).text
