"""A progress bar on a terminal, and nothing at all without one (cron mails stay readable)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kbcite.cli.context import Context


class Advance(Protocol):
    def __call__(self, last: str, by: int = 1) -> None:
        """Call once a piece of work, with what it was, and how many it was."""


@contextmanager
def progress(context: Context, title: str, total: int | None = None) -> Iterator[Advance]:
    if context.quiet or context.as_json or not sys.stderr.isatty():
        yield _nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    from kbcite.render import printable

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, last="")

        def advance(last: str, by: int = 1) -> None:
            shown = Text(printable(last), overflow="ellipsis", no_wrap=True)
            shown.truncate(60, overflow="ellipsis")
            bar.update(task, advance=by, last=shown.markup)

        yield advance


def _nothing(last: str, by: int = 1) -> None:  # the shape of Advance
    """No terminal, no bar."""
