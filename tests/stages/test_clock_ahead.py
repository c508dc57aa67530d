"""A clock that ran ahead and was put right: what was done meanwhile neither waits for its dates nor is it lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbcite.clock import pinned_clock
from kbcite.page.cleaning import clean_page
from kbcite.records import PageState
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import crawl_site
from kbcite.stages.crawl_plan import plan_crawl
from kbcite.stages.recheck import Rechecked, recheck_pages
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.web.fetch import Fetcher
from tests.site_server import Reply, Site, serve_site

BEFORE, AHEAD, RIGHT, SOON, LATER = (
    "2026-11-01T08:00:00Z",
    "2027-11-30T08:00:00Z",
    "2026-11-30T08:00:00Z",
    "2026-11-30T09:30:00Z",
    "2026-12-31T08:00:00Z",
)
LINKS = "".join(f"<p><a href=/{n}>Page {n}</a> of the little town by the river.</p>" for n in range(4))
QUICK = CrawlSettings(retries=0)


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {f"/{n}": f"<h1>Page {n}</h1><p>What stands on page {n} of the town.</p>" for n in range(3)}
    with serve_site({"/": LINKS, "/robots.txt": "User-agent: *\nDisallow: /private", **pages}) as running:
        running.pages["/3"] = Reply(b"", 500)
        yield running


class Runs:
    def __init__(self, folder: Path, site: Site) -> None:
        self.database = Database(folder / "kb.sqlite3")
        self.archive = Archive(folder / "archive.sqlite3")
        self.sources = [SourceSettings(f"{site.url}/", allow_private=True)]
        self._site = site

    def _run(self, stage: Any, now: str, *more: Any) -> list[Any]:
        clock = pinned_clock(now)
        self._site.requests.clear()
        with Fetcher(QUICK, allow_private=lambda _: True, clock=clock) as fetcher:
            events = stage(self.database, self.archive, fetcher.fetch, self.sources, *more, settings=QUICK, clock=clock)
            return list(events)

    def crawl(self, now: str) -> set[str]:
        """What was asked for."""
        self._run(crawl_site, now)
        return set(self._site.paths())

    def recheck(self, now: str) -> dict[str, str]:
        records = self._run(recheck_pages, now, clean_page)
        return {one.url.removeprefix(self._site.url): one.outcome for one in records if isinstance(one, Rechecked)}


@pytest.fixture
def runs(tmp_path: Path, site: Site) -> Iterator[Runs]:
    made = Runs(tmp_path, site)
    yield made
    made.archive.close()
    made.database.close()


def test_a_crawl_takes_up_what_was_visited_or_put_off_by_a_clock_that_was_ahead(runs: Runs, site: Site) -> None:
    assert runs.crawl(AHEAD) == {"/", "/0", "/1", "/2", "/3"}
    planned = plan_crawl(runs.database, runs.sources, clock=pinned_clock(RIGHT))
    assert {row.url.removeprefix(site.url) for row in planned.rows} == {"/", "/0", "/1", "/2", "/3"}
    assert runs.crawl(RIGHT) == {"/", "/0", "/1", "/2", "/3"}
    assert "/robots.txt" in {request.path for request in site.requests}, "a copy holds for a day, not for a year"
    assert runs.crawl(SOON) == {"/3"}, "what failed; the pages are as good as any that were visited today"
    assert all(page.due_at < LATER for page in runs.database.pages.all())


def test_a_recheck_visits_the_pages_at_once_and_then_as_ever(runs: Runs) -> None:
    runs.crawl(BEFORE)
    runs.recheck(AHEAD)
    assert set(runs.recheck(RIGHT)) == {"/", "/0", "/1", "/2"}
    assert runs.recheck(SOON) == {}
    assert set(runs.recheck(LATER)) == {"/", "/0", "/1", "/2"}
    histories = [runs.database.pages.history(page.id) for page in runs.database.pages.all()]
    assert all([at for at, _ in history] == [BEFORE, RIGHT, RIGHT, LATER] for history in histories)


def test_a_page_that_was_missed_ahead_is_not_dead_for_the_days_in_between(runs: Runs, site: Site) -> None:
    runs.crawl(BEFORE)
    del site.pages["/1"]
    assert runs.recheck(AHEAD)["/1"] == "unreachable"
    assert runs.recheck(RIGHT)["/1"] == "unreachable"
    page = next(page for page in runs.database.pages.all() if page.url.endswith("/1"))
    assert (page.state, page.missing_since, page.misses) == (PageState.UNREACHABLE, RIGHT, 2)


def test_a_clock_that_is_put_back_by_minutes_has_nothing_fetched_again(runs: Runs, site: Site) -> None:
    del site.pages["/3"]
    runs.crawl("2026-11-30T08:30:00Z")
    assert runs.crawl(RIGHT) == set()
