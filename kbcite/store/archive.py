"""Door: the bytes of fetched pages by their SHA-256, compressed, never changed.

`archive.sqlite3` holds one row a distinct body. Pages of one host share most of their markup, so a host's first body
serves as the compression dictionary of those that follow: on 74 pages of one news site that took 0.54 MB in place of
2.88 MB for page-by-page zstd.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kbcite.errors import StoreError
from kbcite.store.sqlite import open_sqlite

ARCHIVE_NAME = "archive.sqlite3"
COMPRESSION_LEVEL = 6
MAX_DICTIONARY_BYTES = 400_000
MAX_OPEN_DICTIONARIES = 64

_SCHEMA = """
CREATE TABLE IF NOT EXISTS blobs(
    digest TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    size INTEGER NOT NULL,
    dictionary TEXT REFERENCES blobs(digest),  -- NULL: compressed by itself
    data BLOB NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS blobs_dictionary_of_host ON blobs(host) WHERE dictionary IS NULL;
"""


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal: the name under which bytes are kept."""
    return hashlib.sha256(data).hexdigest()


class Archive:
    """The open archive of a store. Not safe for use from several threads at once."""

    def __init__(self, path: Path) -> None:
        self._sql = open_sqlite(path)
        try:
            self._sql.executescript(_SCHEMA)
        except BaseException:
            self._sql.close()
            raise
        self._codecs: dict[str | None, tuple[Any, Any]] = {}

    @property
    def connection(self) -> sqlite3.Connection:
        return self._sql

    def close(self) -> None:
        self._sql.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Several puts, one commit; commit the archive before the database rows that name its digests."""
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._sql.in_transaction:
                self._sql.rollback()
            raise
        self._sql.commit()

    def put(self, data: bytes, host: str) -> str:
        """Keep bytes and return their digest; the same bytes are kept once, and written anew where they were damaged."""
        digest = digest_of(data)
        if self.has(digest):
            if not self.is_whole(digest):
                self._mend(digest, data)
            return digest
        row = self._sql.execute("SELECT digest FROM blobs WHERE host = ? AND dictionary IS NULL", (host,)).fetchone()
        dictionary = row[0] if row else None
        if dictionary is not None and not self.is_whole(dictionary):
            # It serves no more; the new body takes its place.
            self._sql.execute("UPDATE blobs SET host = host || ' ' || digest WHERE digest = ?", (dictionary,))
            dictionary = None
        compressed = self._codec(dictionary)[0].compress(data)
        self._sql.execute("INSERT INTO blobs VALUES(?, ?, ?, ?, ?)", (digest, host, len(data), dictionary, compressed))
        return digest

    def _mend(self, digest: str, data: bytes) -> None:
        """Write bytes anew whose kept copy cannot be read, compressed by themselves."""
        self._sql.execute(
            """UPDATE blobs SET data = ?, dictionary = NULL,
               host = CASE WHEN dictionary IS NULL THEN host ELSE host || ' ' || digest END WHERE digest = ?""",
            (self._codec(None)[0].compress(data), digest),
        )
        self._codecs.clear()

    def is_whole(self, digest: str) -> bool:
        """Whether the bytes with this digest can be read."""
        if digest in self._codecs:
            return True
        try:
            self.get(digest)
        except StoreError:
            return False
        return True

    def get(self, digest: str) -> bytes:
        """The bytes with this digest. Raises StoreError if they are missing or damaged."""
        import zstandard

        row = self._sql.execute("SELECT size, dictionary, data FROM blobs WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            raise StoreError(f'the archive has no bytes {digest[:12]}; run "kbcite crawl" to fetch the page again')
        try:
            data: bytes = self._codec(row[1])[1].decompress(row[2], max_output_size=row[0])
        except zstandard.ZstdError as error:
            raise _damaged(digest) from error
        if digest_of(data) != digest:
            raise _damaged(digest)
        return data

    def has(self, digest: str) -> bool:
        return self._sql.execute("SELECT 1 FROM blobs WHERE digest = ?", (digest,)).fetchone() is not None

    def digests(self) -> Iterator[tuple[str, str | None]]:
        """Every body's digest, with that of the body it was compressed against."""
        yield from self._sql.execute("SELECT digest, dictionary FROM blobs")

    def sizes(self) -> tuple[int, int, int]:
        """(number of blobs, bytes as fetched, bytes as kept)."""
        row = self._sql.execute(
            "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(data)), 0) FROM blobs"
        ).fetchone()
        return row[0], row[1], row[2]

    def _codec(self, dictionary: str | None) -> tuple[Any, Any]:
        """Compressor and decompressor for bodies compressed against another one, or by themselves."""
        import zstandard

        if dictionary not in self._codecs:
            if len(self._codecs) >= MAX_OPEN_DICTIONARIES:
                self._codecs.clear()
            shared = None
            if dictionary is not None:
                raw = self.get(dictionary)[:MAX_DICTIONARY_BYTES]
                shared = zstandard.ZstdCompressionDict(raw, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            self._codecs[dictionary] = (
                zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, dict_data=shared),
                zstandard.ZstdDecompressor(dict_data=shared),
            )
        return self._codecs[dictionary]


def _damaged(digest: str) -> StoreError:
    return StoreError(f'archived bytes {digest[:12]} are damaged; run "kbcite recheck --all" to fetch the page again')
