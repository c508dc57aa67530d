"""Crawl: the sources' pages into the archive, links followed inside the whitelist.

What is known of each URL stands in the frontier table before its request goes out, so that a killed run goes on where it was. Threads
only fetch; everything else happens here in batches: bytes into the archive, then (decoded only now) links and outcomes into the
database in one transaction, and only then is anything reported. `crawl_queue.py` decides what is fetched next, `crawl_results.py`
what an answer means.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kbcite.clock import Clock, from_text, system_clock
from kbcite.page.feeds import LIST_TYPES
from kbcite.records import FetchedPage
from kbcite.settings import CrawlSettings, RecheckSettings, SourceSettings
from kbcite.stages.crawl_queue import CrawlQueue, Seed
from kbcite.stages.crawl_results import Crawled, CrawlEvent, CrawlResults, is_full, is_list
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.frontier import FrontierRow
from kbcite.web.fetch import HTML_TYPES
from kbcite.web.link_filter import LinkFilter
from kbcite.web.liveness import wants_full_fetch
from kbcite.web.scope import Scope
from kbcite.web.visitor import Done, Fetch, Job, Visitor, VisitPool


def crawl_site(
    database: Database,
    archive: Archive,
    fetch: Fetch,
    sources: Sequence[SourceSettings],
    *,
    urls: Sequence[str] = (),
    settings: CrawlSettings | None = None,
    recheck: RecheckSettings | None = None,
    clock: Clock = system_clock,
    should_stop: Callable[[], bool] = lambda: False,
    max_pages: int | None = None,
    max_time_s: float | None = None,
) -> Iterator[CrawlEvent]:
    """One event a finished URL, each after it was stored: a page, a skip with its reason, or a failure.

    sources: the whole whitelist. urls: start from these instead of the sources' seeds, and leave what else is known alone. A run
    that is stopped, or reaches `max_pages` or `max_time_s`, is taken up by the next one. Raises UsageError for a URL that no source
    covers, before anything is fetched.
    """
    run = _Run(database, archive, fetch, sources, settings or CrawlSettings(), recheck or RecheckSettings(), clock)
    seeds = run.queue.seeds_of(urls)
    limits = _Limits(should_stop, max_pages, None if max_time_s is None else time.monotonic() + max_time_s)
    return run.events(seeds, limits, keep=bool(urls))


@dataclass(frozen=True, slots=True)
class _Limits:
    should_stop: Callable[[], bool]
    max_pages: int | None
    until: float | None

    def are_reached(self, pages: int) -> bool:
        return (
            self.should_stop()
            or (self.max_pages is not None and pages >= self.max_pages)
            or (self.until is not None and time.monotonic() >= self.until)
        )


class _Run:
    def __init__(
        self,
        database: Database,
        archive: Archive,
        fetch: Fetch,
        sources: Sequence[SourceSettings],
        settings: CrawlSettings,
        recheck: RecheckSettings,
        clock: Clock,
    ) -> None:
        self._database = database
        self._pages = database.pages
        self._archive = archive
        self._clock = clock
        scope = Scope(sources)
        robots = database.frontier.robots()
        link_filter = LinkFilter(scope, from_text(clock()).year)
        self._visitor = Visitor(fetch, scope, settings, robots, clock, (*HTML_TYPES, *LIST_TYPES))
        self._pool: VisitPool[FrontierRow] = VisitPool(self._visitor, settings.threads, settings.retries)
        self.queue = CrawlQueue(database, scope, sources, link_filter, clock)
        self._results = CrawlResults(database.pages, archive, self.queue, scope, link_filter, recheck, clock)
        self._fetched = 0

    def events(self, seeds: list[Seed], limits: _Limits, keep: bool) -> Iterator[CrawlEvent]:
        def should_stop() -> bool:
            return limits.are_reached(self._fetched)

        def refill() -> None:
            room = None if limits.max_pages is None else limits.max_pages - self._fetched
            now = self._clock()
            for row in self.queue.take(self._pool.count_waiting, room):
                self._pool.add(self._job(row, now))

        try:
            self.queue.begin(seeds, keep)
            for batch in self._pool.batches(should_stop, refill):
                for closed in batch.closed:
                    yield self.queue.leave_host(closed)
                events = self._store(batch.done)
                self._fetched += sum(isinstance(event, Crawled) for event in events)
                yield from events
            with self._database.transaction():
                over = self.queue.end()
                for copy in self._visitor.new_robots():
                    self._database.frontier.save_robots(copy)
            yield from over
        finally:
            self._pool.close()

    def _job(self, row: FrontierRow, now: str) -> Job[FrontierRow]:
        """The request for a URL, conditional where its bytes are stored."""
        page = self._pages.get(row.url, row.url_key)
        if page is None or page.digest is None or page.url != row.url or not (page.etag or page.last_modified):
            return Job(row.url, row)
        if wants_full_fetch(*self._pages.since_full_fetch(page.id), now) or not self._archive.is_whole(page.digest):
            return Job(row.url, row)
        return Job(row.url, row, page.etag, page.last_modified)

    def _store(self, pending: Sequence[Done[FrontierRow]]) -> list[CrawlEvent]:
        """Archive and record a batch; its events may be reported when this returns."""
        if not pending:
            return []
        digests: dict[int, str] = {}
        with self._archive.transaction():
            for n, done in enumerate(pending):
                if isinstance(done.result, FetchedPage) and is_full(done.result) and not is_list(done.result):
                    digests[n] = self._archive.put_response(done.result)
        events: list[CrawlEvent] = []
        with self._database.transaction():
            for n, done in enumerate(pending):
                self.queue.came_back(done.job.payload)
                event = self._results.settle(done, digests.get(n))
                if event is not None:
                    events.append(event)
            for copy in self._visitor.new_robots():
                self._database.frontier.save_robots(copy)
                self.queue.add_sitemaps(copy)
        return events
