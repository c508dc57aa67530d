"""Indexing and searching over a real database, FAISS and word index; the encoder is a stand-in that counts what it is given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbcite.errors import ModelMismatch, NotFound
from kbcite.fetch_records import FetchedPage
from kbcite.page.chunking import chunk_document
from kbcite.records import CleanDocument, Metadata, SourceType
from kbcite.retrieval.ranking import RankingOptions
from kbcite.retrieval.vector_index import read_metadata
from kbcite.stages.index import Embedded, Indexed, compact, index_blocks
from kbcite.stages.search import open_index, search_blocks
from kbcite.store.archive import digest_of
from kbcite.store.database import Database
from tests.fakes import BagEncoder

AT = "2026-03-01T08:00:00Z"
ANY = RankingOptions(threshold=0.0)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "kb.sqlite3") as opened:
        yield opened


def store(
    database: Database, url: str, text: str, source_type: SourceType = SourceType.WEB, labels: tuple[str, ...] = ()
) -> None:
    body = text.encode()
    page = FetchedPage(url, url, 200, (("content-type", "text/html"),), body, AT)
    database.pages.save_fetch(url, page, digest_of(body), source="s", source_type=source_type, labels=labels, due_at=AT)
    row = database.pages.get(url, url)
    assert row and row.snapshot_id and row.digest
    document = CleanDocument(url, row.digest, text, (), Metadata(title=url), "utf-8", "f")
    document_id = database.documents.save(row.id, row.snapshot_id, document, "1", AT)
    database.blocks.save(document_id, chunk_document(text), "c", AT, None)


def index(database: Database, encoder: BagEncoder, folder: Path, rebuild: bool = False) -> Indexed:
    *_, last = index_blocks(database, encoder, folder, rebuild=rebuild)
    assert isinstance(last, Indexed)
    return last


def found(database: Database, encoder: BagEncoder, folder: Path, question: str, **filters: object) -> list[str]:
    opened = open_index(database, encoder, folder)
    hits = search_blocks(question, database, encoder, opened, ANY, **filters)  # type: ignore[arg-type]
    return [hit.place.url for hit in hits.blocks]


def test_no_text_is_embedded_twice(database: Database, tmp_path: Path) -> None:
    encoder = BagEncoder()
    store(database, "https://a.example/1", "The pool opens at seven.")
    first = index(database, encoder, tmp_path)
    store(database, "https://a.example/2", "The pool opens at seven.")
    store(database, "https://a.example/3", "The library closes at nine.")
    second = index(database, encoder, tmp_path)
    assert (first.embedded, second.embedded, second.reused) == (1, 1, 1)
    assert encoder.encoded == ["The pool opens at seven.", "The library closes at nine."]
    assert not index(database, encoder, tmp_path).written


def test_indexing_learns_the_file_times_of_a_copied_store(database: Database, tmp_path: Path) -> None:
    encoder = BagEncoder()
    store(database, "https://a.example/1", "The pool opens at seven.")
    index(database, encoder, tmp_path)
    (name,) = read_metadata(tmp_path)["files"]
    os.utime(tmp_path / name, (1, 1))
    assert not index(database, encoder, tmp_path).written
    assert read_metadata(tmp_path)["files"][name][1:] == [(tmp_path / name).stat().st_size, 1_000_000_000]


def test_a_run_that_dies_keeps_the_batches_it_reported(database: Database, tmp_path: Path) -> None:
    for i in range(70):
        store(database, f"https://a.example/{i}", f"Sentence number {i} about the town of Eastbrook.")
    encoder = BagEncoder()
    first = next(index_blocks(database, encoder, tmp_path))
    assert isinstance(first, Embedded) and first.blocks == 64
    assert index(database, encoder, tmp_path).embedded == 70 - 64


def test_another_encoder_is_refused_until_a_rebuild_and_changing_back_embeds_nothing(
    database: Database, tmp_path: Path
) -> None:
    store(database, "https://a.example/1", "The pool opens at seven.")
    index(database, BagEncoder("bag/1"), tmp_path)
    with pytest.raises(ModelMismatch, match=r'"bag/1".*"bag/2".*--rebuild'):
        index(database, BagEncoder("bag/2"), tmp_path)
    assert index(database, BagEncoder("bag/2"), tmp_path, rebuild=True).embedded == 1
    with pytest.raises(ModelMismatch):
        open_index(database, BagEncoder("bag/1"), tmp_path)
    assert index(database, BagEncoder("bag/1"), tmp_path, rebuild=True).embedded == 0


def test_an_index_behind_the_database_is_caught_up_on_opening(database: Database, tmp_path: Path) -> None:
    encoder = BagEncoder()
    store(database, "https://a.example/1", "The pool opens at seven.")
    index(database, encoder, tmp_path)
    store(database, "https://a.example/2", "The library closes at nine.")
    database.connection.execute("UPDATE pages SET state = 'dead' WHERE url = 'https://a.example/1'")
    with pytest.raises(NotFound):
        open_index(database, encoder, tmp_path)
    next(index_blocks(database, encoder, tmp_path))
    assert found(database, encoder, tmp_path, "When does the library close?") == ["https://a.example/2"]


def test_labels_and_types_filter_before_anything_is_retrieved(database: Database, tmp_path: Path) -> None:
    encoder = BagEncoder()
    store(database, "https://a.example/1", "The pool opens at seven.", SourceType.INTERNAL, ("sport",))
    store(database, "https://a.example/2", "The pool opens at eight.", SourceType.WEB, ("old",))
    index(database, encoder, tmp_path)
    assert set(found(database, encoder, tmp_path, "When does the pool open?")) == {
        "https://a.example/1",
        "https://a.example/2",
    }
    assert found(database, encoder, tmp_path, "When does the pool open?", source_type=SourceType.INTERNAL) == [
        "https://a.example/1"
    ]
    assert found(database, encoder, tmp_path, "When does the pool open?", labels=("old", "x")) == [
        "https://a.example/2"
    ]
    assert found(database, encoder, tmp_path, "When does the pool open?", labels=("none",)) == []


def test_a_question_is_answered_from_what_is_embedded_so_far(database: Database, tmp_path: Path) -> None:
    for i in range(70):
        store(database, f"https://a.example/{i}", f"Sentence number {i} about the town of Eastbrook.")
    encoder = BagEncoder()
    next(index_blocks(database, encoder, tmp_path))
    assert found(database, encoder, tmp_path, "Sentence number 5")[0] == "https://a.example/5"


def test_a_large_index_says_its_recall_and_is_caught_up_beside(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbcite.retrieval.vector_lists.LISTS_FROM", 100)
    encoder = BagEncoder()
    for i in range(150):
        store(database, f"https://a.example/{i}", f"Sentence number {i} about the town of Eastbrook.")
    assert 0.9 < index(database, encoder, tmp_path).recall <= 1
    written = (tmp_path / "index.json").read_bytes()
    store(database, "https://a.example/new", "The library of Westbrook closes at nine.")
    database.connection.execute("UPDATE pages SET state = 'dead' WHERE url = 'https://a.example/5'")
    *_, _ = (step for step in index_blocks(database, encoder, tmp_path / "elsewhere"))
    assert found(database, encoder, tmp_path, "When does the library close?")[0] == "https://a.example/new"
    assert "https://a.example/5" not in found(database, encoder, tmp_path, "Sentence number 5")
    assert (tmp_path / "index.json").read_bytes() == written


def test_compacting_drops_what_is_retired_and_uncited_alone(database: Database, tmp_path: Path) -> None:
    encoder = BagEncoder()
    filler = " ".join(f"word{i}" for i in range(150))
    for i in range(40):
        store(database, f"https://a.example/{i}", f"Sentence number {i} about Eastbrook. {filler} {i}")
    index(database, encoder, tmp_path)
    sql = database.connection
    sql.execute("UPDATE pages SET state = 'dead' WHERE url NOT LIKE '%/1_'")
    index(database, encoder, tmp_path)
    (cited,) = sql.execute(
        "SELECT b.id FROM blocks b JOIN occurrences o ON o.block_num = b.num JOIN pages p ON p.document_id = o.document_id"
        " WHERE p.url = 'https://a.example/5'"
    ).fetchone()
    sql.execute(
        "INSERT INTO answers(id, trace_id, created_at, question, status, record) VALUES('a1', 't', '', '', '', '{}')"
    )
    sql.execute("INSERT INTO answer_sources(answer_id, n, block_id, digest) VALUES('a1', 1, ?, '')", (cited,))
    done = compact(database)
    live = set(database.vectors.live_ids(encoder.fingerprint))
    held = {row[0] for row in sql.execute("SELECT b.id FROM vectors v JOIN blocks b ON b.num = v.block_num")}
    assert held == live | {cited} and len(live) == 10
    assert done.vectors == 40 - 11 and done.freed > 0
    assert database.blocks.get(cited) and sql.execute("SELECT count(*) FROM blocks").fetchone()[0] == 40
    assert not index(database, encoder, tmp_path).written
    assert found(database, encoder, tmp_path, "Sentence number 15")
    again = compact(database)
    assert (again.vectors, again.words, again.freed) == (0, 0, 0)
