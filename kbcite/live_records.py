"""The records of pages that are looked at beside what is stored: while answering, or to see what they say today."""

from __future__ import annotations

from dataclasses import dataclass

from kbcite.records import Block, CleanDocument, Occurrence, SourceType


@dataclass(frozen=True, slots=True)
class LivePage:
    """A page that was fetched while answering, or lately and is in the pool."""

    requested_url: str
    url: str
    """After redirects."""
    document: CleanDocument
    """As stored, with its ID."""
    pieces: tuple[tuple[Block, Occurrence], ...]
    source_type: SourceType
    """Of the source that covers it."""
    labels: tuple[str, ...]
    fetched_at: str
    is_pooled: bool
    links: tuple[tuple[str, str], ...] = ()
    """(URL, text) of its links."""
    began_at: float = 0.0
    """On the monotonic clock, as `ended_at`; both 0 from the pool."""
    ended_at: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveLoss:
    """A page that brought nothing to use."""

    requested_url: str
    reason: str
    """`timeout`, `http_404`, `bot_challenge`, `robots_disallowed`, `needs_javascript` ..."""
    detail: str
    is_pooled: bool = False
    began_at: float = 0.0
    ended_at: float = 0.0


@dataclass(frozen=True, slots=True)
class PageNow:
    """A stored page that was asked for again to see what it says today; nothing of it is stored."""

    url: str
    """As it was named."""
    outcome: str
    """`there`, `moved`, `gone` (this visit says so), `unreachable`, or `not_asked`."""
    detail: str
    """Where it moved to, or why it is not there or was not asked."""
    asked_at: str
    document: CleanDocument | None = None
    """What it says; None where that could not be had."""
