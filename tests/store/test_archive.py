from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from kbcite.errors import StoreError
from kbcite.fetch_records import ArchivedAnswer, FetchedPage, ReceivedBytes
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


def noise(seed: int, size: int) -> bytes:
    """Bytes that do not compress."""
    return random.Random(seed).randbytes(size)


def answer(url: str, body: bytes, at: str = "2026-03-01T08:00:00Z", final_url: str = "") -> FetchedPage:
    headers = (("content-type", "text/html"), ("set-cookie", "a=1"), ("set-cookie", "b=2"))
    hops = ((301, url),) if final_url else ()
    return FetchedPage(url, final_url or url, 200, headers, body, at, hops, (("user-agent", "kbcite"),), 77)


def test_each_template_of_a_host_gets_a_dictionary(archive: Archive) -> None:
    templates = [noise(n, 20_000) for n in range(3)]
    for n in range(30):
        archive.put(templates[n % 3] + b"<p>%d</p>" % n, "https://a.example")
    assert archive.sizes()[2] < 3 * 20_100 + 27 * 200


def test_a_host_has_only_so_many_dictionaries(archive: Archive) -> None:
    bodies = [noise(n, 5_000) for n in range(20)]
    digests = [archive.put(body, "https://a.example") for body in bodies]
    assert [archive.get(digest) for digest in digests] == bodies
    assert len(archive._dictionaries_of("https://a.example")) == 8


def test_a_new_version_of_a_page_costs_little_more_than_what_changed(archive: Archive) -> None:
    archive.put(noise(0, 20_000), "https://a.example")
    text = noise(1, 50_000)
    archive.put_response(answer("https://a.example/1", text))
    before = archive.sizes()[2]
    versions = [text[:n] + b"edited %d" % n + text[n:] for n in range(100, 120)]
    digests = [archive.put_response(answer("https://a.example/1", version)) for version in versions]
    assert archive.sizes()[2] - before < 20 * 100
    assert [archive.get(digest) for digest in digests] == versions
    dictionaries = dict(archive.digests())
    assert {dictionaries[digest] for digest in digests} == {digest_of(text), digests[0]}, "no chain of versions"


def test_an_answer_comes_back_with_everything_that_came_with_it(archive: Archive) -> None:
    given = answer("https://a.example/old", b"body", final_url="https://a.example/new")
    digest = archive.put_response(given)
    assert list(archive.responses()) == [ArchivedAnswer(1, replace(given, body=b""), digest)]


def test_the_same_answer_is_kept_once_and_every_change_of_it(archive: Archive) -> None:
    for day, body in enumerate((b"one", b"one", b"two", b"one", b"one"), 1):
        archive.put_response(answer("https://a.example/1", body, f"2026-03-0{day}T08:00:00Z"))
    assert [kept.page.fetched_at[8:10] for kept in archive.responses()] == ["01", "03", "04"]
    assert archive.sizes()[0] == 2


def rendered(url: str, shell: bytes, made: bytes) -> FetchedPage:
    page = answer(url, made)
    return replace(page, received=ReceivedBytes((*page.headers, ("etag", "1")), shell))


def test_of_a_rendered_page_both_bodies_are_kept_with_their_headers(archive: Archive) -> None:
    given = rendered("https://a.example/1", b"<div id=app>", b"<p>words</p>")
    digest = archive.put_response(given)
    received = archive.received_of(digest)
    assert received == digest_of(b"<div id=app>")
    assert [archive.get(one) for one in (received, digest)] == [b"<div id=app>", b"<p>words</p>"]
    assert given.received is not None
    kept = replace(given, body=b"", received=replace(given.received, body=b""))
    assert list(archive.responses()) == [ArchivedAnswer(1, kept, digest, received)]
    assert archive.received_of(received) is None


def test_a_change_of_either_body_is_kept_and_no_more(archive: Archive) -> None:
    for shell, made in ((b"a", b"1"), (b"a", b"1"), (b"b", b"1"), (b"b", b"2"), (b"b", b"2")):
        archive.put_response(rendered("https://a.example/1", shell, made))
    digests = [(kept.received_digest, kept.digest) for kept in archive.responses()]
    assert digests == [(digest_of(a), digest_of(b)) for a, b in ((b"a", b"1"), (b"b", b"1"), (b"b", b"2"))]


def test_what_was_received_goes_with_its_page_unless_another_page_was_made_of_it(archive: Archive) -> None:
    for n in (1, 2):
        archive.put_response(rendered(f"https://a.example/{n}", b"the shell of both", b"<p>%d</p>" % n))
    assert archive.erase({"https://a.example/1"}, (), (), lambda _: False) == 1
    assert {digest for digest, _ in archive.digests()} == {digest_of(b"the shell of both"), digest_of(b"<p>2</p>")}
    assert archive.erase({"https://a.example/2"}, (), (), lambda _: False) == 2
    assert list(archive.digests()) == []


def test_an_archive_of_the_first_layout_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite3"
    with sqlite3.connect(path) as sql:
        sql.execute(
            """CREATE TABLE blobs(digest TEXT PRIMARY KEY, host TEXT NOT NULL, size INTEGER NOT NULL,
               dictionary TEXT REFERENCES blobs(digest), data BLOB NOT NULL) WITHOUT ROWID"""
        )
        sql.execute("CREATE UNIQUE INDEX blobs_dictionary_of_host ON blobs(host) WHERE dictionary IS NULL")
        data = zstandard.ZstdCompressor().compress(b"an old page")
        sql.execute("INSERT INTO blobs VALUES(?, 'https://a.example', 11, NULL, ?)", (digest_of(b"an old page"), data))
    sql.close()
    with Archive(path) as archive:
        assert archive.get(digest_of(b"an old page")) == b"an old page"
        archive.put_response(answer("https://a.example/1", b"a new page"))
        assert archive.sizes()[0] == 2


def test_an_archive_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite3"
    Archive(path).close()
    with sqlite3.connect(path) as sql:
        sql.execute("PRAGMA user_version = 99")
    sql.close()
    with pytest.raises(StoreError, match="newer kbcite"):
        Archive(path)
