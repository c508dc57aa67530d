"""How a store's SQLite files are opened, and what SQLite's errors mean for a user."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kbcite.errors import StoreError

BUSY_TIMEOUT_S = 30.0


def open_sqlite(path: Path) -> sqlite3.Connection:
    """An autocommit connection in WAL mode with foreign keys on; transactions are begun by hand."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def explain_sqlite(error: sqlite3.Error, folder: Path) -> StoreError:
    """The one-line StoreError that an SQLite error means for a user."""
    text, name = str(error), getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL") or "disk is full" in text:
        return StoreError(f"no space left for {folder}; free some and run the command again, nothing stored was lost")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StoreError(f"{folder} cannot be written ({text}); check its owner and permissions")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StoreError(f"the database in {folder} is damaged ({text}); put back a copy of it, or build a new store")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(f"{folder} is in use by another program ({text}); try again when it is done")
    if name.startswith("SQLITE_IOERR"):
        return StoreError(f"{folder} cannot be read or written ({text}); check the disk and its free space")
    return StoreError(f"the database in {folder} failed: {text}")
