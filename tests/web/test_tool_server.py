from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from kbcite.errors import KbciteError, ProviderError, UsageError
from kbcite.settings import ToolServerSettings
from kbcite.web.tool_server import named_server, open_tool_server
from tests.site_server import Reply, serve_site
from tests.tool_servers.running import left_running, settings
from tests.tool_servers.server import PAGE

pytest.importorskip("mcp", reason="the extra kbcite[mcp] is not installed")

PAGE_URL = {"url": "https://shop.example/prices"}


@pytest.fixture
def tag(tmp_path: Path) -> str:
    return str(tmp_path)


def outcome(server: ToolServerSettings) -> str:
    """What a user is told of a server that is connected and called once; an empty text if all went well."""
    try:
        with open_tool_server("shop", server) as opened:
            opened.call(PAGE_URL)
    except KbciteError as error:
        return str(error)
    return ""


def test_a_tool_is_found_and_called(tag: str) -> None:
    with open_tool_server("shop", settings("good", tag)) as server:
        assert server.tools() == ("fetch",)
        assert server.call(PAGE_URL).text == PAGE
        assert server.call(PAGE_URL).text == PAGE, "a connection serves more than one call"
    assert not left_running(tag)


@pytest.mark.parametrize(
    ("mode", "kind", "told"),
    [
        ("missing", UsageError, r'\[mcp.shop\]: there is no tool "fetch"; the server has: scrape, crawl$'),
        ("no_tools", UsageError, "the server has: no tool at all"),
        ("wrong_schema", UsageError, 'tool "fetch" takes no "url"; it takes: uri, depth'),
        ("wrong_kind", UsageError, "does not take these arguments: url: .* is not of type 'integer'"),
        ("broken_schema", ProviderError, "none of MCP: tools.0.inputSchema.required"),
        ("wrong_result", ProviderError, "none of MCP: content: Input should be a valid list"),
        ("output_schema", ProviderError, "Invalid structured content returned by tool fetch: 'much' is not"),
        ("dies", ProviderError, '"shop" ended with exit code 3: Traceback: the disk is on fire'),
        ("dies_at_once", ProviderError, '"shop" ended with exit code 2: no licence'),
        ("huge", ProviderError, '"shop" sent more than 8 MB at once'),
        ("endless", ProviderError, '"shop" sent more than 8 MB at once'),
    ],
)
def test_a_server_that_misbehaves_is_told_in_one_line_and_leaves_nothing(
    tag: str, mode: str, kind: type[KbciteError], told: str
) -> None:
    with pytest.raises(kind, match=told) as caught, open_tool_server("shop", settings(mode, tag)) as server:
        server.call(PAGE_URL)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert not left_running(tag)


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("hangs", 'tool "fetch" did not answer within 1 s'),
        ("stubborn", 'tool "fetch" did not answer within 1 s'),
        ("child", 'tool "fetch" did not answer within 1 s'),
        ("mute", "did not answer within 1 s"),
        ("only_junk", "it prints 'Starting the great server v1' where only messages may stand"),
    ],
)
@pytest.mark.slow
def test_a_server_that_never_answers_costs_its_time_and_no_more(tag: str, mode: str, told: str) -> None:
    started = time.monotonic()
    assert told in outcome(settings(mode, tag, timeout_s=1.0))
    assert time.monotonic() - started < 6.0
    assert not left_running(tag)


def test_a_call_may_be_given_less_time_than_the_server(tag: str) -> None:
    with (
        open_tool_server("shop", settings("hangs", tag)) as server,
        pytest.raises(ProviderError, match=r"within 0\.3 s"),
    ):
        server.call(PAGE_URL, within_s=0.3)
    assert not left_running(tag)


def test_lines_that_are_no_messages_are_passed_over_and_remembered(tag: str) -> None:
    with open_tool_server("shop", settings("junk", tag)) as server:
        assert server.call(PAGE_URL).text == PAGE
        assert server.junk == "Starting the great server v1"


def test_a_server_gets_no_model_to_ask(tag: str) -> None:
    with open_tool_server("shop", settings("asks", tag)) as server:
        assert json.loads(server.call(PAGE_URL).text)["error"]["code"] < 0


def test_a_server_sees_only_the_variables_that_are_named(tag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    monkeypatch.setenv("OTHER_KEY", "s3cret")
    with open_tool_server("shop", settings("environment", tag, environment=("SHOP_KEY",))) as server:
        names = json.loads(server.call(PAGE_URL).text)
    assert "SHOP_KEY" in names
    assert "PATH" in names
    assert "OTHER_KEY" not in names


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (ToolServerSettings(command=("no-such-program",), tool="fetch"), 'there is no program "no-such-program"'),
        (ToolServerSettings(command=("/",), tool="fetch"), 'may not be run: "/"'),
        (ToolServerSettings(url="http://127.0.0.1:9/mcp", tool="fetch"), "at http://127.0.0.1:9/mcp cannot be reached"),
        (
            ToolServerSettings(command=("x",), tool="fetch", environment=("NOT_SET_HERE",)),
            "needs the environment variable NOT_SET_HERE, which is not set",
        ),
    ],
    ids=["no program", "no right", "no server", "no variable"],
)
def test_a_server_that_cannot_be_reached_is_told(server: ToolServerSettings, told: str) -> None:
    assert told in outcome(server)


def test_a_search_gives_addresses_once_each_in_their_order(tag: str) -> None:
    finder = settings("search", tag, tool="search", arguments=(("query", "{query}"),))
    with open_tool_server("shop", finder) as server:
        assert server.search("hammer") == ("https://shop.example/prices", "https://evil.example/x")


def test_a_setting_that_names_no_server_says_which_there_are(tag: str) -> None:
    servers = (("shop", settings("good", tag)),)
    assert named_server("mcp:shop", servers, "live.fetcher")[0] == "shop"
    with pytest.raises(UsageError, match=r"live.fetcher = 'mcp:ship' names no MCP server; there are: mcp:shop"):
        named_server("mcp:ship", servers, "live.fetcher")
    with pytest.raises(UsageError, match="there are: none; write a section"):
        named_server("builtin2", (), "live.fetcher")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "result": "' + b"x" * 9_000_000 + b'"}', "more than 8 MB"),
        (b"<html>no MCP here</html>", "MCP server"),
    ],
    ids=["huge", "a web page"],
)
def test_an_address_that_answers_with_something_else_is_told(body: bytes, told: str) -> None:
    kind = "application/json" if body.startswith(b"{") else "text/html"
    with serve_site({"/mcp": Reply(body, 200, (("Content-Type", kind),))}) as site:
        message = outcome(ToolServerSettings(url=f"{site.url}/mcp", tool="fetch", timeout_s=5.0))
    assert told in message
    assert len(message) < 400


def test_the_token_goes_to_the_server_and_into_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "s3cret-t0ken")
    with serve_site({"/mcp": Reply(b"no", 401)}) as site:
        message = outcome(ToolServerSettings(url=f"{site.url}/mcp", tool="fetch", token="SHOP_TOKEN", timeout_s=5.0))
        assert site.requests[0].headers["authorization"] == "Bearer s3cret-t0ken"
    assert message
    assert "s3cret" not in message
