"""Clean: archived bytes → documents, for the pages whose current bytes have no reading under the current rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kbcite.clock import Clock
from kbcite.errors import StoreError
from kbcite.fetch_records import Snapshot
from kbcite.page.first_look import read_or_skip
from kbcite.records import CleanDocument, Skipped, Stage
from kbcite.store.archive import Archive
from kbcite.store.database import Database

COMMIT_EVERY = 20
ARCHIVE_DAMAGED = "archive_damaged"

CleanPage = Callable[[bytes, str, str | None], CleanDocument | Skipped]
"""Bytes, URL and Content-Type → the page's main content, or why there is none."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    url: str
    encoding: str
    characters: int


def clean_pages(
    database: Database,
    archive: Archive,
    clean: CleanPage,
    rules: str,
    clock: Clock,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Cleaned | Skipped]:
    """One record a page, each after it was stored. A page whose bytes are damaged keeps its last reading."""
    stale_snapshots = database.pages.stale_snapshots(rules)
    for first in range(0, len(stale_snapshots), COMMIT_EVERY):
        if should_stop():
            return
        done: list[Cleaned | Skipped] = []
        with database.transaction():
            for stale in stale_snapshots[first : first + COMMIT_EVERY]:
                outcome = _clean_snapshot(stale.snapshot, archive, clean)
                if isinstance(outcome, CleanDocument):
                    database.documents.save(stale.page_id, stale.snapshot_id, outcome, rules, clock())
                    done.append(Cleaned(stale.snapshot.url, outcome.encoding, len(outcome.text)))
                else:
                    if outcome.reason != ARCHIVE_DAMAGED:
                        database.documents.save_skipped(stale.page_id, stale.snapshot_id, outcome, rules)
                    done.append(outcome)
        yield from done


def _clean_snapshot(snapshot: Snapshot, archive: Archive, clean: CleanPage) -> CleanDocument | Skipped:
    try:
        body = archive.get(snapshot.digest)
    except StoreError as error:
        return Skipped(snapshot.url, Stage.CLEAN, ARCHIVE_DAMAGED, str(error))
    # What the cleaner cannot bear is tried again under new rules.
    return read_or_skip(snapshot.url, Stage.CLEAN, lambda: clean(body, snapshot.final_url, snapshot.content_type))
