from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kbcite.errors import StoreError
from kbcite.store.lock import writer_lock

HOLD = """
import sys, time
from pathlib import Path
from kbcite.store.lock import writer_lock
with writer_lock(Path(sys.argv[1]), "crawl", "2026-03-01T08:00:00Z"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_holder_of_the_lock_is_named(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match=rf'"kbcite crawl" \(process {holder.pid}, since 2026-03-01 ..:.. UTC\)'),
        writer_lock(tmp_path, "clean", "-"),
    ):
        pass


def test_a_killed_holder_leaves_no_stale_lock(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with writer_lock(tmp_path, "clean", "-", wait_s=5):
        pass
