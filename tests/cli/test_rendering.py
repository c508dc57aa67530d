from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbcite.store.archive import digest_of
from tests.cli.run import Shell
from tests.script_site import ASSETS, HYDRATED, MOUNTED, html_of, needs_browser
from tests.script_site import shell as page_of
from tests.site_server import Site, serve_site


@pytest.fixture
def site() -> Iterator[Site]:
    links = "<a href=/app>app</a><a href=/other>other</a>"
    start = page_of(html_of("start") + links)
    pages = {"/": start, "/app": MOUNTED, "/other": HYDRATED, "/only-linked-by-script": page_of(html_of("more"))}
    with serve_site(ASSETS | pages) as running:
        yield running


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBCITE_CRAWL_BROWSER", "/nowhere/chromium")


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_what_was_rendered_is_counted_and_its_words_are_found(site: Site, shell: Shell) -> None:
    shell("source", "add", f"{site.url}/", "--allow-private")
    built = shell("build")
    assert built.code == 0, built.err
    assert "crawl  fetched 4, changed 0, unchanged 0, skipped 0, failed 0, rendered 2" in built.out
    assert "clean  cleaned 4" in built.out
    assert "part 0 of the page about mounted" in shell("search", "the page about mounted").out


def test_pages_that_a_browser_would_have_to_read_are_named_with_the_next_step(
    site: Site, shell: Shell, no_browser: None
) -> None:
    shell("source", "add", f"{site.url}/", "--allow-private")
    crawled = shell("crawl")
    assert f"2 pages are written by scripts and were not read: {site.url}/app, {site.url}/other" in crawled.err
    assert (
        "'/nowhere/chromium' in kbcite.toml is no program; name an installed Chromium, or leave it empty; then run it again"
        in crawled.err
    )
    assert "rendered" not in crawled.out


def test_a_source_that_wants_every_page_rendered_needs_a_browser(site: Site, shell: Shell, no_browser: None) -> None:
    shell("source", "add", f"{site.url}/", "--allow-private", "--render", "always", "--wait-selector", "article p")
    settings = (shell.store / "kbcite.toml").read_text()
    assert 'render = "always"' in settings
    assert 'wait_selector = "article p"' in settings
    crawled = shell("crawl")
    assert crawled.code == 2
    assert crawled.err.count("\n") == 1
    assert f"{site.url}/ has render = \"always\", but browser = '/nowhere/chromium'" in crawled.err
    assert site.requests == []


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_what_the_server_sent_of_a_rendered_page_is_kept_given_out_taken_in_checked_and_forgotten(
    site: Site, shell: Shell, tmp_path: Path
) -> None:
    shell("source", "add", f"{site.url}/", "--allow-private")
    assert shell("build").code == 0
    page = f"{site.url}/app"
    assert "part 0 of the page about mounted" in shell("show", page, "--snapshot").out
    assert shell("show", page, "--snapshot", "--received").out == MOUNTED
    assert shell("show", f"{site.url}/", "--snapshot", "--received").out == site.pages["/"]
    assert shell("ask", "What is part 0 of the page about mounted?").code == 0
    assert shell("verify", "--all").code == 0

    # out as WARC, in elsewhere: the same bytes of both kinds
    file = tmp_path / "mill.warc.gz"
    told = shell("--json", "warc", "export", str(file)).json
    assert (told["responses"], told["conversions"]) == (4, 2)
    records = gzip.decompress(file.read_bytes())
    assert records.count(b"WARC-Type: conversion") == 2
    assert records.count(MOUNTED.encode()) == 1
    other = Shell(tmp_path / "other")
    other("init")
    other("source", "add", f"{site.url}/", "--allow-private")
    assert other("--json", "warc", "import", str(file)).json["new"] == 4
    for path in ("/", "/app", "/other", "/only-linked-by-script"):
        for option in ([], ["--received"]):
            shown = [one("show", site.url + path, "--snapshot", *option).raw for one in (shell, other)]
            assert shown[0] == shown[1]
    assert other("--json", "warc", "import", str(file)).json["unchanged"] == 4
    assert other("doctor", "--read-data").code == 0

    # damage is seen by all who look at it, and mended by a visit
    sql = sqlite3.connect(shell.store / "archive.sqlite3")
    with sql:
        sql.execute("UPDATE blobs SET data = zeroblob(length(data)) WHERE digest = ?", (digest_of(MOUNTED.encode()),))
    sql.close()
    wrong = shell("doctor", "--read-data")
    assert wrong.code == 1 and "archived bodies that are damaged" in wrong.out and page in wrong.out
    failed = shell("verify", "--all")
    assert failed.code == 1 and "what the server sent cannot be read any more" in failed.out
    assert shell("doctor", "--read-data", "--repair").code == 1
    assert shell("recheck").code == 0
    assert shell("doctor", "--read-data").code == 0
    assert shell("verify", "--all").code == 0

    # forgotten is forgotten, of both kinds
    assert shell("forget", page, "--yes").code == 0
    assert MOUNTED.encode() not in gzip.decompress(shell("warc", "export", "-").raw)
    with sqlite3.connect(shell.store / "archive.sqlite3") as sql:
        assert not sql.execute("SELECT 1 FROM blobs WHERE digest = ?", (digest_of(MOUNTED.encode()),)).fetchone()
    assert shell("doctor", "--read-data").code == 0
