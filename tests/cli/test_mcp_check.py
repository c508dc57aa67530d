"""`kbcite mcp check`, and live pages that come through a server of `kbcite.toml`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import Shell
from tests.site_server import Site
from tests.tool_servers.running import left_running, settings
from tests.tool_servers.server import PAGE

pytest.importorskip("mcp", reason="the extra kbcite[mcp] is not installed")


def write_server(shell: Shell, mode: str, tag: Path, *lines: str, before: str = "") -> None:
    """A kbcite.toml with the tool server `shop`, and what stands before it."""
    server = settings(mode, str(tag))
    text = f'{before}\n[mcp.shop]\ncommand = {json.dumps(server.command)}\ntool = "fetch"\n' + "\n".join(lines)
    (shell.store / "kbcite.toml").write_text(text, encoding="utf-8")


def test_a_server_that_works_is_listed_with_its_tools(shell: Shell, tmp_path: Path) -> None:
    write_server(shell, "good", tmp_path)
    outcome = shell("mcp", "check", "shop")
    assert outcome.code == 0
    assert outcome.out == "shop works; its tool fetch takes what kbcite gives it\ntools: fetch\n"
    assert shell.json("mcp", "check", "shop") == {"name": "shop", "tool": "fetch", "tools": ["fetch"], "junk": ""}
    assert not left_running(str(tmp_path))


def test_a_server_that_prints_what_is_no_message_works_and_is_told(shell: Shell, tmp_path: Path) -> None:
    write_server(shell, "junk", tmp_path)
    outcome = shell("mcp", "check", "shop")
    assert outcome.code == 0
    assert "where only messages may stand: Starting the great server v1" in outcome.out


@pytest.mark.parametrize(
    ("mode", "code", "told"),
    [
        ("missing", 2, 'kbcite: [mcp.shop]: there is no tool "fetch"; the server has: scrape, crawl\n'),
        ("wrong_schema", 2, 'kbcite: [mcp.shop]: tool "fetch" takes no "url"; it takes: uri, depth\n'),
        ("dies_at_once", 7, 'kbcite: MCP server "shop" ended with exit code 2: no licence\n'),
        ("mute", 7, 'kbcite: MCP server "shop" did not answer within 1 s\n'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(shell: Shell, tmp_path: Path, mode: str, code: int, told: str) -> None:
    write_server(shell, mode, tmp_path, *["timeout_s = 1.0"] * (mode == "mute"))
    outcome = shell("mcp", "check", "shop")
    assert (outcome.code, outcome.err, outcome.out) == (code, told, "")
    assert not left_running(str(tmp_path))


def test_a_command_or_a_name_that_is_not_there_is_told(shell: Shell) -> None:
    (shell.store / "kbcite.toml").write_text('[mcp.shop]\ncommand = ["no-such-server"]\ntool = "fetch"\n', "utf-8")
    outcome = shell("mcp", "check", "shop")
    assert outcome.code == 2
    assert '[mcp.shop]: there is no program "no-such-server"; install it, or mend command' in outcome.err
    assert "there is no section [mcp.ship] in kbcite.toml; there are: shop" in shell("mcp", "check", "ship").err
    assert "--offline forbids MCP servers" in shell("--offline", "mcp", "check", "shop").err


PRICE = "What does the hammer cost today?"


def live_settings(site: Site, *more: str) -> str:
    source = (
        f'[[source]]\nurl = "{site.url}/"\nallow_private = true\nlive = ["{site.url}/prices"]\ntopics = ["hammer"]\n'
    )
    return source + "[live]\n" + "\n".join(more) + "\n"


def test_an_answer_looks_at_a_page_through_the_tool(town: Shell, town_site: Site, tmp_path: Path) -> None:
    write_server(town, "good", tmp_path, before=live_settings(town_site, 'fetcher = "mcp:shop"'))
    town_site.requests.clear()
    record = town.json("ask", PRICE)
    assert record["status"] == "answered"
    assert "12 euros" in record["answer"]["text"]
    assert record["sources"]["web"][0]["source_type"] == "live"
    assert record["freshness"]["live"]["outcome"] == "live"
    assert "/prices" not in town_site.paths(), "the site itself was asked for robots.txt at most"
    assert town("verify").code == 0, "what the tool gave is archived, and the quote stands in it"
    assert not left_running(str(tmp_path))


@pytest.mark.parametrize(
    ("mode", "more", "told"),
    [
        ("dies", (), "tool_failed: MCP server"),
        ("missing", (), "there is no tool"),
        ("error", (), "tool_error"),
        pytest.param("hangs", ("answer_within_s = 1.0", "fetch_within_s = 1.5"), "gave_up", marks=pytest.mark.slow),
    ],
)
def test_a_tool_that_fails_leaves_the_stored_answer_and_its_reason(
    town: Shell, town_site: Site, tmp_path: Path, mode: str, more: tuple[str, ...], told: str
) -> None:
    topics = live_settings(town_site, 'fetcher = "mcp:shop"', *more).replace("hammer", "mayor")
    write_server(town, mode, tmp_path, before=topics)
    record = town.json("ask", "Who is the mayor today?")
    assert record["status"] == "answered"
    assert "Helen Marsh" in record["answer"]["text"]
    assert record["freshness"]["live"]["outcome"] == "fell_back"
    assert told in " ".join(record["freshness"]["live"]["filters"])
    assert not left_running(str(tmp_path))


def write_search(shell: Shell, site: Site, tag: Path, mode: str = "search") -> None:
    """The town without live pages of its own, and a search tool that proposes some."""
    server = settings(mode, str(tag))
    (shell.store / "kbcite.toml").write_text(
        f'[[source]]\nurl = "{site.url}/"\nallow_private = true\n[live]\nsearch = "mcp:shop"\nanswer_within_s = 6.0\n'
        f'[mcp.shop]\ncommand = {json.dumps(server.command)}\ntool = "search"\narguments = {{ query = "{{query}}" }}\n',
        encoding="utf-8",
    )


def test_a_search_tool_proposes_pages_and_only_those_of_the_whitelist_are_fetched(
    town: Shell, town_site: Site, tmp_path: Path
) -> None:
    (tmp_path / "found.txt").write_text(f"1. https://outside.example/hammer\n2. {town_site.url}/prices\n", "utf-8")
    town_site.pages = {**town_site.pages, "/prices": PAGE}
    write_search(town, town_site, tmp_path)
    record = town.json("ask", PRICE)
    assert "12 euros" in record["answer"]["text"]
    assert record["sources"]["web"][0]["url"] == f"{town_site.url}/prices"
    assert record["freshness"]["live"]["urls"] == [f"{town_site.url}/prices"]
    trace = town("trace", record["trace_id"]).out
    assert "(found by the search tool), from " in trace
    assert "outside.example" in trace
    assert not left_running(str(tmp_path))


def test_a_search_tool_that_fails_leaves_its_reason(town: Shell, town_site: Site, tmp_path: Path) -> None:
    write_search(town, town_site, tmp_path, mode="dies_at_once")
    record = town.json("ask", "Who is the mayor today?")
    assert "Helen Marsh" in record["answer"]["text"]
    assert 'no page of the sources to look at; MCP server "shop" ended' in record["freshness"]["live"]["why"][0]
    assert not left_running(str(tmp_path))
