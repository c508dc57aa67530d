"""What a visit says about a stored page (SPEC 61, 63).

The cheap proofs come first: "not modified", then equal bytes. Only other bytes are cleaned, like those stored, with the rules of today;
equal fingerprints (title and main text, counters and clock times masked) are unchanged too, whatever the page's frame did. Where the
former text is gone, or an address leads elsewhere, the page may be gone without a word: the site is then asked, once a run and
folder, for a page that cannot exist, and what it says of that counts as its "not found".
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from kbcite.clock import Clock, from_text, to_text
from kbcite.errors import StoreError
from kbcite.fetch_records import Evidence, FetchedPage, FetchFailure
from kbcite.page.encoding import decode
from kbcite.page.first_look import look_at
from kbcite.page.stand_in import recognise_not_found, recognise_stand_in
from kbcite.page.text_difference import Difference, compare, is_same_but_for_address, share_kept
from kbcite.records import CleanDocument, PageState, Skipped, Stage, Tier
from kbcite.settings import RecheckSettings
from kbcite.store.archive import Archive, digest_of
from kbcite.store.pages import PageRow, Pages
from kbcite.urls import folder_of, split, url_key
from kbcite.web.liveness import after_failure, after_missing, is_missing, is_sent_home, moved_to, trouble_detail
from kbcite.web.schedule import next_visit, with_last_modified
from kbcite.web.scope import Scope
from kbcite.web.visitor import INTERRUPTED, NOT_FETCHED, Visitor

GONE_SHARE = 0.5
"""A page of which less than this share of its former text is left may be another page: a notice, a wall, a "not found"."""

CleanPage = Callable[[bytes, str, str | None], CleanDocument | Skipped]
"""Bytes, URL and Content-Type → the page's main content, or why there is none."""


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What became of one page: an entry of the change report."""

    url: str
    outcome: str
    """`changed`, `unchanged`, `moved`, `unreachable` or `dead`."""
    was: PageState
    detail: str
    """`not modified`, `same bytes`, `same text`, `status 404, check 2 of 3 since 2026-11-08, dead no sooner than 2026-11-11` ..."""
    evidence: Evidence
    due_at: str
    digest: str | None = None
    """Of the bytes that hold now."""
    moved_to: str | None = None
    former_digest: str | None = None
    """Of the bytes that held before."""
    title: str = ""
    difference: Difference | None = None
    """Of the main text, for a changed page whose former text could be read."""

    @property
    def is_revived(self) -> bool:
        return self.was in (PageState.DEAD, PageState.MOVED) and self.outcome in ("changed", "unchanged")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be recorded of a visit.

    stored: the full answer that it rests on, recorded under `stored_url` where its bytes are new.
    """

    report: Rechecked
    status: int | None
    stored: FetchedPage | None = None
    stored_url: str = ""
    gone: str = ""
    """What this visit says of a page that it does not find; empty where it says nothing of the kind."""


@dataclass(frozen=True, slots=True)
class _NotFoundAnswer:
    """How a site answers for a page that cannot exist."""

    url: str
    final_url: str
    text: str
    """Empty where there is none."""


class Judge:
    """Judges the visits of one run. It reads the store and may visit the site; it writes nothing."""

    def __init__(
        self,
        pages: Pages,
        archive: Archive,
        clean: CleanPage,
        visitor: Visitor,
        scope: Scope,
        settings: RecheckSettings,
        clock: Clock,
    ) -> None:
        self._pages = pages
        self._archive = archive
        self._clean = clean
        self._visitor = visitor
        self._scope = scope
        self._settings = settings
        self._clock = clock
        self._not_found: dict[str, _NotFoundAnswer | None] = {}

    def verdict(self, page: PageRow, result: FetchedPage | FetchFailure) -> Verdict | Skipped | None:
        """What a visit says of a page; None for one that was not made because the run stops."""
        if isinstance(result, FetchFailure):
            return self._failed(page, result)
        if is_missing(result) or is_sent_home(result):
            return self._missing(page, result)
        if result.status == 304:
            return self._unchanged(page, result, "not modified")
        if not 200 <= result.status < 300 or not result.body:
            detail = trouble_detail(result) if result.body else f"status {result.status} with an empty body"
            return self._trouble(page, result, after_failure(page.evidence), detail)
        if result.redirects and url_key(result.final_url) != page.url_key:
            return self._redirected(page, result)
        return self._compared(page, result)

    def tier_of(self, url: str) -> Tier:
        source = self._scope.source_of(url)
        return source.tier if source else Tier.MONTHLY

    def next_visit(self, url: str, at: str, evidence: Evidence) -> str:
        """When a page without a history worth looking at is visited again."""
        return next_visit(at, evidence, (), self._settings, self.tier_of(url))

    # ------------------------------------------------------------ no answer about the page

    def _failed(self, page: PageRow, result: FetchFailure) -> Verdict | Skipped | None:
        if result.reason == INTERRUPTED:
            return None
        if result.reason == "content_type":
            return self._trouble(page, result, after_failure(page.evidence), f"now is {result.detail}")
        if result.reason in NOT_FETCHED:
            if result.hop_url:
                detail = f"redirects to {result.hop_url}, which is not fetched: {result.reason}"
                return self._trouble(page, result, after_failure(page.evidence), detail)
            return Skipped(page.url, Stage.RECHECK, result.reason, result.detail)
        return self._trouble(page, result, after_failure(page.evidence), trouble_detail(result))

    def _missing(self, page: PageRow, result: FetchedPage, why: str = "") -> Verdict:
        evidence = after_missing(page.evidence, result.fetched_at, self._settings)
        why = why or (f"redirects to {result.final_url}" if is_sent_home(result) else f"status {result.status}")
        since = evidence.missing_since or result.fetched_at
        if evidence.state is PageState.DEAD:
            detail = f"{why}, {evidence.misses} times since {since[:10]}"
        else:
            needed = self._settings.dead_after_checks
            from_day = to_text(from_text(since) + timedelta(days=self._settings.dead_after_days))[:10]
            count = f"check {evidence.misses} of {needed}" if evidence.misses < needed else f"{evidence.misses} times"
            detail = f"{why}, {count} since {since[:10]}, dead no sooner than {from_day}"
        return replace(self._trouble(page, result, evidence, detail), gone=why)

    def _trouble(self, page: PageRow, result: FetchedPage | FetchFailure, evidence: Evidence, detail: str) -> Verdict:
        outcome = {PageState.DEAD: "dead", PageState.MOVED: "moved"}.get(evidence.state, "unreachable")
        report = Rechecked(
            page.url,
            outcome,
            page.state,
            detail,
            evidence,
            self.next_visit(page.url, self._clock(), evidence),
            page.digest,
            page.moved_to,
            page.digest,
        )
        return Verdict(report, result.status if isinstance(result, FetchedPage) else None)

    # ------------------------------------------------------------ an answer

    def _redirected(self, page: PageRow, result: FetchedPage) -> Verdict:
        if instead := self._stand_in(page, result):
            return instead
        if wall := _what_stands_before(result):
            return self._trouble(page, result, after_failure(page.evidence), wall)
        not_found = self._not_found_answer(page.url)
        if not_found is not None and url_key(not_found.final_url) == url_key(result.final_url):
            return self._missing(page, result, f"redirects to {result.final_url}, like a page that cannot exist")
        target = moved_to(result, page.evidence, self._settings)
        if target is None:
            detail = f"redirected for now to {result.final_url}"
            return self._trouble(page, result, after_failure(page.evidence), detail)
        evidence = Evidence(PageState.MOVED)
        due_at = self.next_visit(page.url, result.fetched_at, evidence)
        report = Rechecked(
            page.url,
            "moved",
            page.state,
            f"to {target}",
            evidence,
            due_at,
            digest_of(result.body),
            target,
            page.digest,
        )
        return Verdict(report, result.status, result, target)

    def _compared(self, page: PageRow, result: FetchedPage) -> Verdict:
        digest = digest_of(result.body)
        if digest == page.digest:
            return self._unchanged(page, result, "same bytes", result)
        if wall := _what_stands_before(result):
            return self._trouble(page, result, after_failure(page.evidence), wall)
        new = self._clean(result.body, result.final_url, result.header("content-type"))
        old = self._stored_text(page)
        if isinstance(new, CleanDocument) and isinstance(old, CleanDocument) and new.fingerprint == old.fingerprint:
            return self._unchanged(page, result, "same text", result)
        if isinstance(old, CleanDocument):
            kept = share_kept(old.text, new.text) if isinstance(new, CleanDocument) else 0.0
            if kept < GONE_SHARE and (instead := self._instead(page, result, old, new)):
                return instead
        return self._changed(page, result, digest, old, new)

    def _instead(
        self, page: PageRow, result: FetchedPage, old: CleanDocument, new: CleanDocument | Skipped
    ) -> Verdict | None:
        """The verdict on what has taken the place of the page's text; None where that is a new text of the page."""
        if instead := self._stand_in(page, result):
            return instead
        if isinstance(new, Skipped):
            return self._trouble(page, result, after_failure(page.evidence), f"no main text: {new.reason}")
        if notice := recognise_not_found(new.metadata.title, new.text, old.metadata.title):
            return self._missing(page, result, f"{notice.kind}: {notice.detail}")
        not_found = self._not_found_answer(page.url)
        if not_found is not None and is_same_but_for_address(new.text, page.url, not_found.text, not_found.url):
            return self._missing(page, result, "the same text as a page that cannot exist")
        return None

    def _stand_in(self, page: PageRow, result: FetchedPage) -> Verdict | None:
        """The verdict on a form to log in, which may be lifted, or on a domain that is for sale: nobody is there to keep the page."""
        found = recognise_stand_in(_text_of(result), result.final_url, page.url)
        if found is None:
            return None
        detail = f"{found.kind}: {found.detail}"
        if found.kind == "login_wall":
            return self._trouble(page, result, after_failure(page.evidence), detail)
        return self._missing(page, result, detail)

    def _changed(
        self,
        page: PageRow,
        result: FetchedPage,
        digest: str,
        old: CleanDocument | Skipped | None,
        new: CleanDocument | Skipped,
    ) -> Verdict:
        evidence = Evidence(PageState.CHANGED)
        difference = None
        if isinstance(old, CleanDocument) and isinstance(new, CleanDocument):
            difference = compare(_with_title(old), _with_title(new))
        report = Rechecked(
            page.url,
            "changed",
            page.state,
            _what_changed(old, new, difference),
            evidence,
            self._next_visit_after(page, result.fetched_at, evidence, is_changed=True),
            digest,
            former_digest=page.digest,
            title=new.metadata.title if isinstance(new, CleanDocument) else "",
            difference=difference,
        )
        return Verdict(report, result.status, result, page.url)

    def _unchanged(self, page: PageRow, result: FetchedPage, detail: str, full: FetchedPage | None = None) -> Verdict:
        evidence = Evidence(PageState.CHANGED if page.state is PageState.CHANGED else PageState.ALIVE)
        due_at = self._next_visit_after(page, result.fetched_at, evidence, is_changed=False)
        digest = digest_of(full.body) if full is not None else page.digest
        report = Rechecked(
            page.url, "unchanged", page.state, detail, evidence, due_at, digest, former_digest=page.digest
        )
        return Verdict(report, result.status, full, page.url)

    def _next_visit_after(self, page: PageRow, at: str, evidence: Evidence, *, is_changed: bool) -> str:
        history = [*self._pages.history(page.id), (at, is_changed)]
        known = with_last_modified(history, page.last_modified)
        return next_visit(at, evidence, known, self._settings, self.tier_of(page.url))

    # ------------------------------------------------------------ what it is compared with

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

    def _not_found_answer(self, url: str) -> _NotFoundAnswer | None:
        """How the site answers for a page beside this one that cannot exist; None if it says so honestly.

        Asked once a folder. The start page is not compared: it may well be what a site answers for everything.
        """
        parts = split(url)
        if parts is None or (parts.path == "/" and not parts.query):
            return None
        folder = folder_of(url)
        if folder not in self._not_found:
            self._not_found[folder] = self._ask_for_nothing(f"{folder}kbcite-{secrets.token_hex(8)}.html")
        return self._not_found[folder]

    def _ask_for_nothing(self, url: str) -> _NotFoundAnswer | None:
        pace = self._visitor.pace_of(url)
        self._visitor.stopping.wait(pace.reserve(time.monotonic()))
        result = self._visitor.visit(url)
        if not isinstance(result, FetchedPage) or not 200 <= result.status < 300 or not result.body:
            return None
        document = self._clean(result.body, result.final_url, result.header("content-type"))
        return _NotFoundAnswer(url, result.final_url, document.text if isinstance(document, CleanDocument) else "")


def _text_of(page: FetchedPage) -> str:
    return decode(page.body, page.header("content-type")).text


def _what_stands_before(page: FetchedPage) -> str | None:
    """What stands in front of the page, as one line; None if nothing does."""
    found = look_at(page).wall
    return f"{found.kind}: {found.detail}" if found else None


def _with_title(document: CleanDocument) -> str:
    """The text below its title, unless it begins with it: so a changed title is seen, and once."""
    first = document.text.lstrip("# \n").partition("\n")[0].strip()
    title = document.metadata.title
    return document.text if not title or title == first else f"# {title}\n\n{document.text}"


def _what_changed(
    old: CleanDocument | Skipped | None, new: CleanDocument | Skipped, difference: Difference | None
) -> str:
    if isinstance(new, Skipped):
        return f"no main text: {new.reason}"
    if difference is None:
        return "its former text cannot be read" if old is None else "its former bytes had no main text"
    if not difference.missing and not difference.superfluous:
        return "punctuation or layout only"
    return f"{difference.missing} of {difference.words} words gone, {difference.superfluous} new"
