from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kbcite.clock import system_clock
from kbcite.errors import UsageError
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.page.cleaning import clean_page
from kbcite.records import CleanDocument
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.web.browser import Browser, BrowserLimits, Rendered, find_browser, why_unavailable
from kbcite.web.fetch import Fetcher
from kbcite.web.page_requests import PageRequests
from kbcite.web.processes import group_members
from kbcite.web.scope import Scope
from tests.script_site import ASSETS, KINDS, LAZY, MILL, needs_browser, shell, text_of
from tests.site_server import Site, serve_site


class Rendering:
    """A fetcher and a browser over one site."""

    def __init__(self, site: Site, limits: BrowserLimits | None = None) -> None:
        self.site = site
        scope = Scope((SourceSettings(url=f"{site.url}/", allow_private=True),))
        self.fetcher = Fetcher(CrawlSettings(connect_timeout_s=5.0), allow_private=scope.allows_private)
        requests = PageRequests(self.fetcher.fetch, scope, {}, system_clock)
        self.browser = Browser(requests, self.fetcher.user_agent, "", limits)

    def __call__(self, path: str, wait_selector: str = "") -> Rendered | FetchFailure:
        page = self.fetcher.fetch(self.site.url + path)
        assert isinstance(page, FetchedPage)
        return self.browser.render(page, wait_selector)

    def close(self) -> None:
        self.browser.close()
        self.fetcher.close()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve_site(ASSETS | {f"/{name}": page for name, page in KINDS.items()} | {"/lazy": LAZY}) as running:
        yield running


@pytest.fixture(scope="module")
def render(site: Site) -> Iterator[Rendering]:
    rendering = Rendering(site)
    yield rendering
    rendering.close()


def cleaned(result: Rendered | FetchFailure) -> str:
    assert isinstance(result, Rendered), result
    document = clean_page(result.html.encode(), "https://a.example/", "text/html; charset=utf-8")
    assert isinstance(document, CleanDocument)
    return document.text


# ------------------------------------------------------------ what is read


@pytest.mark.parametrize("name", KINDS)
@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_page_is_read_whole_whatever_wrote_it(render: Rendering, name: str) -> None:
    text = cleaned(render(f"/{name}"))
    assert all(paragraph in text for paragraph in text_of(name))
    assert "Loading" not in text


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_shadow_roots_are_read_where_a_reader_sees_them(render: Rendering) -> None:
    text = cleaned(render("/shadowed"))
    parts = ["Put into the slot", *text_of("shadowed"), "A box in the box tells of the miller and his dog"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_list_without_end_is_read_as_far_as_a_tall_screen_shows_it(render: Rendering) -> None:
    text = cleaned(render("/lazy"))
    assert 20 <= text.count("Item ") <= 60


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_selector_is_waited_for_and_a_page_without_it_is_no_page(render: Rendering) -> None:
    late = "<script>setTimeout(() => { document.body.insertAdjacentHTML('beforeend', `<p id=late>at last</p>`) }, 2500)</script>"
    render.site.pages["/waits"] = shell(f"<p>{MILL}</p><p>{MILL}</p>{late}")
    assert "at last" in cleaned(render("/waits", "#late"))
    assert render("/waits", "p[") == FetchFailure(
        f"{render.site.url}/waits",
        "render_selector",
        "wait_selector 'p[' is no CSS selector; mend it in kbcite.toml",
        retryable=False,
    )


# ------------------------------------------------------------ how it starts and ends


@needs_browser
@pytest.mark.browser
def test_nothing_is_started_before_the_first_page(site: Site) -> None:
    rendering = Rendering(site)
    rendering.close()
    assert rendering.browser.starts == 0
    result = rendering.browser.render(FetchedPage("https://a.example/", "https://a.example/", 200, (), b"", "now"))
    assert isinstance(result, FetchFailure)
    assert result.reason == "interrupted"


def test_a_program_that_is_not_there_is_named(site: Site) -> None:
    told = why_unavailable("/nowhere/chromium")
    assert told is not None and "/nowhere/chromium" in told
    scope = Scope(())
    with Fetcher(CrawlSettings()) as fetcher, pytest.raises(UsageError, match="/nowhere/chromium"):
        Browser(PageRequests(fetcher.fetch, scope, {}, system_clock), "x", "/nowhere/chromium")


def test_without_a_browser_on_the_path_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("kbcite.web.browser.MAC_PROGRAMS", ())
    assert find_browser() is None
    monkeypatch.setattr("kbcite.web.browser.find_spec", lambda _: object())
    told = why_unavailable()
    assert told is not None and "apt install chromium" in told
    monkeypatch.setattr("kbcite.web.browser.find_spec", lambda _: None)
    told = why_unavailable()
    assert told is not None and 'pip install "kbcite[render]"' in told


def test_the_first_installed_browser_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("google-chrome", "chromium"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() == str(tmp_path / "chromium")
    assert find_browser("google-chrome") == str(tmp_path / "google-chrome")


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_program_that_is_no_browser_is_a_failure_that_says_so(site: Site, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho no display >&2; exit 3\n")
    program.chmod(0o755)
    page = FetchedPage(f"{site.url}/", f"{site.url}/", 200, (), b"", "now")
    with (
        Fetcher(CrawlSettings()) as fetcher,
        Browser(PageRequests(fetcher.fetch, Scope(()), {}, system_clock), "x", str(program)) as browser,
    ):
        result = browser.render(page)
    assert isinstance(result, FetchFailure)
    assert result.reason == "browser"
    assert f"{program} does not start" in result.detail


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_it_is_started_anew_when_it_has_served_its_time_and_when_it_was_killed(site: Site) -> None:
    rendering = Rendering(site, BrowserLimits(pages=2, parallel=1))
    try:
        groups = set()
        for _ in range(3):
            assert isinstance(rendering("/hydrated"), Rendered)
            assert rendering.browser._running is not None
            groups.add(rendering.browser._running.pid)
        assert (rendering.browser.starts, len(groups)) == (2, 2)
        os.killpg(rendering.browser._running.pid, signal.SIGKILL)
        assert isinstance(rendering("/hydrated"), Rendered)
        assert rendering.browser.starts == 3
    finally:
        rendering.close()
    assert [member for group in groups for member in group_members(group)] == []


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_closing_ends_what_is_under_way(site: Site) -> None:
    site.pages["/forever"] = shell("<div id=app></div><script>for (;;) {}</script>")
    rendering = Rendering(site)
    results: list[Any] = []
    worker = threading.Thread(target=lambda: results.append(rendering("/forever")))
    worker.start()
    wait_until(lambda: rendering.browser._running is not None)
    group = rendering.browser._running.pid  # type: ignore[union-attr]  # waited for
    time.sleep(1)
    rendering.close()
    worker.join(10)
    assert results[0].reason == "interrupted"
    assert list(group_members(group)) == []


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("is_hung", [False, True])
def test_a_browser_does_not_outlive_a_kbcite_that_is_killed(site: Site, is_hung: bool) -> None:
    site.pages["/hung"] = shell("<div id=app></div><script>for (;;) {}</script>")
    before = descendants()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.web.render_alone", site.url, "/hung" if is_hung else "/hydrated"],
        stdout=subprocess.PIPE,
        env=dict(os.environ) | {"KBCITE_TEST_STAYS": "1"},
    ) as alone:
        assert alone.stdout is not None
        try:
            if is_hung:
                wait_until(lambda: any("--headless" in line for line in descendants() - before))
                time.sleep(3)
            else:
                alone.stdout.readline()
                assert json.loads(alone.stdout.readline())["group"]
            assert descendants() - before
        finally:
            alone.kill()
    wait_until(lambda: not descendants() - before)


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_two_hundred_pages_leave_nothing_behind_and_take_no_more_memory(site: Site) -> None:
    before = descendants()
    rendering = Rendering(site, BrowserLimits(pages=50, parallel=4))
    sizes: list[float] = []
    try:
        for round_ in range(10):
            with ThreadPoolExecutor(20) as pool:
                results = list(pool.map(rendering, ["/hydrated"] * 20))
            assert all(isinstance(result, Rendered) for result in results), (round_, results)
            sizes.append(resident_mb())
    finally:
        rendering.close()
    assert (rendering.browser.rendered, rendering.browser.starts) == (200, 4)
    assert sizes[-1] - sizes[1] < 30, sizes
    wait_until(lambda: not descendants() - before)


def descendants() -> set[str]:
    """Command lines, with process id, of everything a browser consists of."""
    listed = subprocess.run(["ps", "-eo", "pid,stat,args"], capture_output=True, text=True, check=True).stdout
    return {
        line
        for line in listed.splitlines()
        if ("--headless" in line or "playwright" in line) and line.split()[1][0] != "Z" and "pytest" not in line
    }


def wait_until(is_so: Callable[[], bool], timeout_s: float = 60.0) -> None:
    until = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < until, "not in time"
        time.sleep(0.1)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
