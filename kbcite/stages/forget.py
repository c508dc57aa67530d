"""Forget: pages out of the store for good, with everything that was made of them.

The database lets go first, in one transaction that also notes what is still to leave the archive, the indexes and the free pages
of the files. A kill after that is taken up by the next command that writes; before it nothing has happened.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from kbcite.clock import Clock
from kbcite.errors import NotFound, StoreError
from kbcite.retrieval.vector_index import VectorIndex, read_metadata
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.forgetting import Doomed, Forgetting, finish_erasure
from kbcite.store.layout import PAGE_COPIES_NAME
from kbcite.urls import url_key


@dataclass(frozen=True, slots=True)
class Forgotten:
    pages: int
    blocks: int
    bodies: int
    answers: int
    """Saved answers in which what the pages said is masked now."""


def find_doomed(database: Database, url: str | None, hosts: Collection[str]) -> Doomed:
    """What there is to forget of a URL, or of hosts."""
    forgetting = Forgetting(database.connection)
    return forgetting.of_url(url) if url is not None else forgetting.of_hosts(hosts)


def forget_pages(
    database: Database,
    archive: Archive,
    vectors: Path,
    doomed: Doomed,
    clock: Clock,
    *,
    url: str | None = None,
    hosts: Collection[str] = (),
) -> Forgotten:
    """Take the pages out and let crawls leave their addresses alone; a URL or host without pages is only marked."""
    forgetting = Forgetting(database.connection)
    with database.transaction():
        forgetting.plan("url", [*doomed.urls, *([url] if url is not None else [])])
        forgetting.plan("host", hosts)
        forgetting.plan("digest", doomed.digests)
        forgetting.remove_pages(doomed)
        forgetting.drop_verdicts(hosts)
        database.words.sync(database.blocks.live())
        blocks = forgetting.remove_blocks()
        forgetting.mark(hosts or {*doomed.keys, *([url_key(url)] if url is not None else [])}, clock())
    bodies = finish_forgetting(database, archive, vectors)
    return Forgotten(len(doomed.page_ids), blocks, bodies, len(doomed.answers))


def finish_forgetting(database: Database, archive: Archive, vectors: Path) -> int:
    """What a forget noted leaves the vector index, the archive and the files; how many archived bodies went."""
    _renew_vector_index(database, vectors)
    copies = vectors.parent / PAGE_COPIES_NAME
    if copies.is_dir():
        shutil.rmtree(copies)
    return finish_erasure(database.connection, archive)


def _renew_vector_index(database: Database, folder: Path) -> None:
    """The index of vectors without those that went; one that is missing or damaged is left for `index` to make."""
    try:
        fingerprint = read_metadata(folder)["fingerprint"]
    except (NotFound, StoreError):
        return
    ids, languages, vectors = database.vectors.live(fingerprint)
    if ids:
        VectorIndex.build(ids, vectors, languages, fingerprint, database.vectors.generation()).save(folder)
        return
    for file in folder.iterdir():
        file.unlink()
