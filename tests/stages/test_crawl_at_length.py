"""Crawls that take a while: manners by the servers' log, memory over many pages. The figures themselves are `make bench`'s."""

import os

import pytest

from kbcite.settings import CrawlSettings
from tests.bench.crawl_manners import crawl_politely
from tests.bench.crawl_memory import MAX_SLOPE_MB, memory_of_crawl, slope_mb

PAGES = 100_000 if os.environ.get("KBCITE_FAULTS") == "nightly" else 4_000


@pytest.mark.slow
def test_fifty_hosts_are_crawled_side_by_side_and_none_above_its_rate() -> None:
    found = crawl_politely(pages=8, settings=CrawlSettings(private_interval_s=1.0, jitter=0.05))
    assert found.fastest_rate <= 1.0
    # What a busy machine delays on its way makes the next gap look shorter.
    assert found.shortest_gap_s > 0.7
    # One host after the other would take fifty times as long; the bar of 1.1 is for a machine that does nothing else.
    assert found.ratio < 1.5


@pytest.mark.slow
def test_memory_and_open_files_stay_as_they_are_over_thousands_of_pages() -> None:
    samples = memory_of_crawl(PAGES)
    assert slope_mb(samples) < MAX_SLOPE_MB
    files = [one.files for one in samples[len(samples) // 4 :]]
    assert max(files) - min(files) <= 2
