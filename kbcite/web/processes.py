"""The processes of a group: their memory, and their end. Chromium is many processes in one group."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def group_members(group: int) -> Iterator[tuple[int, int]]:
    """(process id, bytes of resident memory) of a process group's living members. Nothing where there is no /proc (macOS, Windows)."""
    if not _PROC.is_dir():
        return
    page_size = os.sysconf("SC_PAGE_SIZE")
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The command's name, in brackets, may hold blanks and brackets: what follows the last one is counted.
            fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        state, member_of, resident = fields[0], int(fields[2]), int(fields[21])
        if member_of == group and state != "Z":
            yield int(entry.name), resident * page_size


def kill_group(group: int) -> None:
    """Kill a process group that is not our own."""
    if hasattr(os, "killpg") and group != os.getpgid(0):
        with suppress(ProcessLookupError):  # ended already
            os.killpg(group, signal.SIGKILL)


def kill_process(pid: int) -> None:
    with suppress(ProcessLookupError):  # ended already
        os.kill(pid, signal.SIGKILL)
