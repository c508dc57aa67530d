"""What stands today where an answer or a text has its words from, by pages that were asked for again.

A saved answer is held against them passage by passage, as `audit` does with what a recheck stored; a text by anyone sentence by
sentence, with the checks that hold it against the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kbcite.answer.passage_change import Change, nearest_passage, still_stands, word_difference
from kbcite.answer.record import from_record
from kbcite.live_records import PageNow
from kbcite.records import CleanDocument
from kbcite.stages.verify_report import SentenceReport
from kbcite.store.database import Database

LOST = frozenset({"changed", "gone"})


@dataclass(frozen=True, slots=True)
class CitedToday:
    """A citation and what its page says today."""

    n: int
    url: str
    outcome: str
    """`there`: still as it was; `moved`: the same at another address; `changed`: other words in its place, or none; `gone`: the page
    is; `unreachable`: no answer about it; `not_asked`: not stored here, not covered, or robots.txt forbids it."""
    quoted: str
    now: str
    """What stands in its place; empty where nothing does, and where nothing changed."""
    difference: tuple[Change, ...]
    detail: str
    asked_at: str

    @property
    def is_lost(self) -> bool:
        return self.outcome in LOST


def cited_pages(record: Mapping[str, Any], database: Database) -> dict[int, CleanDocument | None]:
    """The stored document that each source of an answer quotes, by its number; None where it is not in this store."""
    return {
        source.n: database.documents.quoted(source.snapshot.digest, source.quote)
        for source in from_record(record).sources
    }


def answer_today(
    record: Mapping[str, Any], cited: Mapping[int, CleanDocument | None], pages: Mapping[str, PageNow]
) -> tuple[CitedToday, ...]:
    """The citations of a saved answer today. cited: as `cited_pages` gives them; pages: by the URLs of those documents."""
    found = []
    for source in from_record(record).sources:
        document = cited[source.n]
        if document is None:
            found.append(
                CitedToday(source.n, source.url, "not_asked", source.quote.text, "", (), "not in this store", "")
            )
            continue
        page, quote = pages[document.url], source.quote.text
        if page.document is not None and (
            page.document.digest == document.digest
            or still_stands(quote, document.text, source.quote.start, page.document.text)
        ):
            found.append(_same(source.n, quote, page))
        else:
            found.append(_other(source.n, quote, page))
    return tuple(found)


def text_today(
    before: Sequence[SentenceReport], now: Sequence[SentenceReport], pages: Mapping[str, PageNow]
) -> tuple[CitedToday, ...]:
    """The citations of a text today, those sentences apart that its stored pages did not bear out.

    before, now: its sentences against the stored pages, and against those of today. pages: by the listed addresses.
    """
    found: dict[tuple[int, str], CitedToday] = {}
    for then, today in zip(before, now, strict=True):
        if not then.is_ok or len(then.urls) != len(then.numbers):
            continue
        for n, url in zip(then.numbers, then.urls, strict=True):
            page = pages[url]
            is_same = today.is_ok and page.document is not None
            one = _same(n, then.text, page) if is_same else _other(n, then.text, page)
            if (n, url) not in found or (one.is_lost and not found[n, url].is_lost):
                found[n, url] = one
    return tuple(found.values())


def _same(n: int, quoted: str, page: PageNow) -> CitedToday:
    return CitedToday(n, page.url, page.outcome, quoted, "", (), page.detail, page.asked_at)


def _other(n: int, quoted: str, page: PageNow) -> CitedToday:
    """The citation where its words do not stand on the page, or the page is not to be had."""
    if page.outcome not in ("there", "moved"):
        return CitedToday(n, page.url, page.outcome, quoted, "", (), page.detail, page.asked_at)
    now = nearest_passage(quoted, page.document.text) if page.document is not None else ""
    difference = word_difference(quoted, now) if now else ()
    return CitedToday(n, page.url, "changed", quoted, now, difference, page.detail, page.asked_at)
