"""A disk that fails, is full, loses what was not synced: one clear error, the store as before the step, and the next run goes on."""

from __future__ import annotations

import errno
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.lab import Lab, Worker, check, contents, count, fill
from tests.faults.power import acknowledged, cut, read_journal

SEED = 20261130
KILL, TEAR = -1, -2


@pytest.fixture
def bad_lab(built: Lab, bad_disk_worker: Worker, tmp_path: Path) -> Lab:
    """A built store whose pages have changed since, on a disk with faults."""
    lab = built.copy_to(tmp_path / "kb")
    fill(lab.site, 2)
    return Lab(lab.folder, lab.site, bad_disk_worker)


def disk(lab: Lab, at: int, kind: int, journal: str = "") -> dict[str, object]:
    return {"folder": str(lab.folder), "acks": str(lab.acks), "journal": journal, "at": at, "kind": kind}


def count_operations(lab: Lab, job: str, tmp_path: Path) -> int:
    trial = lab.copy_to(tmp_path / f"trial-{job}")
    counted = tmp_path / "counted"
    assert trial.run(job, disk=disk(trial, 0, 0), counted=str(counted)) == 0
    return int(counted.read_text(encoding="ascii"))


@pytest.mark.parametrize("kind", [errno.EIO, errno.ENOSPC, KILL, TEAR], ids=["EIO", "ENOSPC", "kill", "torn write"])
@pytest.mark.parametrize("job", ["build", "rebuild", "recheck"])
def test_the_nth_write_or_sync_fails(job: str, kind: int, bad_lab: Lab, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {job} {kind}")
    total = count_operations(bad_lab, job, tmp_path)
    every = range(1, total + 1)
    chosen = sorted(chance.sample(every, min(total, count(17, 10**9))))
    for at in chosen:
        lab = bad_lab.copy_to(tmp_path / f"at-{at}")
        code = lab.run(job, disk=disk(lab, at, kind))
        assert code == (-9 if kind < 0 else 6) or (kind == errno.EIO and code == 0), (at, code)
        if kind >= 0 and code:
            assert lab.acknowledged()[-1][0] == "error", at
        check(lab.folder, lab.acknowledged())
        if at in chosen[::6]:
            assert lab.run(job) == 0
            check(lab.folder, lab.acknowledged())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs to be root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("n", range(count(5, 50)))
def test_a_full_disk_stops_a_build_with_a_reason_and_it_goes_on_when_there_is_space(
    n: int, small_disk: Path, lab: Lab, built: Lab
) -> None:
    full = Lab(small_disk / "kb", lab.site, lab.worker, notes=lab.folder)
    ballast = small_disk / "ballast"
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    ballast.write_bytes(b"x" * (free - random.Random(SEED + n).randrange(100_000, 1_000_000)))
    code, _, told = full.command("build")
    assert code == 6, told
    assert "no space left" in told
    assert len(told.strip().splitlines()[-1]) < 300
    code, _, told = full.command("status")
    assert code == 0, told
    ballast.unlink()
    code, _, told = full.command("build")
    assert code == 0, told
    check(full.folder, [])
    assert contents(full.folder) == contents(built.folder)


@pytest.mark.parametrize("job", ["build", "rebuild", "recheck", "ask"])
def test_a_power_cut_loses_nothing_that_was_reported(job: str, bad_lab: Lab, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {job}")
    bad_lab.acks.unlink()
    before = {str(path): path.read_bytes() for path in bad_lab.folder.rglob("*") if path.is_file()}
    journal = tmp_path / "journal"
    assert bad_lab.run(job, disk=disk(bad_lab, 0, 0, str(journal))) == 0
    operations = read_journal(journal)
    for n in range(count(50, 1000)):
        at = chance.randrange(len(operations) + 1)
        left = tmp_path / f"cut-{n}"
        for path, data in cut(operations, at, before, chance).items():
            place = left / Path(path).relative_to(bad_lab.folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        check(left, acknowledged(operations, at))
        if n % 10 == 0:
            lab = Lab(left, bad_lab.site, bad_lab.worker)
            assert lab.run(job) == 0
            check(left, acknowledged(operations, at))
