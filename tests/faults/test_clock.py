"""The system's clock set back or forward while a crawl runs: the pace follows the monotonic clock, nothing stalls, nothing is lost."""

from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kbcite.clock import Clock, to_text
from kbcite.page.cleaning import clean_page
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import Crawled, crawl_site
from kbcite.stages.recheck import Rechecked, recheck_pages
from kbcite.store.archive import ARCHIVE_NAME, Archive
from kbcite.store.database import DATABASE_NAME, Database
from kbcite.web.fetch import Fetcher
from tests.faults.lab import PAGES, fill
from tests.site_server import Site

INTERVAL_S = 0.03
SETTINGS = CrawlSettings(threads=4, private_interval_s=INTERVAL_S, jitter=0.1)
# In Berlin the clocks went back an hour at this moment; kbcite's times are UTC and must not notice.
START = datetime(2026, 10, 25, 0, 59, 58, tzinfo=UTC)

JUMPS = {
    "back an hour": timedelta(hours=-1),
    "forward a year": timedelta(days=365),
    "forward an hour, as in spring": timedelta(hours=1),
    "back a day": timedelta(days=-1),
    "back to 1970": datetime(1970, 1, 1, tzinfo=UTC) - START,
    "to and fro": timedelta(days=40),
}


def jumping(jump: timedelta, is_back_and_forth: bool) -> Clock:
    """A clock that runs on, but for a jump at its 30th reading, or at every one."""
    started = time.monotonic()
    readings = itertools.count()

    def now() -> str:
        n = next(readings)
        has_jumped = n % 2 == 1 if is_back_and_forth else n >= 30
        return to_text(START + timedelta(seconds=time.monotonic() - started) + jump * has_jumped)

    return now


@pytest.mark.parametrize("name", JUMPS)
def test_a_clock_that_jumps_neither_stalls_a_crawl_nor_makes_it_burst(
    name: str, fault_site: Site, tmp_path: Path
) -> None:
    fill(fault_site)
    fault_site.requests.clear()
    clock = jumping(JUMPS[name], name == "to and fro")
    sources = [SourceSettings(url=f"{fault_site.url}/", depth=50, allow_private=True)]
    started = time.monotonic()
    with (
        Database(tmp_path / DATABASE_NAME) as database,
        Archive(tmp_path / ARCHIVE_NAME) as archive,
        Fetcher(SETTINGS, allow_private=lambda _: True, clock=clock) as fetcher,
    ):
        events = list(crawl_site(database, archive, fetcher.fetch, sources, settings=SETTINGS, clock=clock))
        took = time.monotonic() - started
        assert sum(isinstance(event, Crawled) for event in events) == PAGES
        times = [request.at for request in fault_site.requests]
        # robots.txt has a turn too; one that arrives late on a busy machine makes the gap behind it short, so the stretch counts.
        assert times[-1] - times[0] > (len(times) - 1) * INTERVAL_S * 0.95
        assert took < 10 * (len(times) * INTERVAL_S + 1)
        records = list(
            recheck_pages(
                database,
                archive,
                fetcher.fetch,
                sources,
                clean_page,
                everything=True,
                settings=CrawlSettings(threads=4),
                clock=clock,
            )
        )
        assert [record.outcome for record in records if isinstance(record, Rechecked)] == ["unchanged"] * PAGES
