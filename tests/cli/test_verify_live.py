"""`verify --live`: what the cited pages say today, asked for under the rules of a recheck, with nothing stored."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import Shell
from tests.cli.town import pool_page
from tests.site_server import Reply, Site

TICKET = "How much is a day ticket for the swimming pool?"
pytestmark = pytest.mark.usefixtures("at_once")


@pytest.fixture
def asked(town: Shell) -> dict[str, Any]:
    record: dict[str, Any] = town.json("ask", TICKET)
    return record


def contents(shell: Shell) -> list[str]:
    """Every row of the store."""
    with (
        sqlite3.connect(shell.store / "kb.sqlite3") as sql,
        sqlite3.connect(shell.store / "archive.sqlite3") as archive,
    ):
        return [*sql.iterdump(), *archive.iterdump()]


def today(shell: Shell, *arguments: str, stdin: str = "") -> list[str]:
    """The outcome of each citation."""
    done = shell("--json", "verify", "--live", *arguments, stdin=stdin)
    assert done.raw, done.err
    return [one["outcome"] for one in done.json["live"]["citations"]]


def test_a_citation_that_stands_is_said_to_be_there(town: Shell, town_site: Site, asked: dict[str, Any]) -> None:
    town_site.pages["/pool.html"] = pool_page().replace("85 euros", "95 euros")  # elsewhere on the page
    done = town("verify", "--live")
    assert done.code == 0, done.err
    assert "  there       [1] http" in done.out and "today: there 1" in done.out


def test_a_change_is_shown_in_words_and_the_store_stays_as_it_was(
    town: Shell, town_site: Site, asked: dict[str, Any]
) -> None:
    before = contents(town)
    town_site.pages["/pool.html"] = pool_page("7.20")
    done = town("verify", "--live")
    assert done.code == 1
    assert "  changed     [1] http" in done.out
    assert "A day ticket costs [-6.50-]{+7.20+} euros" in done.out
    assert "all verified" in done.out  # against the archive it still is
    assert "1 of 1 citation no longer on the pages as cited" in done.err
    assert contents(town) == before


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(status=404), "gone"),
        (Reply(status=503), "unreachable"),
        (Reply(status=301, headers=(("Location", "/baths.html"),)), "moved"),
        (Reply(status=301, headers=(("Location", "/"),)), "gone"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_page_that_is_not_there_is_told_apart(
    town: Shell, town_site: Site, asked: dict[str, Any], reply: Reply, outcome: str
) -> None:
    town_site.pages |= {"/pool.html": reply, "/baths.html": pool_page()}
    before = contents(town)
    assert today(town) == [outcome]
    assert town("verify", "--live").code == {"gone": 1, "unreachable": 7, "moved": 0}[outcome]
    assert contents(town) == before


def test_robots_txt_is_obeyed(town: Shell, town_site: Site, asked: dict[str, Any]) -> None:
    town_site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /", headers=(("Content-Type", "text/plain"),))
    with sqlite3.connect(town.store / "kb.sqlite3") as sql:
        sql.execute("DELETE FROM robots")
    town_site.requests.clear()
    assert today(town) == ["not_asked"]
    assert {request.path for request in town_site.requests} == {"/robots.txt"}


def test_a_page_is_asked_for_once_however_often_it_is_cited(
    town: Shell, town_site: Site, asked: dict[str, Any]
) -> None:
    town("ask", TICKET)
    town_site.requests.clear()
    assert today(town, "--all") == ["there", "there"]
    assert [request.path for request in town_site.requests].count("/pool.html") == 1


def test_a_text_by_anyone_is_held_against_the_pages_of_today(town: Shell, town_site: Site, tmp_path: Path) -> None:
    text = (
        "A day ticket costs 6.50 euros. [1] Books may be kept for four weeks. [2]\n\n"
        f"[1] {town_site.url}/pool.html\n[2] {town_site.url}/library.html\n"
    )
    assert today(town, "-", stdin=text) == ["there", "there"]
    town_site.pages["/pool.html"] = pool_page("7.20")
    assert today(town, "-", stdin=text) == ["changed", "there"]
    town_site.pages["/library.html"] = Reply(status=410)
    assert today(town, "-", stdin=text) == ["changed", "gone"]


def test_offline_and_live_exclude_one_another(town: Shell, asked: dict[str, Any]) -> None:
    done = town("--offline", "verify", "--live")
    assert done.code == 2 and "--live" in done.err
