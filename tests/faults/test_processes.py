"""Several commands at once on one store, and commands told to stop in every way: one writer, readers never disturbed, no stale lock."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults.lab import Lab, check, count, fill

SEED = 20261130
WRITERS = (("crawl", "--all"), ("recheck", "--all"), ("index", "--rebuild"), ("clean",), ("build",))
READERS = (("ask", "When was the bridge opened?"), ("search", "bridge"), ("status",), ("doctor",), ("show", "{url}/3"))


def test_of_many_commands_at_once_one_writes_and_the_others_say_who(built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    chance = random.Random(SEED)
    for n in range(count(8, 300)):
        fill(lab.site, 2 + n % 2)
        asked = [*chance.choices(WRITERS, k=3), *chance.choices(READERS, k=3)]
        chance.shuffle(asked)
        started = [(words[0], lab.start_command(*(word.format(url=lab.site.url) for word in words))) for words in asked]
        killed = chance.random() < 0.3
        if killed:
            time.sleep(chance.uniform(0.0, 0.3))
            os.kill(chance.choice(started)[1][0], signal.SIGKILL)
        wrote = 0
        for command, run in started:
            code, _, told = lab.finish_command(run)
            assert "database is locked" not in told
            assert "Traceback" not in told
            if command in {words[0] for words in READERS}:
                assert code in (0, 3, -9), (command, code, told)
                continue
            assert code in (0, 6, -9), (command, code, told)
            wrote += code == 0
            if code == 6:
                assert "is being written by" in told
        assert wrote or killed
    check(lab.folder, lab.acknowledged())
    assert lab.command("build")[0] == 0


def test_a_writer_that_waits_gets_its_turn(built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    started = [lab.start_command("recheck", "--all", "--wait", "60") for _ in range(4)]
    assert [lab.finish_command(run)[0] for run in started] == [0, 0, 0, 0]


def test_a_killed_writer_leaves_no_lock_behind(built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    for _ in range(count(5, 50)):
        run = lab.start_command("recheck", "--all")
        time.sleep(0.15)
        os.kill(run[0], signal.SIGKILL)
        lab.finish_command(run)
        assert lab.command("status")[0] == 0
        assert lab.command("clean")[0] == 0
    check(lab.folder, [])


# ------------------------------------------------------------ told to stop

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def slow(handler: Any) -> str:
    time.sleep(0.2)
    return f"<h1>{handler.path}</h1><p>{'Some words of a slow page. ' * 20}</p>"


@pytest.mark.parametrize("n", range(count(2, 20)))
@pytest.mark.parametrize("command", ["crawl", "recheck", "build"])
@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_ends_a_command_soon_and_the_next_run_goes_on(
    name: str, command: str, n: int, built: Lab, tmp_path: Path
) -> None:
    lab = built.copy_to(tmp_path / "kb")
    for path in [path for path in lab.site.pages if path != "/robots.txt"]:
        lab.site.pages[path] = slow
    options = ("--all",) if command in ("crawl", "recheck") else ()
    run = lab.start_command(command, *options)
    time.sleep(random.Random(f"{SEED} {name} {command} {n}").uniform(0.1, 1.2))
    told_at = time.monotonic()
    os.kill(run[0], getattr(signal, name))
    code, _, told = lab.finish_command(run)
    assert time.monotonic() - told_at < 10
    # A signal that comes before the command listens ends it at once; one that comes when it is through changes nothing.
    assert code in (130, -getattr(signal, name), 0, 1), (code, told)
    assert "Traceback" not in told
    check(lab.folder, [])
    fill(lab.site)
    assert lab.command("build", "--wait", "5")[0] == 0
    check(lab.folder, [])


@pytest.mark.parametrize(
    "command", [("crawl", "--all"), ("build",), ("status",), ("ask", "When was the bridge opened?")]
)
def test_a_closed_output_ends_in_a_line_not_in_a_traceback(
    command: tuple[str, ...], built: Lab, tmp_path: Path
) -> None:
    lab = built.copy_to(tmp_path / "kb")
    done = subprocess.run(
        f"{lab.worker.python} -m kbcite --store {lab.folder} {' '.join(repr(word) for word in command)} | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    check(lab.folder, [])


def test_a_folder_that_cannot_be_written_is_told_and_can_be_read(built: Lab, tmp_path: Path) -> None:
    lab = built.copy_to(tmp_path / "kb")
    read_only = tmp_path / "read-only"
    read_only.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "--bind", "-o", "ro", lab.folder, read_only], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("needs to be root")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", read_only], check=True)
        shut = Lab(read_only, lab.site, lab.worker, notes=tmp_path / "notes")
        code, _, told = shut.command("crawl", "--all")
        assert (code, told.count("\n")) == (6, 1), told
        for command in (("status",), ("search", "bridge"), ("show", f"{lab.site.url}/3")):
            code, shown, told = shut.command(*command)
            assert (code, bool(shown)) == (0, True), (command, told)
    finally:
        subprocess.run(["umount", "-l", read_only], check=True)
