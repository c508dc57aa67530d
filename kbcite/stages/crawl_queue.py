"""What a crawl fetches next: the frontier table, with the counts and limits of one run over it.

Every URL that is taken is in flight in the database before its request goes out, so that a killed run goes on where it was.
All that writes belongs into a transaction of the caller's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from kbcite.clock import Clock, from_text, to_text
from kbcite.errors import NotFound
from kbcite.fetch_records import RobotsCopy
from kbcite.records import Skipped, Stage
from kbcite.settings import SourceSettings
from kbcite.store.frontier import NEVER, Frontier, FrontierRow, NewUrl, UrlState
from kbcite.urls import given_url, host_of, resolve, url_key
from kbcite.web.link_filter import LinkFilter
from kbcite.web.robots import Robots
from kbcite.web.scope import Scope
from kbcite.web.traps import PASSING_TRAPS
from kbcite.web.visitor import HOST_CLOSED, ClosedHost

CLAIM = 128
"""URLs of a host that are taken from the frontier at a time."""
LEAST_KNOWN = 20_000
KNOWN_PER_PAGE = 20
"""URLs of a source that are remembered at most, by the pages it may have: a site that makes up links without end fills no disk."""
LINK_RULES = "1"
"""Version of what is read from a page for the frontier; raised with a change that finds more, so that everything is read again."""
RUN_BUDGET = "run_budget"
AGAIN_AFTER = timedelta(days=7)
"""When a URL that brought no page is asked for again."""
OTHER_ADDRESS_AGAIN_AFTER = timedelta(days=30)
ROBOTS_AGAIN_AFTER = timedelta(days=1)
_NEXT_RUN = timedelta(0)
_SKIP_AGAIN_AFTER = {"robots_disallowed": ROBOTS_AGAIN_AFTER, "robots_unreachable": _NEXT_RUN}

_DECIDING_SETTINGS = ("url", "scope", "exclude", "depth", "max_pages", "obey_robots")

Seed = tuple[str, SourceSettings]
"""Where to start, and the source that covers it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a run did not fetch of a source or a host, for one reason."""

    where: str
    """The source's seed, or the host."""
    reason: str
    count: int
    detail: str

    @property
    def is_cut_off(self) -> bool:
        """Whether a limit or trouble ended it, where else the settings meant it."""
        return self.reason in ("max_pages", HOST_CLOSED, RUN_BUDGET)


class CrawlQueue:
    """One run's view of the frontier; belongs to one thread.

    host_pages: pages that the run may bring of one host; None is no limit.
    """

    def __init__(
        self,
        frontier: Frontier,
        scope: Scope,
        sources: Sequence[SourceSettings],
        link_filter: LinkFilter,
        clock: Clock,
        host_pages: int | None = None,
    ) -> None:
        self._frontier = frontier
        self._scope = scope
        self._filter = link_filter
        self._clock = clock
        self._host_pages = host_pages
        self.sources = {source.url: source for source in sources}
        self._active: list[str] = []
        self._hosts: dict[str, set[str]] = {}
        self._claimed: Counter[str] = Counter()
        self._stored: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._of_host: Counter[str] = Counter()
        self._closed_hosts: set[str] = set()
        self._spent_hosts: dict[str, str] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    # ------------------------------------------------------------ begin and end of a run

    def seeds_of(self, urls: Sequence[str]) -> list[Seed]:
        """Where to start, each with its source. Raises UsageError for a URL that no source covers."""
        if not self.sources and not urls:
            raise NotFound('no sources yet; add one with "kbcite source add URL"')
        seeds = []
        for url in urls or self.sources:
            resolved = given_url(url)
            seeds.append((resolved, self._scope.require_source(resolved) if urls else self.sources[url]))
        return seeds

    def begin(self, seeds: Sequence[Seed], *, keep: bool = False, everything: bool = False) -> None:
        """Queue the seeds and what is due of their sources.

        keep: fetch the seeds whatever is known of them, and leave what else is known alone. everything: due or not.
        """
        now = self._clock()
        self._active = list(dict.fromkeys(source.url for _, source in seeds))
        for source in self._active:
            rules = _rules_of(self.sources[source])
            self._frontier.begin_pass(source, now, rules=rules, keep=keep, everything=everything)
        for url, source_settings in seeds:
            key = url_key(url)
            if not self._frontier.add([NewUrl(key, url, source_settings.url, host_of(url), 0)], now) and keep:
                self._frontier.requeue(key)
        for source in self._active:
            self._hosts[source] = set(self._frontier.hosts(source, now))
            self._stored[source] = self._frontier.count_pages(source)
            self._known[source] = sum(self._frontier.counts(source).values())

    def with_unread_links(self) -> list[FrontierRow]:
        return [row for source in self._active for row in self._frontier.with_unread_links(source)]

    def links_were_read(self, row: FrontierRow) -> None:
        self._frontier.links_were_read(row.url_key, self._clock())

    def end(self) -> list[LeftOut]:
        """Close the passes that are through; say where a source's page limit cut it off, and how many links were left out."""
        now = self._clock()
        over: list[LeftOut] = []
        for source in self._active:
            self._frontier.release(source)
            limit = self.sources[source].max_pages
            if self._stored[source] >= limit:
                left = self._frontier.settle_queued(source, UrlState.SKIPPED, now, "max_pages", not_before=NEVER)
                if left:
                    detail = f"beyond the source's {limit} pages; max_pages in kbcite.toml sets it"
                    over.append(LeftOut(source, "max_pages", left, detail))
            if not self._frontier.counts(source).get(UrlState.QUEUED):
                self._frontier.end_pass(source, now)
        for host, reason in self._spent_hosts.items():
            if host not in self._closed_hosts and (waiting := self._count_waiting_on(host)):
                over.append(LeftOut(host, HOST_CLOSED, waiting, f"{reason}; they wait for the next run"))
        for (source, reason), count in sorted(self._left_out.items()):
            over.append(LeftOut(source, reason, count, "by the settings or a guard against traps"))
        return over

    def count_waiting(self) -> int:
        """URLs of this run's sources that are still queued."""
        return sum(self._frontier.counts(source).get(UrlState.QUEUED, 0) for source in self._active)

    # ------------------------------------------------------------ what goes out

    def take(self, count_waiting: Callable[[str], int], run_room: int | None) -> list[FrontierRow]:
        """URLs to be fetched, of the hosts whose queue runs low; they are in flight in the database from here on.

        run_room: pages that the run may still bring, those under way included.
        """
        now = self._clock()
        taken: list[FrontierRow] = []
        for host, source in self.low(count_waiting):
            limit = min(CLAIM, self._room(host, source, run_room))
            rows = self._frontier.claim(host, source, limit, now) if limit > 0 else []
            if limit > 0 and len(rows) < limit:
                self._hosts[source].discard(host)
            for row in rows:
                if refusal := self._filter.refusal(row.url, self.sources[source], row.depth):
                    self._leave_out(row.url_key, source, refusal, now)
                else:
                    self._claimed[source] += 1
                    self._of_host[host] += 1
                    taken.append(row)
        return taken

    def low(self, count_waiting: Callable[[str], int]) -> list[tuple[str, str]]:
        """(host, source) of the hosts that have more in the frontier than in their queue: nothing is to be taken without any."""
        return [
            (host, source)
            for source in self._active
            for host in self._hosts[source]
            if host not in self._closed_hosts and count_waiting(host) < CLAIM // 4
        ]

    def _room(self, host: str, source: str, run_room: int | None) -> int:
        """URLs of a host that may be taken so that no limit on pages can be passed."""
        room = self.sources[source].max_pages - self._stored[source] - self._claimed[source]
        if run_room is not None:
            room = min(room, run_room - self._claimed.total())
        if self._host_pages is not None:
            room = min(room, self._host_pages - self._of_host[host])
        return room

    def leave_host(self, closed: ClosedHost[FrontierRow]) -> LeftOut:
        """Put the URLs of a host that is left alone back for the next run."""
        now = self._clock()
        self._closed_hosts.add(closed.host)
        for job in closed.jobs:
            self.came_back(job.payload, is_page=False)
            self._frontier.defer(job.payload.url_key, now, HOST_CLOSED, closed.reason)
        for source in self._active:
            self._hosts[source].discard(closed.host)
        return LeftOut(
            closed.host,
            HOST_CLOSED,
            self._count_waiting_on(closed.host),
            f"{closed.reason}; they wait for the next run",
        )

    def note_spent(self, host: str, reason: str) -> None:
        """A host has had what one host may have of a run."""
        self._spent_hosts[host] = reason

    def _count_waiting_on(self, host: str) -> int:
        return sum(self._frontier.count_queued(source, host) for source in self._active)

    # ------------------------------------------------------------ what came of it

    def came_back(self, row: FrontierRow, is_page: bool) -> None:
        """A URL that was taken is no longer under way; if it brought no page another may take its place."""
        self._claimed[row.source] -= 1
        if not is_page:
            self._of_host[row.host] -= 1

    def defer(self, row: FrontierRow, reason: str, detail: str) -> None:
        """Put a URL back into the queue."""
        self._frontier.defer(row.url_key, self._clock(), reason, detail)

    def skip(self, row: FrontierRow, reason: str, detail: str, again_after: timedelta | None = None) -> Skipped:
        """Leave a URL out, with the reason, until it is worth another look."""
        again_after = again_after or _SKIP_AGAIN_AFTER.get(reason, AGAIN_AFTER)
        self._settle(row.url_key, UrlState.SKIPPED, reason, detail, again_after)
        return Skipped(row.url, Stage.CRAWL, reason, detail)

    def fail(self, row: FrontierRow, reason: str, detail: str, *, tries: int, retryable: bool) -> None:
        """Record that a URL could not be fetched; a fault of the moment is tried again by the next run."""
        self._settle(row.url_key, UrlState.FAILED, reason, detail, _NEXT_RUN if retryable else AGAIN_AFTER, tries)

    def finish(self, row: FrontierRow, url: str, key: str, source: SourceSettings) -> None:
        """Settle a URL that brought a page, and the page's own address where that is another."""
        if key == row.url_key:
            self._stored[row.source] += 1
            self._settle(key, UrlState.DONE)
            return
        self._settle(row.url_key, UrlState.DONE, "alias", url, OTHER_ADDRESS_AGAIN_AFTER)
        self._frontier.add([NewUrl(key, url, source.url, host_of(url), row.depth, row.url)], self._clock())
        known = self._frontier.get(key)
        if known is not None and known.state is UrlState.QUEUED:
            self._stored[source.url] += 1
            self._settle(key, UrlState.DONE)

    def _settle(
        self,
        key: str,
        state: UrlState,
        reason: str = "",
        detail: str = "",
        again_after: timedelta = _NEXT_RUN,
        tries: int = 1,
    ) -> None:
        now = self._clock()
        not_before = to_text(from_text(now) + again_after) if again_after else ""
        self._frontier.settle(key, state, now, reason, detail, tries, not_before)

    # ------------------------------------------------------------ what was found

    def known(self, url: str) -> FrontierRow | None:
        """What is known of a URL."""
        return self._frontier.get(url_key(url))

    def add_links(self, row: FrontierRow, links: Sequence[str], depth: int) -> None:
        """Queue the links that a source covers; those it leaves out are recorded with their reason."""
        if self._known[row.source] >= max(LEAST_KNOWN, KNOWN_PER_PAGE * self.sources[row.source].max_pages):
            self._left_out[row.source, "too_many_links"] += len(links)
            return
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
        if found:
            self._known[row.source] += self._frontier.add(found, now)
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
        """Record that the filter refuses a URL: for good, unless the settings change, or for a while for what a run has seen."""
        reason, _, detail = refusal.partition(": ")
        self._left_out[source, reason] += 1
        not_before = to_text(from_text(now) + OTHER_ADDRESS_AGAIN_AFTER) if reason in PASSING_TRAPS else NEVER
        self._frontier.settle(key, UrlState.SKIPPED, now, reason, detail, not_before=not_before)


def _rules_of(source: SourceSettings) -> str:
    """What decides which URLs of a source are fetched, as text: where it changes, everything is looked at again."""
    settings = asdict(source)
    return json.dumps([LINK_RULES, *(settings[name] for name in _DECIDING_SETTINGS)])
