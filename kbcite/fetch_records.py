"""The records of fetching, in the order data flows: what a server answered, what is kept of it, and what the visits say of a page."""

from __future__ import annotations

from dataclasses import dataclass

from kbcite.records import PageState

RENDERED_BY = "x-kbcite-rendered"
"""Header of a stored page that is what a browser made of the bytes, and not the bytes; its value names the browser."""


@dataclass(frozen=True, slots=True)
class ReceivedBytes:
    """What the server sent of a page whose body is what a browser made of it."""

    headers: tuple[tuple[str, str], ...]
    """As in FetchedPage."""
    body: bytes
    """Content encoding undone."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """One answer of a server, whatever its status."""

    url: str
    """As requested."""
    final_url: str
    """After redirects: the page's address (SPEC 6)."""
    status: int
    headers: tuple[tuple[str, str], ...]
    """Response headers, names in lower case, in the order received."""
    body: bytes
    """Content encoding undone; empty for 304."""
    fetched_at: str
    redirects: tuple[tuple[int, str], ...] = ()
    """Each hop that was left: its status and its URL, first to last."""
    request_headers: tuple[tuple[str, str], ...] = ()
    encoded_length: int = 0
    """Bytes of body on the wire."""
    elapsed_s: float = 0.0
    received: ReceivedBytes | None = None
    """Of a rendered page; None where `body` is what was received."""

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for key, value in self.headers if key == wanted), None)


@dataclass(frozen=True, slots=True)
class ArchivedAnswer:
    """A fetch as the archive keeps it: what came with it, and the digests of its bytes."""

    number: int
    """In the order of archiving."""
    page: FetchedPage
    """Without its bodies."""
    digest: str
    """Of the page's body."""
    received_digest: str | None = None
    """Of what the server sent, for a rendered page."""


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """No usable answer: refused by the guard, or lost on the way."""

    url: str
    reason: str
    """Machine word: `private_address`, `scheme`, `timeout`, `too_large`, `redirect_loop`, `tls`, `dns`, `connect`, `protocol`."""
    detail: str
    retryable: bool
    """True for faults of the moment (time-out, connection), False for refusals."""
    hop_url: str = ""
    """The hop at which it failed, where that is not `url`."""


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """What asking for a host's robots.txt brought; kept, so that it is asked for once a day."""

    host: str
    """Scheme, host and port."""
    outcome: str
    """`rules` (in `body`), `allow_all` or `disallow_all`."""
    body: bytes
    detail: str
    """Where the outcome comes from: `200`, `404`, `timeout: no answer in 10 s` ..."""
    fetched_at: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the visits so far hold against a page."""

    state: PageState
    misses: int = 0
    """Answers in a row that it is gone."""
    missing_since: str | None = None
    failures: int = 0
    """Visits in a row that brought no answer about it."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One stored fetch of a page; its bytes lie in the archive under `digest`."""

    url: str
    """The page's canonical URL."""
    digest: str
    """SHA-256 of the bytes, hexadecimal."""
    status: int
    headers: tuple[tuple[str, str], ...]
    final_url: str
    fetched_at: str

    @property
    def content_type(self) -> str | None:
        return next((value for key, value in self.headers if key == "content-type"), None)
