"""Recheck: the pages that are due, asked for again under the same rules as a crawl, and what became of them.

Equal bytes are unchanged. Other bytes are cleaned, like those stored, with the rules of today; equal fingerprints (title and main text,
counters and clock times masked) are unchanged too, whatever the page's frame did: their bytes are kept, and nothing of them is
embedded by what follows.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kbcite.clock import Clock, system_clock
from kbcite.errors import NotFound, StoreError
from kbcite.page.encoding import decode
from kbcite.page.interstitial import recognise
from kbcite.page.links import read_links
from kbcite.records import CleanDocument, Evidence, FetchedPage, FetchFailure, PageState, Skipped, Stage
from kbcite.settings import CrawlSettings, RecheckSettings, SourceSettings
from kbcite.store.archive import Archive, digest_of
from kbcite.store.database import Database
from kbcite.store.pages import PageRow
from kbcite.urls import folder_of, host_of, resolve, url_key
from kbcite.web.liveness import (
    after_failure,
    after_missing,
    is_missing,
    is_sent_home,
    moved_to,
    trouble_detail,
    wants_full_fetch,
)
from kbcite.web.schedule import next_visit
from kbcite.web.scope import Scope
from kbcite.web.visitor import HOST_CLOSED, INTERRUPTED, NOT_FETCHED, Done, Fetch, Job, Visitor, VisitPool

SOFT_404_SHARE = 0.5
"""A page whose text shrank below this share of what it was is compared with what the site says of a page that cannot exist."""

CleanPage = Callable[[bytes, str, str | None], CleanDocument | Skipped]
"""Bytes, URL and Content-Type → the page's main content, or why there is none."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What became of one page: a line of the change report."""

    url: str
    outcome: str
    """`changed`, `unchanged`, `moved`, `unreachable` or `dead`."""
    was: PageState
    detail: str
    """`not modified`, `same bytes`, `same text`, `status 404, 2 of 3 checks` ..."""
    evidence: Evidence
    due_at: str
    digest: str | None = None
    """Of the bytes that hold now."""
    moved_to: str | None = None

    @property
    def is_revived(self) -> bool:
        return self.was is PageState.DEAD and self.outcome in ("changed", "unchanged")


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What is to be recorded of a visit.

    stored: the full answer that it rests on, recorded under `stored_url` where its bytes are new.
    """

    report: Rechecked
    status: int | None
    stored: FetchedPage | None = None
    stored_url: str = ""


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
    """One record a page, after it was stored: the pages that are due, longest overdue first; `urls` alone; or `everything`.

    A page that is no longer covered or that robots.txt now disallows is skipped, not fetched. What a stopped run did not reach
    stays due. Raises NotFound for a URL that is not stored.
    """
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
        self._clean = clean
        self._recheck = recheck
        self._clock = clock
        self._scope = Scope(sources)
        self._visitor = Visitor(fetch, self._scope, settings, database.frontier.robots(), clock)
        self._pool: VisitPool[PageRow] = VisitPool(self._visitor, settings.threads, settings.retries)
        self._not_found_texts: dict[str, str | None] = {}

    def choose(self, urls: Sequence[str], everything: bool, limit: int | None) -> list[PageRow]:
        if urls:
            return [self._find(url) for url in urls]
        if everything:
            return list(self._pages.all())[:limit]
        return self._pages.due(self._clock(), -1 if limit is None else limit)

    def _find(self, url: str) -> PageRow:
        resolved = resolve(url, url)
        page = self._pages.get(resolved, url_key(resolved)) if resolved else None
        if page is None:
            raise NotFound(f'{url} is not in the store; "kbcite crawl {url}" fetches it')
        return page

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
        if page.state is PageState.MOVED or is_old or page.digest is None or not self._archive.is_whole(page.digest):
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
                    digests[n] = self._archive.put(done.result.body, host_of(done.result.final_url))
        outcomes = [self._judge(done.job.payload, done.result) for done in pending]
        with self._database.transaction():
            for n, (done, outcome) in enumerate(zip(pending, outcomes, strict=True)):
                if isinstance(outcome, _Verdict):
                    self._record(done.job.payload, outcome, digests.get(n))
                elif outcome is not None and outcome.reason != HOST_CLOSED:
                    due_at = next_visit(self._clock(), Evidence(PageState.ALIVE), (), self._recheck)
                    self._pages.postpone(done.job.payload.id, due_at)
            for copy in self._visitor.new_robots():
                self._database.frontier.save_robots(copy)
        return [o.report if isinstance(o, _Verdict) else o for o in outcomes if o is not None]

    # ------------------------------------------------------------ what a visit means

    def _judge(self, page: PageRow, result: FetchedPage | FetchFailure) -> _Verdict | Skipped | None:
        """What a visit says of a page; None for one that was not made because the run stops."""
        if isinstance(result, FetchFailure):
            if result.reason == INTERRUPTED:
                return None
            if result.reason == "content_type":
                return self._trouble(page, result, after_failure(page.evidence), f"now is {result.detail}")
            if result.reason in NOT_FETCHED:
                return Skipped(page.url, Stage.RECHECK, result.reason, result.detail)
            return self._trouble(page, result, after_failure(page.evidence), trouble_detail(result))
        if is_missing(result) or is_sent_home(result):
            return self._missing(page, result)
        if result.status == 304:
            return self._unchanged(page, result, "not modified")
        if not 200 <= result.status < 300 or not result.body:
            detail = trouble_detail(result) if result.body else f"status {result.status} with an empty body"
            return self._trouble(page, result, after_failure(page.evidence), detail)
        if result.redirects and url_key(result.final_url) != page.url_key:
            return self._redirected(page, result)
        return self._compare(page, result)

    def _compare(self, page: PageRow, result: FetchedPage) -> _Verdict:
        digest = digest_of(result.body)
        if digest == page.digest:
            return self._unchanged(page, result, "same bytes", result)
        if wall := _wall(result):
            return self._trouble(page, result, after_failure(page.evidence), wall)
        new = self._clean(result.body, result.final_url, result.header("content-type"))
        old = self._stored_text(page)
        if isinstance(new, Skipped) and isinstance(old, CleanDocument):
            return self._trouble(page, result, after_failure(page.evidence), f"no main text: {new.reason}")
        if isinstance(new, CleanDocument) and isinstance(old, CleanDocument):
            if new.fingerprint == old.fingerprint:
                return self._unchanged(page, result, "same text", result)
            if len(new.text) < SOFT_404_SHARE * len(old.text) and self._is_soft_404(page.url, new.fingerprint):
                return self._missing(page, result, "the same text as a page that cannot exist")
        evidence = Evidence(PageState.CHANGED)
        history = [*self._pages.history(page.id), (result.fetched_at, True)]
        due_at = next_visit(result.fetched_at, evidence, history, self._recheck)
        report = Rechecked(page.url, "changed", page.state, _sizes(old, new), evidence, due_at, digest)
        return _Verdict(report, result.status, result, page.url)

    def _stored_text(self, page: PageRow) -> CleanDocument | Skipped | None:
        """The stored bytes cleaned with today's rules; None where they cannot be had."""
        snapshot = self._pages.snapshot_by_digest(page.digest) if page.digest else None
        if snapshot is None:
            return None
        try:
            data = self._archive.get(snapshot.digest)
        except StoreError:
            # Damaged bytes cannot be compared with: the page counts as changed and is stored anew, as the error advises.
            return None
        return self._clean(data, snapshot.final_url, snapshot.content_type)

    def _is_soft_404(self, url: str, fingerprint: str) -> bool:
        """Whether the site answers a page that cannot exist in the same words; asked once a folder."""
        folder = folder_of(url)
        if folder not in self._not_found_texts:
            probe = f"{folder}kbcite-{secrets.token_hex(8)}.html"
            pace = self._visitor.pace_of(probe)
            self._visitor.stopping.wait(pace.reserve(time.monotonic()))
            result = self._visitor.visit(probe)
            self._not_found_texts[folder] = None
            if isinstance(result, FetchedPage) and 200 <= result.status < 300 and result.body:
                text = self._clean(result.body, result.final_url, result.header("content-type"))
                self._not_found_texts[folder] = text.fingerprint if isinstance(text, CleanDocument) else None
        return self._not_found_texts[folder] == fingerprint

    def _redirected(self, page: PageRow, result: FetchedPage) -> _Verdict:
        target = moved_to(result, page.evidence, self._recheck)
        if target is None:
            detail = f"redirected for now to {result.final_url}"
            return self._trouble(page, result, after_failure(page.evidence), detail)
        if wall := _wall(result):
            return self._trouble(page, result, after_failure(page.evidence), wall)
        evidence = Evidence(PageState.MOVED)
        due_at = next_visit(result.fetched_at, evidence, (), self._recheck)
        report = Rechecked(
            page.url, "moved", page.state, f"to {target}", evidence, due_at, digest_of(result.body), target
        )
        return _Verdict(report, result.status, result, target)

    def _missing(self, page: PageRow, result: FetchedPage, why: str = "") -> _Verdict:
        evidence = after_missing(page.evidence, result.fetched_at, self._recheck)
        why = why or (f"redirects to {result.final_url}" if is_sent_home(result) else f"status {result.status}")
        detail = f"{why}, check {evidence.misses} of {self._recheck.dead_after_checks} since {evidence.missing_since}"
        return self._trouble(page, result, evidence, detail)

    def _trouble(self, page: PageRow, result: FetchedPage | FetchFailure, evidence: Evidence, detail: str) -> _Verdict:
        outcome = "dead" if evidence.state is PageState.DEAD else "unreachable"
        if evidence.state is PageState.MOVED:
            outcome = "moved"
        due_at = next_visit(self._clock(), evidence, (), self._recheck)
        status = result.status if isinstance(result, FetchedPage) else None
        return _Verdict(
            Rechecked(page.url, outcome, page.state, detail, evidence, due_at, page.digest, page.moved_to), status
        )

    def _unchanged(self, page: PageRow, result: FetchedPage, detail: str, full: FetchedPage | None = None) -> _Verdict:
        evidence = Evidence(PageState.CHANGED if page.state is PageState.CHANGED else PageState.ALIVE)
        history = [*self._pages.history(page.id), (result.fetched_at, False)]
        due_at = next_visit(result.fetched_at, evidence, history, self._recheck)
        digest = digest_of(full.body) if full is not None else page.digest
        report = Rechecked(page.url, "unchanged", page.state, detail, evidence, due_at, digest)
        return _Verdict(report, result.status, full, page.url)

    # ------------------------------------------------------------ recording

    def _record(self, page: PageRow, verdict: _Verdict, digest: str | None) -> None:
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
            due_at=next_visit(result.fetched_at, Evidence(PageState.ALIVE), (), self._recheck)
            if is_new_page
            else report.due_at,
            state=PageState.ALIVE if is_new_page else report.evidence.state,
            is_same_text=report.outcome == "unchanged",
        )
        self._pages.add_alias(url_key(url), url)
        if is_new_page:
            self._pages.add_alias(page.url_key, url)


def _wall(page: FetchedPage) -> str | None:
    """What stands in front of the page, as one line; None if nothing does."""
    decoded = decode(page.body, page.header("content-type"))
    found = recognise(decoded.text, read_links(decoded.text, page.final_url, decoded.encoding).refresh)
    return f"{found.kind}: {found.detail}" if found else None


def _sizes(old: CleanDocument | Skipped | None, new: CleanDocument | Skipped) -> str:
    before = len(old.text) if isinstance(old, CleanDocument) else 0
    after = len(new.text) if isinstance(new, CleanDocument) else 0
    return f"main text {before} to {after} characters"
