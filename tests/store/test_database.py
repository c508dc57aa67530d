from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kbcite.errors import StoreError
from kbcite.fetch_records import Evidence, FetchedPage
from kbcite.records import Block, CleanDocument, Metadata, Occurrence, PageState, Skipped, SourceType, Span, Stage
from kbcite.store.archive import digest_of
from kbcite.store.database import Database
from kbcite.store.migrations import MIGRATIONS

DAY1, DAY2, DAY3 = "2026-03-01T08:00:00Z", "2026-03-02T08:00:00Z", "2026-03-03T08:00:00Z"


@pytest.fixture
def database(tmp_path: Path):
    with Database(tmp_path / "kb.sqlite3") as opened:
        yield opened


def fetch(database: Database, url: str, body: bytes, at: str = DAY1) -> bool:
    page = FetchedPage(url, url, 200, (("content-type", "text/html"), ("etag", '"1"')), body, at)
    return database.pages.save_fetch(
        url, page, digest_of(body), source="https://a.example/", source_type=SourceType.WEB, labels=("x",), due_at=DAY3
    )


def read(database: Database, url: str, text: str, rules: str = "1") -> int:
    page = database.pages.get(url, url)
    assert page and page.snapshot_id and page.digest
    document = CleanDocument(
        url, page.digest, text, (Span(0, len(text), 7, 7 + len(text)),), Metadata(title="标题"), "utf-8", "f"
    )
    return database.documents.save(page.id, page.snapshot_id, document, rules, DAY1)


def pieces(*texts: str) -> list[tuple[Block, Occurrence]]:
    found, start = [], 0
    for i, text in enumerate(texts):
        found.append((Block("b-" + text, text, 1, "en"), Occurrence("b-" + text, start, start + len(text), ("H",), i)))
        start += len(text)
    return found


def test_a_page_is_found_by_its_url_and_by_its_other_addresses(database: Database) -> None:
    assert fetch(database, "https://a.example/1", b"one")
    database.pages.add_alias("a.example/old", "https://a.example/1")
    by_url = database.pages.get("https://a.example/1", "-")
    assert by_url == database.pages.get("https://a.example/old", "a.example/old")
    assert by_url and by_url.etag == '"1"' and by_url.labels == ("x",) and by_url.state == PageState.ALIVE


def test_equal_bytes_make_no_second_snapshot_and_changed_bytes_do(database: Database) -> None:
    fetch(database, "https://a.example/1", b"one")
    assert not fetch(database, "https://a.example/1", b"one", DAY2)
    assert fetch(database, "https://a.example/1", b"two", DAY3)
    page = database.pages.get("https://a.example/1", "-")
    assert page and page.changed_at == DAY3
    assert [s.fetched_at for s in database.pages.snapshots(page.id)] == [DAY1, DAY3]
    assert [row[1] for row in database.pages.visits(page.id)] == ["changed", "unchanged", "changed"]


def test_only_stale_snapshots_are_to_be_cleaned(database: Database) -> None:
    fetch(database, "https://a.example/1", b"one")
    fetch(database, "https://a.example/2", b"two")
    read(database, "https://a.example/1", "text")
    page = database.pages.get("https://a.example/2", "-")
    assert page and page.snapshot_id
    database.documents.save_skipped(page.id, page.snapshot_id, Skipped(page.url, Stage.CLEAN, "no_text"), "1")
    assert database.pages.stale_snapshots("1") == []
    assert [stale.snapshot.url for stale in database.pages.stale_snapshots("2")] == [
        "https://a.example/1",
        "https://a.example/2",
    ]


def test_a_document_comes_back_as_it_was_saved(database: Database) -> None:
    fetch(database, "https://a.example/1", b"one")
    document = database.documents.get(read(database, "https://a.example/1", "正文 text"))
    assert document and document.text == "正文 text" and document.spans == (Span(0, 7, 7, 14),)
    assert document.metadata.title == "标题"


def test_a_shared_paragraph_is_one_block_with_two_places(database: Database) -> None:
    for url, body in (("https://a.example/1", b"one"), ("https://a.example/2", b"two")):
        fetch(database, url, body)
        database.blocks.save(read(database, url, "shared"), pieces("shared"), "c", DAY1, None)
    assert database.blocks.live_count() == 1
    assert [place.url for place in database.blocks.places("b-shared", live_only=True)] == [
        "https://a.example/1",
        "https://a.example/2",
    ]
    assert database.blocks.places("b-shared", live_only=True)[0].text == "shared"


def test_an_edit_retires_and_adds_only_the_edited_block(database: Database) -> None:
    url = "https://a.example/1"
    fetch(database, url, b"one")
    first = read(database, url, "abc")
    assert database.blocks.save(first, pieces("a", "b", "c"), "c", DAY1, None).new == 3
    fetch(database, url, b"two", DAY2)
    read(database, url, "axc")
    (stale,) = database.documents.stale("c")
    counts = database.blocks.save(stale.id, pieces("a", "x", "c"), "c", DAY2, stale.searched_id)
    assert (counts.kept, counts.new, counts.retired) == (2, 1, 1)
    assert not database.blocks.is_live("b-b")
    assert database.blocks.get("b-b"), "a retired block is kept for the answers that cite it"


def test_a_page_stays_searchable_while_its_new_reading_is_not_chunked(database: Database) -> None:
    fetch(database, "https://a.example/1", b"one")
    database.blocks.save(read(database, "https://a.example/1", "a"), pieces("a"), "c", DAY1, None)
    fetch(database, "https://a.example/1", b"two", DAY2)
    read(database, "https://a.example/1", "b")
    assert database.blocks.is_live("b-a")
    (stale,) = database.documents.stale("c")
    database.blocks.save(stale.id, pieces("b"), "c", DAY2, stale.searched_id)
    assert not database.blocks.is_live("b-a")
    assert database.blocks.is_live("b-b")
    assert database.documents.stale("c") == []


def test_the_settings_decide_the_type_and_labels_of_stored_pages(database: Database) -> None:
    fetch(database, "https://a.example/1", b"one")
    database.pages.apply_source("https://a.example/", SourceType.INTERNAL, ("secret",))
    page = database.pages.get("https://a.example/1", "-")
    assert page and (page.source_type, page.labels) == (SourceType.INTERNAL, ("secret",))


def test_the_last_answer_is_the_last_one_whatever_the_clock_said(database: Database) -> None:
    for answer_id, at in (("a9", DAY3), ("a1", DAY1), ("a5", DAY1)):
        record = {"id": answer_id, "trace_id": "t", "created_at": at, "question": "?", "status": "refused"}
        database.answers.save(record, [])
    latest = database.answers.latest()
    assert latest and latest["id"] == "a5"


def test_several_processes_may_open_an_old_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "kb.sqlite3"
    sqlite3.connect(path).close()
    opener = (
        f"from pathlib import Path; from kbcite.store.database import Database; Database(Path({str(path)!r})).close()"
    )
    processes = [subprocess.Popen([sys.executable, "-c", opener], stderr=subprocess.PIPE) for _ in range(4)]
    assert [(process.communicate()[1], process.returncode) for process in processes] == [(b"", 0)] * 4


def test_blocks_of_dead_pages_are_not_live(database: Database) -> None:
    fetch(database, "https://a.example/1", b"one")
    database.blocks.save(read(database, "https://a.example/1", "a"), pieces("a"), "c", DAY1, None)
    page = database.pages.get("https://a.example/1", "-")
    assert page
    database.pages.save_trouble(
        page.id,
        DAY2,
        evidence=Evidence(PageState.DEAD, misses=3, missing_since=DAY1),
        due_at=DAY3,
        status=404,
        detail="",
    )
    assert database.blocks.live_count() == 0
    assert database.blocks.load(["b-a"]) == {}


def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    with pytest.raises(ValueError), database.transaction():
        fetch(database, "https://a.example/1", b"one")
        raise ValueError
    assert database.pages.count() == 0


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kb.sqlite3"
    Database(path).close()
    with sqlite3.connect(path) as sql:
        sql.execute(f"PRAGMA user_version = {MIGRATIONS[-1][0] + 1}")
    sql.close()
    with pytest.raises(StoreError, match="newer kbcite"):
        Database(path)


def test_migration_numbers_rise_one_by_one() -> None:
    assert [number for number, _ in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    with Database(tmp_path / "kb.sqlite3") as writer, Database(tmp_path / "kb.sqlite3") as reader:
        fetch(writer, "https://a.example/1", b"one")
        with writer.transaction():
            fetch(writer, "https://a.example/2", b"two")
            assert reader.pages.count() == 1
        assert reader.pages.count() == 2
