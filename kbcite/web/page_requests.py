"""What a rendered page may ask for, and the answers: the browser itself has no network.

The page's document was fetched before the browser gets it. Of what its scripts ask for, only what may bring text is answered:
scripts, styles (some scripts wait for them) and data. Each request and each redirect passes the guard of `fetch.py`, robots.txt of its
host, and two rules of its own: a page on the web gets nothing from an intranet, and only a site that is a source is sent data.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kbcite.clock import Clock
from kbcite.fetch_records import FetchedPage, FetchFailure, RobotsCopy
from kbcite.urls import host_of, resolve
from kbcite.web.robots import MAX_BYTES, Robots, copy_from
from kbcite.web.scope import Scope
from kbcite.web.visitor import Fetch

ANSWERED = frozenset({"script", "stylesheet", "xhr", "fetch"})
"""Kinds of requests, as browsers name them, that may bring text."""
SHARED = frozenset({"script", "stylesheet"})
FORWARDED = frozenset("accept accept-language authorization content-type origin referer".split())
"""Headers that go on to the server; of others only those whose names begin with `x-`, which data interfaces ask for."""
MAX_SHARED_BYTES = 50_000_000
MAX_SENT_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class PageRequest:
    page_url: str
    """Of the page that asks."""
    url: str
    kind: str
    """`script`, `stylesheet`, `xhr`, `fetch`, `image`, `websocket` ..."""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    data: bytes | None = None


class PageFetch(Fetch, Protocol):
    """What `Fetcher.fetch` is, with what a page's script may send along."""

    def __call__(
        self,
        url: str,
        *,
        is_allowed: Callable[[str], str | None] = ...,
        etag: str | None = None,
        last_modified: str | None = None,
        types: tuple[str, ...] | None = None,
        cut_at: int | None = None,
        more_headers: tuple[tuple[str, str], ...] = (),
        data: bytes | None = None,
    ) -> FetchedPage | FetchFailure: ...


class PageRequests:
    """Answers the requests of rendered pages; safe to use from several threads.

    Scripts and styles are fetched once for all pages. robots: the copies known so far, by host.
    """

    def __init__(self, fetch: PageFetch, scope: Scope, robots: Mapping[str, RobotsCopy], clock: Clock) -> None:
        self._fetch = fetch
        self._scope = scope
        self._copies = dict(robots)
        self._clock = clock
        self._robots: dict[str, Robots] = {}
        self._shared: OrderedDict[str, FetchedPage] = OrderedDict()
        self._shared_bytes = 0
        self._lock = threading.Lock()
        self._host_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def refusal(self, request: PageRequest) -> str | None:
        """Why a request is not answered, told without the network, as `reason: detail`."""
        if request.kind not in ANSWERED:
            return f"kind: {request.kind} brings no text"
        url = resolve(request.url, request.url)
        if url is None:
            return "scheme: only http and https addresses are fetched"
        if self._scope.allows_private(url) and not self._is_at_home(request.page_url, url):
            return "private_address: a page of another host asks for it"
        if request.method == "GET":
            return None
        if request.method != "POST" or len(request.data or b"") > MAX_SENT_BYTES:
            return f"method: {request.method}"
        is_known = self._scope.source_of(url) is not None or host_of(url) == host_of(request.page_url)
        return None if is_known else "method: data is sent to sources only"

    def answer(self, request: PageRequest) -> FetchedPage | FetchFailure:
        """What the server says, redirects followed under the same rules."""
        if refusal := self.refusal(request):
            reason, _, detail = refusal.partition(": ")
            return FetchFailure(request.url, reason, detail, retryable=False)
        is_shared = request.kind in SHARED and request.method == "GET"
        if is_shared and (known := self._take_shared(request.url)) is not None:
            return known
        result = self._fetch(
            request.url,
            is_allowed=lambda hop: self._hop_refusal(request, hop),
            more_headers=tuple((name, value) for name, value in request.headers if _is_forwarded(name.lower())),
            data=(request.data or b"") if request.method == "POST" else None,
        )
        if is_shared and isinstance(result, FetchedPage) and result.status == 200:
            self._share(request.url, result)
        return result

    def _hop_refusal(self, request: PageRequest, hop: str) -> str | None:
        if self._scope.allows_private(hop) and not self._is_at_home(request.page_url, hop):
            return "private_address: a page of another host asks for it"
        source = self._scope.source_of(hop)
        if source is not None and not source.obey_robots:
            return None
        return self._robots_of(host_of(hop)).refusal(hop)

    def _is_at_home(self, page_url: str, url: str) -> bool:
        """Whether a page may ask for a private address: it stands at one that is allowed itself."""
        return host_of(page_url) == host_of(url) or self._scope.allows_private(page_url)

    def _robots_of(self, host: str) -> Robots:
        with self._lock:
            lock = self._host_locks[host]
        with lock:
            now = self._clock()
            known = self._robots.get(host)
            if known is None or known.copy.expires_at <= now:
                copy = self._copies.get(host)
                if copy is None or copy.expires_at <= now:
                    copy = copy_from(self._fetch(f"{host}/robots.txt", cut_at=MAX_BYTES), host, now, copy)
                known = self._robots[host] = Robots(copy)
            return known

    # ------------------------------------------------------------ what all pages share

    def _take_shared(self, url: str) -> FetchedPage | None:
        with self._lock:
            if url in self._shared:
                self._shared.move_to_end(url)
            return self._shared.get(url)

    def _share(self, url: str, page: FetchedPage) -> None:
        with self._lock:
            if url not in self._shared:
                self._shared[url] = page
                self._shared_bytes += len(page.body)
            while self._shared_bytes > MAX_SHARED_BYTES:
                self._shared_bytes -= len(self._shared.popitem(last=False)[1].body)


def _is_forwarded(name: str) -> bool:
    return name in FORWARDED or (name.startswith("x-") and not name.startswith("x-forwarded"))
