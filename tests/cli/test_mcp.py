"""`kbcite mcp` and the official SDK's client, over both transports, on the store of the little town."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest

from kbcite.errors import ProviderError
from kbcite.settings import ToolServerSettings
from kbcite.web.tool_server import open_tool_server
from tests.cli.run import Shell
from tests.llm_server import Says, serve_llm
from tests.site_server import Site
from tests.tool_servers.server import PAGE

pytest.importorskip("mcp", reason="the extra kbcite[mcp] is not installed")

import httpx2
from mcp import Client, MCPError

from tests.cli.mcp_client import command, environment, over_http, over_stdio, serving_http

TICKET = "How much is a day ticket of the pool?"
TOOLS = ["search", "ask", "show", "verify"]


def schema() -> dict[str, Any]:
    text = resources.files("kbcite.answer").joinpath("answer.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


async def talk(client: Client) -> dict[str, Any]:
    """Every tool once; the client checks what they give against the schemas that they say."""
    listed = (await client.list_tools()).tools
    said: dict[str, Any] = {"tools": listed}
    for name, arguments in (
        ("search", {"query": "day ticket", "top_k": 2}),
        ("ask", {"question": TICKET}),
        ("show", {"id": "1"}),
        ("verify", {}),
    ):
        said[name] = await client.call_tool(name, arguments)
    said["answer"] = await client.call_tool("show", {"id": said["ask"].structured_content["id"]})
    said["block"] = await client.call_tool("show", {"id": said["search"].structured_content["hits"][0]["block_id"]})
    return said


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def check_talk(said: dict[str, Any]) -> None:
    assert [tool.name for tool in said["tools"]] == TOOLS
    assert all(tool.description and tool.output_schema and tool.input_schema for tool in said["tools"])
    assert not any(said[name].is_error for name in (*TOOLS, "answer", "block"))
    record = said["ask"].structured_content
    jsonschema.validate(record, schema())
    assert record["status"] == "answered"
    assert "A day ticket costs 6.50 euros. [1]" in text_of(said["ask"])
    assert record["id"] in text_of(said["ask"])
    assert "pool.html" in said["search"].structured_content["hits"][0]["url"]
    assert said["show"].structured_content["kind"] == "source"
    assert "6.50 euros" in said["show"].structured_content["shown"]["passage"]
    assert said["verify"].structured_content["ok"]
    assert said["answer"].structured_content["shown"]["question"] == TICKET
    assert said["block"].structured_content["kind"] == "block"


# ---------------------------------------------------------------- both transports


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_is_called_over_standard_input_and_output(town: Shell, tmp_path: Path, mode: str) -> None:
    check_talk(over_stdio(town.store, talk, log=tmp_path / "errors", mode=mode))
    assert not (tmp_path / "errors").read_text()
    assert town.json("log")["question"] == TICKET, "an answer given is kept, for show and audit"


@pytest.mark.slow
def test_every_tool_is_called_over_http_by_several_clients_at_once(town: Shell) -> None:
    with serving_http(town.store) as url:
        check_talk(over_http(url, talk))
        check_talk(over_http(url, talk, mode="legacy"))

        async def ask_at_once(client: Client) -> list[Any]:
            results: list[Any] = []

            async def ask(question: str) -> None:
                results.append(await client.call_tool("ask", {"question": question}))

            async with anyio.create_task_group() as tasks:
                for n in range(8):
                    tasks.start_soon(ask, TICKET if n % 2 else "Who is the mayor?")
            return results

        results = over_http(url, ask_at_once)
        assert [result.is_error for result in results] == [False] * 8
        texts = {text_of(result).partition(" [1]")[0] for result in results}
        assert len(texts) == 2

        check_doors(url)
        check_as_a_client_of_its_own(url)


def check_as_a_client_of_its_own(url: str) -> None:
    """kbcite's own client over HTTP, with a token that the server does not ask for."""
    server = ToolServerSettings(url=url, tool="search", arguments=(("query", "{query}"),), token="A_TOKEN")
    with open_tool_server("own", server, {"A_TOKEN": "x"}) as opened:
        assert opened.tools() == tuple(TOOLS)
        assert opened.search("day ticket")[0].endswith("/pool.html")
    lost = ToolServerSettings(url=url.replace("/mcp", "/other"), tool="search", timeout_s=5.0)
    with open_tool_server("own", lost, {}) as opened, pytest.raises(ProviderError, match=r'MCP server "own"'):
        opened.tools()


def check_doors(url: str) -> None:
    """A page of another site, and a name that was pointed at this machine, are refused."""
    base = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    port = url.split(":")[2].split("/")[0]
    foreign = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Host": f"evil.example:{port}"},
        {"Host": f"127.0.0.1.evil.example:{port}"},
    ]
    codes = [httpx2.post(url, headers=base | headers, json=message).status_code for headers in foreign]
    assert codes == [403, 403, 403, 421, 421]
    own = httpx2.post(url, headers=base | {"Origin": f"http://localhost:{port}"}, json=message)
    assert own.status_code not in (403, 421)


# ---------------------------------------------------------------- errors, limits, cancelling


@pytest.mark.slow
def test_errors_are_one_line_and_the_server_goes_on(town: Shell) -> None:
    async def use(client: Client) -> list[Any]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search", {"q": "pool"}),
            ("search", {"query": "  "}),
            ("search", {"query": "pool", "top_k": 1000}),
            ("ask", {"question": "x" * 5000}),
            ("ask", {"question": "a?", "class": "nonsense"}),
            ("show", {"id": "b1zzzz"}),
            ("show", {"id": "http://nowhere.example/"}),
            ("verify", {"answer": "afff"}),
            ("verify", {"answer": "a1", "text": "b"}),
        ]
        said = [await client.call_tool(name, arguments) for name, arguments in calls]
        with pytest.raises(MCPError, match="Unknown tool: crawl; there are search, ask, show, verify"):
            await client.call_tool("crawl", {})
        with pytest.raises(MCPError, match="Unknown tool: fetch_live_data"):
            await client.call_tool("fetch_live_data", {"url": "http://x.example/"})
        assert not (await client.call_tool("search", {"query": "pool"})).is_error
        return said

    said = over_stdio(town.store, use)
    assert all(result.is_error and result.structured_content is None for result in said)
    lines = [text_of(result) for result in said]
    assert not [line for line in lines if "\n" in line or len(line) > 400 or "Traceback" in line]
    assert lines[1] == "query is empty"
    assert lines[5].startswith("no block begins with 'b1zzzz'")
    assert lines[8] == "give text, or the ID of an answer, not both"


@pytest.mark.slow
def test_a_call_that_takes_too_long_or_is_cancelled_stops_and_keeps_nothing(
    town: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serve_llm(Says("A day ticket costs 6.50 euros. [1]", delay_s=3.0)) as model:
        settings = town.store / "kbcite.toml"
        settings.write_text(f'[ask]\nmodel = "openai/x"\napi_base = "{model.url}"\n' + "", encoding="utf-8")

        async def use(client: Client) -> tuple[float, Any, float]:
            began = time.monotonic()
            with anyio.move_on_after(1.5):
                await client.call_tool("ask", {"question": TICKET})
            cancelled = time.monotonic() - began
            late = await client.call_tool("ask", {"question": "Who is the mayor?"})
            began = time.monotonic()
            assert not (await client.call_tool("search", {"query": "pool"})).is_error
            return cancelled, late, time.monotonic() - began

        cancelled, late, searched = over_stdio(town.store, use, "--time-limit", "4")
    assert cancelled < 3.0
    assert late.is_error
    assert text_of(late) == "ask took longer than 4 s and was given up; ask for less, or raise --time-limit"
    assert searched < 3.0
    assert town("log").code == 5, "no answer was kept"


# ---------------------------------------------------------------- what may be seen


@pytest.fixture
def labelled(town: Shell, town_site: Site) -> Iterator[Shell]:
    """The town with two sources: the pool for everyone, the rest for the office."""
    (town.store / "kbcite.toml").write_text(
        f'[[source]]\nurl = "{town_site.url}/"\nallow_private = true\nlabels = ["office"]\n', encoding="utf-8"
    )
    with sqlite3.connect(town.store / "kb.sqlite3") as database:
        database.execute("UPDATE pages SET labels = '[\"open\"]', source = 'elsewhere' WHERE url LIKE '%/pool.html'")
    database.close()
    yield town


@pytest.mark.slow
def test_what_is_not_served_is_not_seen_by_any_tool(labelled: Shell, town_site: Site) -> None:
    mayor = labelled.json("ask", "Who is the mayor?")
    block = labelled.json("search", "mayor")[0]["block"]["id"]
    home = f"{town_site.url}/"
    text = f"The mayor is Helen Marsh. [1]\n\n[1] {home}\n"

    async def use(client: Client) -> dict[str, Any]:
        said = {
            "search": await client.call_tool("search", {"query": "Helen Marsh mayor"}),
            "ask": await client.call_tool("ask", {"question": "Who is the mayor?"}),
            "wider": await client.call_tool("ask", {"question": "Who is the mayor?", "labels": ["office"]}),
            "verify": await client.call_tool("verify", {"text": text}),
            "open": await client.call_tool("ask", {"question": TICKET, "labels": ["open", "office"]}),
        }
        for what in (mayor["id"], f"{mayor['id']}:1", block, home):
            said[f"show {what}"] = await client.call_tool("show", {"id": what})
        said["verify answer"] = await client.call_tool("verify", {"answer": mayor["id"]})
        return said

    said = over_stdio(labelled.store, use, "--label", "open")
    assert all("pool.html" in hit["url"] for hit in said["search"].structured_content["hits"])
    assert said["ask"].structured_content["status"] == "refused"
    assert said["verify"].structured_content["reports"][0]["sentences"][0]["verdict"] == "not_stored"
    assert said["open"].structured_content["status"] == "answered"
    assert text_of(said["wider"]) == "only pages with these labels are served: open"
    hidden = [result for name, result in said.items() if name.startswith("show") or name == "verify answer"]
    assert len(hidden) == 5
    assert all(result.is_error and "not served here" in text_of(result) for result in hidden)
    assert "elected" not in "".join(text_of(result) for result in said.values())


# ---------------------------------------------------------------- live pages


@pytest.mark.slow
def test_live_pages_are_fetched_where_the_server_may(town: Shell, town_site: Site) -> None:
    page = f"{town_site.url}/pool.html"

    async def use(client: Client) -> dict[str, Any]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [*TOOLS, "fetch_live_data"]
        return {
            "page": await client.call_tool("fetch_live_data", {"url": page}),
            "again": await client.call_tool("fetch_live_data", {"url": page, "selector": "h2"}),
            "outside": await client.call_tool("fetch_live_data", {"url": "https://outside.example/"}),
            "file": await client.call_tool("fetch_live_data", {"url": "file:///etc/passwd"}),
            "gone": await client.call_tool("fetch_live_data", {"url": f"{town_site.url}/gone.html"}),
        }

    said = over_stdio(town.store, use, "--live")
    record = said["page"].structured_content
    assert "A day ticket costs 6.50 euros" in record["text"]
    assert not record["is_pooled"]
    assert "<p>" not in record["text"]
    assert "以下内容为实时抓取，可能包含未经验证的信息" in text_of(said["page"])
    assert said["again"].structured_content["is_pooled"]
    assert said["again"].structured_content["text"].split() == ["Opening", "hours", "Lessons"]
    assert [text_of(said[name]).partition(" was not fetched ")[2] for name in ("outside", "file", "gone")] == [
        "(out_of_scope): not on the whitelist, no source covers https://outside.example/",
        "(scheme): not an address of the web, only http and https addresses are fetched",
        "(http_404): status 404",
    ]


@pytest.mark.slow
def test_a_page_that_is_too_slow_for_an_answer_fills_the_pool_for_the_next(town: Shell, town_site: Site) -> None:
    def slow(_: Any) -> str:
        time.sleep(3.0)
        return PAGE

    town_site.pages = {**town_site.pages, "/prices": slow}
    url = f"{town_site.url}/prices"
    (town.store / "kbcite.toml").write_text(
        f'[[source]]\nurl = "{town_site.url}/"\nallow_private = true\nlive = ["{url}"]\ntopics = ["hammer"]\n'
        "[live]\nanswer_within_s = 1.5\n",
        encoding="utf-8",
    )

    async def use(client: Client) -> list[Any]:
        question = {"question": "What does the hammer cost today?", "class": "volatile"}
        first = await client.call_tool("ask", question)
        await anyio.sleep(4.0)
        return [first, await client.call_tool("ask", question)]

    first, second = (result.structured_content for result in over_stdio(town.store, use, "--live"))
    assert first["freshness"]["live"]["outcome"] == "fell_back"
    assert first["timing_ms"]["total"] < 2900
    assert second["freshness"]["live"]["outcome"] == "pool"
    assert "12 euros" in second["answer"]["text"]


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--http", "0.0.0.0:8000"], "would let others read the store, without a password; say --allow-host NAME"),
        (["--http", "example.com:8000"], "give the address as a number"),
        (["--http", "127.0.0.1"], "is no address with a port"),
        (["--http", "127.0.0.1:99999"], "is no address with a port"),
        (["--allow-host", "kb.example"], "--allow-host is for --http"),
        (["--offline", "--live"], "--offline forbids --live"),
        (["--label", "hr"], "--label 'hr' is on no page"),
        (["--source-type", "live"], "'live' is not one of 'internal', 'web'"),
        (["--time-limit", "0.5"], "--time-limit 0.5 is not between 1 and 3600 seconds"),
    ],
)
def test_an_option_that_cannot_be_is_told(town: Shell, arguments: list[str], told: str) -> None:
    outcome = town("mcp", *arguments)
    assert outcome.code == 2
    assert told in outcome.err
    assert not outcome.out


def test_without_a_store_there_is_nothing_to_serve(tmp_path: Path) -> None:
    outcome = Shell(tmp_path / "none")("mcp")
    assert outcome.code == 5
    assert "no store at" in outcome.err


@pytest.mark.slow
def test_the_server_ends_with_its_input_and_writes_nothing_else(town: Shell) -> None:
    done = subprocess.run(
        [sys.executable, *command(town.store)],
        input="this is no message\n",
        env=environment(),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())


@pytest.mark.slow
def test_a_text_on_two_pages_is_shown_with_the_page_that_is_served(town: Shell, town_site: Site) -> None:
    with sqlite3.connect(town.store / "kb.sqlite3") as database:
        database.execute("UPDATE pages SET labels = '[\"open\"]', source = 'elsewhere' WHERE url LIKE '%/branch.html'")
    database.close()
    block = town.json("search", "twelve items at a time")[0]["block"]["id"]

    async def use(client: Client) -> Any:
        return await client.call_tool("show", {"id": block})

    result = over_stdio(town.store, use, "--label", "open")
    assert not result.is_error
    assert "branch.html" in text_of(result)
    assert "library.html" not in json.dumps(result.structured_content)


@pytest.mark.slow
def test_the_server_ends_when_its_client_is_gone_in_the_middle_of_a_call(
    town: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": TICKET}}},
    ]
    with serve_llm(Says("late", delay_s=20.0)) as model:
        (town.store / "kbcite.toml").write_text(f'[ask]\nmodel = "openai/x"\napi_base = "{model.url}"\n', "utf-8")
        with subprocess.Popen(
            [sys.executable, *command(town.store)],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            assert server.stdin is not None
            server.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages))
            server.stdin.flush()
            until = time.monotonic() + 60
            while not model.requests and time.monotonic() < until:
                time.sleep(0.05)
            assert model.requests, "the call is under way"
            server.stdin.close()
            assert server.wait(timeout=10) == 0
    assert town("log").code == 5
