"""Door: a URL → what its server answered, or why there is no usable answer. Never raises for a bad server.

Every limit of SPEC 5 and 12 holds here: addresses (`guard.py`), an absolute deadline, a cap on decoded bytes
(`content_coding.py`), redirects followed by hand so that each hop passes the same checks, no proxies from the environment,
certificates verified. Cookies live as long as the Fetcher.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import kbcite
from kbcite.clock import Clock, system_clock
from kbcite.errors import UsageError
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.settings import USER_AGENT, CrawlSettings
from kbcite.urls import resolve, split
from kbcite.web.content_coding import ACCEPT_ENCODING, PIECE, CodingError, undo
from kbcite.web.guard import Hop, Lane, NameNotFound, PrivateAddress, TooMuch, guarded_session

if TYPE_CHECKING:
    import requests

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
        self._lane = Lane()
        self._closing = threading.Event()
        self._session: requests.Session | None = (
            None if offline else guarded_session(self._lane, max(settings.threads, 1))
        )
        self._has_cookies = False
        self.user_agent = USER_AGENT.format(version=kbcite.__version__, contact=settings.contact)

    def close(self) -> None:
        """Let go of the connections; fetches under way in other threads end within a second."""
        self._closing.set()
        if self._session is not None:
            self._session.close()

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
        if self._session is None:
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
                response = self._request(current, headers, deadline, data)
                try:
                    target = _redirect_target(response, current)
                    if target is None:
                        body = self._read(response, types, cut_at)
                        break
                finally:
                    response.close()
                redirects.append((response.status_code, current))
                if len(redirects) > self._settings.max_redirects or redirects.count((response.status_code, target)) > 1:
                    raise _Refused("redirect_loop", f"{len(redirects)} redirects, the last to {target}")
                current = target
                headers, data = self._headers(None, None), None
        except _Refused as refused:
            hop_url = current[:MAX_URL_CHARS] if current is not None and current != url else ""
            return FetchFailure(url, refused.reason, refused.detail, refused.retryable, hop_url)
        return FetchedPage(
            url=url,
            final_url=current,
            status=response.status_code,
            headers=_headers_of(response),
            body=body,
            fetched_at=self._clock(),
            redirects=tuple(redirects),
            request_headers=tuple((name.lower(), str(value)) for name, value in response.request.headers.items()),
            encoded_length=response.raw.tell(),
            elapsed_s=round(time.monotonic() - started, 3),
        )

    def _headers(self, etag: str | None, last_modified: str | None) -> dict[str, str]:
        headers = {"User-Agent": self.user_agent, "Accept": _ACCEPT, "Accept-Encoding": ACCEPT_ENCODING}
        if etag:
            headers["If-None-Match"] = etag
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        return headers

    def _request(
        self, url: str, headers: dict[str, str], deadline: float, data: bytes | None = None
    ) -> requests.Response:
        """The answer's head, its body unread. Raises _Refused."""
        import requests
        from requests.cookies import extract_cookies_to_jar

        assert self._session is not None
        for is_last_try in (False, True):
            answer_by = min(deadline, time.monotonic() + self._settings.connect_timeout_s)
            hop = Hop(
                answer_by,
                self._settings.connect_timeout_s,
                self._allow_private(url),
                2 * self._settings.max_bytes + _FRAMING,
                closing=self._closing,
            )
            self._lane.hop = hop
            try:
                # Not session.prepare_request: it rewrites some escapes, and what was linked is what is asked for.
                prepared = requests.PreparedRequest()
                prepared.method, prepared.url = "GET" if data is None else "POST", url
                prepared.prepare_headers(headers)
                if data is not None:
                    prepared.prepare_body(data, None)
                if self._has_cookies:
                    prepared.prepare_cookies(self._session.cookies)
                prepared.prepare_hooks({})
                # Not session.send: it reads the whole body of a redirect, whatever its size, before handing it over.
                response = self._session.get_adapter(url).send(
                    prepared, stream=True, timeout=self._settings.connect_timeout_s, verify=True, proxies={}
                )
            except PrivateAddress as error:
                raise _Refused(
                    "private_address", f"{_host(url)} is at {error}; sources may say allow_private = true"
                ) from error
            except NameNotFound as error:
                raise _Refused("dns", str(error), True) from error
            except requests.exceptions.SSLError as error:
                raise _Refused("tls", _innermost(error)) from error
            except requests.exceptions.Timeout as error:
                raise _Refused("timeout", f"no answer in {self._settings.connect_timeout_s:g} s", True) from error
            except requests.exceptions.ConnectionError as error:
                if too_much := _too_much(error):
                    raise _Refused("too_large", too_much) from error
                # A server may close a kept connection at the moment it is used again; that says nothing about the page.
                if hop.is_reused and not is_last_try and data is None:
                    continue
                raise _Refused(*_connection_fault(error), True) from error
            except (requests.exceptions.RequestException, UnicodeError, ValueError) as error:
                raise _Refused("protocol", _innermost(error)) from error
            hop.deadline = deadline
            if "set-cookie" in response.raw.headers:
                self._has_cookies = True
                extract_cookies_to_jar(self._session.cookies, prepared, response.raw)  # type: ignore[no-untyped-call]  # its stubs
            return response
        raise AssertionError("the second try returns or raises")

    def _read(self, response: requests.Response, types: tuple[str, ...] | None, cut_at: int | None) -> bytes:
        """The decoded body. Raises _Refused."""
        import urllib3

        if response.status_code in (204, 304):
            return b""
        content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if types is not None and content_type and 200 <= response.status_code < 300 and content_type not in types:
            raise _Refused("content_type", content_type)
        coding = response.headers.get("transfer-encoding", "").strip().lower()
        if coding not in ("", "chunked", "identity"):
            raise _Refused("protocol", f"Transfer-Encoding {coding[:100]!r} was not asked for")
        limit = self._settings.max_bytes if cut_at is None else cut_at
        if cut_at is None and (response.raw.length_remaining or 0) > limit:
            raise _Refused("too_large", f"{response.raw.length_remaining} bytes, {limit} are taken")
        body = bytearray()
        try:
            for piece in undo(_wire(response, limit), response.headers.get("content-encoding", "")):
                body += piece
                self._lane.hop.left_s()
                if len(body) > limit:
                    break
        except TooMuch as error:
            if cut_at is None:
                raise _Refused("too_large", str(error)) from error
        except (urllib3.exceptions.TimeoutError, TimeoutError) as error:
            raise _Refused("timeout", f"not all there after {self._settings.total_timeout_s:g} s", True) from error
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            # ValueError: of a chunk with a negative size.
            if too_much := _too_much(error):
                raise _Refused("too_large", too_much) from error
            raise _Refused("protocol", _innermost(error), True) from error
        except CodingError as error:
            raise _Refused("content_encoding", str(error)) from error
        if len(body) > limit and cut_at is None:
            raise _Refused("too_large", f"more than {limit} bytes")
        return bytes(body[:limit])


def _wire(response: requests.Response, limit: int) -> Iterator[bytes]:
    """The body as it comes. Raises TooMuch a little over the limit: an endless stream may decode to nothing."""
    length = 0
    for piece in response.raw.stream(PIECE, decode_content=False):
        yield piece
        length += len(piece)
        if length > limit:
            raise TooMuch(f"more than {limit} bytes")


def _redirect_target(response: requests.Response, url: str) -> str | None:
    """Where a redirect leads, None if the answer is none. Raises _Refused for a target that is not http or https."""
    location = response.headers.get("location")
    if response.status_code not in _REDIRECTS or not location:
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


def _headers_of(response: requests.Response) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), value) for name, value in response.raw.headers.items())


def _host(url: str) -> str:
    parts = split(url)
    return parts.host if parts else url


def _connection_fault(error: BaseException) -> tuple[str, str]:
    text = _innermost(error)
    is_refused = any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error))
    is_lost = any(isinstance(cause, http.client.HTTPException) for cause in _causes(error))
    return ("protocol" if is_lost and not is_refused else "connect", text)


def _too_much(error: BaseException) -> str:
    """Why an answer was broken off for its length; empty where it was not."""
    return next((str(cause) for cause in _causes(error) if isinstance(cause, TooMuch)), "")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from: `__cause__`, urllib3's `reason`, and exceptions among its arguments."""
    pending: list[Any] = [error]
    seen: set[int] = set()
    while pending:
        cause = pending.pop()
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            pending += [cause.__context__, cause.__cause__, getattr(cause, "reason", None), *cause.args]


def _innermost(error: BaseException) -> str:
    """The message of the first cause, one line: `certificate verify failed: self-signed certificate`."""
    deepest = list(_causes(error))[-1]
    return " ".join(str(deepest).split())[:300] or type(deepest).__name__
