"""The pool of visits, with a fetch that answers at once."""

import time
from typing import Any

import pytest

from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.urls import host_of
from kbcite.web.scope import Scope
from kbcite.web.visitor import ClosedHost, Done, Fetch, Job, Visitor, VisitPool

NOW = "2026-11-30T12:00:00Z"


def page(url: str, status: int = 200) -> FetchedPage:
    return FetchedPage(url, url, status, (), b"x", NOW)


def answer_at_once(url: str, **_: Any) -> FetchedPage | FetchFailure:
    return page(url)


def run(
    urls: list[str], fetch: Fetch = answer_at_once, **settings: Any
) -> tuple[list[Done[int]], list[ClosedHost[int]]]:
    """What came of the URLs, in the order it came."""
    options = CrawlSettings(**({"threads": 4, "private_interval_s": 0.0} | settings))
    hosts = sorted({host_of(url) for url in urls})
    scope = Scope([SourceSettings(url=f"{host}/", allow_private=True, obey_robots=False) for host in hosts])
    pool: VisitPool[int] = VisitPool(Visitor(fetch, scope, options, {}, lambda: NOW), options.threads, options.retries)
    for n, url in enumerate(urls):
        pool.add(Job(url, n))
    done: list[Done[int]] = []
    closed: list[ClosedHost[int]] = []
    try:
        for batch in pool.batches(lambda: False):
            done += batch.done
            closed += batch.closed
    finally:
        pool.close()
    return done, closed


def test_every_job_comes_back_once_in_its_hosts_order() -> None:
    urls = [f"http://h{n % 7}.example/{n}" for n in range(500)]
    done, closed = run(urls, threads=1)
    assert sorted(one.job.payload for one in done) == list(range(500))
    assert closed == []
    ours = [one.job.payload for one in done if one.job.url.startswith("http://h3.")]
    assert ours == sorted(ours)


def cpu_s(count: int) -> float:
    began = time.process_time()
    done, _ = run([f"http://a.example/{count}/{n}" for n in range(count)])
    assert len(done) == count
    return time.process_time() - began


def test_a_long_queue_costs_no_more_a_page_than_a_short_one() -> None:
    cpu_s(200)
    assert cpu_s(20_000) < 40 * 3 * cpu_s(500)


def test_many_hosts_cost_no_more_a_page_than_few() -> None:
    def cost(hosts: int) -> float:
        began = time.process_time()
        done, _ = run([f"http://h{n % hosts}.example/{n}" for n in range(3_000)])
        assert len(done) == 3_000
        return time.process_time() - began

    cost(10)
    # 1.5 to 2.5 as a rule; a search through all hosts at each turn would make it hundreds.
    assert min(cost(1_500), cost(1_500)) < 15 * cost(10)


def test_a_job_that_waits_for_its_next_try_does_not_hold_up_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbcite.web.frontier.RETRY_BASE_S", 0.3)
    tries = []

    def fetch(url: str, **_: Any) -> FetchedPage | FetchFailure:
        tries.append(url[-1])
        return FetchFailure(url, "timeout", "", True) if url.endswith("0") and tries.count("0") == 1 else page(url)

    done, _ = run([f"http://a.example/{n}" for n in range(4)], fetch, threads=1)
    assert tries == ["0", "1", "2", "3", "0"]
    assert [one.job.tries for one in done if one.job.payload == 0] == [2]


def test_a_host_that_closes_gives_back_what_waited_for_it() -> None:
    def fetch(url: str, **_: Any) -> FetchedPage | FetchFailure:
        return FetchFailure(url, "connect", "", True) if "bad" in url else page(url)

    urls = [f"http://{name}.example/{n}" for n in range(40) for name in ("bad", "good")]
    done, closed = run(urls, fetch, threads=2, retries=0)
    assert [host.host for host in closed] == ["http://bad.example"]
    assert len(done) + len(closed[0].jobs) == 80
    assert sum("good" in one.job.url for one in done) == 40
