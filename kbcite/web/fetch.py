"""Door: a URL → what its server answered, or why there is no usable answer. Never raises for a bad server.

Every limit of SPEC 5 and 12 holds here: addresses and an absolute deadline (`guard.py`), a cap on decoded bytes
(`content_coding.py`), redirects of which each hop passes the same checks, no proxies from the environment, certificates verified.
Cookies live as long as the Fetcher.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator

import kbcite
from kbcite.clock import Clock, system_clock
from kbcite.errors import UsageError
from kbcite.records import FetchedPage, FetchFailure
from kbcite.settings import USER_AGENT, CrawlSettings
from kbcite.urls import resolve, split
from kbcite.web.content_coding import ACCEPT_ENCODING, CodingError, undo
from kbcite.web.cookies import Cookies
from kbcite.web.guard import Hop, NameNotFound, PrivateAddress, TooMuch
from kbcite.web.http1 import Connection, Connections, Head, Headers, ProtocolError, request_bytes

HTML_TYPES = ("text/html", "application/xhtml+xml")
MAX_URL_CHARS = 8_192
"""Servers take request lines up to about this length; links and redirects beyond it are traps or mistakes."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FRAMING = 1_000_000
"""Bytes of headers and chunk sizes that an answer may bring beside twice its body's limit."""
_ACCEPT = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"


def allow_any(_url: str) -> str | None:
    return None


class _Refused(Exception):
    """Ends a fetch from the inside; becomes a FetchFailure."""

    def __init__(self, reason: str, detail: str, retryable: bool = False) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail, self.retryable = reason, detail, retryable


class Fetcher:
    """Fetches pages; safe to use from several threads.

    allow_private: whether a URL's host may be at a private address; asked at every hop. With `offline` every fetch raises
    UsageError before anything touches the network.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        *,
        allow_private: Callable[[str], bool] = lambda _: False,
        offline: bool = False,
        clock: Clock = system_clock,
    ) -> None:
        self._settings = settings
        self._allow_private = allow_private
        self._offline = offline
        self._clock = clock
        self._closing = threading.Event()
        self._connections = Connections(max(settings.threads, 1))
        self._cookies = Cookies()
        self.user_agent = USER_AGENT.format(version=kbcite.__version__, contact=settings.contact)

    def close(self) -> None:
        """Let go of the connections; fetches under way in other threads end within a second."""
        self._closing.set()
        self._connections.close()

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fetch(
        self,
        url: str,
        *,
        is_allowed: Callable[[str], str | None] = allow_any,
        etag: str | None = None,
        last_modified: str | None = None,
        types: tuple[str, ...] | None = None,
        cut_at: int | None = None,
        more_headers: tuple[tuple[str, str], ...] = (),
        data: bytes | None = None,
    ) -> FetchedPage | FetchFailure:
        """The answer for a URL, redirects followed.

        is_allowed: asked before each hop, the first included; a text refuses it (`reason` or `reason: detail`). The time it takes
        does not count. etag, last_modified: make the request conditional. types: content types wanted of a 2xx answer; the body
        of any other is not read and gives `content_type`. cut_at: keep this many bytes of a longer body and leave the rest,
        where otherwise more than `max_bytes` gives `too_large`. more_headers, data: what a script of a page sends along, with data by POST;
        neither goes to another host or further than a redirect. Raises UsageError when offline.
        """
        if self._offline:
            raise UsageError(f"{url} needs the network; run the command again without --offline")
        started = time.monotonic()
        deadline = started + self._settings.total_timeout_s
        current = resolve(url, url)
        redirects: list[tuple[int, str]] = []
        headers = self._headers(etag, last_modified) | {name.title(): value for name, value in more_headers}
        try:
            if current is None:
                raise _Refused("scheme", "only http and https addresses are fetched")
            while True:
                if len(current) > MAX_URL_CHARS:
                    raise _Refused("url_too_long", f"{len(current)} characters")
                asked = time.monotonic()
                if refusal := is_allowed(current):
                    reason, _, detail = refusal.partition(": ")
                    raise _Refused(reason, detail)
                deadline += time.monotonic() - asked
                hop = self._hop(current, deadline)
                connection, sent = self._ask(current, headers, hop, data)
                try:
                    head = connection.head
                    target = _redirect_target(head, current)
                    if target is None:
                        hop.deadline = deadline
                        body = self._read(connection, hop, types, cut_at)
                        break
                finally:
                    self._connections.give_back(connection)
                redirects.append((head.status, current))
                if len(redirects) > self._settings.max_redirects or redirects.count((head.status, target)) > 1:
                    raise _Refused("redirect_loop", f"{len(redirects)} redirects, the last to {target}")
                current = target
                headers, data = self._headers(None, None), None
        except _Refused as refused:
            hop_url = current[:MAX_URL_CHARS] if current is not None and current != url else ""
            return FetchFailure(url, refused.reason, refused.detail, refused.retryable, hop_url)
        return FetchedPage(
            url=url,
            final_url=current,
            status=head.status,
            headers=head.headers,
            body=body,
            fetched_at=self._clock(),
            redirects=tuple(redirects),
            request_headers=sent,
            encoded_length=connection.received,
            elapsed_s=round(time.monotonic() - started, 3),
        )

    def _headers(self, etag: str | None, last_modified: str | None) -> dict[str, str]:
        headers = {"User-Agent": self.user_agent, "Accept": _ACCEPT, "Accept-Encoding": ACCEPT_ENCODING}
        if etag:
            headers["If-None-Match"] = etag
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        return headers

    def _hop(self, url: str, deadline: float) -> Hop:
        answer_by = min(deadline, time.monotonic() + self._settings.connect_timeout_s)
        room = 2 * self._settings.max_bytes + _FRAMING
        return Hop(answer_by, self._settings.connect_timeout_s, self._allow_private(url), room, closing=self._closing)

    def _ask(self, url: str, headers: dict[str, str], hop: Hop, data: bytes | None) -> tuple[Connection, Headers]:
        """A connection on which the answer's head was read, and the headers that were sent. Raises _Refused."""
        parts = split(url)
        assert parts is not None  # `resolve` made it
        sent = list(headers.items())
        if data is not None:
            sent.append(("Content-Length", str(len(data))))
        if cookies := self._cookies.header_for(url):
            sent.append(("Cookie", cookies))
        try:
            request = request_bytes("GET" if data is None else "POST", parts, sent, data or b"")
            connection = self._connections.ask(parts, request, hop, may_repeat=data is None)
        except PrivateAddress as error:
            detail = f"{parts.host} is at {error}; sources may say allow_private = true"
            raise _Refused("private_address", detail) from error
        except NameNotFound as error:
            raise _Refused("dns", str(error), True) from error
        except TooMuch as error:
            raise _Refused("too_large", str(error)) from error
        except TimeoutError as error:
            raise _Refused("timeout", f"no answer in {self._settings.connect_timeout_s:g} s", True) from error
        except ssl.SSLError as error:
            raise _Refused("tls", _told(error)) from error
        except ProtocolError as error:
            raise _Refused("protocol", str(error), True) from error
        except OSError as error:
            raise _Refused("connect", _told(error), True) from error
        except ValueError as error:
            raise _Refused("protocol", str(error)) from error
        self._cookies.take(url, [value for name, value in connection.head.headers if name == "set-cookie"])
        return connection, tuple((name.lower(), value) for name, value in sent)

    def _read(self, connection: Connection, hop: Hop, types: tuple[str, ...] | None, cut_at: int | None) -> bytes:
        """The decoded body. Raises _Refused."""
        head = connection.head
        if head.status in (204, 304):
            return b""
        content_type = head.first("content-type").partition(";")[0].strip().lower()
        if types is not None and content_type and 200 <= head.status < 300 and content_type not in types:
            raise _Refused("content_type", content_type)
        coding = head.joined("transfer-encoding").strip().lower()
        if coding not in ("", "chunked", "identity"):
            raise _Refused("protocol", f"Transfer-Encoding {coding[:100]!r} was not asked for")
        limit = self._settings.max_bytes if cut_at is None else cut_at
        if cut_at is None and (connection.length or 0) > limit:
            raise _Refused("too_large", f"{connection.length} bytes, {limit} are taken")
        body = bytearray()
        try:
            for piece in undo(_wire(connection, limit), head.joined("content-encoding")):
                body += piece
                hop.left_s()
                if len(body) > limit:
                    break
        except TooMuch as error:
            if cut_at is None:
                raise _Refused("too_large", str(error)) from error
        except TimeoutError as error:
            raise _Refused("timeout", f"not all there after {self._settings.total_timeout_s:g} s", True) from error
        except (ProtocolError, OSError) as error:
            raise _Refused("protocol", _told(error), True) from error
        except CodingError as error:
            raise _Refused("content_encoding", str(error)) from error
        if len(body) > limit and cut_at is None:
            raise _Refused("too_large", f"more than {limit} bytes")
        return bytes(body[:limit])


def _wire(connection: Connection, limit: int) -> Iterator[bytes]:
    """The body as it comes. Raises TooMuch a little over the limit: an endless stream may decode to nothing."""
    for piece in connection.pieces():
        yield piece
        if connection.received > limit:
            raise TooMuch(f"more than {limit} bytes")


def _redirect_target(head: Head, url: str) -> str | None:
    """Where a redirect leads, None if the answer is none. Raises _Refused for a target that is not http or https."""
    location = head.first("location")
    if head.status not in _REDIRECTS or not location:
        return None
    # Header values arrive as Latin-1; servers write UTF-8, or bytes of another encoding, which are then kept as they are.
    raw = location.encode("latin-1")
    try:
        location = raw.decode("utf-8")
    except UnicodeDecodeError:
        location = "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw)
    target = resolve(url, location)
    if target is None:
        raise _Refused("scheme", f"redirected to {location[:200]!r}")
    return target


def _told(error: Exception) -> str:
    """An error's text in one line; its name where it has none."""
    return " ".join(str(error).split())[:300] or type(error).__name__
