"""Runs the console script's `main` in this process, as a shell would see it."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kbcite.cli.app import main


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
