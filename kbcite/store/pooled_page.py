"""A page of the pool with its reading, put together from what the database holds: nothing is fetched, decoded or imported for it."""

from __future__ import annotations

from kbcite.live_records import LiveLoss, LivePage
from kbcite.settings import SourceSettings
from kbcite.store.database import Database

FAILURE_TTL_S = 300
"""How long a page that could not be read is left alone."""


def pooled_page(
    database: Database, url: str, source: SourceSettings, now: str, ttl_s: int
) -> LivePage | LiveLoss | None:
    """What an address of a source brought at most `ttl_s` seconds ago, without its links; None where it must be fetched."""
    found = database.pool.get(url, now, ttl_s)
    if found is None:
        return None
    if found.document_id is None:
        fresh = database.pool.get(url, now, min(ttl_s, FAILURE_TTL_S))
        return LiveLoss(url, found.outcome, found.detail, is_pooled=True) if fresh else None
    document = database.documents.get(found.document_id)
    if document is None:
        return None
    pieces = tuple(database.blocks.of_document(found.document_id))
    return LivePage(url, found.url, document, pieces, source.type, source.labels, found.fetched_at, is_pooled=True)
