"""Commands that change much in one go (forget, import, a new schema), killed at the n-th write: the old or the new, never between."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from kbcite.store.archive import ARCHIVE_NAME
from kbcite.store.database import DATABASE_NAME, Database
from kbcite.store.migrations import MIGRATIONS, migrate
from tests.faults.lab import Lab, Worker, check, contents, count, fill
from tests.faults.test_disk import KILL, TEAR, disk

SEED = 20261130
SECRET = "In part 0 of page 5 the"
"""Stands on one page alone."""


def count_operations(lab: Lab, tmp_path: Path, *command: str) -> int:
    counted = tmp_path / "counted"
    trial = lab.copy_to(tmp_path / "trial")
    code, _, told = trial.command(*command, disk=disk(trial, 0, 0), counted=str(counted))
    assert code == 0, told
    return int(counted.read_text(encoding="ascii"))


def moments(total: int, often: int) -> list[int]:
    every = range(1, total + 1)
    return sorted(random.Random(SEED).sample(every, min(total, count(often, 200))))


def test_a_page_is_never_half_forgotten(built: Lab, bad_disk_worker: Worker, tmp_path: Path) -> None:
    fill(built.site)
    original = Lab(built.copy_to(tmp_path / "original").folder, built.site, bad_disk_worker)
    url = f"{built.site.url}/5"
    command = ("forget", url, "--yes")
    for at in moments(count_operations(original, tmp_path, *command), 20):
        lab = original.copy_to(tmp_path / f"at-{at}")
        assert lab.command(*command, disk=disk(lab, at, KILL if at % 2 else TEAR))[0] == -9
        # Any command that writes finishes what was begun.
        code, _, told = lab.command("clean")
        assert code == 0, told
        check(lab.folder, [])
        with Database(lab.folder / DATABASE_NAME) as database:
            database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            is_there = database.pages.get(url, url) is not None
        if is_there:
            assert contents(lab.folder) == contents(original.folder)
        else:
            assert not any(SECRET.encode() in path.read_bytes() for path in lab.folder.rglob("*") if path.is_file())
        assert lab.command(*command)[0] == 0
        assert lab.command("index")[0] == 0
        check(lab.folder, [])
        shutil.rmtree(lab.folder)


def test_an_import_is_whole_or_goes_on(built: Lab, bad_disk_worker: Worker, tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    fill(built.site)
    source = built.copy_to(tmp_path / "source")
    warc = tmp_path / "all.warc.gz"
    code, _, told = source.command("warc", "export", str(warc))
    assert code == 0, told
    empty = Lab(tmp_path / "kb", built.site, bad_disk_worker)
    command = ("warc", "import", str(warc))
    for at in moments(count_operations(empty, tmp_path, *command), 15):
        lab = empty.copy_to(tmp_path / f"at-{at}")
        assert lab.command(*command, disk=disk(lab, at, KILL if at % 2 else TEAR))[0] == -9
        check(lab.folder, [])
        for words in (command, ("clean",), ("chunk",), ("index",)):
            code, _, told = lab.command(*words)
            assert code == 0, told
        check(lab.folder, [])
        assert contents(lab.folder) == contents(built.folder)
        shutil.rmtree(lab.folder)


@pytest.mark.parametrize("first", range(1, len(MIGRATIONS)))
def test_a_new_schema_is_taken_on_whole_or_not_at_all(
    first: int, built: Lab, bad_disk_worker: Worker, tmp_path: Path
) -> None:
    """A database of each older schema, opened by this version and killed in the midst of it."""
    original = Lab(tmp_path / "original", built.site, bad_disk_worker)
    (original.folder / DATABASE_NAME).unlink()
    sql = sqlite3.connect(original.folder / DATABASE_NAME, isolation_level=None)
    migrate(sql, "", MIGRATIONS[:first])
    sql.execute("PRAGMA journal_mode = WAL")
    sql.close()
    total = count_operations(original, tmp_path, "status")
    shutil.rmtree(tmp_path / "trial")
    for at in moments(total, 6):
        lab = original.copy_to(tmp_path / f"at-{at}")
        assert lab.command("status", disk=disk(lab, at, KILL if at % 2 else TEAR))[0] == -9
        with sqlite3.connect(lab.folder / DATABASE_NAME) as sql:
            assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert first <= sql.execute("PRAGMA user_version").fetchone()[0] <= len(MIGRATIONS)
        sql.close()
        assert lab.command("status")[0] == 0
        assert (lab.folder / ARCHIVE_NAME).exists()
        check(lab.folder, [])
        shutil.rmtree(lab.folder)
