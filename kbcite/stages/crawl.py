"""Crawl: the sources' pages into the archive, links followed inside the whitelist.

What is known of each URL stands in the frontier table before its request goes out, so that a killed run goes on where it was. Threads
only fetch; everything else happens here in batches: bytes into the archive, then (decoded only now) links and outcomes into the
database in one transaction, and only then is anything reported.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kbcite.clock import Clock, from_text, system_clock
from kbcite.errors import NotFound, UsageError
from kbcite.page.encoding import decode
from kbcite.page.feeds import LIST_TYPES, read_list
from kbcite.page.interstitial import recognise
from kbcite.page.links import read_links
from kbcite.records import Evidence, FetchedPage, FetchFailure, PageState, RobotsCopy, Skipped, Stage
from kbcite.settings import CrawlSettings, RecheckSettings, SourceSettings
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.frontier import FrontierRow, NewUrl, UrlState
from kbcite.store.pages import PageRow
from kbcite.urls import host_of, resolve, url_key
from kbcite.web.fetch import HTML_TYPES
from kbcite.web.frontier import is_trouble
from kbcite.web.link_filter import LinkFilter
from kbcite.web.liveness import (
    after_failure,
    after_missing,
    is_missing,
    is_sent_home,
    moved_to,
    next_visit,
    trouble_detail,
    wants_full_fetch,
)
from kbcite.web.robots import Robots, header_tags
from kbcite.web.scope import Scope
from kbcite.web.visitor import HOST_CLOSED, INTERRUPTED, NOT_FETCHED, ClosedHost, Done, Fetch, Job, Visitor, VisitPool

CLAIM = 64
"""URLs of a host that are taken from the frontier at a time."""


@dataclass(frozen=True, slots=True)
class Crawled:
    """A page that was fetched and stored."""

    url: str
    """The page's address, after redirects."""
    requested_url: str
    outcome: str
    """`new`, `changed` or `unchanged`."""
    status: int
    digest: str
    encoded_length: int
    depth: int
    source: str


CrawlEvent = Crawled | Skipped | FetchFailure


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
    seeds = run.seeds_of(urls)
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
        self._frontier = database.frontier
        self._archive = archive
        self._settings = settings
        self._recheck = recheck
        self._clock = clock
        self._scope = Scope(sources)
        robots = database.frontier.robots()
        self._visitor = Visitor(fetch, self._scope, settings, robots, clock, (*HTML_TYPES, *LIST_TYPES))
        self._pool: VisitPool[FrontierRow] = VisitPool(self._visitor, settings.threads, settings.retries)
        self._filter = LinkFilter(self._scope, from_text(clock()).year)
        self._sources = {source.url: source for source in sources}
        self._hosts: dict[str, set[str]] = {}
        self._claimed: Counter[str] = Counter()
        self._stored: Counter[str] = Counter()
        self._closed_hosts: set[str] = set()
        self._fetched = 0
        self._left_out: Counter[tuple[str, str]] = Counter()

    def seeds_of(self, urls: Sequence[str]) -> list[tuple[str, SourceSettings]]:
        """Where to start, each with its source. Raises UsageError."""
        if not self._sources and not urls:
            raise NotFound('no sources yet; add one with "kbcite source add URL"')
        seeds = []
        for url in urls or self._sources:
            resolved = resolve(url, url)
            if resolved is None:
                raise UsageError(f"{url!r} is not an http or https URL")
            seeds.append((resolved, self._scope.require_source(resolved) if urls else self._sources[url]))
        return seeds

    # ------------------------------------------------------------ the loop

    def events(self, seeds: list[tuple[str, SourceSettings]], limits: _Limits, keep: bool) -> Iterator[CrawlEvent]:
        active = list(dict.fromkeys(source.url for _, source in seeds))

        def should_stop() -> bool:
            return limits.are_reached(self._fetched)

        def refill() -> None:
            self._refill(active, None if limits.max_pages is None else limits.max_pages - self._fetched)

        try:
            self._begin(seeds, active, keep)
            for batch in self._pool.batches(should_stop, refill):
                for closed in batch.closed:
                    yield self._leave_host(closed, active)
                events = self._store(batch.done)
                self._fetched += sum(isinstance(event, Crawled) for event in events)
                yield from events
            yield from self._end(active)
        finally:
            self._pool.close()

    def _begin(self, seeds: list[tuple[str, SourceSettings]], active: list[str], keep: bool) -> None:
        now = self._clock()
        with self._database.transaction():
            for source in active:
                self._frontier.begin_pass(source, now, keep=keep)
            for url, source_settings in seeds:
                key = url_key(url)
                if not self._frontier.add([NewUrl(key, url, source_settings.url, host_of(url), 0)], now) and keep:
                    self._frontier.requeue(key)
        for source in active:
            self._hosts[source] = set(self._frontier.hosts(source, now))
            self._stored[source] = self._frontier.count_pages(source)

    def _refill(self, active: list[str], run_room: int | None) -> None:
        """Take URLs from the frontier where a host's queue runs low; they are in flight in the database from here on.

        run_room: pages that the run may still bring, those under way included.
        """
        wanted = [
            (host, source)
            for source in active
            for host in self._hosts[source]
            if host not in self._closed_hosts and self._pool.count_waiting(host) < CLAIM // 4
        ]
        if not wanted:
            return
        now = self._clock()
        jobs = []
        with self._database.transaction():
            for host, source in wanted:
                room = self._sources[source].max_pages - self._stored[source] - self._claimed[source]
                if run_room is not None:
                    room = min(room, run_room - self._claimed.total())
                limit = min(CLAIM, room)
                rows = self._frontier.claim(host, source, limit, now) if limit > 0 else []
                if limit > 0 and len(rows) < limit:
                    self._hosts[source].discard(host)
                for row in rows:
                    if refusal := self._filter.refusal(row.url, self._sources[source], row.depth):
                        self._leave_out(row.url_key, source, refusal, now)
                    else:
                        self._claimed[source] += 1
                        jobs.append(self._job(row, now))
        for job in jobs:
            self._pool.add(job)

    def _job(self, row: FrontierRow, now: str) -> Job[FrontierRow]:
        """The request for a URL, conditional where its bytes are stored."""
        page = self._pages.get(row.url, row.url_key)
        if page is None or page.digest is None or page.url != row.url or not (page.etag or page.last_modified):
            return Job(row.url, row)
        if wants_full_fetch(*self._pages.since_full_fetch(page.id), now) or not self._archive.is_whole(page.digest):
            return Job(row.url, row)
        return Job(row.url, row, page.etag, page.last_modified)

    def _leave_host(self, closed: ClosedHost[FrontierRow], active: list[str]) -> Skipped:
        """Put the URLs of a host that is in trouble back for the next run."""
        now = self._clock()
        self._closed_hosts.add(closed.host)
        with self._database.transaction():
            for job in closed.jobs:
                self._frontier.defer(job.payload.url_key, now, HOST_CLOSED, closed.reason)
                self._claimed[job.payload.source] -= 1
        for source in active:
            self._hosts[source].discard(closed.host)
        detail = f"{closed.reason}; what is left of it waits for the next run"
        return Skipped(closed.host, Stage.CRAWL, HOST_CLOSED, detail)

    def _end(self, active: list[str]) -> Iterator[Skipped]:
        """Close the passes that are through; say where a source's page limit cut it off."""
        now = self._clock()
        over: list[Skipped] = []
        with self._database.transaction():
            for source in active:
                self._frontier.release(source)
                limit = self._sources[source].max_pages
                if self._stored[source] >= limit:
                    left = self._frontier.settle_queued(source, UrlState.SKIPPED, now, "max_pages")
                    if left:
                        detail = f"{left} URLs beyond the source's {limit} pages; max_pages in kbcite.toml sets it"
                        over.append(Skipped(source, Stage.CRAWL, "max_pages", detail))
                if not self._frontier.counts(source).get(UrlState.QUEUED):
                    self._frontier.end_pass(source, now)
            for copy in self._visitor.new_robots():
                self._frontier.save_robots(copy)
        for (source, reason), count in sorted(self._left_out.items()):
            over.append(Skipped(source, Stage.CRAWL, reason, f"{count} links of this source"))
        yield from over

    # ------------------------------------------------------------ one batch

    def _store(self, pending: Sequence[Done[FrontierRow]]) -> list[CrawlEvent]:
        """Archive and record a batch; its events may be reported when this returns."""
        if not pending:
            return []
        digests: dict[int, str] = {}
        with self._archive.transaction():
            for n, done in enumerate(pending):
                if isinstance(done.result, FetchedPage) and _is_full(done.result) and not _is_xml(done.result):
                    digests[n] = self._archive.put(done.result.body, host_of(done.result.final_url))
        events: list[CrawlEvent] = []
        with self._database.transaction():
            for n, done in enumerate(pending):
                self._claimed[done.job.payload.source] -= 1
                event = self._settle(done, digests.get(n))
                if event is not None:
                    events.append(event)
            for copy in self._visitor.new_robots():
                self._frontier.save_robots(copy)
                self._add_sitemaps(copy)
        return events

    def _settle(self, done: Done[FrontierRow], digest: str | None) -> CrawlEvent | None:
        """Record one result; None for one that goes back into the queue."""
        row, result = done.job.payload, done.result
        if isinstance(result, FetchFailure) and result.reason in (INTERRUPTED, HOST_CLOSED):
            self._frontier.defer(row.url_key, self._clock(), result.reason, result.detail)
            return None
        if isinstance(result, FetchFailure) and result.reason in NOT_FETCHED:
            return self._skip(row, result.reason, result.detail)
        if isinstance(result, FetchedPage):
            if _is_full(result) and _is_xml(result):
                return self._settle_list(row, result)
            if digest is not None:
                return self._settle_page(row, result, digest)
            if result.status == 304 and (page := self._pages.get(row.url, row.url_key)) is not None:
                return self._settle_unmodified(row, result, page)
        return self._settle_trouble(row, result, done.job.tries)

    def _settle_page(self, row: FrontierRow, result: FetchedPage, digest: str) -> CrawlEvent:
        source = self._sources[row.source]
        decoded = decode(result.body, result.header("content-type"))
        links = read_links(decoded.text, result.final_url, decoded.encoding)
        interstitial = recognise(decoded.text, links.refresh)
        if interstitial is not None:
            if interstitial.target is not None:
                self._add_links(row, (interstitial.target,), row.depth)
            return self._skip(row, interstitial.kind, interstitial.detail)
        self._filter.see_page(result.final_url, decoded.text)
        tags = header_tags(result)
        if source.obey_robots and row.depth > 0 and (links.is_noindex or "noindex" in tags):
            return self._skip(row, "noindex", "the page asks not to be kept; obey_robots = false overrules it")
        if not (source.obey_robots and (links.is_nofollow or "nofollow" in tags)):
            self._add_links(row, links.links, row.depth + 1)
        return self._keep(row, result, digest, links.canonical)

    def _settle_list(self, row: FrontierRow, result: FetchedPage) -> Skipped:
        """Queue what a sitemap or a feed lists."""
        links = read_list(result.body, result.final_url)
        if links is None:
            return self._skip(row, "content_type", f"{result.header('content-type')}, neither sitemap nor feed")
        self._add_links(row, links, row.depth + 1)
        return self._skip(row, "list", f"a sitemap or feed of {len(links)} links, followed")

    def _add_sitemaps(self, copy: RobotsCopy) -> None:
        """Queue the sitemaps that a robots.txt names, where a source covers them."""
        found = []
        for url in Robots(copy).sitemaps:
            link = resolve(copy.host, url)
            source = self._scope.source_of(link) if link else None
            if link is not None and source is not None:
                found.append(NewUrl(url_key(link), link, source.url, host_of(link), 0, f"{copy.host}/robots.txt"))
                self._hosts.setdefault(source.url, set()).add(host_of(link))
        self._frontier.add(found, self._clock())

    def _keep(self, row: FrontierRow, result: FetchedPage, digest: str, canonical: str | None) -> Crawled:
        """Record a page under its final URL, with its other addresses."""
        source = self._scope.source_of(result.final_url) or self._sources[row.source]
        key = url_key(result.final_url)
        known = self._pages.of_answer(result.final_url, key, digest)
        url = known.url if known is not None else result.final_url
        is_same = known is not None and known.digest == digest
        is_changed = known is not None and known.digest is not None and not is_same
        self._pages.save_fetch(
            url,
            result,
            digest,
            source=source.url,
            source_type=source.type,
            labels=source.labels,
            due_at=self._next_visit(result.fetched_at, known, is_changed),
            state=known.state
            if known is not None and is_same and known.state is PageState.CHANGED
            else PageState.ALIVE,
        )
        self._pages.add_alias(key, url)
        if row.url_key != key and not is_sent_home(result):
            self._pages.add_alias(row.url_key, url)
        if canonical is not None and self._is_alias(canonical, result.final_url):
            self._pages.add_alias(url_key(canonical), url)
        self._note_move(row, result)
        self._finish(row, result.final_url, key, source)
        outcome = "changed" if is_changed else "unchanged" if is_same else "new"
        return Crawled(url, row.url, outcome, result.status, digest, result.encoded_length, row.depth, source.url)

    def _is_alias(self, canonical: str, url: str) -> bool:
        """Whether a canonical link is to be believed: same host, in scope, and not a page already."""
        return (
            host_of(canonical) == host_of(url)
            and self._scope.source_of(canonical) is not None
            and self._pages.get(canonical, url_key(canonical)) is None
        )

    def _note_move(self, row: FrontierRow, result: FetchedPage) -> None:
        """Where the address asked for was a page until now, and is a redirect."""
        page = self._pages.get(row.url, row.url_key)
        if page is None or page.url != row.url or page.url == result.final_url or not result.redirects:
            return
        before = page.evidence
        target = None if is_sent_home(result) else moved_to(result, before, self._recheck)
        if is_sent_home(result):
            after = after_missing(before, result.fetched_at, self._recheck)
        else:
            after = Evidence(PageState.MOVED) if target else after_failure(before)
        self._save_trouble(page, result, after, f"redirects to {result.final_url}", target)

    def _settle_unmodified(self, row: FrontierRow, result: FetchedPage, page: PageRow) -> Crawled:
        """Record that the stored bytes still hold; their links are read again where this pass may not know them."""
        source = self._sources[row.source]
        self._pages.save_unchanged(page.id, result.fetched_at, self._next_visit(result.fetched_at, page, False))
        digest = page.digest or ""
        snapshot = self._pages.snapshot_by_digest(digest)
        if row.depth < source.depth and snapshot is not None:
            decoded = decode(self._archive.get(digest), snapshot.content_type)
            links = read_links(decoded.text, page.url, decoded.encoding)
            if not (source.obey_robots and links.is_nofollow):
                self._add_links(row, links.links, row.depth + 1)
        self._finish(row, page.url, url_key(page.url), source)
        return Crawled(page.url, row.url, "unchanged", 304, digest, 0, row.depth, source.url)

    def _settle_trouble(
        self, row: FrontierRow, result: FetchedPage | FetchFailure, tries: int
    ) -> FetchFailure | Skipped:
        if isinstance(result, FetchedPage) and 200 <= result.status < 300:
            return self._skip(row, "empty", f"status {result.status} with an empty body")
        if isinstance(result, FetchedPage):
            failure = FetchFailure(
                row.url, f"http_{result.status}", f"status {result.status}", is_trouble(result), result.final_url
            )
        else:
            failure = result
        self._frontier.settle(row.url_key, UrlState.FAILED, self._clock(), failure.reason, failure.detail, tries)
        page = self._pages.get(row.url, row.url_key)
        if page is not None and page.url == row.url:
            before = page.evidence
            now = self._clock()
            after = after_missing(before, now, self._recheck) if is_missing(result) else after_failure(before)
            self._save_trouble(page, result, after, trouble_detail(result))
        return failure

    def _save_trouble(
        self,
        page: PageRow,
        result: FetchedPage | FetchFailure,
        after: Evidence,
        detail: str,
        target: str | None = None,
    ) -> None:
        now = self._clock()
        self._pages.save_trouble(
            page.id,
            now,
            evidence=after,
            due_at=next_visit(now, after, (), self._recheck),
            status=result.status if isinstance(result, FetchedPage) else None,
            detail=detail,
            moved_to=target,
        )

    def _next_visit(self, at: str, page: PageRow | None, is_changed: bool) -> str:
        history = self._pages.history(page.id) if page is not None else []
        return next_visit(at, Evidence(PageState.ALIVE), [*history, (at, is_changed)], self._recheck)

    # ------------------------------------------------------------ the frontier

    def _finish(self, row: FrontierRow, url: str, key: str, source: SourceSettings) -> None:
        """Settle a URL that brought a page, and the page's own address where that is another."""
        now = self._clock()
        if key == row.url_key:
            self._stored[row.source] += 1
            self._frontier.settle(key, UrlState.DONE, now)
            return
        self._frontier.settle(row.url_key, UrlState.DONE, now, "alias", url)
        self._frontier.add([NewUrl(key, url, source.url, host_of(url), row.depth, row.url)], now)
        known = self._frontier.get(key)
        if known is not None and known.state is UrlState.QUEUED:
            self._stored[source.url] += 1
            self._frontier.settle(key, UrlState.DONE, now)

    def _skip(self, row: FrontierRow, reason: str, detail: str) -> Skipped:
        self._frontier.settle(row.url_key, UrlState.SKIPPED, self._clock(), reason, detail)
        return Skipped(row.url, Stage.CRAWL, reason, detail)

    def _add_links(self, row: FrontierRow, links: Sequence[str], depth: int) -> None:
        """Queue the links that a source covers; those it leaves out are recorded with their reason."""
        now = self._clock()
        found: list[NewUrl] = []
        refused: list[tuple[NewUrl, str]] = []
        for link, source, refusal in self._filter.sift(links, depth):
            new = NewUrl(url_key(link), link, source.url, host_of(link), depth, row.url)
            found.append(new)
            if refusal is not None:
                refused.append((new, refusal))
            elif new.host not in self._closed_hosts:
                self._hosts.setdefault(source.url, set()).add(new.host)
        self._frontier.add(found, now)
        for new, refusal in refused:
            known = self._frontier.get(new.url_key)
            if known is not None and known.state is UrlState.QUEUED:
                self._leave_out(new.url_key, new.source, refusal, now)

    def _leave_out(self, key: str, source: str, refusal: str, now: str) -> None:
        reason, _, detail = refusal.partition(": ")
        self._left_out[source, reason] += 1
        self._frontier.settle(key, UrlState.SKIPPED, now, reason, detail)


def _is_xml(page: FetchedPage) -> bool:
    return (page.header("content-type") or "").partition(";")[0].strip().lower() in LIST_TYPES


def _is_full(page: FetchedPage) -> bool:
    return 200 <= page.status < 300 and bool(page.body)
