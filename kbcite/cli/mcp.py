from __future__ import annotations

import ipaddress
from typing import Annotated

import typer

from kbcite.cli.context import StoredType, context_of
from kbcite.cli.search import known_labels
from kbcite.errors import UsageError
from kbcite.records import SourceType
from kbcite.render import printable

PATH = "/mcp"
MAX_TIME_LIMIT_S = 3600

mcp = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.add_typer(mcp, name="mcp")


@mcp.callback()
def serve(
    ctx: typer.Context,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Streamable HTTP there, at /mcp, instead of standard input and output."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With --http: a name by which others may reach it, beyond this machine; may be repeated.",
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live", envvar="KBCITE_MCP_LIVE", help="Offer fetch_live_data, and let answers look at live pages."
        ),
    ] = False,
    label: Annotated[list[str] | None, typer.Option(help="Serve only pages with this label; may be repeated.")] = None,
    source_type: Annotated[
        StoredType | None, typer.Option(help="Serve only internal documents, or only web pages.")
    ] = None,
    time_limit: Annotated[float, typer.Option(help=f"Seconds that a call may take, 1 to {MAX_TIME_LIMIT_S}.")] = 120.0,
) -> None:
    """Serve the store as tools to MCP clients. "kbcite mcp check NAME" looks at a server whose tools kbcite uses itself.

    The tools are search, ask, show, verify and, with --live, fetch_live_data. Nothing asks for a password: whoever reaches it reads it.
    """
    if ctx.invoked_subcommand is not None:
        return
    context = context_of(ctx)
    if live and context.offline:
        raise UsageError("--offline forbids --live; leave one of them out")
    if not 1 <= time_limit <= MAX_TIME_LIMIT_S:
        raise UsageError(f"--time-limit {time_limit:g} is not between 1 and {MAX_TIME_LIMIT_S} seconds")
    with context.reading() as store:  # a store that cannot be read is told now, not by each call
        labels = known_labels(store, label or ())
    _require_sdk()
    from kbcite.cli.mcp_server import listen, serve_on_http, serve_on_stdio
    from kbcite.cli.mcp_tools import Served

    served = Served(context, labels, SourceType(source_type) if source_type else None, live)
    try:
        if http is None:
            if allow_host:
                raise UsageError("--allow-host is for --http")
            serve_on_stdio(served, time_limit)
            return
        host, port = _address(http, bool(allow_host))
        with listen(host, port) as listener:
            name = f"[{host}]" if ":" in host else host
            context.say(f"serving at http://{name}:{listener.getsockname()[1]}{PATH}; Ctrl-C ends it")
            serve_on_http(served, time_limit, listener, ("127.0.0.1", "localhost", "::1", *(allow_host or ())))
    finally:
        served.close()


@mcp.command("check")
def check(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Of a section [mcp.NAME] of kbcite.toml.")],
) -> None:
    """Connect to an MCP server that kbcite uses, list its tools, and say what is wrong."""
    context = context_of(ctx)
    with context.reading() as store:
        servers = dict(store.settings.mcp)
    if name not in servers:
        known = ", ".join(servers) or "none yet"
        raise UsageError(f"there is no section [mcp.{name}] in kbcite.toml; there are: {known}")
    if context.offline:
        raise UsageError("--offline forbids MCP servers; run it without")
    _require_sdk()
    from kbcite.web.tool_server import open_tool_server

    settings = servers[name]
    with open_tool_server(name, settings) as server:
        tools, junk = server.tools(), server.junk
    lines = [
        f"{name} works; its tool {settings.tool} takes what kbcite gives it",
        f"tools: {', '.join(map(printable, tools))}",
    ]
    if junk:
        lines.append(f"it also prints on its standard output, where only messages may stand: {printable(junk)}")
    context.show("\n".join(lines), {"name": name, "tool": settings.tool, "tools": list(tools), "junk": junk})


def _require_sdk() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise UsageError("MCP needs the package mcp, version 2; run \"pip install 'kbcite[mcp]'\"")


def _address(http: str, may_be_public: bool) -> tuple[str, int]:
    """Host and port of --http. Raises UsageError for what is none, and for an address beyond this machine that nobody asked for."""
    host, _, port = http.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if host == "localhost":
        host = "127.0.0.1"
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"--http {http!r} is no address with a port; give it like 127.0.0.1:8000")
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError as error:
        raise UsageError(f"--http {http!r}: give the address as a number, like 127.0.0.1:8000") from error
    if not is_loopback and not may_be_public:
        raise UsageError(
            f"--http {http} would let others read the store, without a password; say --allow-host NAME if that is meant"
        )
    return host, int(port)
