"""What is wrong with a store's two SQLite files: the relations between records, beyond what SQLite itself keeps true.

Each check of records is one query that lists offenders, with the statements that put them right from what is kept: what a
statement takes away is made again by the next `clean`, `chunk`, `index` or `crawl`. Nothing here deletes a snapshot or archived bytes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kbcite.block_id import block_id
from kbcite.errors import StoreError
from kbcite.fetch_records import FetchedPage
from kbcite.store.archive import Archive
from kbcite.store.sqlite import open_sqlite

EXAMPLES = 3
"""Offenders that a symptom names."""


ERASURE = "erasure"


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing in a store that is not as it should be."""

    check: str
    """Machine word: `blob_missing`, `occurrence_gap` ..."""
    what: str
    """What is so, for a person, without the number."""
    count: int
    remedy: str
    is_damage: bool = True
    """False where work is only waiting: the next run does it."""
    is_repairable: bool = True
    """Whether `--repair` puts it right, from what is kept."""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Check:
    name: str
    what: str
    offenders: str
    """Lists what is wrong, one text a row."""
    cure: tuple[str, ...]
    is_damage: bool = True
    remedy: str = 'run "kbcite doctor --repair", then "kbcite build"'


_FOREIGN_READING = "NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = p.{} AND d.page_id = p.id)"
_BROKEN_DOCUMENTS = """SELECT d.id FROM documents d LEFT JOIN occurrences o ON o.document_id = d.id
    WHERE d.chunk_rules IS NOT NULL AND trim(d.text) != ''
    GROUP BY d.id HAVING max(o.ordinal) + 1 IS NOT count(o.ordinal) OR min(o.start) < 0 OR max(o.start >= o.end)
    OR max(o.end) > length(d.text)"""
_UNREADABLE = """SELECT 'page ' || url AS what FROM pages WHERE NOT json_valid(labels)
    UNION ALL SELECT 'snapshot ' || final_url FROM snapshots
        WHERE NOT (json_valid(headers) AND json_valid(request_headers) AND json_valid(redirects))
    UNION ALL SELECT 'document ' || id FROM documents WHERE NOT json_valid(metadata)
    UNION ALL SELECT 'answer ' || id FROM answers WHERE NOT json_valid(record)"""

CHECKS = (
    _Check(
        "page_snapshot",
        "pages whose current bytes are not their own",
        """SELECT p.url FROM pages p LEFT JOIN snapshots s ON s.id = p.snapshot_id
           WHERE p.snapshot_id IS NULL OR s.page_id IS NOT p.id""",
        (
            """UPDATE pages AS p SET reading_id = NULL, document_id = NULL, etag = NULL, last_modified = NULL,
               snapshot_id = (SELECT max(id) FROM snapshots WHERE page_id = p.id) WHERE NOT EXISTS
               (SELECT 1 FROM snapshots s WHERE s.id = p.snapshot_id AND s.page_id = p.id)""",
            "DELETE FROM pages WHERE snapshot_id IS NULL",
        ),
    ),
    _Check(
        "page_reading",
        "pages whose reading is another page's",
        f"""SELECT p.url FROM pages p WHERE (p.reading_id IS NOT NULL AND {_FOREIGN_READING.format("reading_id")})
            OR (p.document_id IS NOT NULL AND {_FOREIGN_READING.format("document_id")})""",
        tuple(
            f"UPDATE pages AS p SET {column} = NULL WHERE {column} IS NOT NULL AND {_FOREIGN_READING.format(column)}"
            for column in ("reading_id", "document_id")
        ),
    ),
    _Check(
        "document_unchunked",
        "pages that are searched by a document without blocks",
        "SELECT p.url FROM pages p JOIN documents d ON d.id = p.document_id WHERE d.chunk_rules IS NULL",
        (
            "UPDATE pages SET document_id = NULL WHERE document_id IN (SELECT id FROM documents WHERE chunk_rules IS NULL)",
        ),
    ),
    _Check(
        "document_blocks",
        "documents with a part of their blocks, or blocks outside their text",
        f"SELECT p.url FROM documents d JOIN pages p ON p.id = d.page_id WHERE d.id IN ({_BROKEN_DOCUMENTS})",
        (
            f"UPDATE pages SET document_id = NULL WHERE document_id IN ({_BROKEN_DOCUMENTS})",
            f"UPDATE documents SET chunk_rules = NULL WHERE id IN ({_BROKEN_DOCUMENTS})",
        ),
    ),
    _Check(
        "vector_length",
        "vectors that are not as long as their encoder makes them",
        """SELECT b.id FROM vectors v JOIN encoders e ON e.id = v.encoder_id JOIN blocks b ON b.num = v.block_num
           WHERE length(v.vector) != 4 * e.dim""",
        (
            """DELETE FROM vectors WHERE length(vector) != 4 * (SELECT dim FROM encoders e WHERE e.id = encoder_id)""",
            "UPDATE meta SET value = value + 1 WHERE key = 'generation'",
        ),
    ),
    _Check(
        "page_lost",
        "URLs that a crawl settled as stored, without a page",
        """SELECT url FROM frontier f WHERE state = 'done' AND reason = ''
           AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.url = f.url)
           AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.url_key = f.url_key)""",
        (
            """UPDATE frontier AS f SET state = 'queued' WHERE state = 'done' AND reason = ''
               AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.url = f.url)
               AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.url_key = f.url_key)""",
        ),
    ),
    _Check(
        "unreadable_record",
        "records that cannot be read",
        f"SELECT what FROM ({_UNREADABLE})",
        (
            "UPDATE pages SET labels = '[]' WHERE NOT json_valid(labels)",
            *(
                f"UPDATE snapshots SET {name} = '[]' WHERE NOT json_valid({name})"
                for name in ("headers", "request_headers", "redirects")
            ),
            """UPDATE pages SET reading_id = NULL, document_id = NULL WHERE reading_id IN
               (SELECT id FROM documents WHERE NOT json_valid(metadata))""",
            """UPDATE documents SET metadata = '{}', clean_rules = clean_rules || ' damaged' WHERE NOT json_valid(metadata)""",
            "DELETE FROM answers WHERE NOT json_valid(record)",
        ),
    ),
    _Check(
        "generation",
        "the counter that tells whether the vector index is behind",
        "SELECT 'missing' WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'generation')",
        ("INSERT INTO meta VALUES('generation', strftime('%s', 'now'))",),
    ),
    _Check(
        ERASURE,
        "places that a killed forget has still to take out of the archive",
        "SELECT value FROM erasures",
        (),
        remedy='run "kbcite doctor --repair", or any command that writes',
    ),
    _Check(
        "in_flight",
        "URLs that a stopped crawl had in flight",
        "SELECT url FROM frontier WHERE state = 'in_flight'",
        ("UPDATE frontier SET state = 'queued' WHERE state = 'in_flight'",),
        is_damage=False,
        remedy='the next "kbcite crawl" fetches them',
    ),
    _Check(
        "to_chunk",
        "documents that are not chunked yet",
        "SELECT url FROM pages WHERE reading_id IS NOT NULL AND document_id IS NOT reading_id",
        (),
        is_damage=False,
        remedy='run "kbcite chunk"',
    ),
)
"""In the order in which the cures have to run."""


# ---------------------------------------------------------------- the files


def examine_file(sql: sqlite3.Connection, name: str) -> Iterator[Symptom]:
    """SQLite's own opinion of a file, and rows that name others which are not there."""
    told = [row[0] for row in sql.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
    if told:
        yield Symptom(
            f"{name}_integrity",
            f"faults that SQLite finds in {name}",
            len(told),
            'run "kbcite doctor --repair"; keep a copy of the folder first',
            examples=_shown(told),
        )
    parents = [f"{row[0]} without its {row[2]}" for row in sql.execute("PRAGMA foreign_key_check")]
    if parents:
        yield Symptom(
            f"{name}_references",
            f"rows of {name} that name others which are not there",
            len(parents),
            'run "kbcite doctor --repair", then "kbcite build"',
            examples=_shown(sorted(set(parents))),
        )


def mend_file(sql: sqlite3.Connection) -> None:
    """Makes the indexes anew and drops references that lead nowhere, or the rows that cannot be without them."""
    sql.execute("REINDEX")
    while sql.execute("PRAGMA foreign_key_check").fetchone():
        before = sql.total_changes
        for (table,) in sql.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            nullable = {row[1] for row in sql.execute(f"PRAGMA table_info({table})") if not row[3] and not row[5]}
            for _, _, parent, column, target, *_ in sql.execute(f"PRAGMA foreign_key_list({table})").fetchall():
                lost = f"{column} IS NOT NULL AND {column} NOT IN (SELECT {target} FROM {parent})"
                sql.execute(
                    f"UPDATE {table} SET {column} = NULL WHERE {lost}"
                    if column in nullable
                    else f"DELETE FROM {table} WHERE {lost}"
                )
        if sql.total_changes == before:
            return


# ---------------------------------------------------------------- the records


def examine_records(sql: sqlite3.Connection) -> Iterator[Symptom]:
    for check in CHECKS:
        offenders = [str(row[0]) for row in sql.execute(check.offenders)]
        if offenders:
            yield Symptom(
                check.name,
                check.what,
                len(offenders),
                check.remedy,
                check.is_damage,
                bool(check.cure) or check.name == ERASURE,
                _shown(offenders),
            )


def mend_records(sql: sqlite3.Connection, found: Iterable[str]) -> None:
    """Runs the cures of these checks, in their order."""
    wanted = set(found)
    for check in CHECKS:
        if check.name in wanted:
            for statement in check.cure:
                sql.execute(statement)


def examine_blocks(sql: sqlite3.Connection) -> Iterator[Symptom]:
    """Blocks whose text is not what their ID says, and places of the current readings that hold another text."""
    wrong = [row[0] for row in sql.execute("SELECT id, text FROM blocks") if block_id(row[1]) != row[0]]
    if wrong:
        remedy = 'run "kbcite doctor --repair", then "kbcite build"'
        yield Symptom(
            "block_text", "blocks whose text is not what their ID says", len(wrong), remedy, True, True, _shown(wrong)
        )
    places = [
        url
        for url, wanted, text, start, end in sql.execute(
            """SELECT p.url, b.id, d.text, o.start, o.end FROM live_occurrences o JOIN pages p ON p.id = o.page_id
               JOIN blocks b ON b.num = o.block_num JOIN documents d ON d.id = o.document_id"""
        )
        if block_id(text[start:end]) != wanted
    ]
    if places:
        remedy = 'run "kbcite doctor --repair", then "kbcite build"'
        yield Symptom(
            "block_place", "blocks that do not stand where they should", len(places), remedy, True, True, _shown(places)
        )


def mend_blocks(sql: sqlite3.Connection) -> None:
    """Takes blocks with a wrong text out, and lets every document be chunked anew."""
    wrong = [(row[0],) for row in sql.execute("SELECT num, id, text FROM blocks") if block_id(row[2]) != row[1]]
    sql.execute("UPDATE documents SET chunk_rules = NULL")
    sql.execute("UPDATE pages SET document_id = NULL")
    for table in ("occurrences", "vectors", "word_rows"):
        sql.executemany(f"DELETE FROM {table} WHERE block_num = ?", wrong)
    sql.executemany("DELETE FROM blocks WHERE num = ?", wrong)


# ---------------------------------------------------------------- the word index


def examine_words(sql: sqlite3.Connection) -> Iterator[Symptom]:
    """Faults inside the word index; blocks that it has not taken up or given back yet."""
    remedy = 'run "kbcite doctor --repair"'
    differing = _count(
        sql,
        """SELECT (SELECT count(*) FROM (SELECT id FROM word_index_docsize EXCEPT SELECT block_num FROM word_rows))
           + (SELECT count(*) FROM (SELECT block_num FROM word_rows EXCEPT SELECT id FROM word_index_docsize))""",
    )
    if differing:
        yield Symptom("word_rows", "blocks in the word index or in its list, but not in both", differing, remedy)
    if fault := _fts_fault(sql):
        yield Symptom("word_index", "faults in the word index", 1, remedy, examples=(fault,))
    waiting = _count(
        sql,
        """SELECT (SELECT count(*) FROM (SELECT block_num FROM live_occurrences EXCEPT SELECT block_num FROM word_rows))
           + (SELECT count(*) FROM (SELECT block_num FROM word_rows EXCEPT SELECT block_num FROM live_occurrences))""",
    )
    if waiting:
        yield Symptom("to_index", "blocks that the word index is behind by", waiting, 'run "kbcite index"', False)


def _fts_fault(sql: sqlite3.Connection) -> str:
    """What FTS5's own check says; nothing while another program writes, as the check wants a writer's lock for a moment."""
    if sql.in_transaction or sql.execute("PRAGMA query_only").fetchone()[0]:
        return ""
    try:
        sql.execute("INSERT INTO word_index(word_index) VALUES('integrity-check')")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_READONLY", "SQLITE_LOCKED")):
            return ""
        return str(error)
    except sqlite3.DatabaseError as error:
        return str(error)
    return ""


# ---------------------------------------------------------------- the archive


def examine_archive(
    sql: sqlite3.Connection, archive: Archive, read_data: bool, advance: Callable[[str], None]
) -> Iterator[Symptom]:
    """Bytes that a snapshot names and the archive has not, or not whole. read_data: each body is read and its SHA-256 compared."""
    needed: dict[str, str] = dict(
        sql.execute("SELECT s.digest, min(p.url) FROM snapshots s JOIN pages p ON p.id = s.page_id GROUP BY s.digest")
    )
    kept = dict(archive.digests())
    names = dict(archive.received()) | needed
    refetch = 'run "kbcite doctor --repair", then "kbcite recheck" fetches the pages that still exist'
    missing = [url for digest, url in needed.items() if digest not in kept]
    if missing:
        yield Symptom(
            "blob_missing",
            "stored fetches whose bytes are not in the archive",
            len(missing),
            refetch,
            examples=_shown(missing),
        )
    adrift = [digest for digest, dictionary in kept.items() if dictionary is not None and dictionary not in kept]
    if adrift:
        yield Symptom(
            "dictionary_missing",
            "archived bodies whose dictionary is gone",
            len(adrift),
            refetch,
            examples=_shown(names.get(digest, digest[:16]) for digest in adrift),
        )
    listed = {row[0] for row in archive.connection.execute("SELECT digest FROM responses")}
    unlisted = [url for digest, url in needed.items() if digest in kept and digest not in listed]
    if unlisted:
        what = "stored fetches whose URLs and headers the archive does not hold, from before it did"
        remedy = 'run "kbcite doctor --repair"'
        yield Symptom("fetch_unlisted", what, len(unlisted), remedy, is_damage=False, examples=_shown(unlisted))
    if read_data:
        damaged = []
        for digest in kept:
            try:
                archive.get(digest)
            except StoreError:
                damaged.append(names.get(digest, digest[:16]))
            advance(digest[:16])
        if damaged:
            yield Symptom(
                "blob_damaged", "archived bodies that are damaged", len(damaged), refetch, examples=_shown(damaged)
            )


def list_fetches(sql: sqlite3.Connection, archive: Archive) -> int:
    """Writes into the archive what the database knows of the fetches that it does not hold; how many they were."""
    listed = {row[0] for row in archive.connection.execute("SELECT digest FROM responses")}
    rows = sql.execute(
        """SELECT digest, final_url, status, headers, fetched_at, redirects, request_headers, encoded_length
           FROM snapshots ORDER BY fetched_at, id"""
    ).fetchall()
    count = 0
    for digest, final_url, status, headers, at, redirects, request_headers, length in rows:
        if digest in listed or not archive.has(digest):
            continue
        hops = tuple((hop_status, hop) for hop_status, hop in json.loads(redirects))
        page = FetchedPage(
            url=hops[0][1] if hops else final_url,
            final_url=final_url,
            status=status,
            headers=tuple((name, value) for name, value in json.loads(headers)),
            body=b"",
            fetched_at=at,
            redirects=hops,
            request_headers=tuple((name, value) for name, value in json.loads(request_headers)),
            encoded_length=length,
        )
        archive.add_response(page, digest)
        count += 1
    return count


def is_sound(path: Path) -> bool:
    """Whether SQLite can read a file and finds nothing wrong in it."""
    try:
        sql = open_sqlite(path)
    except (sqlite3.Error, StoreError):
        return False
    try:
        return bool(sql.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.Error:
        return False
    finally:
        sql.close()


def unreadable_pages(sql: sqlite3.Connection, archive: Archive) -> list[int]:
    """IDs of the pages whose current bytes cannot be read, or those that a browser made them of."""
    rows = sql.execute("SELECT p.id, s.digest FROM pages p JOIN snapshots s ON s.id = p.snapshot_id").fetchall()
    return [
        page_id
        for page_id, digest in rows
        if not all(map(archive.is_whole, filter(None, (digest, archive.received_of(digest)))))
    ]


def count_rows(sql: sqlite3.Connection) -> tuple[tuple[str, int], ...]:
    """What the database holds, by table."""
    tables = ("pages", "snapshots", "documents", "blocks", "vectors", "answers")
    return tuple((name, _count(sql, f"SELECT count(*) FROM {name}")) for name in tables)


def count_without_vector(sql: sqlite3.Connection, fingerprint: str) -> int:
    """Live blocks that have no vector of this encoder."""
    query = """SELECT count(DISTINCT block_num) FROM live_occurrences WHERE block_num NOT IN
               (SELECT block_num FROM vectors v JOIN encoders e ON e.id = v.encoder_id WHERE e.fingerprint = ?)"""
    return int(sql.execute(query, (fingerprint,)).fetchone()[0])


def _count(sql: sqlite3.Connection, query: str) -> int:
    return int(sql.execute(query).fetchone()[0])


def _shown(offenders: Iterable[str]) -> tuple[str, ...]:
    return tuple(list(offenders)[:EXAMPLES])
