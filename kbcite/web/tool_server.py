"""Door: an MCP server of `kbcite.toml` whose tool fetches or searches → pages and addresses.

The server is connected once, its tools are listed, and the one that the settings name is checked against what it would be called with.
What it gives back is only ever read as a page, or as addresses: nothing in it is followed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbcite.errors import ProviderError, UsageError
from kbcite.settings import ToolServerSettings
from kbcite.urls import resolve

if TYPE_CHECKING:
    import mcp_types
    from anyio.from_thread import BlockingPortal

    from kbcite.web.tool_connection import ToolConnection

PREFIX = "mcp:"
MAX_FOUND = 50
"""Addresses taken from one search."""
_EXAMPLE = {"url": "https://example.com/", "query": "example", "selector": ""}
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]+")
_TRAILING = ".,;:!?)*_。，；：！？）》"
_CLOSE_S = 10.0


@dataclass(frozen=True, slots=True)
class ToolReply:
    text: str
    """What a tool said in text, the pieces joined by line breaks."""
    structured: dict[str, Any] | None
    is_error: bool


class ToolServer:
    """A server that is being connected, or is; safe to use from several threads.

    Its first use waits for the connection, lists the tools and checks the one that is wanted. Raises UsageError for what is to be mended
    in the settings, ProviderError for a server that does not do its part.
    """

    def __init__(
        self,
        name: str,
        settings: ToolServerSettings,
        connection: ToolConnection,
        task: Future[None],
        portal: BlockingPortal,
    ) -> None:
        self.name = name
        self._settings = settings
        self._connection = connection
        self._task = task
        self._portal = portal

    def tools(self, within_s: float | None = None) -> tuple[str, ...]:
        """Names of the server's tools, the wanted one among them and fit to be called."""
        ready, limit_s = self._connection.ready, self._limit_s(within_s)
        pending: tuple[Future[Any], ...] = (ready, self._task)
        wait(pending, limit_s + (_CLOSE_S if within_s is None else 0.0), FIRST_COMPLETED)
        if not ready.done():
            if self._task.done():
                self._task.result()  # it ended of something that nobody foresaw, which is raised here
            raise self._connection.error(f"was not connected within {limit_s:g} s")
        tools = ready.result()
        check_tool(self.name, self._settings, tools)
        return tuple(tool.name for tool in tools)

    @property
    def junk(self) -> str:
        """What the server prints where only messages may stand."""
        return self._connection.signs.junk

    def call(self, values: Mapping[str, str], within_s: float | None = None) -> ToolReply:
        """The tool's reply to `url`, `query` or `selector` put in its arguments."""
        began = time.monotonic()
        self.tools(within_s)
        limit_s = self._limit_s(within_s)
        left_s = limit_s if within_s is None else max(0.01, limit_s - (time.monotonic() - began))
        arguments = _filled(self._settings.arguments, values)
        result = self._portal.call(self._connection.call, arguments, left_s, limit_s)
        return ToolReply(_text_of(result), result.structured_content, bool(result.is_error))

    def _limit_s(self, within_s: float | None) -> float:
        return self._settings.timeout_s if within_s is None else min(within_s, self._settings.timeout_s)

    def search(self, query: str, within_s: float | None = None) -> tuple[str, ...]:
        """Addresses that a search tool finds, in its order; whether they may be fetched is for the whitelist to say."""
        reply = self.call({"query": query}, within_s)
        if reply.is_error:
            raise ProviderError(f'MCP server "{self.name}" could not search: {" ".join(reply.text.split())[:200]}')
        text = reply.text or repr(reply.structured or "")
        found = (resolve(address, address) for address in map(_trimmed, _ADDRESS.findall(text)))
        return tuple(dict.fromkeys(address for address in found if address is not None))[:MAX_FOUND]


def named_server(
    value: str, servers: tuple[tuple[str, ToolServerSettings], ...], key: str
) -> tuple[str, ToolServerSettings]:
    """The server that a setting names as `mcp:NAME`. Raises UsageError where there is none."""
    name = value.removeprefix(PREFIX)
    found = dict(servers).get(name)
    if found is None or name == value:
        known = ", ".join(PREFIX + other for other, _ in servers) or "none; write a section [mcp.NAME]"
        raise UsageError(f"kbcite.toml: {key} = {value!r} names no MCP server; there are: {known}")
    return name, found


@contextmanager
def open_tool_server(
    name: str, settings: ToolServerSettings, environment: Mapping[str, str] = os.environ
) -> Iterator[ToolServer]:
    """The server, being connected while one goes on; at the end nothing of it is left running.

    Raises UsageError where the SDK, or a variable that the settings name, is not there.
    """
    missing = [name for name in (*settings.environment, *filter(None, [settings.token])) if name not in environment]
    if missing:
        raise UsageError(f"[mcp.{name}] needs the environment variable {missing[0]}, which is not set")
    try:
        from anyio.from_thread import start_blocking_portal

        from kbcite.web.tool_connection import ToolConnection
    except ModuleNotFoundError as error:
        raise UsageError(f"MCP needs the package {error.name}; run \"pip install 'kbcite[mcp]'\"") from error
    with start_blocking_portal() as portal:
        connection = portal.call(ToolConnection, name, settings, environment)
        task = portal.start_task_soon(connection.run)
        try:
            yield ToolServer(name, settings, connection, task, portal)
        finally:
            portal.call(connection.stop)
            task.result(_CLOSE_S)


def check_tool(name: str, settings: ToolServerSettings, tools: tuple[mcp_types.Tool, ...]) -> None:
    """Raises UsageError where the tool is not among the tools, or does not take the arguments that the settings give."""
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

    where = f"[mcp.{name}]"
    tool = next((tool for tool in tools if tool.name == settings.tool), None)
    if tool is None:
        there = ", ".join(_shown(tool.name) for tool in tools[:20]) or "no tool at all"
        raise UsageError(f'{where}: there is no tool "{settings.tool}"; the server has: {there}')
    schema = tool.input_schema
    properties = schema.get("properties", {})
    takes = ", ".join(_shown(argument) for argument in properties) or "nothing"
    given = _filled(settings.arguments, _EXAMPLE)
    if unknown := [argument for argument in given if argument not in properties and "patternProperties" not in schema]:
        raise UsageError(f'{where}: tool "{settings.tool}" takes no "{unknown[0]}"; it takes: {takes}')
    if lacking := [argument for argument in schema.get("required", ()) if argument not in given]:
        raise UsageError(
            f'{where}: tool "{settings.tool}" needs "{_shown(lacking[0])}", which arguments do not give; it takes: {takes}'
        )
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
        problem = next(kind(schema).iter_errors(given), None)
    except SchemaError as error:
        raise UsageError(f'{where}: the schema of tool "{settings.tool}" is broken: {_shown(error.message)}') from error
    if problem is not None:
        at = ".".join(map(str, problem.path))
        raise UsageError(
            f'{where}: tool "{settings.tool}" does not take these arguments: {at}: {_shown(problem.message)}'
        )


def _filled(arguments: tuple[tuple[str, Any], ...], values: Mapping[str, str]) -> dict[str, Any]:
    """The arguments with `{url}` and the like replaced by their values, each once: a value is never looked through."""

    def filled(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return re.sub(r"\{(url|query|selector)\}", lambda match: values.get(match[1], ""), value)

    return {argument: filled(value) for argument, value in arguments}


def _trimmed(address: str) -> str:
    return address.rstrip(_TRAILING)


def _text_of(result: mcp_types.CallToolResult) -> str:
    pieces = []
    for piece in result.content:
        resource = piece if piece.type == "text" else getattr(piece, "resource", None)
        text = getattr(resource, "text", None)
        if isinstance(text, str):
            pieces.append(text)
    return "\n".join(pieces)


def _shown(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 160 else line[:159] + "…"
