"""Door: the bytes of fetched pages by their SHA-256, and what came with them; compressed, never changed.

`archive.sqlite3` holds one row a distinct body (`blobs`), and one a fetch that brought a body which its URL had not before
(`responses`: URLs, time, status, headers, redirects; of a rendered page two bodies, what the server sent and what a browser made of
it). It names every page by itself: `kb.sqlite3` can be made again from it.

A body is compressed against another one, its dictionary, where that pays: pages of one site share their markup, and a page
shares nearly everything with what it was last week. Up to `MAX_HOST_DICTIONARIES` bodies of a host, those that none of the
earlier ones helped with, are kept by themselves and serve as dictionaries; a new version of a page is also tried against an old
one. No body is more than two dictionaries away from one that stands by itself. `python -m tests.bench.archive` measures it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from kbcite.errors import StoreError
from kbcite.fetch_records import ArchivedAnswer, FetchedPage, ReceivedBytes
from kbcite.store.archive_schema import ARCHIVE_MIGRATIONS
from kbcite.store.migrations import migrate
from kbcite.store.sqlite import as_json, open_sqlite
from kbcite.urls import host_of

ARCHIVE_NAME = "archive.sqlite3"
COMPRESSION_LEVEL = 6
MIN_DICTIONARY_BYTES = 2_000
MAX_DICTIONARY_BYTES = 400_000
MAX_OPEN_DICTIONARIES = 64
MAX_HOST_DICTIONARIES = 8
GOOD_FIT = 0.33
"""Share of its size by itself at which no other dictionary is tried for a body. That size is taken at zstd's level 1, in a fifth of the
time: 4 to 12 % more than at `COMPRESSION_LEVEL`."""
POOR_FIT = 0.65
"""Share above which a body becomes a dictionary of its own. On 154 pages of 11 sites this and up to 8 dictionaries kept them in 1.82
times less than page by page (a third lower: 1.70, a fifth higher: 1.67; one dictionary a host: 1.26, and 1.05 where 8 gave 2.44, on a
portal of many templates)."""


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal: the name under which bytes are kept."""
    return hashlib.sha256(data).hexdigest()


class Archive:
    """The open archive of a store. Not safe for use from several threads at once."""

    def __init__(self, path: Path) -> None:
        self._sql = open_sqlite(path)
        try:
            migrate(self._sql, str(path), ARCHIVE_MIGRATIONS)
        except BaseException:
            self._sql.close()
            raise
        self._codecs: OrderedDict[str | None, tuple[Any, Any]] = OrderedDict()
        self._dictionaries: dict[str, list[str]] = {}
        """Of a host, in the order in which they are tried: what served last, then the newest."""

    @cached_property
    def _quick(self) -> Any:
        import zstandard

        return zstandard.ZstdCompressor(level=1)

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
            # A dictionary or its choice may have been of a body that is not kept now.
            self._codecs.clear()
            self._dictionaries.clear()
            raise
        self._sql.commit()

    # ------------------------------------------------------------ fetches

    def put_response(self, page: FetchedPage) -> str:
        """Keep an answer with its body, and return the body's digest. An answer like the last one of its URL is kept once.

        Of a rendered page what was received is kept too.
        """
        last = self._sql.execute(
            "SELECT digest, received_digest, final_url FROM responses WHERE url = ? ORDER BY id DESC LIMIT 1",
            (page.url,),
        ).fetchone()
        host = host_of(page.final_url)
        received = self.put(page.received.body, host, last[1] if last else None) if page.received else None
        digest = self.put(page.body, host, last[0] if last else None)
        if last != (digest, received, page.final_url):
            self.add_response(page, digest, received)
        return digest

    def add_response(self, page: FetchedPage, digest: str, received_digest: str | None = None) -> None:
        """Keep what came with bodies that are in the archive already; those of `page` are not looked at."""
        self._sql.execute(
            """INSERT INTO responses(url, final_url, fetched_at, status, digest, headers, request_headers, redirects,
               encoded_length, received_digest, received_headers) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                page.url,
                page.final_url,
                page.fetched_at,
                page.status,
                digest,
                as_json(page.headers),
                as_json(page.request_headers),
                as_json(page.redirects),
                page.encoded_length,
                received_digest,
                as_json(page.received.headers) if page.received else None,
            ),
        )

    def responses(self, after: int = 0) -> Iterator[ArchivedAnswer]:
        """Every fetch that is kept, in their order."""
        while rows := self._sql.execute(
            """SELECT id, url, final_url, status, headers, fetched_at, redirects, request_headers, encoded_length,
               received_headers, digest, received_digest FROM responses WHERE id > ? ORDER BY id LIMIT 500""",
            (after,),
        ).fetchall():
            for number, url, final_url, status, headers, at, redirects, sent, length, received, *digests in rows:
                page = FetchedPage(
                    url=url,
                    final_url=final_url,
                    status=status,
                    headers=_pairs(headers),
                    body=b"",
                    fetched_at=at,
                    redirects=tuple((hop_status, hop) for hop_status, hop in json.loads(redirects)),
                    request_headers=_pairs(sent),
                    encoded_length=length,
                    received=ReceivedBytes(_pairs(received), b"") if received else None,
                )
                yield ArchivedAnswer(number, page, *digests)
            after = rows[-1][0]

    def received_of(self, digest: str) -> str | None:
        """Digest of what the server sent, for a body that a browser made of it; None for other bodies, and where it was not kept."""
        row = self._sql.execute(
            "SELECT received_digest FROM responses WHERE digest = ? AND received_digest IS NOT NULL ORDER BY id DESC LIMIT 1",
            (digest,),
        ).fetchone()
        return row[0] if row else None

    def received(self) -> Iterator[tuple[str, str]]:
        """(digest, address) of everything that was received of rendered pages."""
        yield from self._sql.execute(
            "SELECT DISTINCT received_digest, final_url FROM responses WHERE received_digest IS NOT NULL"
        )

    # ------------------------------------------------------------ bodies

    def put(self, data: bytes, host: str, previous: str | None = None) -> str:
        """Keep bytes and return their digest; the same bytes are kept once, and written anew where they were damaged.

        previous: digest of an earlier version, which these bytes are likely to resemble.
        """
        digest = digest_of(data)
        if self.has(digest):
            if not self.is_whole(digest):
                self._mend(digest, data)
            return digest
        compressed, dictionary = self._compress(data, host, previous)
        self._sql.execute("INSERT INTO blobs VALUES(?, ?, ?, ?, ?)", (digest, host, len(data), dictionary, compressed))
        if dictionary is None and len(known := self._dictionaries_of(host)) < MAX_HOST_DICTIONARIES:
            known.insert(0, digest)
        return digest

    def _compress(self, data: bytes, host: str, previous: str | None) -> tuple[bytes, str | None]:
        """The bytes in the shortest form that was found, and the dictionary that it needs."""
        known = self._dictionaries_of(host)
        yardstick = len(self._quick.compress(data))
        best, dictionary = b"", None
        for candidate in self._candidates(known, previous):
            compressed: bytes = self._codec(candidate)[0].compress(data)
            if dictionary is None or len(compressed) < len(best):
                best, dictionary = compressed, candidate
            if len(best) <= GOOD_FIT * yardstick:
                break
        if dictionary is None or len(best) > POOR_FIT * yardstick:
            is_wanted = len(known) < MAX_HOST_DICTIONARIES and (not known or len(data) >= MIN_DICTIONARY_BYTES)
            alone: bytes = self._codec(None)[0].compress(data)
            if dictionary is None or is_wanted or len(alone) <= len(best):
                return alone, None
        if dictionary in known:
            known.remove(dictionary)
            known.insert(0, dictionary)
        return best, dictionary

    def _candidates(self, known: list[str], previous: str | None) -> list[str]:
        """Dictionaries to try, the likely ones first: an earlier version of the page, then the host's own."""
        version = self._root_of(previous) if previous else None
        ordered = dict.fromkeys([*([version] if version else []), *known])
        return [digest for digest in ordered if self.is_whole(digest)]

    def _root_of(self, version: str) -> str | None:
        """The version of a page that this one was compressed against, or itself: so that versions do not form a chain."""
        row = self._sql.execute(
            """SELECT b.digest, d.digest, d.dictionary FROM blobs b LEFT JOIN blobs d ON d.digest = b.dictionary
               WHERE b.digest = ?""",
            (version,),
        ).fetchone()
        if row is None:
            return None
        return str(row[1] if row[2] is not None else row[0])

    def _dictionaries_of(self, host: str) -> list[str]:
        """The bodies of a host that stand by themselves; one that cannot be read serves no more, and another may take its place."""
        if host not in self._dictionaries:
            stored = self._alone(host)
            if damaged := [digest for digest in stored if not self.is_whole(digest)]:
                self._sql.executemany(
                    "UPDATE blobs SET host = host || ' ' || digest WHERE digest = ?", [(digest,) for digest in damaged]
                )
                stored = self._alone(host)
            self._dictionaries[host] = stored[::-1]
        return self._dictionaries[host]

    def _alone(self, host: str) -> list[str]:
        rows = self._sql.execute(
            "SELECT digest FROM blobs WHERE host = ? AND dictionary IS NULL ORDER BY rowid LIMIT ?",
            (host, MAX_HOST_DICTIONARIES),
        )
        return [row[0] for row in rows]

    def _mend(self, digest: str, data: bytes) -> None:
        """Write bytes anew whose kept copy cannot be read, compressed by themselves."""
        self._sql.execute(
            "UPDATE blobs SET data = ?, size = ?, dictionary = NULL WHERE digest = ?",
            (self._codec(None)[0].compress(data), len(data), digest),
        )
        self._codecs.clear()
        self._dictionaries.clear()

    # ------------------------------------------------------------ erasing

    def erase(
        self, urls: Collection[str], hosts: Collection[str], digests: Collection[str], is_in_use: Callable[[str], bool]
    ) -> int:
        """Take fetches of these URLs and hosts out, and every body that nothing names any more; how many bodies went.

        digests: bodies to go even where no fetch names them. is_in_use: says of a body that it is to be kept, whatever the fetches
        say. Their bytes are overwritten in the file; what was compressed against them is compressed anew.
        """
        self._sql.execute("PRAGMA secure_delete = ON")
        with self.transaction():
            named = set(digests)
            for answer in list(self.responses()):
                page = answer.page
                addresses = {page.url, page.final_url, *(hop for _, hop in page.redirects)}
                if addresses & set(urls) or host_of(page.final_url) in hosts:
                    named.update(filter(None, (answer.digest, answer.received_digest)))
                    self._sql.execute("DELETE FROM responses WHERE id = ?", (answer.number,))
            doomed = [digest for digest in sorted(named) if not is_in_use(digest) and not self._is_named(digest)]
            self._free(doomed)
            self._sql.executemany("DELETE FROM blobs WHERE digest = ?", [(digest,) for digest in doomed])
        self._codecs.clear()
        self._dictionaries.clear()
        self._sql.execute("VACUUM")
        self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return len(doomed)

    def _is_named(self, digest: str) -> bool:
        query = "SELECT 1 FROM responses WHERE digest = ?1 UNION ALL SELECT 1 FROM responses WHERE received_digest = ?1 LIMIT 1"
        return self._sql.execute(query, (digest,)).fetchone() is not None

    def _free(self, doomed: list[str]) -> None:
        """Compress what needs these bodies against others, or by itself; a damaged one needs nothing any more."""
        going = set(doomed)
        # Under no host, they are offered to none as a dictionary.
        self._sql.executemany("UPDATE blobs SET host = '' WHERE digest = ?", [(digest,) for digest in doomed])
        self._dictionaries.clear()
        for digest in doomed:
            rows = self._sql.execute("SELECT digest, host FROM blobs WHERE dictionary = ?", (digest,)).fetchall()
            for dependent, host in rows:
                if dependent in going or not self.is_whole(dependent):
                    self._sql.execute("UPDATE blobs SET dictionary = NULL WHERE digest = ?", (dependent,))
                    continue
                data, dictionary = self._compress(self.get(dependent), host, None)
                self._sql.execute(
                    "UPDATE blobs SET data = ?, dictionary = ? WHERE digest = ?", (data, dictionary, dependent)
                )

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

        if dictionary in self._codecs:
            self._codecs.move_to_end(dictionary)
            return self._codecs[dictionary]
        shared = None
        if dictionary is not None:
            raw = self.get(dictionary)[:MAX_DICTIONARY_BYTES]
            shared = zstandard.ZstdCompressionDict(raw, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        codec = (
            zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, dict_data=shared),
            zstandard.ZstdDecompressor(dict_data=shared),
        )
        if len(self._codecs) >= MAX_OPEN_DICTIONARIES:
            self._codecs.popitem(last=False)
        self._codecs[dictionary] = codec
        return codec


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Headers as they are kept in JSON."""
    return tuple((name, value) for name, value in json.loads(text))


def _damaged(digest: str) -> StoreError:
    return StoreError(f'archived bytes {digest[:12]} are damaged; run "kbcite recheck --all" to fetch the page again')
