from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from kbcite.web.processes import group_members, kill_group, kill_process

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def test_a_group_is_seen_and_killed_whole() -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", "sleep 60 & echo ready; wait"], start_new_session=True, stdout=subprocess.PIPE
    ) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        members = dict(group_members(shell.pid))
        assert len(members) == 2
        assert members[shell.pid] > 0
        kill_group(shell.pid)
        assert shell.wait(5) == -9
    deadline = time.monotonic() + 5
    while list(group_members(shell.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(group_members(shell.pid)) == []


def test_our_own_group_is_never_killed() -> None:
    kill_group(os.getpgid(0))


def test_what_has_ended_may_be_killed_again() -> None:
    with subprocess.Popen(["/bin/true"], start_new_session=True) as done:
        done.wait(5)
    kill_group(done.pid)
    kill_process(done.pid)
