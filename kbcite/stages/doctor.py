"""Doctor: what is wrong with a store, and putting right what can be made again from what is kept.

Nothing is taken for granted: the settings may not be readable, a file may be missing or no database at all. Each layer is looked at
only where the one below it can be read. Repairs go from the records up: records, blocks, word index, vector index; then everything
is examined once more, so that what is reported as repaired is so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kbcite.clock import Clock
from kbcite.errors import KbciteError, NotFound, StoreError
from kbcite.page.cleaning import CLEAN_RULES
from kbcite.retrieval.vector_index import VectorIndex, read_metadata
from kbcite.settings import SETTINGS_NAME
from kbcite.settings_reading import load_settings
from kbcite.store.archive import ARCHIVE_NAME, Archive
from kbcite.store.database import DATABASE_NAME, Database
from kbcite.store.doctor import (
    ERASURE,
    Symptom,
    count_rows,
    count_without_vector,
    examine_archive,
    examine_blocks,
    examine_file,
    examine_records,
    examine_words,
    is_sound,
    list_fetches,
    mend_blocks,
    mend_file,
    mend_records,
    unreadable_pages,
)
from kbcite.store.forgetting import finish_erasure
from kbcite.store.layout import make_store
from kbcite.store.sqlite import explain_sqlite

VECTORS_NAME = "vectors"
_REPAIR = 'run "kbcite doctor --repair"'
_BLOCK_FAULTS = {"block_text", "block_place"}
_WORD_FAULTS = {"word_rows", "word_index", "to_index", *_BLOCK_FAULTS, f"{DATABASE_NAME}_references"}
_FILE_FAULTS = {"file_missing", "unreadable"}
_BYTE_FAULTS = {"blob_missing", "blob_damaged", "dictionary_missing"}

Advance = Callable[[str], None]
"""Called once a body that was read."""


@dataclass(frozen=True, slots=True)
class Examination:
    symptoms: tuple[Symptom, ...]
    counts: tuple[tuple[str, int], ...] = ()
    """What the store holds: pages, snapshots, documents, blocks, vectors, answers, bodies."""

    @property
    def damage(self) -> tuple[Symptom, ...]:
        return tuple(symptom for symptom in self.symptoms if symptom.is_damage)


def examine_store(folder: Path, *, read_data: bool = False, advance: Advance = lambda _: None) -> Examination:
    """Everything that is wrong with a store, without changing it.

    read_data: also reads every archived body and block and compares their digests.
    """
    symptoms = [*_settings(folder), *_leftovers(folder)]
    missing = [name for name in (DATABASE_NAME, ARCHIVE_NAME) if not (folder / name).is_file()]
    symptoms += [
        Symptom(
            "file_missing",
            f"{name} is missing",
            1,
            _remedy_of_file(name),
            is_repairable=name == DATABASE_NAME,
            examples=(name,),
        )
        for name in missing
    ]
    if missing:
        return Examination(tuple(symptoms))
    try:
        with Database(folder / DATABASE_NAME) as database, Archive(folder / ARCHIVE_NAME) as archive:
            symptoms += _layers(database, archive, folder, read_data, advance)
            counts = (*count_rows(database.connection), ("bodies", archive.sizes()[0]))
    except sqlite3.Error as error:
        symptoms.append(_unreadable(str(explain_sqlite(error, folder)), folder))
    except StoreError as error:
        symptoms.append(_unreadable(str(error), folder))
    else:
        return Examination(tuple(symptoms), counts)
    return Examination(tuple(symptoms))


def _layers(database: Database, archive: Archive, folder: Path, read_data: bool, advance: Advance) -> Iterator[Symptom]:
    sql = database.connection
    faults = [*examine_file(sql, DATABASE_NAME), *examine_file(archive.connection, ARCHIVE_NAME)]
    yield from faults
    if any(fault.check.endswith("_integrity") for fault in faults):
        return  # what a damaged file says of itself is not worth reporting
    yield from examine_records(sql)
    yield from examine_archive(sql, archive, read_data, advance)
    if read_data:
        yield from examine_blocks(sql)
    yield from examine_words(sql)
    yield from _vector_index(database, folder / VECTORS_NAME)
    if waiting := len(database.pages.stale_snapshots(CLEAN_RULES)):
        yield Symptom(
            "to_clean", "pages that are not cleaned by today's rules", waiting, 'run "kbcite clean"', False, False
        )


def _settings(folder: Path) -> Iterator[Symptom]:
    path = folder / SETTINGS_NAME
    if not path.exists():
        yield Symptom(
            "settings_missing",
            f"{SETTINGS_NAME} is missing; there are no sources",
            1,
            f'run "kbcite --store {folder} init"',
        )
    try:
        load_settings(path)
    except KbciteError as error:
        yield Symptom("settings", str(error), 1, f"mend {path}", is_repairable=False)


def _leftovers(folder: Path) -> Iterator[Symptom]:
    found = leftovers(folder)
    if found:
        names = tuple(str(path.relative_to(folder)) for path in found[:3])
        yield Symptom(
            "leftover",
            "files that a killed command left half written",
            len(found),
            "the next run replaces them",
            False,
            True,
            names,
        )


def leftovers(folder: Path) -> list[Path]:
    """Files that were being written beside the ones they were to replace."""
    return sorted([*folder.glob("*.new"), *(folder / VECTORS_NAME).glob("*.tmp")])


def lost_database(examination: Examination) -> bool:
    """Whether the database is gone or past mending, while the archive, from which it can be made again, is not."""
    files = {name for symptom in examination.damage if symptom.check in _FILE_FAULTS for name in symptom.examples}
    files |= {
        name for name in (DATABASE_NAME, ARCHIVE_NAME) for s in examination.damage if s.check == f"{name}_integrity"
    }
    return DATABASE_NAME in files and ARCHIVE_NAME not in files


def _unreadable(told: str, folder: Path) -> Symptom:
    """What SQLite says, with the files that it says it of."""
    names = tuple(name for name in (DATABASE_NAME, ARCHIVE_NAME) if not is_sound(folder / name))
    remedy = _remedy_of_file(names[0]) if len(names) == 1 else _remedy_of_file(ARCHIVE_NAME)
    # The remedy takes the place of the next step that an error carries.
    return Symptom(
        "unreadable", told.partition("; ")[0], 1, remedy, is_repairable=names == (DATABASE_NAME,), examples=names
    )


def _remedy_of_file(name: str) -> str:
    if name == DATABASE_NAME:
        return 'put it back from a copy, or run "kbcite doctor --repair" to make it again from the archive'
    return "put it back from a copy, or build a new store"


def _vector_index(database: Database, folder: Path) -> Iterator[Symptom]:
    """The FAISS file against the vectors in the database, which it is made from."""
    vectors = database.vectors
    encoders = vectors.fingerprints()
    try:
        index = VectorIndex.load(folder, thorough=True)
    except NotFound:
        if encoders and vectors.live_ids(encoders[-1][0]):
            yield Symptom("vector_index_missing", "the vector index is missing", 1, _REPAIR)
        return
    except StoreError as error:
        yield Symptom("vector_index", str(error).partition("; run ")[0], 1, _REPAIR)
        return
    if not encoders:
        return  # of a database that was there before this one; the next index run replaces it
    kept = vectors.live_ids(index.fingerprint)
    if differing := len(set(index.block_ids) ^ set(kept)):
        if index.generation == vectors.generation():
            what = "blocks that the vector index or the database has, not both"
            yield Symptom("vector_index_ids", what, differing, _REPAIR)
        else:
            what = "blocks that the vector index is behind by; it is caught up whenever it is opened"
            yield Symptom("vector_index_behind", what, differing, 'run "kbcite index"', is_damage=False)
    if waiting := count_without_vector(database.connection, index.fingerprint):
        yield Symptom("to_embed", "blocks without a vector", waiting, 'run "kbcite index"', False, False)


# ---------------------------------------------------------------- repairing


def treat_store(folder: Path, found: Iterable[Symptom], clock: Clock) -> Iterator[str]:
    """Puts right what it can of these symptoms, and says of each step what was done; the caller holds the store's lock."""
    checks = {symptom.check for symptom in found if symptom.is_repairable}
    for path in leftovers(folder):
        path.unlink()
        yield f"removed {path.relative_to(folder)}, half written by a command that was killed"
    if "settings_missing" in checks:
        make_store(folder)
        yield f"wrote a new {SETTINGS_NAME}; add its sources again"
    if _FILE_FAULTS & {symptom.check for symptom in found}:
        return
    try:
        yield from _treat_layers(folder, checks, clock)
    except sqlite3.DatabaseError as error:
        yield f"stopped: {error}; this cannot be mended in place"


def _treat_layers(folder: Path, checks: set[str], clock: Clock) -> Iterator[str]:
    with Database(folder / DATABASE_NAME) as database, Archive(folder / ARCHIVE_NAME) as archive:
        yield from _treat_records(database, archive, checks)
        if "erasure" in checks:
            yield from _treat_vector_index(database, folder / VECTORS_NAME)
            bodies = finish_erasure(database.connection, archive)
            yield f"finished a forget that was killed: {bodies} archived bodies went"
        if "fetch_unlisted" in checks:
            with archive.transaction():
                listed = list_fetches(database.connection, archive)
            yield f"wrote the URLs and headers of {listed} fetches into the archive"
        if checks & _BYTE_FAULTS:
            pages = unreadable_pages(database.connection, archive)
            with database.transaction():
                for page_id in pages:
                    database.pages.postpone(page_id, clock())
            yield f'made {len(pages)} pages due, whose bytes cannot be read; "kbcite recheck" fetches them'
        if checks & _WORD_FAULTS:
            with database.transaction():
                database.words.clear()
                database.words.sync(database.blocks.live())
            yield "made the word index anew"
        if any(check.startswith("vector_index") for check in checks) or checks & _BLOCK_FAULTS:
            yield from _treat_vector_index(database, folder / VECTORS_NAME)


def _treat_records(database: Database, archive: Archive, checks: set[str]) -> Iterator[str]:
    for name, sql in ((DATABASE_NAME, database.connection), (ARCHIVE_NAME, archive.connection)):
        if checks & {f"{name}_integrity", f"{name}_references"}:
            mend_file(sql)
            yield f"made the indexes of {name} anew and removed references that led nowhere"
    # What was just mended may have shown more; every cure of records leaves right ones alone.
    found = list(examine_records(database.connection))
    if found:
        with database.transaction():
            mend_records(database.connection, (symptom.check for symptom in found))
        cured = (symptom for symptom in found if symptom.is_repairable and symptom.check != ERASURE)
        yield from (f"put right {symptom.count} {symptom.what}" for symptom in cured)
    if checks & _BLOCK_FAULTS:
        with database.transaction():
            mend_blocks(database.connection)
        yield "took out the blocks that were wrong; every document is chunked anew"


def _treat_vector_index(database: Database, folder: Path) -> Iterator[str]:
    """Makes the FAISS file from the stored vectors, of the encoder it was made with, or else the one used last."""
    encoders = [name for name, _ in database.vectors.fingerprints()]
    try:
        fingerprint = read_metadata(folder)["fingerprint"]
    except (NotFound, StoreError):
        fingerprint = encoders[-1] if encoders else ""
    ids, languages, vectors = database.vectors.live(fingerprint)
    if not ids:
        yield 'there is no vector to make the index of; run "kbcite index --rebuild"'
        return
    VectorIndex.build(ids, vectors, languages, fingerprint, database.vectors.generation()).save(folder)
    yield f"made the vector index anew from {len(ids)} stored vectors"
