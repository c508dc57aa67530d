"""Recheck: the pages that are due, asked for again under the same rules as a crawl, and what became of them.

What a visit means is said by `recheck_verdict.py`, when the next one comes by `web/schedule.py`. Bytes that say the same as those before
are kept, and nothing of them is embedded by what follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from kbcite.clock import Clock, seconds_between, system_clock
from kbcite.errors import NotFound
from kbcite.fetch_records import Evidence, FetchedPage
from kbcite.records import PageState, Skipped, Stage
from kbcite.settings import CrawlSettings, RecheckSettings, SourceSettings
from kbcite.stages.recheck_verdict import CleanPage, Judge, Rechecked, Verdict
from kbcite.store.archive import Archive
from kbcite.store.clock_ahead import take_back_dates
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.store.pages import PageRow
from kbcite.urls import given_url, url_key
from kbcite.web.liveness import wants_full_fetch
from kbcite.web.schedule import BANDS, change_rate, spans_of, urgency, with_last_modified
from kbcite.web.scope import Scope
from kbcite.web.visitor import HOST_CLOSED, Done, Fetch, Job, Visitor, VisitPool


def recheck_pages(
    database: Database,
    archive: Archive,
    fetch: Fetch,
    sources: Sequence[SourceSettings],
    clean: CleanPage,
    *,
    urls: Sequence[str] = (),
    everything: bool = False,
    settings: CrawlSettings | None = None,
    recheck: RecheckSettings | None = None,
    clock: Clock = system_clock,
    should_stop: Callable[[], bool] = lambda: False,
    limit: int | None = None,
    max_time_s: float | None = None,
) -> Iterator[Rechecked | Skipped]:
    """One record a page, after it was stored: the pages that are due, the most urgent first; `urls` alone; or `everything`.

    A page that is no longer covered or that robots.txt now disallows is skipped, not fetched. What a stopped run did not reach
    stays due. With `urls` or `everything` a page whose archived bytes are damaged is fetched in full. Raises NotFound for a URL
    that is not stored.
    """
    with database.transaction():
        take_back_dates(database.connection, clock())
    run = _Run(
        database, archive, fetch, sources, clean, settings or CrawlSettings(), recheck or RecheckSettings(), clock
    )
    pages = run.choose(urls, everything, limit)
    until = None if max_time_s is None else time.monotonic() + max_time_s
    return run.records(pages, lambda: should_stop() or (until is not None and time.monotonic() >= until))


class _Run:
    def __init__(
        self,
        database: Database,
        archive: Archive,
        fetch: Fetch,
        sources: Sequence[SourceSettings],
        clean: CleanPage,
        settings: CrawlSettings,
        recheck: RecheckSettings,
        clock: Clock,
    ) -> None:
        self._database = database
        self._pages = database.pages
        self._archive = archive
        self._clock = clock
        self._scope = Scope(sources, forgotten_places(database.connection))
        self._visitor = Visitor(fetch, self._scope, settings, database.frontier.robots(), clock)
        self._pool: VisitPool[PageRow] = VisitPool(self._visitor, settings.threads, settings.retries)
        self._judge = Judge(database.pages, archive, clean, self._visitor, self._scope, recheck, clock)
        self._is_repair = False
        """Whether archived bytes are read to see that they are whole: each costs more than its request."""

    def choose(self, urls: Sequence[str], everything: bool, limit: int | None) -> list[PageRow]:
        self._is_repair = bool(urls) or everything
        if urls:
            return [self._find(url) for url in urls]
        now = self._clock()
        pages = list(self._pages.all()) if everything else self._pages.due(now)
        return sorted(pages, key=lambda page: (*self._urgency(page, now), page.url))[:limit]

    def _find(self, url: str) -> PageRow:
        resolved = given_url(url)
        page = self._pages.get(resolved, url_key(resolved))
        if page is None:
            raise NotFound(f'{url} is not in the store; "kbcite crawl {url}" fetches it')
        return page

    def _urgency(self, page: PageRow, now: str) -> tuple[int, float]:
        history = with_last_modified(self._pages.history(page.id), page.last_modified)
        return urgency(
            change_rate(spans_of(history)),
            seconds_between(page.fetched_at, now),
            BANDS[self._judge.tier_of(page.url)],
            is_marked=page.marked_at is not None,
            is_in_trouble=page.misses > 0 or page.failures > 0,
        )

    # ------------------------------------------------------------ the loop

    def records(self, pages: list[PageRow], should_stop: Callable[[], bool]) -> Iterator[Rechecked | Skipped]:
        try:
            for page in pages:
                self._pool.add(self._job(page))
            for batch in self._pool.batches(should_stop):
                for closed in batch.closed:
                    detail = f"{closed.reason}; {len(closed.jobs)} pages wait for the next run"
                    yield Skipped(closed.host, Stage.RECHECK, HOST_CLOSED, detail)
                yield from self._store(batch.done)
        finally:
            self._pool.close()

    def _job(self, page: PageRow) -> Job[PageRow]:
        is_old = wants_full_fetch(*self._pages.since_full_fetch(page.id), self._clock())
        if page.state is PageState.MOVED or is_old or page.marked_at is not None or page.digest is None:
            return Job(page.url, page)
        is_kept = self._archive.is_whole if self._is_repair else self._archive.has
        if not is_kept(page.digest):
            return Job(page.url, page)
        return Job(page.url, page, page.etag, page.last_modified)

    def _store(self, pending: Sequence[Done[PageRow]]) -> list[Rechecked | Skipped]:
        """Judge and record a batch; its records may be reported when this returns."""
        if not pending:
            return []
        digests: dict[int, str] = {}
        with self._archive.transaction():
            for n, done in enumerate(pending):
                if isinstance(done.result, FetchedPage) and 200 <= done.result.status < 300 and done.result.body:
                    digests[n] = self._archive.put_response(done.result)
        outcomes = [self._judge.verdict(done.job.payload, done.result) for done in pending]
        with self._database.transaction():
            for n, (done, outcome) in enumerate(zip(pending, outcomes, strict=True)):
                if isinstance(outcome, Verdict):
                    self._record(done.job.payload, outcome, digests.get(n))
                elif outcome is not None and outcome.reason != HOST_CLOSED:
                    page = done.job.payload
                    due_at = self._judge.next_visit(page.url, self._clock(), Evidence(PageState.ALIVE))
                    self._pages.postpone(page.id, due_at)
            for copy in self._visitor.new_robots():
                self._database.frontier.save_robots(copy)
        return [o.report if isinstance(o, Verdict) else o for o in outcomes if o is not None]

    # ------------------------------------------------------------ recording

    def _record(self, page: PageRow, verdict: Verdict, digest: str | None) -> None:
        report = verdict.report
        if report.outcome == "unchanged" and report.digest == page.digest:
            self._pages.save_unchanged(page.id, self._clock(), report.due_at, verdict.stored)
            return
        if verdict.stored is not None and digest is not None:
            self._keep(verdict.stored, verdict.stored_url, digest, page, report)
        if report.outcome not in ("changed", "unchanged"):
            self._pages.save_trouble(
                page.id,
                self._clock(),
                evidence=report.evidence,
                due_at=report.due_at,
                status=verdict.status,
                detail=report.detail,
                moved_to=report.moved_to,
            )

    def _keep(self, result: FetchedPage, url: str, digest: str, page: PageRow, report: Rechecked) -> None:
        """Store new bytes: of the page itself, or of the address that it moved to."""
        source = self._scope.source_of(url)
        is_new_page = url != page.url
        self._pages.save_fetch(
            url,
            result,
            digest,
            source=source.url if source else page.source,
            source_type=source.type if source else page.source_type,
            labels=source.labels if source else page.labels,
            due_at=self._judge.next_visit(url, result.fetched_at, Evidence(PageState.ALIVE))
            if is_new_page
            else report.due_at,
            state=PageState.ALIVE if is_new_page else report.evidence.state,
            is_same_text=report.outcome == "unchanged",
        )
        self._pages.add_alias(url_key(url), url)
        if is_new_page:
            self._pages.add_alias(page.url_key, url)
