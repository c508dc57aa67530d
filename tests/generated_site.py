"""A site of any size whose pages are made when they are asked for, quick enough to measure a crawl by. It answers on every loopback address."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Render = Callable[[int], bytes]
"""The page of a number, as HTML."""


@dataclass
class GeneratedSite:
    port: int
    requests: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Times on the monotonic clock at which each host was asked, robots.txt included, in order."""

    def url(self, address: str = "127.0.0.1") -> str:
        return f"http://{address}:{self.port}"


def tree_page(count: int) -> Render:
    """Pages of a binary tree with links across: all of them are reached from page 0."""

    def render(n: int) -> bytes:
        chance = random.Random(n)
        near = [n * 2 + 1, n * 2 + 2, *(chance.randrange(count) for _ in range(6))]
        links = " ".join(f'<a href="/{to}">page {to}</a>' for to in near if to < count)
        menu = "".join(f'<li><a href="/{entry}">Entry {entry}</a></li>' for entry in range(min(20, count)))
        words = " ".join(
            chance.choices(("river", "archive", "winter", "council", "harbour", "granite", "ledger"), k=120)
        )
        return (
            f"<!DOCTYPE html><html><head><title>Page {n}</title></head><body><ul>{menu}</ul><h1>Page {n}</h1>"
            f"<p>{words}</p><p>{links}</p></body></html>"
        ).encode()

    return render


def star_page(count: int) -> Render:
    """Page 0 links to all the others."""

    def render(n: int) -> bytes:
        links = "".join(f'<a href="/{to}">page {to}</a> ' for to in range(1, count)) if n == 0 else ""
        return f"<html><head><title>Page {n}</title></head><body><p>This is page {n}.</p>{links}</body></html>".encode()

    return render


@contextmanager
def serve_generated(render: Render, delay_s: float = 0.0) -> Iterator[GeneratedSite]:
    """The running site; each answer comes `delay_s` after its request. `/N` is page N, anything else is not there."""
    listener = socket.create_server(("0.0.0.0", 0), backlog=512)
    site = GeneratedSite(listener.getsockname()[1])
    loop = asyncio.new_event_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                at = time.monotonic()
                path = head.split(b" ", 2)[1]
                host = head.lower().partition(b"\r\nhost:")[2].partition(b"\r\n")[0].strip().decode()
                site.requests[host].append(at)
                if delay_s:
                    await asyncio.sleep(delay_s)
                body = render(int(path[1:])) if path[1:].isdigit() else b""
                status = b"200 OK" if body else b"404 Not Found"
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s"
                    % (status, len(body), body)
                )
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def start() -> asyncio.Server:
        return await asyncio.start_server(answer, sock=listener)

    server = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()
