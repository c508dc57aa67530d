"""WARC: crawls of other programs into the store, the archive out to them; and the database made again from the archive.

What comes in passes the same gates as a fetched page: the whitelist, the content types, robots meta tags, walls in front of pages. Bytes
are archived before the database names them, batch by batch, so that a kill leaves whole pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from kbcite.fetch_records import ArchivedAnswer, Evidence, FetchedPage
from kbcite.page.first_look import look_at, read_or_skip
from kbcite.records import PageState, Skipped, Stage
from kbcite.settings import RecheckSettings, SourceSettings
from kbcite.store.archive import Archive, digest_of
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.urls import host_of, is_within, url_key
from kbcite.web.fetch import HTML_TYPES
from kbcite.web.robots import header_tags
from kbcite.web.schedule import next_visit
from kbcite.web.scope import Scope
from kbcite.web.warc_reader import Broken, Capture, read_captures

BATCH_PAGES = 64
BATCH_BYTES = 16_000_000
OUTSIDE = "outside_whitelist"


@dataclass(frozen=True, slots=True)
class Imported:
    """A page that is stored now, or was already."""

    url: str
    outcome: str
    """`new`, `changed` or `unchanged`."""
    digest: str


ImportEvent = Imported | Skipped | Broken


def import_warc(
    database: Database,
    archive: Archive,
    path: Path,
    sources: Sequence[SourceSettings],
    *,
    max_bytes: int,
    recheck: RecheckSettings | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[ImportEvent]:
    """One event a page of the file, each after it was stored, and one a record that was left out, with the reason.

    Raises UsageError for a file that is neither WARC nor WACZ.
    """
    intake = _Intake(database, archive, _scope(database, sources), recheck or RecheckSettings())
    batch: list[Capture] = []
    for outcome in read_captures(path, max_bytes):
        if should_stop():
            break
        if not isinstance(outcome, Capture):
            yield outcome
        elif refusal := intake.refusal(outcome.page, outcome.is_revisit):
            yield refusal
        else:
            batch.append(outcome)
            if len(batch) >= BATCH_PAGES or sum(len(capture.page.body) for capture in batch) >= BATCH_BYTES:
                yield from intake.take(batch)
                batch = []
    yield from intake.take(batch)


def rebuild_pages(
    database: Database, archive: Archive, sources: Sequence[SourceSettings], recheck: RecheckSettings | None = None
) -> Iterator[ImportEvent]:
    """Makes the pages and snapshots of a new database from what the archive knows of its bytes."""
    intake = _Intake(database, archive, _scope(database, sources), recheck or RecheckSettings())
    for batch in _batches(archive.responses()):
        events: list[Imported | Skipped] = []
        with database.transaction():
            for answer in batch:
                page, digest = answer.page, answer.digest
                if refusal := intake.refusal(page, is_bodiless=True):
                    events.append(refusal)
                elif archive.is_whole(digest):
                    events.append(intake.settle(replace(page, body=archive.get(digest)), digest))
                else:
                    events.append(_skip(page, "archive_damaged", "its bytes cannot be read"))
        yield from events


def archived_answers(archive: Archive, prefixes: Sequence[str]) -> Iterator[ArchivedAnswer]:
    """What the archive holds, of these URL prefixes or all, in the order of fetching.

    Answers of which bytes are damaged are left out; `kbcite doctor --read-data` names them.
    """
    for answer in archive.responses():
        digests = filter(None, (answer.digest, answer.received_digest))
        if (not prefixes or is_within(answer.page.final_url, prefixes)) and all(map(archive.is_whole, digests)):
            yield answer


def _scope(database: Database, sources: Sequence[SourceSettings]) -> Scope:
    return Scope(sources, forgotten_places(database.connection))


class _Intake:
    """Decides of each page whether it is kept, and records it."""

    def __init__(self, database: Database, archive: Archive, scope: Scope, recheck: RecheckSettings) -> None:
        self._database = database
        self._pages = database.pages
        self._archive = archive
        self._scope = scope
        self._recheck = recheck
        self._digests: dict[str, str] = {}
        """Digests of bodies by the payload digests of the file."""

    def refusal(self, page: FetchedPage, is_bodiless: bool) -> Skipped | None:
        """Why an answer is left out before its bytes are looked at."""
        source = self._scope.source_of(page.final_url)
        if source is None:
            return _skip(page, OUTSIDE, host_of(page.final_url))
        if exclusion := self._scope.exclusion(page.final_url, source):
            reason, _, detail = exclusion.partition(": ")
            return _skip(page, reason, detail)
        if not 200 <= page.status < 300:
            return _skip(page, "status", str(page.status))
        kind = (page.header("content-type") or "").partition(";")[0].strip().lower()
        if kind not in HTML_TYPES:
            return _skip(page, "content_type", kind)
        if not page.body and not is_bodiless:
            return _skip(page, "empty", "no body")
        return None

    def take(self, batch: Iterable[Capture]) -> list[Imported | Skipped]:
        """Archive and record a batch; its events may be reported when this returns."""
        kept: list[tuple[FetchedPage, str]] = []
        events: list[Imported | Skipped] = []
        with self._archive.transaction():
            for capture in batch:
                page = capture.page
                if capture.is_revisit:
                    digest = self._digests.get(capture.payload_digest, "")
                    if not digest:
                        events.append(_skip(page, "revisit", "the record that it refers to is not in this file"))
                        continue
                    body = self._archive.get(digest)
                    received = page.received and replace(page.received, body=body)
                    page = replace(page, received=received) if received else replace(page, body=body)
                elif self._is_older(page):
                    events.append(_skip(page, "older", "the store holds a later fetch of this page"))
                    continue
                digest = self._archive.put_response(page)
                if capture.payload_digest:
                    self._digests[capture.payload_digest] = digest_of(page.received.body) if page.received else digest
                kept.append((page, digest))
        with self._database.transaction():
            events += [self.settle(page, digest) for page, digest in kept]
        return events

    def _is_older(self, page: FetchedPage) -> bool:
        known = self._pages.get(page.final_url, url_key(page.final_url))
        return known is not None and known.fetched_at > page.fetched_at

    def settle(self, page: FetchedPage, digest: str) -> Imported | Skipped:
        """Record a page whose bytes are archived; inside a transaction of the database."""
        source = self._scope.require_source(page.final_url)
        look = read_or_skip(page.final_url, Stage.IMPORT, lambda: look_at(page))
        if isinstance(look, Skipped):
            return look
        if look.wall is not None:
            return _skip(page, look.wall.kind, look.wall.detail)
        if source.obey_robots and (look.links.is_noindex or "noindex" in header_tags(page)):
            return _skip(page, "noindex", "the page asks not to be kept; obey_robots = false overrules it")
        known = self._pages.of_answer(page.final_url, url_key(page.final_url), digest)
        url = known.url if known is not None else page.final_url
        is_changed = known is not None and known.digest is not None and known.digest != digest
        history = [*(self._pages.history(known.id) if known is not None else ()), (page.fetched_at, is_changed)]
        is_new = self._pages.save_fetch(
            url,
            page,
            digest,
            source=source.url,
            source_type=source.type,
            labels=source.labels,
            due_at=next_visit(page.fetched_at, Evidence(PageState.ALIVE), history, self._recheck, source.tier),
        )
        self._pages.add_alias(url_key(page.final_url), url)
        for _, hop in page.redirects:
            if self._scope.source_of(hop) is not None and self._pages.get(hop, url_key(hop)) is None:
                self._pages.add_alias(url_key(hop), url)
        return Imported(url, "changed" if is_changed else "new" if is_new else "unchanged", digest)


def _batches(items: Iterable[ArchivedAnswer]) -> Iterator[list[ArchivedAnswer]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH_PAGES)):
        yield batch


def _skip(page: FetchedPage, reason: str, detail: str) -> Skipped:
    return Skipped(page.final_url, Stage.IMPORT, reason, detail)
