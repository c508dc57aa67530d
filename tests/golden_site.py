"""The golden pages as a web site on loopback: a page of links at `/`, each page at `/NAME/` with its own Content-Type."""

from __future__ import annotations

import html
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType

GOLDEN_PAGES = Path(__file__).parent.parent / "golden_pages"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self.path.strip("/")
        time.sleep(self.server.delays_s.get(name, 0.0))  # type: ignore[attr-defined]
        page = GOLDEN_PAGES / name / "page.html"
        if self.path == "/":
            self._send(200, "text/html; charset=utf-8", _front_page().encode())
        elif name in _names() and page.is_file():
            source = tomllib.loads((page.parent / "source.toml").read_text(encoding="utf-8"))
            self._send(200, source.get("content_type") or "text/html", page.read_bytes())
        else:
            self._send(404, "text/plain", b"not here")

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the demo's output is kbcite's own."""


def _names() -> list[str]:
    return sorted(path.parent.name for path in GOLDEN_PAGES.glob("*/page.html"))


def _title(name: str) -> str:
    """What the page is called; its folder's name says what it shows."""
    source = tomllib.loads((GOLDEN_PAGES / name / "source.toml").read_text(encoding="utf-8"))
    return str(source.get("title") or name)


def _front_page() -> str:
    links = "".join(f'<li><a href="/{name}/">{html.escape(_title(name))}</a></li>' for name in _names())
    return f"<!doctype html><title>Golden pages</title><h1>Golden pages</h1><ul>{links}</ul>"


@contextmanager
def serve_golden_pages(port: int = 0, delays_s: Mapping[str, float] = MappingProxyType({})) -> Iterator[str]:
    """The site's address, while it is served. delays_s: how long a page takes, by its name; may be changed meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.delays_s = delays_s  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """`python -m tests.golden_site PORT`: serve the demo's pages until Ctrl-C."""
    with serve_golden_pages(int(sys.argv[1])) as site, suppress(KeyboardInterrupt):
        print(site, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
