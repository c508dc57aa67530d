"""A real web site on loopback for tests: pages are set by path, every request is logged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the site answers for a path."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    at: float
    """On the monotonic clock."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave as one packet; two small ones cost 40 ms of delayed acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        site.requests.append(
            Request(self.path, {name.lower(): value for name, value in self.headers.items()}, time.monotonic())
        )
        answer = site.pages.get(self.path, site.pages.get(self.path.partition("?")[0], site.missing))
        if callable(answer):
            answer = answer(self)
        if isinstance(answer, str | bytes):
            answer = Reply(answer.encode() if isinstance(answer, str) else answer)
        if answer is not None:
            self.reply(answer)

    def do_POST(self) -> None:
        self.do_GET()

    def reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        if reply.status not in (204, 304) and not any(name.lower() == "content-length" for name, _ in reply.headers):
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        pass


Answer = Reply | str | bytes | Callable[[Any], "Reply | str | bytes | None"]
"""A callable gets the handler; it may write to `handler.wfile` itself and return None."""


@dataclass
class Site:
    url: str
    """Without a trailing slash: `http://127.0.0.1:40123`."""
    pages: dict[str, Answer] = field(default_factory=dict)
    missing: Answer = Reply(b"not here", 404)
    requests: list[Request] = field(default_factory=list)

    def paths(self) -> list[str]:
        """What was asked for, in order, robots.txt left out."""
        return [request.path for request in self.requests if request.path != "/robots.txt"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: Any) -> None:
        pass  # clients that hang up early are what many tests are about


@contextmanager
def serve_site(pages: dict[str, Answer] | None = None, address: str = "127.0.0.1") -> Iterator[Site]:
    """A running site on a free port, stopped at the end."""
    server = _Server((address, 0), _Handler)
    site = Site(f"http://{address}:{server.server_address[1]}", dict(pages or {}))
    server.site = site  # type: ignore[attr-defined]
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
