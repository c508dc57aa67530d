"""Times as text: ISO 8601, UTC, whole seconds, `2026-11-30T15:48:21Z`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from kbcite.errors import UsageError

Clock = Callable[[], str]
"""What time it is, as text; `--now` pins it."""


def to_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:19] + "Z"


def to_minute(text: str) -> str:
    """A stored time as people read it: `2026-11-30 15:48 UTC`."""
    return f"{text[:10]} {text[11:16]} UTC"


def from_text(text: str) -> datetime:
    """The moment that a date or time names; a date alone and a time without zone count as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def system_clock() -> str:
    return to_text(datetime.now(UTC))


def pinned_clock(text: str) -> Clock:
    """A clock that stands still. Raises UsageError for a time that cannot be read."""
    try:
        moment = to_text(from_text(text))
    except (ValueError, OverflowError) as error:
        raise UsageError(f"--now {text!r} is not a time; give it like 2026-11-30 or 2026-11-30T08:00:00Z") from error
    return lambda: moment


def seconds_between(earlier: str, later: str) -> int:
    return int((from_text(later) - from_text(earlier)).total_seconds())
