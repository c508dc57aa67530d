"""Runs the console script's `main` in this process, as a shell would see it."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kbcite.cli.app import main

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\]8;[^\x1b]*\x1b\\")
"""Colours, cursor moves and links."""


@dataclass(frozen=True)
class Outcome:
    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def kbcite(*arguments: str, stdin: str = "") -> Outcome:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    code: int | str | None = 0
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", ["kbcite", *arguments]),
        patch.object(sys, "stdin", io.StringIO(stdin)),
    ):
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code
    written = out.detach().getvalue()
    return Outcome(int(code or 0), written, err.getvalue())


def on_terminal(columns: int, *arguments: str) -> str:
    """What kbcite writes to a terminal, both streams, without its colours and links."""
    ours, its = os.openpty()
    chunks: list[bytes] = []

    def read() -> None:
        while chunk := _read(ours):
            chunks.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    with (
        open(its, "w", encoding="utf-8") as terminal,  # noqa: PTH123 - a descriptor, not a path
        redirect_stdout(terminal),
        redirect_stderr(terminal),
        patch.object(sys, "argv", ["kbcite", *arguments]),
        patch.dict(os.environ, {"COLUMNS": str(columns), "TERM": "xterm"}),
        suppress(SystemExit),
    ):
        main()
    reader.join()
    os.close(ours)
    return _ESCAPES.sub("", b"".join(chunks).decode()).replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    """What there is; nothing where the other side is closed."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


class Shell:
    """kbcite with one store."""

    def __init__(self, folder: Path) -> None:
        self.store = folder

    def __call__(self, *arguments: str, stdin: str = "") -> Outcome:
        return kbcite("--store", str(self.store), *arguments, stdin=stdin)

    def json(self, *arguments: str) -> Any:
        return self("--json", *arguments).json

    def archived(self, what: str) -> bytes:
        """The archived bytes behind a block, page or source."""
        return self("show", what, "--snapshot").raw
