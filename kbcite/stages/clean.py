"""Clean: archived bytes → documents, for the pages whose current bytes have no reading under the current rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kbcite.clock import Clock
from kbcite.records import CleanDocument, Skipped
from kbcite.store.archive import Archive
from kbcite.store.database import Database

COMMIT_EVERY = 20

CleanPage = Callable[[bytes, str, str | None], CleanDocument | Skipped]
"""Bytes, URL and Content-Type → the page's main content, or why there is none."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    url: str
    encoding: str
    characters: int


def clean_pages(
    database: Database, archive: Archive, clean: CleanPage, rules: str, clock: Clock
) -> Iterator[Cleaned | Skipped]:
    """One record a page, each after it was stored."""
    stale_snapshots = database.pages.stale_snapshots(rules)
    for first in range(0, len(stale_snapshots), COMMIT_EVERY):
        done: list[Cleaned | Skipped] = []
        with database.transaction():
            for stale in stale_snapshots[first : first + COMMIT_EVERY]:
                snapshot = stale.snapshot
                outcome = clean(archive.get(snapshot.digest), snapshot.final_url, snapshot.content_type)
                if isinstance(outcome, Skipped):
                    database.documents.save_skipped(stale.page_id, stale.snapshot_id, outcome, rules)
                    done.append(outcome)
                else:
                    database.documents.save(stale.page_id, stale.snapshot_id, outcome, rules, clock())
                    done.append(Cleaned(snapshot.url, outcome.encoding, len(outcome.text)))
        yield from done
