"""Live: pages fetched while a question is answered, into the pool (SPEC 51-54).

Threads fetch, decode, clean and chunk; everything that touches the store happens in the caller's thread. Each fetch goes the way of a
crawl's: whitelist, robots.txt, pace of the host, addresses. What it brought is archived and pooled, failures too, so that
the same address is not asked again while that holds.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from kbcite.clock import Clock
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.live_records import LiveLoss, LivePage
from kbcite.records import CleanDocument, DecodedPage, Skipped, Stage
from kbcite.settings import CrawlSettings, Settings
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.store.pooled_page import pooled_page
from kbcite.urls import resolve, url_key
from kbcite.web.liveness import after_missing, is_missing
from kbcite.web.scope import Scope
from kbcite.web.visitor import Fetch, Visitor

if TYPE_CHECKING:
    from kbcite.stages.live_reading import Reading

READERS = "kbcite.stages.live_reading"
"""Half a second of imports, done while the first page is on its way."""
MAX_TEXT_BYTES = 200_000
"""Of what `fetch_live` hands over (SPEC 52)."""
DEFAULT_TTL_S = 3600
LAST_WORD_S = 1.0
"""How much later than its time limit a fetch may say that it has reached it."""


@dataclass(frozen=True, slots=True)
class LiveText:
    """What the tool `fetch_live_data` gives back."""

    url: str
    title: str
    published_at: str | None
    fetched_at: str
    text: str
    """Markdown, or the text of the selected elements; never HTML."""
    is_cut: bool
    is_pooled: bool
    digest: str
    """Of the archived bytes."""


@dataclass(frozen=True, slots=True)
class _Brought:
    """What a thread made of one address, not stored yet."""

    url: str
    result: FetchedPage | FetchFailure
    reading: Reading | Skipped
    began_at: float
    ended_at: float


def live_crawl_settings(settings: Settings) -> CrawlSettings:
    """The limits of a live fetch: those of a crawl, within the time that one may take."""
    live, crawl = settings.live, settings.crawl
    return replace(
        crawl,
        total_timeout_s=min(crawl.total_timeout_s, live.fetch_within_s),
    )


class LiveBranch:
    """Fetches pages beside an answer; to be used from one thread, and closed.

    fetch: of a Fetcher with `live_crawl_settings`, rendering or not. The store must be writable.
    """

    def __init__(self, database: Database, archive: Archive, fetch: Fetch, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._archive = archive
        self._settings = settings
        self._clock = clock
        self.scope = Scope(settings.sources, forgotten_places(database.connection))
        self._visitor = Visitor(fetch, self.scope, live_crawl_settings(settings), database.frontier.robots(), clock)
        self._executor = ThreadPoolExecutor(settings.live.max_pages, thread_name_prefix="kbcite-live")
        self._brought: queue.SimpleQueue[tuple[str, Future[_Brought]]] = queue.SimpleQueue()
        self._lock = threading.RLock()
        self._under_way: dict[str, float] = {}
        self._warming: threading.Thread | None = None

    def close(self) -> None:
        """Let go of what is under way; its fetches end when the Fetcher is closed."""
        self._visitor.stopping.set()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> LiveBranch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def under_way(self) -> dict[str, float]:
        """When the fetch of each address began that has not come back."""
        return dict(self._under_way)

    def refusal(self, url: str) -> str | None:
        """Why the whitelist has no room for an address, as `reason: detail`; None where it has."""
        source = self.scope.source_of(url)
        if source is None:
            return f"out_of_scope: no source covers {url}"
        return self.scope.exclusion(url, source)

    def start(self, url: str) -> None:
        """Begin to fetch an address of the whitelist."""
        if url not in self._under_way:
            self._under_way[url] = time.monotonic()
            if self._warming is None:
                self._warming = threading.Thread(target=import_module, args=(READERS,), daemon=True)
                self._warming.start()
            future = self._executor.submit(self._bring, url)
            future.add_done_callback(lambda done: self._brought.put((url, done)))

    def collect(self, until: float) -> Iterator[LivePage | LiveLoss]:
        """What comes back, each stored before it is told, until nothing is under way or `until` on the monotonic clock."""
        while self._under_way:
            try:
                url, brought = self._brought.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            del self._under_way[url]
            yield self._store(brought.result())

    def fetch_live(self, url: str, selector: str = "", ttl_s: int = DEFAULT_TTL_S) -> LiveText | Skipped:
        """The text of one page of the whitelist, from the pool where it is not older than `ttl_s`, else fetched now.

        selector: CSS; only the text of what it names. Reasons besides those of a crawl: `selector` where it names nothing,
        `timeout` after the time that a fetch may take. Safe to use from several threads, one page at a time.
        """
        resolved = resolve(url, url)
        if resolved is None:
            return Skipped(url, Stage.LIVE, "scheme", "only http and https addresses are fetched")
        if refusal := self.refusal(resolved):
            reason, _, detail = refusal.partition(": ")
            return Skipped(url, Stage.LIVE, reason, detail)
        with self._lock:
            source = self.scope.require_source(resolved)
            pooled = pooled_page(self._database, resolved, source, self._clock(), ttl_s)
            found = pooled or self._fetch_now(resolved)
            if isinstance(found, LiveLoss):
                return Skipped(url, Stage.LIVE, found.reason, found.detail)
            text = found.document.text
            if selector:
                from kbcite.page.link_texts import selected_text

                chosen = selected_text(self._decoded(found.document.digest), selector)
                if chosen is None:
                    return Skipped(url, Stage.LIVE, "selector", f"{selector!r} names nothing on the page")
                text = chosen
        kept = _cut(text)
        metadata = found.document.metadata
        return LiveText(
            found.url,
            metadata.title,
            metadata.published_at,
            found.fetched_at,
            kept,
            is_cut=len(kept) < len(text),
            is_pooled=found.is_pooled,
            digest=found.document.digest,
        )

    def _fetch_now(self, url: str) -> LivePage | LiveLoss:
        within_s = self._settings.live.fetch_within_s
        self.start(url)
        for found in self.collect(time.monotonic() + within_s + LAST_WORD_S):
            if found.requested_url == url:
                return found
        return LiveLoss(url, "timeout", f"not there after {within_s:g} s")

    def _decoded(self, digest: str) -> DecodedPage:
        """The archived page."""
        from kbcite.page.encoding import decode

        snapshot = self._database.pages.snapshot_by_digest(digest)
        return decode(self._archive.get(digest), snapshot.content_type if snapshot is not None else None)

    # ------------------------------------------------------------ in a thread

    def _bring(self, url: str) -> _Brought:
        began = time.monotonic()
        self._visitor.stopping.wait(self._visitor.pace_of(url).reserve(began))
        result = self._visitor.visit(url)
        from kbcite.page.first_look import read_or_skip
        from kbcite.stages.live_reading import read_answer

        source = self.scope.source_of(result.final_url) if isinstance(result, FetchedPage) else None
        obeys_robots = source is not None and source.obey_robots
        # A page that the readers cannot bear must not cost the answer; the reason is in its trace.
        reading = read_or_skip(url, Stage.LIVE, lambda: read_answer(url, result, obeys_robots))
        return _Brought(url, result, reading, began, time.monotonic())

    # ------------------------------------------------------------ in the caller's thread

    def _store(self, brought: _Brought) -> LivePage | LiveLoss:
        """Archive and pool what a thread brought."""
        url, result, reading = brought.url, brought.result, brought.reading
        now = self._clock()
        page = result if isinstance(result, FetchedPage) else None
        digest = ""
        if page is not None and 200 <= page.status < 300 and page.body:
            with self._archive.transaction():
                digest = self._archive.put_response(page)
        with self._database.transaction():
            for copy in self._visitor.new_robots():
                self._database.frontier.save_robots(copy)
            if page is None or isinstance(reading, Skipped):
                reason, detail = (reading.reason, reading.detail) if isinstance(reading, Skipped) else ("", "")
                self._database.pool.save_failure(url, reason, detail, now)
                if is_missing(result):
                    self._note_missing(url, now)
                return LiveLoss(url, reason, detail, began_at=brought.began_at, ended_at=brought.ended_at)
            source = self.scope.source_of(page.final_url) or self.scope.require_source(url)
            document_id = self._database.pool.save_page(
                page,
                digest,
                reading.document,
                reading.pieces,
                rules=reading.rules,
                source=source.url,
                source_type=source.type,
                labels=source.labels,
            )
            self._note_seen(page, digest, reading.document, now)
        document = self._database.documents.get(document_id)
        assert document is not None, "it was stored just now"
        pieces = tuple(self._database.blocks.of_document(document_id))
        return LivePage(
            url,
            page.final_url,
            document,
            pieces,
            source.type,
            source.labels,
            page.fetched_at,
            is_pooled=False,
            links=reading.links,
            began_at=brought.began_at,
            ended_at=brought.ended_at,
        )

    def _note_seen(self, page: FetchedPage, digest: str, reading: CleanDocument, now: str) -> None:
        """What the fetch says of a stored page: it still holds, or it has changed and is to be visited first."""
        known = self._database.pages.get(page.final_url, url_key(page.final_url))
        if known is None or known.url != page.final_url or not self._database.pool.is_scheduled(known.url):
            return
        if known.digest == digest:
            self._database.pages.save_unchanged(known.id, now, known.due_at)
            return
        stored = self._database.documents.of_page(known.id)
        if stored is None or stored.fingerprint != reading.fingerprint:
            self._database.pages.mark(known.id, now)

    def _note_missing(self, url: str, now: str) -> None:
        """One more answer that a stored page is gone."""
        known = self._database.pages.get(url, url_key(url))
        if known is not None and known.url == url:
            evidence = after_missing(known.evidence, now, self._settings.recheck)
            self._database.pages.save_trouble(
                known.id, now, evidence=evidence, due_at=known.due_at, status=404, detail="gone, seen while answering"
            )


def _cut(text: str) -> str:
    """The text up to `MAX_TEXT_BYTES`, cut at the end of a line where there is one."""
    data = text.encode()
    if len(data) <= MAX_TEXT_BYTES:
        return text
    end = data.rfind(b"\n", 0, MAX_TEXT_BYTES)
    return data[:end].decode() if end > 0 else text[: MAX_TEXT_BYTES // 4]
