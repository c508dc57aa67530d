"""Damaged files: seen before they are used, and made again from what is kept, to the same index and the same results."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from kbcite.retrieval.vector_index import VectorIndex, signed
from kbcite.stages.doctor import examine_store
from kbcite.stages.index import index_blocks
from kbcite.stages.search import open_index
from kbcite.store.archive import ARCHIVE_NAME
from kbcite.store.database import DATABASE_NAME, Database
from tests.fakes import BagEncoder
from tests.faults.lab import Lab, check, contents, count, fill, repair

SEED = 20261130
QUERIES = [f"the {word} of {year} in part {part}" for word in ("river", "bridge", "museum", "lamp", "garden")
           for year in (1903, 1917, 1942, 1950) for part in range(10)]  # fmt: skip


def top_ten(folder: Path) -> list[list[str]]:
    encoder = BagEncoder()
    with Database(folder / DATABASE_NAME) as database:
        index = open_index(database, encoder, folder / "vectors")
        return [[name for name, _ in index.nearest(vector, "en", 10)] for vector in encoder.encode_queries(QUERIES)]


@pytest.fixture(scope="module")
def results(built: Lab) -> list[list[str]]:
    return top_ten(built.folder)


def index_file(folder: Path) -> Path:
    return next((folder / "vectors").glob("blocks-*.faiss"))


def cut(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    place = chance.randrange(len(data))
    data[place] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def change(folder: Path, is_signed: bool = False, **values: object) -> None:
    """Change what index.json says; signed as if this program had written it so."""
    path = folder / "vectors" / "index.json"
    told = json.loads(path.read_text(encoding="utf-8")) | values
    del told["checksum"]
    body = json.dumps(told).encode()
    path.write_bytes(signed(body) if is_signed else body)


INDEX_DAMAGE: dict[str, Callable[[Path, random.Random], None]] = {
    "the vectors are gone": lambda folder, _: index_file(folder).unlink(),
    "index.json is gone": lambda folder, _: (folder / "vectors" / "index.json").unlink(),
    "the folder is gone": lambda folder, _: shutil.rmtree(folder / "vectors"),
    "the vectors are empty": lambda folder, _: index_file(folder).write_bytes(b""),
    "index.json is empty": lambda folder, _: (folder / "vectors" / "index.json").write_bytes(b""),
    "index.json is a list": lambda folder, _: (folder / "vectors" / "index.json").write_text("[]", encoding="ascii"),
    "an older format": lambda folder, _: change(folder, True, format=1),
    "a newer format": lambda folder, _: change(folder, True, format=99),
    "another dimension": lambda folder, _: change(folder, dim=7),
    "a wrong list of blocks": lambda folder, _: change(folder, block_ids=["x"]),
    "a path out of the folder": lambda folder, _: change(folder, file="../kb.sqlite3"),
    "a pickle": lambda folder, _: index_file(folder).write_bytes(b"cposix\nsystem\n(S'touch /tmp/owned'\ntR."),
    **{
        f"the vectors are cut at {percent} %": lambda folder, _, share=percent / 100: cut(index_file(folder), share)
        for percent in range(1, 100, count(9, 1))
    },
    **{f"bit {n} of the vectors": lambda folder, chance: flip(index_file(folder), chance) for n in range(count(10, 300))},
    **{
        f"bit {n} of index.json": lambda folder, chance: flip(folder / "vectors" / "index.json", chance)
        for n in range(count(10, 300))
    },
}  # fmt: skip


@pytest.mark.parametrize("damage", INDEX_DAMAGE)
def test_a_damaged_index_is_seen_and_made_again_to_the_same_results(
    damage: str, built: Lab, results: list[list[str]], tmp_path: Path
) -> None:
    lab = built.copy_to(tmp_path / "kb")
    INDEX_DAMAGE[damage](lab.folder, random.Random(f"{SEED} {damage}"))
    code, _, told = lab.command("search", "bridge")
    assert code in (0, 6), told
    assert "Traceback" not in told
    if code == 0:
        # Made from the database in memory, or a bit that says nothing was flipped: the results are right.
        assert top_ten(lab.folder) == results
    code, _, told = lab.command("doctor", "--repair")
    assert code == 0, told
    check(lab.folder, [])
    assert top_ten(lab.folder) == results


@pytest.mark.parametrize("damage", ["the vectors are gone", "bit 3 of the vectors", "index.json is empty"])
def test_a_build_mends_a_damaged_index_by_itself(
    damage: str, built: Lab, results: list[list[str]], tmp_path: Path
) -> None:
    lab = built.copy_to(tmp_path / "kb")
    INDEX_DAMAGE[damage](lab.folder, random.Random(f"{SEED} {damage}"))
    assert lab.command("build")[0] == 0
    check(lab.folder, [])
    assert top_ten(lab.folder) == results


# ------------------------------------------------------------ the archive


@pytest.mark.parametrize("n", range(count(15, 150)))
def test_damaged_bytes_are_named_by_their_page_and_fetched_again(n: int, built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    chance = random.Random(SEED + n)
    sql = sqlite3.connect(lab.folder / ARCHIVE_NAME)
    digest, data = chance.choice(sql.execute("SELECT digest, data FROM blobs ORDER BY digest").fetchall())
    damaged = bytearray(data)
    damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    sql.execute("UPDATE blobs SET data = ? WHERE digest = ?", (bytes(damaged), digest))
    sql.commit()
    sql.close()
    found = {symptom.check: symptom for symptom in examine_store(lab.folder, read_data=True).damage}
    if not found:
        return  # a bit of the frame that means nothing: the bytes are still right by their digest
    assert set(found) == {"blob_damaged"}
    with Database(lab.folder / DATABASE_NAME) as database:
        (url,) = database.connection.execute("SELECT final_url FROM snapshots WHERE digest = ?", (digest,)).fetchone()
    assert found["blob_damaged"].count > 1 or found["blob_damaged"].examples == (url,)
    repair(lab.folder)
    code, _, told = lab.command("recheck")
    assert code == 0, told
    check(lab.folder, [])
    assert contents(lab.folder) == contents(built.folder)


# ------------------------------------------------------------ the databases


@pytest.mark.parametrize("n", range(count(30, 300)))
def test_a_damaged_database_ends_in_one_line_never_in_a_traceback(n: int, built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    chance = random.Random(SEED + n)
    path = lab.folder / chance.choice((DATABASE_NAME, ARCHIVE_NAME))
    match n % 5:
        case 0:
            cut(path, chance.random())
        case 1:
            flip(path, chance)
        case 2:
            data = bytearray(path.read_bytes())
            start = chance.randrange(len(data) // 512) * 512
            data[start : start + 512] = bytes(512)
            path.write_bytes(data)
        case 3:
            data = bytearray(path.read_bytes())
            start = chance.randrange(len(data) // 4096) * 4096
            data[start : start + 4096] = chance.randbytes(4096)
            path.write_bytes(data)
        case 4:
            path.write_bytes(b"")
    for words in (("status",), ("search", "bridge"), ("ask", "When was the bridge opened?"), ("recheck", "--all"),
                  ("build",), ("doctor", "--read-data"), ("doctor", "--repair", "--read-data")):  # fmt: skip
        code, _, told = lab.command(*words)
        assert code in (0, 1, 3, 5, 6), (words, code, told)
        assert "Traceback" not in told
        assert all(len(line) < 600 for line in told.splitlines())


@pytest.mark.parametrize("n", range(count(15, 150)))
def test_a_log_that_was_cut_gives_the_last_whole_state(n: int, built: Lab, tmp_path: Path) -> None:
    """A killed process leaves a write-ahead log; a part of it may be lost or spoilt."""
    lab = built.copy_to(tmp_path / "kb")
    chance = random.Random(SEED + n)
    fill(lab.site, 2)
    lab.run_and_kill("recheck", chance.uniform(0.2, 0.5))
    for log in lab.folder.glob("*-wal"):
        data = bytearray(log.read_bytes())
        if data and n % 3:
            del data[chance.randrange(len(data)) :]
        elif data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        log.write_bytes(data)
    for shared in lab.folder.glob("*-shm"):
        shared.unlink()
    # What was reported may be lost with the log; what is there must be whole, or be put right.
    repair(lab.folder)
    assert lab.run("recheck") == 0
    for job in ("clean", "chunk", "index"):
        assert lab.run(job) == 0
    repair(lab.folder)
    check(lab.folder, [])


# ------------------------------------------------------------ step by step against all at once


@pytest.mark.parametrize("n", range(count(10, 200)))
def test_an_index_that_grew_step_by_step_equals_one_made_anew(n: int, built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    chance = random.Random(SEED + n)
    encoder = BagEncoder()
    with Database(lab.folder / DATABASE_NAME) as database:
        pages = [row[0] for row in database.connection.execute("SELECT id FROM pages ORDER BY id")]
        readings = dict(database.connection.execute("SELECT id, document_id FROM pages").fetchall())
        for step in range(100):
            with database.transaction():
                for page_id in chance.sample(pages, chance.randrange(1, 10)):
                    match chance.randrange(4):
                        case 0:
                            change_page = "UPDATE pages SET state = 'dead' WHERE id = ?"
                            database.connection.execute(change_page, (page_id,))
                        case 1 | 2:
                            change_page = "UPDATE pages SET state = 'alive', document_id = ? WHERE id = ?"
                            database.connection.execute(change_page, (readings[page_id], page_id))
                        case 3:
                            change_page = "UPDATE pages SET document_id = NULL WHERE id = ?"
                            database.connection.execute(change_page, (page_id,))
            if step % 10 == 0:
                for _ in index_blocks(database, encoder, lab.folder / "vectors"):
                    pass
        caught_up = open_index(database, encoder, lab.folder / "vectors")
        ids, languages, vectors = database.vectors.live(encoder.fingerprint)
        anew = VectorIndex.build(ids, vectors, languages, encoder.fingerprint)
        assert sorted(caught_up.block_ids) == sorted(anew.block_ids) == sorted(ids)
        for vector in encoder.encode_queries(QUERIES[::5]):
            assert caught_up.nearest(vector, "en", 10) == anew.nearest(vector, "en", 10)
