"""The one lock that writers of a store hold: an OS lock on an open file, which the kernel frees when its holder dies."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kbcite.clock import to_minute
from kbcite.errors import StoreError

LOCK_NAME = ".lock"
HOLDER_NAME = ".lock-holder.json"


@contextmanager
def writer_lock(folder: Path, command: str, since: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the store's write lock. Raises StoreError naming the holder if it is not free within `wait_s` seconds."""
    from filelock import FileLock, Timeout

    holder = folder / HOLDER_NAME
    lock = FileLock(folder / LOCK_NAME)
    try:
        lock.acquire(timeout=wait_s)
    except Timeout as error:
        raise StoreError(
            f"{folder} is being written by {_describe(holder)}; wait for it, or give --wait SECONDS"
        ) from error
    try:
        holder.write_text(json.dumps({"pid": os.getpid(), "command": command, "since": since}), encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _describe(holder: Path) -> str:
    """The holder as it named itself; it may be gone between the two looks."""
    try:
        told = json.loads(holder.read_text(encoding="utf-8"))
        return f'"kbcite {told["command"]}" (process {told["pid"]}, since {to_minute(told["since"])})'
    except (OSError, ValueError, KeyError):
        return "another kbcite process"
