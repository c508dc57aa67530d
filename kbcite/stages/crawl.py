"""Crawl: the sources' pages into the archive, links followed inside the whitelist.

What is known of each URL stands in the frontier table before its request goes out, so that a killed run goes on where it was. Threads
only fetch; everything else happens here in batches: bytes into the archive, then (decoded only now) links and outcomes into the
database in one transaction, and only then is anything reported. `crawl_queue.py` decides what is fetched next, `crawl_results.py`
what an answer means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kbcite.clock import Clock, from_text, system_clock
from kbcite.fetch_records import FetchedPage
from kbcite.page.feeds import LIST_TYPES
from kbcite.settings import CrawlSettings, RecheckSettings, SourceSettings
from kbcite.stages.crawl_queue import RUN_BUDGET, CrawlQueue, LeftOut, Seed
from kbcite.stages.crawl_results import Crawled, CrawlEvent, CrawlResults, is_full, is_list
from kbcite.store.archive import Archive
from kbcite.store.clock_ahead import take_back_dates
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.store.frontier import FrontierRow
from kbcite.web.budget import Budget, Spent
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
    everything: bool = False,
    settings: CrawlSettings | None = None,
    recheck: RecheckSettings | None = None,
    clock: Clock = system_clock,
    should_stop: Callable[[], bool] = lambda: False,
    max_pages: int | None = None,
    max_bytes: int | None = None,
    max_time_s: float | None = None,
) -> Iterator[CrawlEvent]:
    """One event a finished URL, each after it was stored: a page, a skip with its reason, or a failure; then what was left out.

    sources: the whole whitelist. What is known is fetched again when it is due, or with `everything` now. urls: start from these
    instead of the sources' seeds, due or not, and leave what else is known alone. A run that is stopped, or reaches a limit
    (`max_pages`, `max_bytes` on the wire, `max_time_s`; without them the settings' own), is taken up by the next one. Raises
    UsageError for a URL that no source covers, before anything is fetched.
    """
    with database.transaction():
        take_back_dates(database.connection, clock())
    options = (settings or CrawlSettings(), recheck or RecheckSettings())
    run = _Run(database, archive, fetch, Scope(sources, forgotten_places(database.connection, urls)), *options, clock)
    seeds = run.queue.seeds_of(urls)
    of_settings = _of_run(run.settings)
    limits = Budget(
        of_settings.pages if max_pages is None else max_pages,
        of_settings.bytes if max_bytes is None else max_bytes,
        of_settings.seconds if max_time_s is None else max_time_s,
    )
    return run.events(seeds, limits, should_stop, keep=bool(urls), everything=everything)


class _Run:
    def __init__(
        self,
        database: Database,
        archive: Archive,
        fetch: Fetch,
        scope: Scope,
        settings: CrawlSettings,
        recheck: RecheckSettings,
        clock: Clock,
    ) -> None:
        self.settings = settings
        self._database = database
        self._pages = database.pages
        self._archive = archive
        self._clock = clock
        self._spent = Spent()
        self._of_host: dict[str, Spent] = {}
        self._host_budget = _of_host(settings)
        robots = database.frontier.robots()
        link_filter = LinkFilter(scope, from_text(clock()).year)
        self._visitor = Visitor(fetch, scope, settings, robots, clock, (*HTML_TYPES, *LIST_TYPES))
        self._pool: VisitPool[FrontierRow] = VisitPool(self._visitor, settings.threads, settings.retries)
        self.queue = CrawlQueue(database.frontier, scope, scope.sources, link_filter, clock, self._host_budget.pages)
        self._results = CrawlResults(database.pages, archive, self.queue, scope, link_filter, recheck, clock)

    def events(
        self, seeds: list[Seed], limits: Budget, is_stopped: Callable[[], bool], *, keep: bool, everything: bool
    ) -> Iterator[CrawlEvent]:
        def should_stop() -> bool:
            return is_stopped() or limits.why_spent(self._spent) is not None

        def refill() -> None:
            if not self.queue.low(self._pool.count_waiting):
                return
            room = None if limits.pages is None else limits.pages - self._spent.pages
            with self._database.transaction():
                rows = self.queue.take(self._pool.count_waiting, room)
            for row in rows:
                self._pool.add(self._job(row, self._clock()))

        try:
            with self._database.transaction():
                self.queue.begin(seeds, keep=keep, everything=everything)
                if not keep:
                    self._results.read_unread_links()
            for batch in self._pool.batches(should_stop, refill):
                for closed in batch.closed:
                    with self._database.transaction():
                        left = self.queue.leave_host(closed)
                    yield left
                yield from self._store(batch.done)
                self._close_spent_hosts(batch.done)
            with self._database.transaction():
                over = self.queue.end()
                for copy in self._visitor.new_robots():
                    self._database.frontier.save_robots(copy)
            yield from over
            if (why := limits.why_spent(self._spent)) and (waiting := self.queue.count_waiting()):
                yield LeftOut(
                    "this run", RUN_BUDGET, waiting, f"its limit of {why} is reached; they wait for the next run"
                )
        finally:
            self._pool.close()

    def _close_spent_hosts(self, done: Sequence[Done[FrontierRow]]) -> None:
        """Leave the hosts alone that have used up what one host may take of a run."""
        for host in {one.job.payload.host for one in done}:
            if why := self._host_budget.why_spent(self._of_host[host]):
                reason = f"its limit of {why} a run is reached"
                self._visitor.pace_of(f"{host}/").close(reason)
                self.queue.note_spent(host, reason)

    def _job(self, row: FrontierRow, now: str) -> Job[FrontierRow]:
        """The request for a URL, conditional where its bytes are stored."""
        page = self._pages.get(row.url, row.url_key)
        if page is None or page.digest is None or page.url != row.url or not (page.etag or page.last_modified):
            return Job(row.url, row)
        if page.marked_at is not None:  # who named it out of date knows better than its ETag
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
                self._pool.keep_going()
        events: list[CrawlEvent] = []
        with self._database.transaction():
            for n, done in enumerate(pending):
                event = self._results.settle(done, digests.get(n))
                self.queue.came_back(done.job.payload, is_page=isinstance(event, Crawled))
                length = done.result.encoded_length if isinstance(done.result, FetchedPage) else 0
                for spent in (self._spent, self._of_host.setdefault(done.job.payload.host, Spent())):
                    spent.add(int(isinstance(event, Crawled)), length)
                if event is not None:
                    events.append(event)
                self._pool.keep_going()
            for copy in self._visitor.new_robots():
                self._database.frontier.save_robots(copy)
                self.queue.add_sitemaps(copy)
        return events


def _of_run(settings: CrawlSettings) -> Budget:
    return Budget(settings.run_pages or None, settings.run_bytes or None, settings.run_minutes * 60 or None)


def _of_host(settings: CrawlSettings) -> Budget:
    return Budget(settings.host_pages or None, settings.host_bytes or None, settings.host_minutes * 60 or None)
