"""When the next request may go out: the pace of each host, its breaker, and the pause before a retry.

Times are seconds of the monotonic clock, so that setting the system's clock neither stalls a crawl nor makes it burst.
"""

from __future__ import annotations

import random
import threading
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from kbcite.fetch_records import FetchedPage, FetchFailure

BREAKER_FAILURES = 5
"""Failures in a row after which a host is left alone until the next run."""
MAX_PAUSE_S = 300.0
"""A host that wants a longer pause is left until the next run."""
RETRY_BASE_S = 2.0
MAX_INTERVAL_S = 60.0


class HostPace:
    """The pace of one host; safe to use from several threads.

    interval_s: between the starts of two requests, never less, up to `jitter` of it more. With an interval one request is under
    way at a time; without one, `parallel` are.
    """

    def __init__(self, interval_s: float, jitter: float, parallel: int) -> None:
        self._interval_s = interval_s
        self._jitter = jitter
        self._parallel = parallel
        self._next_at = 0.0
        self._under_way = 0
        self._failures = 0
        self._lock = threading.Lock()
        self.closed: str | None = None
        """Why the host is left until the next run."""

    def slow_to(self, interval_s: float) -> None:
        """Keep at least this interval from now on: what robots.txt asks for."""
        with self._lock:
            if interval_s > self._interval_s:
                self._next_at += interval_s - self._interval_s
                self._interval_s = interval_s
            if interval_s > MAX_PAUSE_S:
                self.closed = f"robots.txt asks for {interval_s:g} s between two requests"

    def close(self, reason: str) -> None:
        """Leave the host alone until the next run."""
        with self._lock:
            self.closed = self.closed or reason

    def wait_s(self, now: float) -> float | None:
        """Seconds until a request may start; None while too many are under way, or the host is closed."""
        with self._lock:
            if self.closed is not None or self._under_way >= (1 if self._interval_s > 0 else self._parallel):
                return None
            return max(0.0, self._next_at - now)

    def begin(self, now: float) -> None:
        """Note that a request starts."""
        with self._lock:
            self._under_way += 1
            self._book(now)

    def reserve(self, now: float) -> float:
        """Book one more request for a fetch that is under way (a redirect); seconds to wait before it."""
        with self._lock:
            start = max(now, self._next_at)
            self._book(start)
            return start - now

    def sent(self, now: float) -> None:
        """Note that a request goes out right now, which may be later than it was booked for."""
        with self._lock:
            self._next_at = max(self._next_at, now + self._interval_s)

    def end(self, now: float, result: FetchedPage | FetchFailure | None) -> None:
        """Note what came of a request: trouble slows the host down, too much of it closes it; None for robots.txt."""
        with self._lock:
            self._under_way -= 1
            if result is None:
                return
            if not is_trouble(result):
                self._failures = 0
                return
            self._failures += 1
            pause = retry_after_s(result)
            if pause is not None:
                self._next_at = max(self._next_at, now + pause)
                if pause > MAX_PAUSE_S:
                    self.closed = f"it asks to come back in {pause:g} s"
            elif isinstance(result, FetchedPage):
                self._interval_s = min(MAX_INTERVAL_S, max(self._interval_s * 2, 0.1))
                self._next_at = max(self._next_at, now + self._interval_s)
            if self._failures >= BREAKER_FAILURES:
                self.closed = f"{self._failures} requests in a row failed, the last with {describe(result)}"

    def _book(self, start: float) -> None:
        self._next_at = start + self._interval_s * random.uniform(1.0, 1.0 + self._jitter)  # noqa: S311  # not a secret


def is_trouble(result: FetchedPage | FetchFailure) -> bool:
    """Whether a result says that the host, not the page, is in trouble: 429, 5xx, or no answer for now."""
    if isinstance(result, FetchFailure):
        return result.retryable
    return result.status == 429 or result.status >= 500


def describe(result: FetchedPage | FetchFailure) -> str:
    return result.reason if isinstance(result, FetchFailure) else f"status {result.status}"


def retry_after_s(result: FetchedPage | FetchFailure) -> float | None:
    """Seconds that a Retry-After header asks for; None without a usable one."""
    value = result.header("retry-after") if isinstance(result, FetchedPage) else None
    if not value:
        return None
    if value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def retry_pause_s(tries: int) -> float:
    """Seconds before the next try of a URL that failed `tries` times: doubling, with jitter."""
    return RETRY_BASE_S * 2.0 ** (tries - 1) * random.uniform(1.0, 1.5)  # noqa: S311  # not a secret
