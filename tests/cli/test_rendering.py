from __future__ import annotations

from collections.abc import Iterator

import pytest

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
        "'/nowhere/chromium' in kbcite.toml is no program; name an installed Chromium, or leave it empty; then crawl again"
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
