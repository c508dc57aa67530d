"""The official SDK's client, run to its end from a test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

T = TypeVar("T")
ROOT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def command(store: Path, *options: str, before: tuple[str, ...] = ()) -> list[str]:
    return ["-m", "kbcite", "--store", str(store), *before, "mcp", *options]


def over_stdio(
    store: Path,
    use: Callable[[Client], Awaitable[T]],
    *options: str,
    log: Path | None = None,
    before: tuple[str, ...] = (),
    **more: Any,
) -> T:
    """What `use` makes of a client of `kbcite mcp` on pipes; its standard error goes into a file."""
    server = StdioServerParameters(
        command=sys.executable, args=command(store, *options, before=before), env=environment()
    )

    async def run() -> T:
        with (log or Path(os.devnull)).open("w", encoding="utf-8") as errors:
            async with Client(stdio_client(server, errlog=errors), **more) as client:
                return await use(client)

    return anyio.run(run)


def over_http(url: str, use: Callable[[Client], Awaitable[T]], **more: Any) -> T:
    async def run() -> T:
        async with Client(url, **more) as client:
            return await use(client)

    return anyio.run(run)


@contextmanager
def serving_http(store: Path, *options: str) -> Iterator[str]:
    """The address of a running `kbcite mcp --http`."""
    arguments = command(store, "--http", "127.0.0.1:0", *options)
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert line.startswith("serving at http://127.0.0.1:"), line + process.stderr.read()
        url = line.split()[2].rstrip(";")
        _wait_for(int(url.rsplit(":", 1)[1].split("/")[0]))
        yield url
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=20)
    assert not out, "nothing but the protocol goes to standard output"


def _wait_for(port: int) -> None:
    """Until the port answers; it listens already, but the first request may come before the application is up."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
