"""What a run, or one host in it, may take: pages, bytes and time, and how much of that is spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Spent:
    pages: int = 0
    bytes: int = 0
    """On the wire."""
    since: float = field(default_factory=time.monotonic)

    def add(self, pages: int, length: int) -> None:
        self.pages += pages
        self.bytes += length


@dataclass(frozen=True, slots=True)
class Budget:
    """None is no limit."""

    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None

    def why_spent(self, spent: Spent) -> str | None:
        """The limit that is reached, `20 pages`, or None."""
        if self.pages is not None and spent.pages >= self.pages:
            return f"{self.pages} pages"
        if self.bytes is not None and spent.bytes >= self.bytes:
            return f"{self.bytes} bytes"
        if self.seconds is not None and time.monotonic() - spent.since >= self.seconds:
            return f"{self.seconds:g} seconds"
        return None
