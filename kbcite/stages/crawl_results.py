"""What came of each request of a crawl: pages kept with their other addresses, lists followed, trouble noted.

Everything here runs inside the transaction of the batch, after the bytes are in the archive.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from kbcite.clock import Clock, from_text, to_text
from kbcite.errors import StoreError
from kbcite.fetch_records import RENDERED_BY, Evidence, FetchedPage, FetchFailure
from kbcite.page.encoding import decode
from kbcite.page.feeds import LIST_TYPES, read_list
from kbcite.page.first_look import FirstLook, look_at, read_or_skip
from kbcite.page.links import read_links
from kbcite.records import CleanDocument, PageState, Skipped, Stage, Tier
from kbcite.settings import RecheckSettings
from kbcite.stages.crawl_queue import CrawlQueue, LeftOut
from kbcite.store.archive import Archive
from kbcite.store.frontier import FrontierRow
from kbcite.store.pages import PageRow, Pages
from kbcite.urls import host_of, url_key
from kbcite.web.frontier import is_trouble
from kbcite.web.link_filter import LinkFilter
from kbcite.web.liveness import (
    after_failure,
    after_missing,
    is_missing,
    is_sent_home,
    moved_to,
    trouble_detail,
)
from kbcite.web.robots import header_tags
from kbcite.web.schedule import next_visit
from kbcite.web.scope import Scope
from kbcite.web.visitor import HOST_CLOSED, INTERRUPTED, NOT_FETCHED, Done

MAX_NESTED_LISTS = 3
"""An index of sitemaps may hold no further index (sitemaps.org); one in another is borne with: index, index, sitemap."""
SHORT_LIST_BYTES = 500_000
SHORT_LIST_AGAIN_AFTER = timedelta(hours=1)
LIST_AGAIN_AFTER = timedelta(days=1)
"""Feeds and short sitemaps are how a new page is heard of; a long sitemap is worth a look a day."""


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


CrawlEvent = Crawled | Skipped | FetchFailure | LeftOut


class CrawlResults:
    """Settles the results of one run."""

    def __init__(
        self,
        pages: Pages,
        archive: Archive,
        queue: CrawlQueue,
        scope: Scope,
        link_filter: LinkFilter,
        recheck: RecheckSettings,
        clock: Clock,
    ) -> None:
        self._pages = pages
        self._archive = archive
        self._queue = queue
        self._scope = scope
        self._filter = link_filter
        self._recheck = recheck
        self._clock = clock
        self._first_wait: dict[Tier, timedelta] = {}

    def settle(self, done: Done[FrontierRow], digest: str | None) -> CrawlEvent | None:
        """Record one result; None for one that goes back into the queue."""
        row, result = done.job.payload, done.result
        if isinstance(result, FetchFailure) and result.reason in (INTERRUPTED, HOST_CLOSED):
            self._queue.defer(row, result.reason, result.detail)
            return None
        if isinstance(result, FetchFailure) and result.reason in NOT_FETCHED:
            return self._queue.skip(row, result.reason, result.detail)
        if isinstance(result, FetchedPage):
            if is_full(result) and is_list(result):
                return self._settle_list(row, result)
            if digest is not None:
                return self._settle_page(row, result, digest)
            if result.status == 304 and (page := self._pages.get(row.url, row.url_key)) is not None:
                return self._settle_unmodified(row, result, page)
        return self._settle_trouble(row, result, done.job.tries)

    def _settle_page(self, row: FrontierRow, result: FetchedPage, digest: str) -> CrawlEvent:
        source = self._queue.sources[row.source]
        look = read_or_skip(row.url, Stage.CRAWL, lambda: self._look_at(result))
        if isinstance(look, Skipped):
            return self._queue.skip(row, look.reason, look.detail)
        if (wall := look.wall) is not None:
            if wall.target is not None:
                self._queue.add_links(row, (wall.target,), row.depth)
            return self._queue.skip(row, wall.kind, wall.detail)
        links = look.links
        tags = header_tags(result)
        if source.obey_robots and row.depth > 0 and (links.is_noindex or "noindex" in tags):
            return self._queue.skip(row, "noindex", "the page asks not to be kept; obey_robots = false overrules it")
        if not (source.obey_robots and (links.is_nofollow or "nofollow" in tags)):
            self._queue.add_links(row, links.links, row.depth + 1)
        return self._keep(row, result, digest, links.canonical)

    def _look_at(self, result: FetchedPage) -> FirstLook:
        """The first look at a page, of which the trap guards learn too."""
        look = look_at(result)
        if look.wall is None:
            self._filter.see_page(result.final_url, look.decoded.text)
        return look

    def _settle_list(self, row: FrontierRow, result: FetchedPage) -> Skipped:
        """Queue what a sitemap or a feed lists."""
        links = read_or_skip(row.url, Stage.CRAWL, lambda: read_list(result.body, result.final_url))
        if isinstance(links, Skipped):
            return self._queue.skip(row, links.reason, links.detail)
        if links is None:
            return self._queue.skip(row, "content_type", f"{result.header('content-type')}, neither sitemap nor feed")
        if self._lists_above(row) >= MAX_NESTED_LISTS:
            detail = f"{MAX_NESTED_LISTS} lists led to this one, one in the other; lists may go on so without end"
            return self._queue.skip(row, "nested_lists", detail)
        self._queue.add_links(row, links, row.depth + 1)
        again_after = SHORT_LIST_AGAIN_AFTER if len(result.body) <= SHORT_LIST_BYTES else LIST_AGAIN_AFTER
        return self._queue.skip(row, "list", f"a sitemap or feed of {len(links)} links, followed", again_after)

    def _lists_above(self, row: FrontierRow) -> int:
        """How many lists led to a URL, one in the other, counted no further than need be: what gave links and is no page is a list."""
        count, above = 0, row.discovered_from
        while above is not None and count < MAX_NESTED_LISTS:
            parent = self._queue.known(above)
            if parent is None or self._pages.get(parent.url, parent.url_key) is not None:
                break
            count, above = count + 1, parent.discovered_from
        return count

    def _keep(self, row: FrontierRow, result: FetchedPage, digest: str, canonical: str | None) -> Crawled:
        """Record a page under its final URL, with its other addresses."""
        source = self._scope.source_of(result.final_url) or self._queue.sources[row.source]
        key = url_key(result.final_url)
        known = self._pages.of_answer(result.final_url, key, digest)
        url = known.url if known is not None else result.final_url
        is_same = known is not None and (known.digest == digest or self._reads_alike(known, result))
        is_changed = known is not None and known.digest is not None and not is_same
        self._pages.save_fetch(
            url,
            result,
            digest,
            source=source.url,
            source_type=source.type,
            labels=source.labels,
            due_at=self._next_visit(result.fetched_at, known, is_changed, source.tier),
            state=known.state
            if known is not None and is_same and known.state is PageState.CHANGED
            else PageState.ALIVE,
            is_same_text=is_same,
        )
        self._pages.add_alias(key, url)
        if row.url_key != key and not is_sent_home(result):
            self._pages.add_alias(row.url_key, url)
        if (
            canonical is not None
            and (name := url_key(canonical)) != key
            and self._is_alias(canonical, result.final_url)
        ):
            self._pages.add_alias(name, url)
        if result.redirects:
            self._note_move(row, result)
        self._queue.finish(row, result.final_url, key, source)
        outcome = "changed" if is_changed else "unchanged" if is_same else "new"
        return Crawled(url, row.url, outcome, result.status, digest, result.encoded_length, row.depth, source.url)

    def _reads_alike(self, page: PageRow, result: FetchedPage) -> bool:
        """Whether a rendered page says what the stored one says: tokens and clocks in its frame differ with every rendering."""
        snapshot = self._pages.snapshot_by_digest(page.digest) if page.digest is not None else None
        if result.header(RENDERED_BY) is None or snapshot is None:
            return False
        # Here for rendered pages alone: a crawl has no need of the tree parsers otherwise.
        from kbcite.page.cleaning import clean_page

        try:
            old = clean_page(self._archive.get(snapshot.digest), page.url, snapshot.content_type)
        except StoreError:
            return False  # its bytes are damaged: the page is stored anew
        new = clean_page(result.body, page.url, result.header("content-type"))
        return isinstance(old, CleanDocument) and isinstance(new, CleanDocument) and old.fingerprint == new.fingerprint

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
        if page is None or page.url != row.url or page.url == result.final_url:
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
        source = self._queue.sources[row.source]
        self._pages.save_unchanged(
            page.id, result.fetched_at, self._next_visit(result.fetched_at, page, False, source.tier)
        )
        self._read_stored_links(row, page)
        self._queue.finish(row, page.url, url_key(page.url), source)
        return Crawled(page.url, row.url, "unchanged", 304, page.digest or "", 0, row.depth, source.url)

    def read_unread_links(self) -> None:
        """Queue what the pages link to that a recheck has stored since their links were read."""
        for row in self._queue.with_unread_links():
            if (page := self._pages.get(row.url, row.url_key)) is not None:
                self._read_stored_links(row, page)
            self._queue.links_were_read(row)

    def _read_stored_links(self, row: FrontierRow, page: PageRow) -> None:
        source = self._queue.sources[row.source]
        snapshot = self._pages.snapshot_by_digest(page.digest or "")
        if row.depth >= source.depth or snapshot is None:
            return
        decoded = decode(self._archive.get(snapshot.digest), snapshot.content_type)
        links = read_links(decoded.text, page.url, decoded.encoding)
        if not (source.obey_robots and links.is_nofollow):
            self._queue.add_links(row, links.links, row.depth + 1)

    def _settle_trouble(
        self, row: FrontierRow, result: FetchedPage | FetchFailure, tries: int
    ) -> FetchFailure | Skipped:
        if isinstance(result, FetchedPage) and 200 <= result.status < 300:
            return self._queue.skip(row, "empty", f"status {result.status} with an empty body")
        if isinstance(result, FetchedPage):
            failure = FetchFailure(
                row.url, f"http_{result.status}", f"status {result.status}", is_trouble(result), result.final_url
            )
        else:
            failure = result
        self._queue.fail(row, failure.reason, failure.detail, tries=tries, retryable=failure.retryable)
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

    def _next_visit(self, at: str, page: PageRow | None, is_changed: bool, tier: Tier) -> str:
        alive = Evidence(PageState.ALIVE)
        if page is not None:
            return next_visit(at, alive, [*self._pages.history(page.id), (at, is_changed)], self._recheck, tier)
        if tier not in self._first_wait:  # the same for all new pages
            due_at = next_visit(at, alive, [(at, False)], self._recheck, tier)
            self._first_wait[tier] = from_text(due_at) - from_text(at)
        return to_text(from_text(at) + self._first_wait[tier])


def is_list(page: FetchedPage) -> bool:
    return (page.header("content-type") or "").partition(";")[0].strip().lower() in LIST_TYPES


def is_full(page: FetchedPage) -> bool:
    return 200 <= page.status < 300 and bool(page.body)
