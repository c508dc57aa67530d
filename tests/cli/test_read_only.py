"""A store that this user may only read: on a read-only mount, or another user's."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.run import Outcome, Shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


@contextmanager
def write_protected(folder: Path) -> Iterator[None]:
    files = [folder, *folder.rglob("*")]
    modes = [file.stat().st_mode for file in files]
    for file in files:
        file.chmod(0o555 if file.is_dir() else 0o444)
    yield
    for file, mode in zip(files, modes, strict=True):
        file.chmod(mode)


def powerless(store: Path, *arguments: str) -> Outcome:
    """kbcite without root's right to write anywhere."""
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    command = [*prefix, sys.executable, "-m", "kbcite", "--store", str(store), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return Outcome(done.returncode, done.stdout.encode(), done.stderr)


def test_a_store_that_cannot_be_written_can_be_asked(town: Shell) -> None:
    before = {file: file.stat().st_mtime_ns for file in town.store.rglob("*")}
    with write_protected(town.store):
        asked = powerless(town.store, "ask", "Who is the mayor?")
        status = powerless(town.store, "status")
        shown = powerless(town.store, "show", "1")
        examined = powerless(town.store, "doctor", "--read-data")
    assert asked.code == 0, asked.err
    assert "Helen Marsh" in asked.out
    assert asked.err.strip() == f"{town.store} cannot be written, so the answer is not kept"
    assert (status.code, status.err) == (0, "")
    assert examined.code == 0, examined.err
    assert shown.code == 5, "no answer was kept"
    assert {file: file.stat().st_mtime_ns for file in town.store.rglob("*")} == before


def test_what_would_write_says_so_in_one_line(town: Shell) -> None:
    with write_protected(town.store):
        outcome = powerless(town.store, "warc", "import", __file__)
    assert outcome.code == 6
    assert len(outcome.err.strip().splitlines()) == 1 and "permissions" in outcome.err


def test_work_left_in_the_journal_is_named_where_it_cannot_be_taken_up(town: Shell) -> None:
    copy = town.store / "kb.sqlite3-wal"
    writer = sqlite3.connect(town.store / "kb.sqlite3")
    writer.execute("INSERT INTO meta VALUES('test', '1')")
    writer.commit()
    left = copy.read_bytes()
    writer.close()
    copy.write_bytes(left)
    with write_protected(town.store):
        outcome = powerless(town.store, "status")
    assert outcome.code == 6
    assert "journal" in outcome.err and len(outcome.err.strip().splitlines()) == 1
    assert town("status").code == 0
