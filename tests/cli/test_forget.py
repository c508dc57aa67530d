"""forget: nothing of the page is left in the store's files, what it shared with others stays, and crawls leave it alone."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from unittest.mock import patch

import pytest
from jsonschema import Draft202012Validator

from kbcite.answer.record import schema
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from tests.cli.run import Shell
from tests.cli.town import page
from tests.site_server import Reply, Site

SECRET = "Okafor"
"""A name that stands on the pool's page alone."""


def left(store: Path, *words: str) -> list[str]:
    """The files of a store in which a word stands, archived bodies unpacked."""
    found = [
        file.name for file in store.rglob("*") if file.is_file() and any(w.encode() in file.read_bytes() for w in words)
    ]
    with Archive(store / "archive.sqlite3") as archive:
        bodies = [archive.get(digest) for digest, _ in archive.digests()]
    return found + ["a body" for body in bodies if any(word.encode() in body for word in words)]


def test_nothing_of_a_page_is_left(town: Shell, town_site: Site) -> None:
    asked = town("ask", "Who holds the swimming lessons for children?")
    assert SECRET in asked.out
    assert left(town.store, SECRET)
    outcome = town("--json", "forget", f"{town_site.url}/pool.html", "--yes")
    assert outcome.code == 0, outcome.err
    assert (outcome.json["pages"], outcome.json["bodies"], outcome.json["answers"]) == (1, 1, 1)
    assert left(town.store, SECRET, SECRET.lower()) == []
    assert SECRET not in town("ask", "Who holds the swimming lessons for children?").out
    assert "Helen Marsh" in town("ask", "Who is the mayor?").out
    assert town("show", f"{town_site.url}/pool.html").code == 5
    assert town("--json", "doctor", "--read-data").json["damage"] == []


def test_an_answer_stays_with_what_the_page_said_masked(town: Shell, town_site: Site) -> None:
    before = town("--json", "ask", "Who holds the swimming lessons for children?").json
    town("forget", f"{town_site.url}/pool.html", "--yes")
    sql = sqlite3.connect(town.store / "kb.sqlite3")
    record = json.loads(sql.execute("SELECT record FROM answers WHERE id = ?", (before["id"],)).fetchone()[0])
    sql.close()
    Draft202012Validator(schema()).validate(record)
    assert len(record["answer"]["text"]) == len(before["answer"]["text"])
    assert set(record["answer"]["text"]) <= set("█ \n[]123456789")
    (source,) = record["sources"]["web"]
    assert set(source["quote"]["text"]) <= set("█ \n")
    assert source["deep_link"] is None
    assert (source["url"], source["block_id"]) == (
        before["sources"]["web"][0]["url"],
        before["sources"]["web"][0]["block_id"],
    )
    assert "forgotten" in town("show", f"{before['id']}:1").err


def test_verify_counts_answers_on_forgotten_pages_apart(town: Shell, town_site: Site) -> None:
    town("ask", "Who holds the swimming lessons for children?")
    town("ask", "Who is the mayor?")
    town("forget", f"{town_site.url}/pool.html", "--yes")
    outcome = town("verify", "--all")
    assert outcome.code == 0, outcome.err
    assert "1 answer on pages that were forgotten left out" in outcome.err


def test_what_another_page_shares_stays(town: Shell, town_site: Site) -> None:
    town("forget", f"{town_site.url}/branch.html", "--yes")
    assert "four weeks" in town("ask", "How long may books be kept?").out
    assert town("--json", "doctor", "--read-data").json["damage"] == []


def test_a_body_that_others_are_compressed_against_can_go(town: Shell, town_site: Site) -> None:
    with Archive(town.store / "archive.sqlite3") as archive:
        before = {digest: archive.get(digest) for digest, _ in archive.digests()}
    dictionary = f"{town_site.url}/"
    assert town("--json", "forget", dictionary, "--yes").json["bodies"] == 1
    with Archive(town.store / "archive.sqlite3") as archive:
        after = {digest: archive.get(digest) for digest, _ in archive.digests()}
    assert len(after) == len(before) - 1
    assert after.items() <= before.items()


def test_a_crawl_leaves_it_alone_until_it_is_told(town: Shell, town_site: Site) -> None:
    url = f"{town_site.url}/pool.html"
    town_site.pages["/new.html"] = page("New", '<p>See the <a href="/pool.html">pool</a>.</p>')
    town_site.pages["/moved.html"] = Reply(b"", 302, (("Location", "/pool.html"),))
    home = town_site.pages["/"]
    assert isinstance(home, str)
    town_site.pages["/"] = home.replace("</main>", '<a href="/new.html">new</a> <a href="/moved.html">moved</a></main>')
    town("forget", url, "--yes")
    town("recheck", "--all")
    town_site.requests.clear()
    town("crawl", f"{town_site.url}/")
    town("build")
    assert "/new.html" in town_site.paths()
    assert "/pool.html" not in town_site.paths(), "neither by a link nor by a redirect"
    assert town("show", url).code == 5
    assert left(town.store, SECRET) == []
    assert town.json("forget", "--list")[0]["place"] == url
    assert "forgotten" in town("crawl", "--explain", url).out
    assert town("crawl", url).code == 0
    assert town("show", url).code == 0
    assert town.json("forget", "--list") == []


def test_a_host_is_forgotten_with_all_its_pages(town: Shell, town_site: Site) -> None:
    host = town_site.url.removeprefix("http://")
    with Database(town.store / "kb.sqlite3") as database, database.transaction():
        database.rendering.save([(town_site.url, "/*.html", "rendered", 3, "2026-11-01T00:00:00Z")])
    outcome = town("--json", "forget", host, "--yes")
    assert outcome.json["pages"] == 7
    status = town.json("status")
    assert (status["pages"], status["blocks"], status["archive"]["bodies"]) == (0, 0, 0)
    assert left(town.store, SECRET, "Helen Marsh", "停水") == []
    with Database(town.store / "kb.sqlite3") as database:
        assert database.rendering.verdicts() == []
    assert "it was forgotten" in town("crawl", "--explain", f"{town_site.url}/never-seen.html").out
    town_site.requests.clear()
    town("crawl")
    assert town_site.paths() == []
    assert town("forget", host, "--undo").code == 0
    assert town("build").code == 0
    assert "Helen Marsh" in town("ask", "Who is the mayor?").out


@pytest.mark.parametrize(
    "broken_at", ["kbcite.store.archive.Archive.erase", "kbcite.stages.forget._renew_vector_index"]
)
def test_a_forget_that_was_killed_is_finished_by_the_next_writer(town: Shell, town_site: Site, broken_at: str) -> None:
    with patch(broken_at, side_effect=KeyboardInterrupt):
        assert town("forget", f"{town_site.url}/pool.html", "--yes").code == 130
    assert {symptom["check"] for symptom in town("--json", "doctor").json["damage"]} >= {"erasure"}
    assert town("clean").code == 0
    assert left(town.store, SECRET) == []
    assert town("doctor", "--read-data").code == 0


def test_a_copy_that_a_repair_put_aside_is_named(town: Shell, town_site: Site) -> None:
    (town.store / "kb.sqlite3.lost-2026-03-01T080000Z").write_bytes(b"old")
    assert "kb.sqlite3.lost-2026-03-01T080000Z" in town("forget", f"{town_site.url}/pool.html", "--yes").out


def test_it_is_not_done_unasked(town: Shell, town_site: Site) -> None:
    outcome = town("forget", f"{town_site.url}/pool.html")
    assert outcome.code == 2
    assert "--yes" in outcome.err
    assert town("show", f"{town_site.url}/pool.html").code == 0


@pytest.mark.parametrize(
    ("place", "code"),
    [("ftp://a.example/", 2), ("a.example/page", 2), ("elsewhere.example", 5), ("http://elsewhere.example/x", 5)],
)
def test_what_is_not_there_is_named(town: Shell, place: str, code: int) -> None:
    outcome = town("forget", place, "--yes")
    assert outcome.code == code
    assert place in outcome.err and len(outcome.err.strip().splitlines()) == 1


def test_an_import_leaves_it_alone_and_says_how_it_comes_in_again(town: Shell, town_site: Site, tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    url, file = f"{town_site.url}/pool.html", str(tmp_path / "town.warc.gz")
    alone = str(tmp_path / "pool.warc.gz")
    town("warc", "export", file)
    town("warc", "export", alone, url)
    town("forget", url, "--yes")
    imported = town("warc", "import", file)
    assert imported.code == 0
    assert "skipped    1 forgotten" in imported.out
    assert '"kbcite forget URL --undo" lets it in' in imported.out
    nothing = town("warc", "import", alone)
    assert nothing.code == 5
    assert "its pages were forgotten" in nothing.err
    assert left(town.store, SECRET) == []
    assert town("forget", url, "--undo").code == 0
    assert town("--json", "warc", "import", alone).json["new"] == 1
    assert SECRET in town("show", url, "--snapshot").out
