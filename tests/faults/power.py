"""What a power cut can leave of files: made from the journal of everything that was written, synced, renamed and removed.

A write that was synced is there. Of those that were not, any subset is there, and of each of these any of its 512-byte sectors; a length
that a file had is there or not. Names change in order, as journalling file systems keep them, and are lost where their folder was not synced.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from pathlib import Path

SECTOR = 512


@dataclass(frozen=True)
class Operation:
    kind: str
    """w(rite) s(ync) t(runcate) r(ename) u(nlink) a(cknowledgement)"""
    path: str
    offset: int
    data: bytes


def read_journal(path: Path) -> list[Operation]:
    raw = path.read_bytes()
    operations = []
    position = 0
    while position < len(raw):
        kind, path_length, offset, length = struct.unpack_from("<cHqI", raw, position)
        position += 15
        name = raw[position : position + path_length].decode()
        position += path_length
        operations.append(Operation(kind.decode(), name, offset, raw[position : position + length]))
        position += length
    return operations


class _File:
    def __init__(self, data: bytes = b"") -> None:
        self.synced = bytearray(data)
        self.pending: list[Operation] = []

    def sync(self) -> None:
        for operation in self.pending:
            _apply(self.synced, operation)
        self.pending = []

    def after_cut(self, chance: random.Random) -> bytes:
        data = bytearray(self.synced)
        keep = chance.choice((0.0, 0.5, 0.9, 1.0))
        for operation in self.pending:
            if operation.kind == "t":
                if chance.random() < keep:
                    _apply(data, operation)
                continue
            for start in range(0, len(operation.data), SECTOR):
                if chance.random() < keep:
                    piece = operation.data[start : start + SECTOR]
                    _apply(data, Operation("w", operation.path, operation.offset + start, piece))
        return bytes(data)


def _apply(data: bytearray, operation: Operation) -> None:
    if operation.kind == "t":
        del data[operation.offset :]
        data.extend(bytes(operation.offset - len(data)))
        return
    data.extend(bytes(max(0, operation.offset - len(data))))
    data[operation.offset : operation.offset + len(operation.data)] = operation.data


def cut(operations: list[Operation], at: int, before: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    """The files after a power cut before operation `at`, by their path.

    before: the files as they were, all of it on the disk, when the journal began.
    """
    files = {path: _File(data) for path, data in before.items()}
    unsynced_names: list[Operation] = []
    for operation in operations[:at]:
        match operation.kind:
            case "w" | "t":
                files.setdefault(operation.path, _File()).pending.append(operation)
            case "s" if operation.path in files:
                files[operation.path].sync()
            case "s":
                unsynced_names = []
            case "r" if operation.path in files:
                unsynced_names.append(operation)
                files[operation.data.decode()] = files.pop(operation.path)
            case "u":
                files.pop(operation.path, None)
    return {path: file.after_cut(chance) for path, file in files.items()}


def acknowledged(operations: list[Operation], at: int) -> list[list[str]]:
    text = b"".join(operation.data for operation in operations[:at] if operation.kind == "a").decode()
    return [line.split() for line in text.splitlines()]
