"""doctor names each kind of damage, exits non-zero for it, and `--repair` puts right what can be made again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.run import Shell
from tests.site_server import Site


def alter(store: Path, *statements: str, file: str = "kb.sqlite3") -> None:
    """Change a database behind the program's back, foreign keys unchecked."""
    sql = sqlite3.connect(store / file)
    for statement in statements:
        sql.execute(statement)
    sql.commit()
    sql.close()


def rows_of(store: Path, query: str) -> list[tuple[object, ...]]:
    sql = sqlite3.connect(store / "archive.sqlite3")
    rows = sql.execute(query).fetchall()
    sql.close()
    return rows


def damage(town: Shell, *options: str) -> set[str]:
    outcome = town("--json", "doctor", *options)
    assert outcome.code == (0 if outcome.json["ok"] else 1), outcome.err
    return {symptom["check"] for symptom in outcome.json["damage"]}


def test_nothing_is_wrong_with_a_store_that_was_just_built(town: Shell) -> None:
    outcome = town("--json", "doctor", "--read-data")
    assert outcome.code == 0
    assert outcome.json["damage"] == outcome.json["waiting"] == []
    assert outcome.json["counts"]["pages"] == 7


@pytest.mark.parametrize(
    ("check", "statements"),
    [
        ("page_snapshot", ["UPDATE pages SET snapshot_id = (SELECT min(id) FROM snapshots)"]),
        ("page_snapshot", ["UPDATE pages SET snapshot_id = NULL WHERE id = 2"]),
        ("page_reading", ["UPDATE pages SET reading_id = (SELECT min(id) FROM documents)"]),
        ("document_unchunked", ["UPDATE documents SET chunk_rules = NULL WHERE id = 2"]),
        ("document_blocks", ["DELETE FROM occurrences WHERE document_id = 1 AND ordinal = 0"]),
        ("document_blocks", ["UPDATE occurrences SET end = 1000000 WHERE document_id = 2"]),
        ("vector_length", ["UPDATE vectors SET vector = x'00' WHERE block_num = 1"]),
        ("page_lost", ["UPDATE frontier SET url = url || '?', url_key = url_key || '?' WHERE id = 2"]),
        ("unreadable_record", ["UPDATE snapshots SET headers = '[[' WHERE id = 1"]),
        ("generation", ["DELETE FROM meta WHERE key = 'generation'"]),
        ("kb.sqlite3_references", ["DELETE FROM blocks WHERE num = 2"]),
        ("kb.sqlite3_references", ["DELETE FROM documents WHERE id = 3"]),
        ("word_rows", ["DELETE FROM word_rows WHERE block_num = 3"]),
        ("word_rows", ["DELETE FROM word_index_docsize WHERE id = 3"]),
        ("word_index", ["DELETE FROM word_index_data WHERE id > 100"]),
        ("vector_index_ids", ["DROP TRIGGER generation_of_pages", "UPDATE pages SET state = 'dead' WHERE url LIKE '%pool%'"]),
    ],
)  # fmt: skip
def test_records_that_do_not_fit_are_named_and_put_right(town: Shell, check: str, statements: list[str]) -> None:
    alter(town.store, *statements)
    assert check in damage(town)
    repaired = town("--json", "doctor", "--repair")
    assert repaired.json["repaired"]
    assert repaired.json["damage"] == [], repaired.json
    assert town("build").code == 0
    assert town.json("doctor", "--read-data")["waiting"] == []
    assert "Helen Marsh" in town("ask", "Who is the mayor?").out


def test_a_block_whose_text_was_changed_is_found_by_reading_the_data(town: Shell) -> None:
    alter(town.store, "UPDATE blocks SET text = replace(text, 'Helen', 'Ellen')")
    assert damage(town) == set()
    assert "block_text" in damage(town, "--read-data")
    assert town("doctor", "--read-data", "--repair").code == 0
    assert town("build").code == 0
    assert "Helen Marsh" in town("ask", "Who is the mayor?").out


def test_a_flipped_byte_of_the_archive_is_found_and_fetched_again(town: Shell, town_site: Site) -> None:
    alter(
        town.store,
        "UPDATE blobs SET data = zeroblob(length(data)) WHERE dictionary IS NOT NULL",
        file="archive.sqlite3",
    )
    assert damage(town) == set()
    outcome = town("doctor", "--read-data")
    assert outcome.code == 1
    assert "archived bodies that are damaged" in outcome.out and town_site.url in outcome.out
    assert "kbcite doctor --repair" in outcome.err
    assert damage(town, "--read-data", "--repair") == {"blob_damaged"}
    assert town("recheck").code == 0
    assert damage(town, "--read-data") == set()


def test_bytes_that_are_gone_are_named_by_page(town: Shell, town_site: Site) -> None:
    alter(town.store, "DELETE FROM blobs WHERE dictionary IS NOT NULL", file="archive.sqlite3")
    (symptom,) = [row for row in town("--json", "doctor").json["damage"] if row["check"] == "blob_missing"]
    assert symptom["examples"][0].startswith(town_site.url)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_vector_index_that_is_cut_short_is_made_anew_without_embedding(town: Shell, share: float) -> None:
    (file,) = (town.store / "vectors").glob("*.faiss")
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * share)])
    assert damage(town) == {"vector_index"}
    assert town("doctor", "--repair").code == 0
    assert file.read_bytes() == whole


def test_a_vector_index_that_is_gone_is_made_anew(town: Shell) -> None:
    (town.store / "vectors" / "index.json").unlink()
    assert damage(town) == {"vector_index_missing"}
    assert damage(town, "--repair") == set()


def test_work_that_waits_is_told_and_is_not_wrong(town: Shell) -> None:
    alter(
        town.store,
        "UPDATE frontier SET state = 'in_flight' WHERE id = 1",
        "DELETE FROM vectors WHERE block_num = 1",
        "UPDATE meta SET value = value + 1 WHERE key = 'generation'",
        "UPDATE documents SET clean_rules = 'old'",
    )
    outcome = town("--json", "doctor")
    assert outcome.code == 0
    assert {symptom["check"] for symptom in outcome.json["waiting"]} >= {"in_flight", "to_embed", "to_clean"}
    symptom = next(row for row in outcome.json["waiting"] if row["check"] == "in_flight")
    assert f"waiting   {symptom['what']}: 1 (" in town("doctor").out, "one of it is no plural"


def test_settings_that_cannot_be_read_are_named(town: Shell) -> None:
    (town.store / "kbcite.toml").write_text("[ask]\ntopk = 3\n")
    assert damage(town) == {"settings"}


@pytest.mark.parametrize("name", ["kb.sqlite3", "archive.sqlite3"])
def test_a_missing_file_is_named(town: Shell, name: str) -> None:
    (town.store / name).unlink()
    assert damage(town) == {"file_missing"}
    assert not (town.store / name).exists(), "looking makes no new file"


@pytest.mark.parametrize("fault", ["gone", "no database", "pages overwritten"])
def test_a_lost_database_is_made_again_from_the_archive(town: Shell, town_site: Site, fault: str) -> None:
    path = town.store / "kb.sqlite3"
    before = {row["url"] for row in town.json("status", "--pages")["page_list"]}
    data = path.read_bytes()
    if fault == "gone":
        path.unlink()
    else:
        start = 0 if fault == "no database" else 8192
        path.write_bytes(data[:start] + b"\xff" * (len(data) - start))
    assert damage(town)
    asked = len(town_site.requests)
    outcome = town("doctor", "--repair")
    assert outcome.code == 0, outcome.err
    assert "made kb.sqlite3 again from the archive: 7 pages" in outcome.out
    assert town("--offline", "build").code == 0
    assert {row["url"] for row in town.json("status", "--pages")["page_list"]} == before
    assert "Helen Marsh" in town("ask", "Who is the mayor?").out
    assert len(town_site.requests) == asked
    assert town("--json", "doctor", "--read-data").json["damage"] == []


def test_what_an_old_store_knows_of_its_fetches_is_written_into_the_archive(town: Shell) -> None:
    before = [row[1:] for row in rows_of(town.store, "SELECT * FROM responses ORDER BY final_url")]
    alter(town.store, "DELETE FROM responses", file="archive.sqlite3")
    assert damage(town) == set()
    assert town("doctor", "--repair").code == 0
    assert [row[1:] for row in rows_of(town.store, "SELECT * FROM responses ORDER BY final_url")] == before


@pytest.mark.parametrize("name", ["kb.sqlite3", "archive.sqlite3"])
def test_a_file_that_is_no_database_is_named(town: Shell, name: str) -> None:
    (town.store / name).write_bytes(b"this is not a database at all, " * 100)
    assert damage(town) == {"unreadable"}


def test_pages_of_the_database_that_are_overwritten_are_found(town: Shell) -> None:
    path = town.store / "kb.sqlite3"
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    assert damage(town)


def test_half_written_files_are_removed(town: Shell) -> None:
    beside = town.store / "kbcite.toml.new"
    beside.write_text("half")
    assert {symptom["check"] for symptom in town("--json", "doctor").json["waiting"]} == {"leftover"}
    assert town("doctor", "--repair").code == 0
    assert not beside.exists()


def test_no_store_is_no_damage(tmp_path: Path) -> None:
    outcome = Shell(tmp_path / "none")("doctor")
    assert outcome.code == 5
    assert "no store at" in outcome.err
