"""The network lost while a command works: it ends by itself, holds no page for dead, and the next run makes up for it."""

from __future__ import annotations

import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kbcite.store.database import DATABASE_NAME, Database
from tests.faults.lab import Lab, Worker, check, contents, count, fill
from tests.site_server import Answer, Site

SEED = 20261130
LOST_S = count(3, 60)
PATIENCE_S = 60
"""How much later than the network's return a command may end: its requests have 10 s to be answered, and are few at a time."""
RESET = struct.pack("ii", 1, 0)


class Line:
    """What lies between kbcite and the site. Once cut it meets requests with a reset connection, or with silence, until it is mended."""

    def __init__(self, site: Site, is_silent: bool) -> None:
        self._is_silent = is_silent
        self._is_whole = threading.Event()
        self._is_whole.set()
        self.lost = 0
        """Requests that met the cut."""
        self._seen = threading.Semaphore(0)
        for path, answer in list(site.pages.items()):
            site.pages[path] = self._through(answer)

    def cut(self, after: int, seconds: float) -> threading.Timer:
        """Lose the network once so many requests have come, for so long."""
        for _ in range(after):
            assert self._seen.acquire(timeout=30), "fewer requests came"
        self._is_whole.clear()
        mending = threading.Timer(seconds, self._is_whole.set)
        mending.start()
        return mending

    def _through(self, answer: Answer) -> Callable[[Any], Answer | None]:
        def reply(handler: Any) -> Answer | None:
            self._seen.release()
            time.sleep(0.02)
            if self._is_whole.is_set():
                return answer
            self.lost += 1
            if self._is_silent:
                self._is_whole.wait()
            else:
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            handler.close_connection = True
            handler.connection.close()
            return None

        return reply


@contextmanager
def line(site: Site, is_silent: bool) -> Iterator[Line]:
    try:
        yield Line(site, is_silent)
    finally:
        fill(site)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory, fault_site: Site, worker: Worker) -> dict[str, object]:
    """What a store says that saw the site's second version alone."""
    fill(fault_site, 2)
    lab = Lab(tmp_path_factory.mktemp("changed") / "kb", fault_site, worker)
    assert lab.run("build") == 0
    fill(fault_site)
    return contents(lab.folder)


@pytest.mark.parametrize("n", range(count(1, 5)))
@pytest.mark.parametrize("is_silent", [False, True], ids=["reset", "silent"])
@pytest.mark.parametrize("command", ["crawl", "recheck", "build"])
def test_a_network_that_is_lost_for_a_while_costs_no_page(
    command: str, is_silent: bool, n: int, built: Lab, changed: dict[str, object], tmp_path: Path
) -> None:
    lab = built.copy_to(tmp_path / "kb")
    fill(lab.site, 2)
    # The pages of the store are due in days; a build of a new store has all of them to fetch.
    if command == "build":
        lab = Lab(tmp_path / "new", lab.site, lab.worker)
    with line(lab.site, is_silent) as wire:
        run = lab.start_command(command, *(["--all"] if command != "build" else []))
        mending = wire.cut(random.Random(f"{SEED} {command} {n}").randint(1, 4), LOST_S)
        code, _, told = lab.finish_command(run, LOST_S + PATIENCE_S)
        mending.cancel()
    # A loss that is over before the command's patience is only told; a command that brought nothing says that the network failed.
    assert code in (0, 1, 7), (code, told)
    assert wire.lost, "the network was lost in time"
    assert "Traceback" not in told
    check(lab.folder, [])
    assert "dead" not in states(lab)
    fill(lab.site, 2)
    assert lab.command("crawl", "--all")[0] == 0
    assert lab.command("build")[0] == 0
    check(lab.folder, [])
    assert contents(lab.folder) == changed


def states(lab: Lab) -> set[str]:
    with Database(lab.folder / DATABASE_NAME) as database:
        return set(database.pages.states())
