"""What a crawl fetches next: the frontier table, with the counts and limits of one run over it.

Every URL that is taken is in flight in the database before its request goes out, so that a killed run goes on where it was.
`begin`, `take` and `leave_host` write in a transaction of their own; what settles URLs belongs into the caller's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kbcite.clock import Clock
from kbcite.errors import NotFound, UsageError
from kbcite.records import RobotsCopy, Skipped, Stage
from kbcite.settings import SourceSettings
from kbcite.store.database import Database
from kbcite.store.frontier import FrontierRow, NewUrl, UrlState
from kbcite.urls import host_of, resolve, url_key
from kbcite.web.link_filter import LinkFilter
from kbcite.web.robots import Robots
from kbcite.web.scope import Scope
from kbcite.web.visitor import HOST_CLOSED, ClosedHost

CLAIM = 64
"""URLs of a host that are taken from the frontier at a time."""

Seed = tuple[str, SourceSettings]
"""Where to start, and the source that covers it."""


class CrawlQueue:
    """One run's view of the frontier; belongs to one thread."""

    def __init__(
        self,
        database: Database,
        scope: Scope,
        sources: Sequence[SourceSettings],
        link_filter: LinkFilter,
        clock: Clock,
    ) -> None:
        self._database = database
        self._frontier = database.frontier
        self._scope = scope
        self._filter = link_filter
        self._clock = clock
        self.sources = {source.url: source for source in sources}
        self._active: list[str] = []
        self._hosts: dict[str, set[str]] = {}
        self._claimed: Counter[str] = Counter()
        self._stored: Counter[str] = Counter()
        self._closed_hosts: set[str] = set()
        self._left_out: Counter[tuple[str, str]] = Counter()

    # ------------------------------------------------------------ begin and end of a run

    def seeds_of(self, urls: Sequence[str]) -> list[Seed]:
        """Where to start, each with its source. Raises UsageError for a URL that no source covers."""
        if not self.sources and not urls:
            raise NotFound('no sources yet; add one with "kbcite source add URL"')
        seeds = []
        for url in urls or self.sources:
            resolved = resolve(url, url)
            if resolved is None:
                raise UsageError(f"{url!r} is not an http or https URL")
            seeds.append((resolved, self._scope.require_source(resolved) if urls else self.sources[url]))
        return seeds

    def begin(self, seeds: Sequence[Seed], keep: bool) -> None:
        """Queue the seeds. keep: fetch them whatever is known of them, and leave what else is known alone."""
        now = self._clock()
        self._active = list(dict.fromkeys(source.url for _, source in seeds))
        with self._database.transaction():
            for source in self._active:
                self._frontier.begin_pass(source, now, keep=keep)
            for url, source_settings in seeds:
                key = url_key(url)
                if not self._frontier.add([NewUrl(key, url, source_settings.url, host_of(url), 0)], now) and keep:
                    self._frontier.requeue(key)
        for source in self._active:
            self._hosts[source] = set(self._frontier.hosts(source, now))
            self._stored[source] = self._frontier.count_pages(source)

    def end(self) -> list[Skipped]:
        """Close the passes that are through; say where a source's page limit cut it off, and how many links were left out."""
        now = self._clock()
        over: list[Skipped] = []
        for source in self._active:
            self._frontier.release(source)
            limit = self.sources[source].max_pages
            if self._stored[source] >= limit:
                left = self._frontier.settle_queued(source, UrlState.SKIPPED, now, "max_pages")
                if left:
                    detail = f"{left} URLs beyond the source's {limit} pages; max_pages in kbcite.toml sets it"
                    over.append(Skipped(source, Stage.CRAWL, "max_pages", detail))
            if not self._frontier.counts(source).get(UrlState.QUEUED):
                self._frontier.end_pass(source, now)
        for (source, reason), count in sorted(self._left_out.items()):
            over.append(Skipped(source, Stage.CRAWL, reason, f"{count} links of this source"))
        return over

    # ------------------------------------------------------------ what goes out

    def take(self, count_waiting: Callable[[str], int], run_room: int | None) -> list[FrontierRow]:
        """URLs to be fetched, of the hosts whose queue runs low; they are in flight in the database from here on.

        run_room: pages that the run may still bring, those under way included.
        """
        wanted = [
            (host, source)
            for source in self._active
            for host in self._hosts[source]
            if host not in self._closed_hosts and count_waiting(host) < CLAIM // 4
        ]
        if not wanted:
            return []
        now = self._clock()
        taken = []
        with self._database.transaction():
            for host, source in wanted:
                room = self.sources[source].max_pages - self._stored[source] - self._claimed[source]
                if run_room is not None:
                    room = min(room, run_room - self._claimed.total())
                limit = min(CLAIM, room)
                rows = self._frontier.claim(host, source, limit, now) if limit > 0 else []
                if limit > 0 and len(rows) < limit:
                    self._hosts[source].discard(host)
                for row in rows:
                    if refusal := self._filter.refusal(row.url, self.sources[source], row.depth):
                        self._leave_out(row.url_key, source, refusal, now)
                    else:
                        self._claimed[source] += 1
                        taken.append(row)
        return taken

    def leave_host(self, closed: ClosedHost[FrontierRow]) -> Skipped:
        """Put the URLs of a host that is in trouble back for the next run."""
        now = self._clock()
        self._closed_hosts.add(closed.host)
        with self._database.transaction():
            for job in closed.jobs:
                self.came_back(job.payload)
                self._frontier.defer(job.payload.url_key, now, HOST_CLOSED, closed.reason)
        for source in self._active:
            self._hosts[source].discard(closed.host)
        detail = f"{closed.reason}; what is left of it waits for the next run"
        return Skipped(closed.host, Stage.CRAWL, HOST_CLOSED, detail)

    # ------------------------------------------------------------ what came of it

    def came_back(self, row: FrontierRow) -> None:
        """A URL that was taken is no longer under way."""
        self._claimed[row.source] -= 1

    def defer(self, row: FrontierRow, reason: str, detail: str) -> None:
        """Put a URL back into the queue."""
        self._frontier.defer(row.url_key, self._clock(), reason, detail)

    def skip(self, row: FrontierRow, reason: str, detail: str) -> Skipped:
        """Leave a URL out, with the reason."""
        self._frontier.settle(row.url_key, UrlState.SKIPPED, self._clock(), reason, detail)
        return Skipped(row.url, Stage.CRAWL, reason, detail)

    def fail(self, row: FrontierRow, reason: str, detail: str, tries: int) -> None:
        self._frontier.settle(row.url_key, UrlState.FAILED, self._clock(), reason, detail, tries)

    def finish(self, row: FrontierRow, url: str, key: str, source: SourceSettings) -> None:
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

    # ------------------------------------------------------------ what was found

    def add_links(self, row: FrontierRow, links: Sequence[str], depth: int) -> None:
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

    def add_sitemaps(self, copy: RobotsCopy) -> None:
        """Queue the sitemaps that a robots.txt names, where a source covers them."""
        found = []
        for url in Robots(copy).sitemaps:
            link = resolve(copy.host, url)
            source = self._scope.source_of(link) if link else None
            if link is not None and source is not None:
                found.append(NewUrl(url_key(link), link, source.url, host_of(link), 0, f"{copy.host}/robots.txt"))
                self._hosts.setdefault(source.url, set()).add(host_of(link))
        self._frontier.add(found, self._clock())

    def _leave_out(self, key: str, source: str, refusal: str, now: str) -> None:
        reason, _, detail = refusal.partition(": ")
        self._left_out[source, reason] += 1
        self._frontier.settle(key, UrlState.SKIPPED, now, reason, detail)
