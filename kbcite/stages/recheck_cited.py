"""Stored pages asked for again, to see what they say today; under the rules of a recheck, but nothing is stored.

Every address goes through the whitelist, robots.txt and the pace of its host, and what a visit means is judged as a recheck judges it.
What it does not do is count: the store's evidence for and against a page stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kbcite.clock import Clock
from kbcite.fetch_records import FetchedPage
from kbcite.live_records import PageNow
from kbcite.records import CleanDocument, Skipped
from kbcite.settings import CrawlSettings, RecheckSettings, SourceSettings
from kbcite.stages.recheck_verdict import CleanPage, Judge, Verdict
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.store.pages import PageRow
from kbcite.urls import resolve, url_key
from kbcite.web.scope import Scope
from kbcite.web.visitor import HOST_CLOSED, INTERRUPTED, Fetch, Job, Visitor, VisitPool

NOT_STORED = "it is not in the store"


def ask_again(
    urls: Sequence[str],
    database: Database,
    archive: Archive,
    fetch: Fetch,
    sources: Sequence[SourceSettings],
    clean: CleanPage,
    settings: CrawlSettings,
    recheck: RecheckSettings,
    clock: Clock,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[PageNow]:
    """One record an address, as it is answered; addresses of one page are asked for once."""
    named: dict[str, list[str]] = {}
    rows: dict[str, PageRow] = {}
    for url in dict.fromkeys(urls):
        resolved = resolve(url, url)
        row = database.pages.get(resolved, url_key(resolved)) if resolved else None
        if row is None:
            yield PageNow(url, "not_asked", NOT_STORED, clock())
        else:
            rows[row.url] = row
            named.setdefault(row.url, []).append(url)
    scope = Scope(sources, forgotten_places(database.connection))
    visitor = Visitor(fetch, scope, settings, database.frontier.robots(), clock)
    judge = Judge(database.pages, archive, clean, visitor, scope, recheck, clock)
    pool: VisitPool[PageRow] = VisitPool(visitor, settings.threads, settings.retries)
    try:
        for row in rows.values():
            pool.add(Job(row.url, row))
        for batch in pool.batches(should_stop):
            for closed in batch.closed:
                for job in closed.jobs:
                    for url in named.pop(job.payload.url):
                        yield PageNow(url, "not_asked", f"{HOST_CLOSED}: {closed.reason}", clock())
            for done in batch.done:
                row = done.job.payload
                verdict = judge.verdict(row, done.result)
                for url in named.pop(row.url):
                    yield _now(url, verdict, clean, clock())
        for waiting in named.values():
            for url in waiting:
                yield _now(url, None, clean, clock())
    finally:
        pool.close()


def _now(url: str, verdict: Verdict | Skipped | None, clean: CleanPage, at: str) -> PageNow:
    """What a judged visit says of today; None is one that was not made because the run stops."""
    if verdict is None:
        return PageNow(url, "not_asked", INTERRUPTED, at)
    if isinstance(verdict, Skipped):
        return PageNow(url, "not_asked", ": ".join(part for part in (verdict.reason, verdict.detail) if part), at)
    if verdict.gone:
        return PageNow(url, "gone", verdict.gone, at)
    if verdict.stored is None:
        return PageNow(url, "unreachable", verdict.report.detail, at)
    document = _read(verdict.stored, clean)
    reason = f"no main text: {document.reason}" if isinstance(document, Skipped) else ""
    moved = verdict.report.moved_to
    detail = "; ".join(part for part in (f"to {moved}" if moved else "", reason) if part)
    return PageNow(url, "moved" if moved else "there", detail, at, None if isinstance(document, Skipped) else document)


def _read(page: FetchedPage, clean: CleanPage) -> CleanDocument | Skipped:
    return clean(page.body, page.final_url, page.header("content-type"))
