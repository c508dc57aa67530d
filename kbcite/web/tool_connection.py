"""A connection to one MCP server, kept by a task of its own until it is closed.

Everything that a server sends is untrusted: it is bounded in size and time, and what it asks of its client (models, files, people) is
not offered. Every way in which a server can fail ends as one line that names it.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from kbcite import __version__
from kbcite.errors import KbciteError, ProviderError, UsageError
from kbcite.settings import ToolServerSettings
from kbcite.web.tool_pipes import MAX_MESSAGE_BYTES, Signs, Streams, environment_of, pipes_to

_MAX_TOOLS = 500


class ToolConnection:
    """One server: `run` is the task that keeps the connection, `ready` tells when there is one."""

    def __init__(self, name: str, server: ToolServerSettings, environment: Mapping[str, str]) -> None:
        self.name = name
        self._server = server
        self._environment = environment
        self.signs = Signs()
        self.ready: Future[tuple[mcp_types.Tool, ...]] = Future()
        """The server's tools; or the KbciteError that there was instead of a connection."""
        self._client: Client | None = None
        self._stop = anyio.Event()
        self._scope = anyio.CancelScope()

    async def run(self) -> None:
        """Connect, list the tools, and hold on until `stop`."""
        timeout_s = self._server.timeout_s
        try:
            with self._scope as scope:
                scope.deadline = anyio.current_time() + timeout_s
                async with self._connected() as client:
                    tools = await _tools_of(client)
                    scope.deadline = math.inf  # from here on each call has a time of its own
                    self._client = client
                    self.ready.set_result(tools)
                    await self._stop.wait()
            if scope.cancelled_caught and not self.ready.done():
                ended = "was left" if self._stop.is_set() else f"did not answer within {timeout_s:g} s"
                self.ready.set_exception(self.error(ended))
        except (OSError, MCPError, ValidationError, RuntimeError, httpx2.HTTPError, BaseExceptionGroup) as error:
            if not self.ready.done():
                self.ready.set_exception(self._explained(error))
        finally:
            self._client = None

    def stop(self) -> None:
        """Let go of the server, connected or not yet."""
        self._stop.set()
        if self._client is None:
            self._scope.cancel()

    async def call(self, arguments: dict[str, Any], left_s: float, limit_s: float) -> mcp_types.CallToolResult:
        """What the tool gives back. Raises ProviderError for a server that gives nothing, or not in time.

        left_s: of the limit that the caller was given, which a message names.
        """
        client = self._client
        if client is None:
            raise self.error("is no longer connected")
        try:
            with anyio.fail_after(left_s):
                return await client.call_tool(self._server.tool, arguments)
        except TimeoutError as error:
            raise self.error(f'tool "{self._server.tool}" did not answer within {limit_s:g} s') from error
        except (MCPError, ValidationError, RuntimeError, httpx2.HTTPError, BaseExceptionGroup) as error:
            if not self.signs.trouble:
                await anyio.sleep(0.05)  # the exit code and the last words of a server that died come a little later
            raise self._explained(error) from error

    # ------------------------------------------------------------ ways to a server

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        server = self._server
        way: AbstractAsyncContextManager[Streams]
        if server.command:
            way = pipes_to(server.command, environment_of(server.environment, self._environment), self.signs)
        else:
            way = self._over_http()
        about = mcp_types.Implementation(name="kbcite", version=__version__)
        async with Client(way, client_info=about, read_timeout_seconds=server.timeout_s, cache=None) as client:
            yield client

    @asynccontextmanager
    async def _over_http(self) -> AsyncIterator[Streams]:
        server = self._server
        headers = {"User-Agent": f"kbcite/{__version__}"}
        if server.token:
            headers["Authorization"] = f"Bearer {self._environment[server.token]}"
        timeout = httpx2.Timeout(server.timeout_s)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=timeout, transport=_BoundedTransport()) as http,
            streamable_http_client(server.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
        ):
            yield streams

    # ------------------------------------------------------------ what went wrong

    def _explained(self, error: BaseException) -> KbciteError:
        """The one line that an error of the SDK means for a user."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, KbciteError):
            return error
        signs, command = self.signs, self._server.command
        if signs.trouble:
            return self.error(signs.trouble)
        if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError) and command:
            why = "there is no program" if isinstance(error, FileNotFoundError) else "may not be run:"
            return UsageError(f'[mcp.{self.name}]: {why} "{command[0]}"; install it, or mend command in kbcite.toml')
        if isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED:
            return self.error(f"ended{self._last_words()}")
        if isinstance(error, MCPError):
            return self.error(f"answered with an error: {_short(error.message)}")
        if isinstance(error, httpx2.HTTPError | OSError):
            return self.error(
                f"at {self._server.url or command[0]} cannot be reached: {_short(str(error) or repr(error))}"
            )
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "it"
            return self.error(f"sent a result that is none of MCP: {_short(where)}: {_short(first['msg'])}")
        return self.error(f"sent a result that cannot be used: {_short(str(error).partition(chr(10))[0])}")

    def _last_words(self) -> str:
        signs = self.signs
        code = "" if signs.exit_code is None else f" with exit code {signs.exit_code}"
        words = f": {_short(signs.errors[-1])}" if signs.errors else ""
        return f"{code}{words}"

    def error(self, what: str) -> ProviderError:
        junk = self.signs.junk
        hint = f"; it prints {_short(junk)!r} where only messages may stand" if junk else ""
        return ProviderError(f'MCP server "{self.name}" {what}{hint}')


async def _tools_of(client: Client) -> tuple[mcp_types.Tool, ...]:
    """All tools of a server, page by page."""
    tools: list[mcp_types.Tool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _MAX_TOOLS:
            return tuple(tools[:_MAX_TOOLS])


def _short(text: str) -> str:
    """A text of a server on one line, cut."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 200 else line[:199] + "…"


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """HTTP whose answers in one piece have a size; those in events are bounded one by one."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream), "an asynchronous transport's is"
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)
        return response


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._inner:
            size += len(data)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"an answer of more than {MAX_MESSAGE_BYTES // 1_000_000} MB")
            yield data

    async def aclose(self) -> None:
        await self._inner.aclose()
