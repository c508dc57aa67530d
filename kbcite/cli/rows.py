"""Rows of a label and a text: on a terminal the text is folded beside its label, also Chinese without blanks; elsewhere lines stay whole."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kbcite.cli.context import Context
from kbcite.render import Piece, printable, width_of


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    """With its indentation and the blanks up to the text."""
    pieces: tuple[Piece, ...]
    style: str = ""
    """Of the label, in rich's words."""


def row(label: str, text: str, style: str = "", label_style: str = "") -> Row:
    """A row of one style; what a page said in it is made printable."""
    return Row(label, ((printable(text), style),), label_style)


def show_rows(context: Context, rows: Sequence[Row], record: Any) -> None:
    """The rows, or with --json the record."""
    if context.as_json or not sys.stdout.isatty():
        context.show(plain_rows(rows), record)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for line in rows:
        if not line.label:
            console.print(Text.assemble(*line.pieces))
            continue
        # Folded within a column, a run of Chinese begins beside its label and not on a line of its own.
        grid = Table.grid()
        grid.add_column(width=width_of(line.label), no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(line.label, line.style), Text.assemble(*line.pieces))
        console.print(grid)


def plain_rows(rows: Sequence[Row]) -> str:
    """The rows as they stand in a file."""
    return "\n".join(map(_plain, rows))


def _plain(line: Row) -> str:
    indent = "\n" + " " * width_of(line.label)
    return (line.label + "".join(text for text, _ in line.pieces).replace("\n", indent)).rstrip()
