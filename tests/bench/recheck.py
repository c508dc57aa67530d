"""`python -m tests.bench.recheck [PAGES]`: what rechecking unchanged pages costs, on the wire as the server counts it, and in time.

The site stands in a process of its own on loopback and answers with ETags; bytes are counted at its sockets, both ways, headers
included. The recheck is the product's, with robots.txt, scope, database and archive, and `kbcite build` after it must embed nothing.
"""

from __future__ import annotations

import multiprocessing
import socketserver
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from kbcite.page.cleaning import CLEAN_RULES, clean_page
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.clean import clean_pages
from kbcite.stages.crawl import crawl_site
from kbcite.stages.recheck import recheck_pages
from kbcite.stages.recheck_verdict import Rechecked
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.web.fetch import Fetcher

PAGES = 2000
MAX_BYTES_A_PAGE = 1000
MIN_PAGES_A_SECOND = 300
"""Of CPU time: on a machine with other work the wall says more about that."""
SENTENCE = (
    "The ferry to island {n} leaves at {m} past the hour and takes passengers, bicycles and parcels of any size. "
)


class _Site(socketserver.StreamRequestHandler):
    """Just enough HTTP/1.1 to cost little beside what is measured: GET, kept connections, ETags."""

    wbufsize = -1
    disable_nagle_algorithm = True

    def handle(self) -> None:
        counts: dict[str, int] = self.server.counts  # type: ignore[attr-defined]
        while line := self.rfile.readline():
            head = [line]
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                head.append(line)
            answer = self._answer(head[0].split()[1].decode(), b"".join(head).lower())
            counts["in"] += sum(map(len, head)) + 2
            counts["out"] += len(answer)
            counts["requests"] += 1
            self.wfile.write(answer)
            self.wfile.flush()

    def _answer(self, path: str, head: bytes) -> bytes:
        name = path.strip("/").removesuffix(".html")
        if path != "/" and not name.isdigit():
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        body = _page(int(name or -1), self.server.pages)  # type: ignore[attr-defined]
        shared = f'Date: Mon, 30 Nov 2026 12:00:00 GMT\r\nServer: bench/1\r\nETag: "{zlib.crc32(body):08x}"\r\n'
        if b"if-none-match" in head:
            return f"HTTP/1.1 304 Not Modified\r\n{shared}\r\n".encode()
        return (
            f"HTTP/1.1 200 OK\r\n{shared}Content-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, pages: int) -> None:
        super().__init__(("127.0.0.1", 0), _Site)
        self.pages = pages
        self.counts = {"in": 0, "out": 0, "requests": 0}


def _page(n: int, pages: int) -> bytes:
    links = "".join(f'<a href="/{i}.html">{i}</a> ' for i in range(pages)) if n < 0 else '<a href="/">all</a>'
    text = "".join(f"<p>{SENTENCE.format(n=n, m=m) * 6}</p>" for m in range(8))
    return (
        f"<!doctype html><title>Ferry {n}</title><main><h1>Ferry {n}</h1>{text}</main><footer>{links}</footer>".encode()
    )


def _serve(pages: int, pipe: Connection) -> None:
    import threading

    server = _Server(pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(server.server_address[1])
    while pipe.recv() == "counts":
        pipe.send(dict(server.counts))


@contextmanager
def serve(pages: int) -> Iterator[tuple[str, Connection]]:
    """The site's address, and a pipe that answers `counts` with the server's counts so far."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(pages, theirs), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}", ours
    finally:
        ours.send("stop")
        process.join(5)


def measure(pages: int = PAGES) -> dict[str, float]:
    """Bytes on the wire and requests for each page, pages a second by the wall and by CPU time, and what is left to build."""
    settings = CrawlSettings(private_interval_s=0.0)
    with serve(pages) as (url, pipe), tempfile.TemporaryDirectory() as folder:
        sources = (SourceSettings(url=f"{url}/", allow_private=True, depth=1, max_pages=pages + 1),)
        with Database(Path(folder) / "kb.sqlite3") as database, Archive(Path(folder) / "archive.sqlite3") as archive:
            with Fetcher(settings, allow_private=lambda _: True, clock=lambda: "2026-11-01T00:00:00Z") as fetcher:
                for _ in crawl_site(
                    database, archive, fetcher.fetch, sources, settings=settings, clock=lambda: "2026-11-01T00:00:00Z"
                ):
                    pass
            for _ in clean_pages(database, archive, clean_page, CLEAN_RULES, lambda: "2026-11-01T00:00:00Z"):
                pass
            pipe.send("counts")
            before = pipe.recv()
            began, cpu = time.perf_counter(), time.process_time()
            with Fetcher(settings, allow_private=lambda _: True, clock=lambda: "2026-11-15T00:00:00Z") as fetcher:
                records = list(
                    recheck_pages(
                        database,
                        archive,
                        fetcher.fetch,
                        sources,
                        clean_page,
                        settings=settings,
                        clock=lambda: "2026-11-15T00:00:00Z",
                    )
                )
            wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
            pipe.send("counts")
            after = pipe.recv()
            unmodified = sum(isinstance(record, Rechecked) and record.detail == "not modified" for record in records)
            stale = len(database.pages.stale_snapshots(CLEAN_RULES))
    return {
        "pages": len(records),
        "unmodified": unmodified,
        "bytes_a_page": (after["in"] + after["out"] - before["in"] - before["out"]) / len(records),
        "requests_a_page": (after["requests"] - before["requests"]) / len(records),
        "pages_a_second": len(records) / wall_s,
        "pages_a_cpu_second": len(records) / cpu_s,
        "stale": stale,
    }


def report(pages: int = PAGES) -> bool:
    """Measure, print a line; True if it is within the bars."""
    found = measure(pages)
    ok = bool(
        found["unmodified"] == found["pages"]
        and found["bytes_a_page"] <= MAX_BYTES_A_PAGE
        and found["stale"] == 0
        and found["pages_a_cpu_second"] >= MIN_PAGES_A_SECOND
    )
    print(
        f"recheck of {found['pages']:.0f} pages: {found['unmodified']:.0f} not modified, {found['bytes_a_page']:.0f} bytes a page on the "
        f"wire (bar {MAX_BYTES_A_PAGE}), {found['requests_a_page']:.3f} requests a page, {found['pages_a_second']:.0f} pages/s, "
        f"{found['pages_a_cpu_second']:.0f} a second of CPU time (bar {MIN_PAGES_A_SECOND}), {found['stale']:.0f} to clean or embed  "
        f"{'ok' if ok else 'MISSED'}"
    )
    return ok


if __name__ == "__main__":
    sys.exit(0 if report(int(sys.argv[1]) if len(sys.argv) > 1 else PAGES) else 1)
