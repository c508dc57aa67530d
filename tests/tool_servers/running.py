"""The settings of a test's tool server, and a look at what is left of it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from kbcite.settings import ToolServerSettings

SERVER = Path(__file__).with_name("server.py")


def settings(mode: str, tag: str, timeout_s: float = 20.0, tool: str = "fetch", **more: object) -> ToolServerSettings:
    """Of the server in a mode; 20 s are for a busy machine."""
    return ToolServerSettings(
        command=(sys.executable, str(SERVER), mode, tag),
        tool=tool,
        timeout_s=timeout_s,
        **more,  # type: ignore[arg-type]
    )


def left_running(tag: str, within_s: float = 2.0) -> list[str]:
    """Command lines of the living processes that carry the tag; a killed one may take a moment to go."""
    until = time.monotonic() + within_s
    while found := _with(tag):
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    return found


def _with(tag: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # ended meanwhile
        if tag in line:
            found.append(line)
    return found
