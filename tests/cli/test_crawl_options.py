"""crawl and build as cron and curious people run them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

from kbcite.store.lock import writer_lock
from tests.cli.run import Shell
from tests.site_server import Reply, Site

BODY = "<p>" + "The hut is open from June to September, and the key hangs at the inn. " * 5 + "</p>"


@pytest.fixture
def hut(shell: Shell, site: Site) -> Shell:
    """A store with one small source, not yet crawled."""
    site.pages |= {
        "/robots.txt": "User-agent: *\nDisallow: /private",
        "/": f'<html><body>{BODY}<a href="/a">a</a> <a href="/private/b">b</a> <a href="/print/c">c</a></body></html>',
        "/a": f"<html><body><h1>A</h1>{BODY}</body></html>",
    }
    shell("source", "add", f"{site.url}/", "--allow-private", "--exclude", "/print/")
    return shell


# ------------------------------------------------------------ every hour from cron


def test_a_second_quiet_run_prints_nothing_and_asks_for_nothing(hut: Shell, site: Site) -> None:
    assert hut("-q", "crawl").out.startswith("fetched 2")
    site.requests.clear()
    again = hut("-q", "crawl")
    assert (again.code, again.out, again.err) == (0, "", "")
    assert site.requests == []


def test_a_second_quiet_build_prints_nothing(hut: Shell) -> None:
    assert hut("-q", "build").code == 0
    again = hut("-q", "build")
    assert (again.code, again.out, again.err) == (0, "", "")


def test_all_fetches_what_is_not_due(hut: Shell, site: Site) -> None:
    hut("crawl")
    site.requests.clear()
    assert hut.json("crawl", "--all")["unchanged"] == 2
    assert sorted(site.paths()) == ["/", "/a"]
    assert hut.json("crawl", "--force")["unchanged"] == 2


def test_left_out_links_are_no_failure(hut: Shell) -> None:
    outcome = hut("crawl")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "fetched 2, changed 0, unchanged 0, skipped 1, failed 0\n"


def test_a_run_that_reaches_its_limit_says_what_is_left(hut: Shell) -> None:
    outcome = hut("crawl", "--max-pages", "1")
    assert (
        outcome.err
        == "left out 2 of this run: run_budget, its limit of 1 pages is reached; they wait for the next run\n"
    )


@pytest.mark.usefixtures("at_once")
def test_log_lines_in_json_are_objects_with_a_time(hut: Shell, site: Site) -> None:
    site.pages["/a"] = Reply(b"", 500, (("Retry-After", "0"),))
    outcome = hut("--log-format", "json", "-v", "crawl")
    lines = [json.loads(line) for line in outcome.err.splitlines()]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["time"]) for line in lines)
    told = {(line.get("outcome"), line.get("reason")) for line in lines}
    assert {("fetched", None), ("failed", "http_500"), ("skipped", "robots_disallowed")} <= told
    assert lines[-1]["exit_code"] == outcome.code == 1


def test_a_locked_store_ends_with_6_and_names_the_holder(hut: Shell) -> None:
    with writer_lock(hut.store, "build", "2026-11-30T12:00:00Z"):
        outcome = hut("crawl")
    assert outcome.code == 6
    assert '"kbcite build" (process ' in outcome.err


@pytest.mark.parametrize("wait", [["--wait"], ["--wait", "30"]])
def test_wait_waits_for_the_holder(hut: Shell, wait: list[str]) -> None:
    command = [sys.executable, "-m", "kbcite", "--store", str(hut.store), "crawl", *wait]
    with writer_lock(hut.store, "build", "2026-11-30T12:00:00Z"):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        time.sleep(1.5)
        assert process.poll() is None
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.split(",")[0]) == (0, "fetched 2")


# ------------------------------------------------------------ what would be fetched, and why


def test_a_dry_run_asks_for_nothing_and_changes_nothing(hut: Shell, site: Site) -> None:
    plan = hut.json("crawl", "--dry-run")
    assert plan["urls"] == [{"url": f"{site.url}/", "verdict": "fetch", "why": "seed, never fetched"}]
    assert site.requests == []
    assert hut.json("status")["pages"] == 0
    assert hut.json("crawl")["fetched"] == 2


def test_a_dry_run_says_why_each_url_would_be_fetched_or_left_out(hut: Shell, site: Site) -> None:
    hut("--now", "2026-11-30T12:00:00Z", "crawl", "--max-pages", "1")
    rows = {
        row["url"].removeprefix(site.url): row
        for row in hut.json("--now", "2026-11-30T13:00:00Z", "crawl", "--dry-run")["urls"]
    }
    assert rows["/a"]["why"] == f"never fetched, found on {site.url}/"
    assert (rows["/private/b"]["verdict"], rows["/private/b"]["why"].split(":")[0]) == ("leave", "robots_disallowed")
    assert set(rows) == {"/a", "/private/b"}
    everything = hut.json("--now", "2026-11-30T13:00:00Z", "crawl", "--dry-run", "--all")
    assert f"{site.url}/" in {row["url"] for row in everything["urls"]}
    shown = hut("--now", "2027-03-01T12:00:00Z", "crawl", "--dry-run").out
    assert f"fetch  {site.url}/  due since " in shown


def explained(shell: Shell, url: str) -> dict[str, str]:
    record = shell.json("--now", "2026-11-30T13:00:00Z", "crawl", "--explain", url)
    return {"verdict": record["verdict"].removeprefix(f"{record['url']}: "), **record["steps"]}


@pytest.fixture
def seen(hut: Shell) -> Shell:
    hut("--now", "2026-11-30T12:00:00Z", "crawl")
    return hut


def test_explain_names_the_next_visit_of_a_page(seen: Shell, site: Site) -> None:
    told = explained(seen, f"{site.url}/a?utm_source=x")
    assert told["verdict"].startswith("fetched; visited again by the first run after 2026-12-")
    assert told["key"].startswith(f"{site.url}/a:")
    assert told["robots"].startswith("allowed, no line for it")
    assert told["found on"] == f"{site.url}/, 1 link from the seed"


def test_explain_names_the_line_of_robots_txt(seen: Shell, site: Site) -> None:
    told = explained(seen, f"{site.url}/private/b")
    assert told["verdict"].startswith("not fetched; robots_disallowed")
    assert told["robots"].startswith("disallowed, line 2: Disallow: /private")
    assert told["state"].startswith("skipped robots_disallowed")


def test_explain_names_the_exclude_pattern(seen: Shell, site: Site) -> None:
    assert explained(seen, f"{site.url}/print/c")["filter"] == "excluded: matches '/print/'"


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("/nobody-links-here", "covered, but not known; fetched when a page within the source's depth links to it"),
        ("/calendar?date=2051-01-01", "not fetched; calendar: date=2051-01-01"),
        ("/photo.jpg", "not fetched; not_a_page: .jpg"),
    ],
)
def test_explain_of_a_url_that_was_never_met(seen: Shell, site: Site, path: str, verdict: str) -> None:
    assert explained(seen, site.url + path)["verdict"].startswith(verdict)


def test_explain_of_a_url_outside_the_whitelist_says_how_to_add_it(seen: Shell) -> None:
    told = explained(seen, "http://other.example/")
    assert told["verdict"] == 'not fetched; no source covers it; "kbcite source add http://other.example/" would'
    assert told["state"].startswith("not known")


def test_explain_before_the_first_crawl_requests_nothing(hut: Shell, site: Site) -> None:
    assert explained(hut, f"{site.url}/a")["robots"].startswith(f"{site.url}/robots.txt is asked for first")
    assert site.requests == []
