"""kill -9 at any moment: nothing that was reported is lost, no page is half there, and the next run needs no hand."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from kbcite.store.database import DATABASE_NAME, Database
from tests.faults.lab import PAGES, Lab, check, contents, count, fill

SEED = 20261130


def duration(lab: Lab, job: str, tmp_path: Path) -> float:
    """Seconds that a job takes on a copy of the store."""
    trial = lab.copy_to(tmp_path / f"trial-{job}")
    started = time.monotonic()
    assert trial.run(job) == 0
    return time.monotonic() - started


def test_a_build_killed_again_and_again_ends_like_one_that_was_not(lab: Lab, built: Lab, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    whole = duration(lab, "build", tmp_path)
    version, kills = 1, 0
    while kills < count(100, 2000):
        if lab.run_and_kill("build", chance.uniform(0.005, whole)) == 0:
            # It was through before the kill came: there must be something new to do.
            version, whole = version + 1, max(0.2, whole * 0.9)
            fill(lab.site, version)
        else:
            kills += 1
        check(lab.folder, lab.acknowledged())
    fill(lab.site)
    assert lab.run("build") == 0
    check(lab.folder, lab.acknowledged())
    assert contents(lab.folder) == contents(built.folder)
    with Database(lab.folder / DATABASE_NAME) as database:
        states = dict(database.connection.execute("SELECT state, count(*) FROM frontier GROUP BY state").fetchall())
    assert states == {"done": PAGES}


@pytest.mark.parametrize("job", ["crawl", "clean", "chunk", "index", "rebuild", "recheck", "ask"])
def test_each_command_killed_at_any_moment_leaves_the_old_or_the_new(job: str, built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    chance = random.Random(f"{SEED} {job}")
    version = 1
    whole = duration(lab, job, tmp_path)
    for n in range(count(20, 200)):
        if n % 4 == 0:
            # Something new to do: every third page changes, and what was made of all is stale.
            version += 1
            fill(lab.site, version)
            if job in ("clean", "chunk", "index"):
                assert lab.run("crawl") == 0
            if job in ("chunk", "index"):
                assert lab.run("clean") == 0
            if job == "index":
                assert lab.run("chunk") == 0
        lab.run_and_kill(job, chance.uniform(0.005, whole))
        check(lab.folder, lab.acknowledged())
    assert lab.run(job) == 0
    for rest in ("recheck", "clean", "chunk", "index"):
        assert lab.run(rest) == 0
    check(lab.folder, lab.acknowledged())
    fresh = Lab(tmp_path / "fresh", lab.site, lab.worker)
    assert fresh.run("build") == 0
    assert contents(lab.folder) == contents(fresh.folder)
