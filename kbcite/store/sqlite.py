"""How a store's SQLite files are opened, and what SQLite's errors mean for a user."""

from __future__ import annotations

import json
import os
import sqlite3
from functools import lru_cache
from pathlib import Path

from kbcite.errors import StoreError

BUSY_TIMEOUT_S = 30.0


def open_sqlite(path: Path) -> sqlite3.Connection:
    """An autocommit connection in WAL mode with foreign keys on; transactions are begun by hand.

    Where the file or its folder cannot be written the connection only reads. Raises StoreError where even that is impossible.
    """
    if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return _open_to_read(path)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        _set_up(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _open_to_read(path: Path) -> sqlite3.Connection:
    """A connection to a file of a store that this user, or the file system, does not let be written.

    A file in WAL mode is read with the help of two more beside it. While a writer of another user is at work they are there;
    otherwise nobody writes, they could not be made, and `immutable` lets SQLite do without.
    """
    journal = path.with_name(path.name + "-wal")
    has_journal = journal.exists() and journal.stat().st_size > 0
    uri = f"{path.absolute().as_uri()}?mode=ro{'' if has_journal else '&immutable=1'}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA query_only = ON")
        _set_up(connection)
        connection.execute("SELECT count(*) FROM sqlite_schema")
    except sqlite3.OperationalError as error:
        connection.close()
        if has_journal and error.sqlite_errorname.startswith("SQLITE_CANTOPEN"):
            raise StoreError(
                f"{path} has work in its journal that a killed command left, and cannot be written; run"
                ' "kbcite status" once as a user who may write there'
            ) from error
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -65536")


@lru_cache(maxsize=16)
def as_json(pairs: tuple[tuple[object, object], ...]) -> str:
    """Headers or redirects as they are stored; those of a request are the same for every page of a crawl."""
    return json.dumps(pairs)


def only_reads(connection: sqlite3.Connection) -> bool:
    """Whether the store could only be opened for reading."""
    return bool(connection.execute("PRAGMA query_only").fetchone()[0])


def explain_sqlite(error: sqlite3.Error, folder: Path) -> StoreError:
    """The one-line StoreError that an SQLite error means for a user."""
    text, name = str(error), getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL") or "disk is full" in text:
        return StoreError(f"no space left for {folder}; free some and run the command again, nothing stored was lost")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StoreError(f"{folder} cannot be written ({text}); check its owner and permissions")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StoreError(
            f'the database in {folder} is damaged ({text}); "kbcite --store {folder} doctor" says what to do'
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(f"{folder} is in use by another program ({text}); try again when it is done")
    if name.startswith("SQLITE_IOERR"):
        return StoreError(f"{folder} cannot be read or written ({text}); check the disk and its free space")
    return StoreError(f"the database in {folder} failed: {text}")
