from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from kbcite.errors import StoreError
from kbcite.store.archive import Archive, digest_of


@pytest.fixture
def archive(tmp_path: Path):
    with Archive(tmp_path / "archive.sqlite3") as opened:
        yield opened


def test_bytes_come_back_as_they_went_in(archive: Archive) -> None:
    data = bytes(range(256)) * 10
    assert archive.get(archive.put(data, "a.example")) == data


def test_empty_bytes_are_kept_too(archive: Archive) -> None:
    assert archive.get(archive.put(b"", "a.example")) == b""


def test_the_same_bytes_are_kept_once(archive: Archive) -> None:
    assert archive.put(b"page", "a.example") == archive.put(b"page", "b.example") == digest_of(b"page")
    assert archive.sizes()[0] == 1


def test_pages_of_one_host_share_their_markup(archive: Archive) -> None:
    noise = random.Random(1)
    frame = bytes(noise.randrange(32, 127) for _ in range(20_000))
    with archive.transaction():
        for i in range(50):
            archive.put(frame + f"<p>page {i}</p>".encode(), "a.example")
    count, size, kept = archive.sizes()
    assert count == 50
    assert size > 30 * kept


def test_a_transaction_that_fails_keeps_nothing(archive: Archive) -> None:
    with pytest.raises(ValueError), archive.transaction():
        archive.put(b"first of its host", "a.example")
        raise ValueError
    assert archive.sizes()[0] == 0
    assert archive.get(archive.put(b"second of its host", "a.example")) == b"second of its host"


def test_missing_bytes_are_named(archive: Archive) -> None:
    with pytest.raises(StoreError, match="no bytes 0000"):
        archive.get("0" * 64)


def test_damaged_bytes_are_told_from_good_ones(archive: Archive, tmp_path: Path) -> None:
    digest = archive.put(b"the price is 30 euros" * 20, "a.example")
    with sqlite3.connect(tmp_path / "archive.sqlite3") as sql:
        (data,) = sql.execute("SELECT data FROM blobs").fetchone()
        sql.execute("UPDATE blobs SET data = ?", (data[:-1] + bytes([data[-1] ^ 1]),))
    sql.close()
    with pytest.raises(StoreError, match="damaged"):
        archive.get(digest)


def test_damaged_bytes_are_written_anew_by_putting_them_again(tmp_path: Path) -> None:
    with Archive(tmp_path / "archive.sqlite3") as archive:
        first, second = (archive.put(data, "https://a.example") for data in (b"first body" * 50, b"second body" * 50))
        archive._sql.execute("UPDATE blobs SET data = x'00' WHERE digest = ?", (first,))
        archive._codecs.clear()
        assert not archive.is_whole(first)
        assert not archive.is_whole(second), "it was compressed against the first"
        assert archive.put(b"third body" * 50, "https://a.example"), "a damaged body is no dictionary"
        archive.put(b"first body" * 50, "https://a.example")
        assert archive.get(first) == b"first body" * 50
        assert archive.get(second) == b"second body" * 50
