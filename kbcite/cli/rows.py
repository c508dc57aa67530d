"""Rows of a label and a text: on a terminal the text is folded beside its label; elsewhere lines stay whole."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kbcite.cli.context import Context
from kbcite.cli.folding import breaks, hanging, lines_of
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
    for line in rows:
        print_folded([(line.label, line.style), *_indented(line)], width_of(line.label))


def print_folded(pieces: Sequence[Piece], indent: int | None = None) -> None:
    """Print styled text to the terminal, its lines folded.

    indent: columns by which the later lines of a folded one are set in; where none is given, as `hanging` says for each.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    text = Text.assemble(*pieces)
    lines = zip(text.split("\n", allow_blank=True), lines_of(text.plain), strict=True)
    for line, (plain, is_code) in lines:
        hung = hanging(plain, console.width) if indent is None else indent
        for i, part in enumerate(line.divide([] if is_code else breaks(plain, console.width, hung))):
            part.rstrip()
            # An address stays whole for the terminal to break: a break of ours would stand in what is copied.
            console.print(Text(" " * hung * bool(i)) + part, soft_wrap=True)


def plain_rows(rows: Sequence[Row]) -> str:
    """The rows as they stand in a file."""
    return "\n".join(map(_plain, rows))


def _plain(line: Row) -> str:
    return (line.label + "".join(text for text, _ in _indented(line))).rstrip()


def _indented(line: Row) -> list[Piece]:
    """The pieces of a row, its later lines beside its label."""
    return [(text.replace("\n", "\n" + " " * width_of(line.label)), style) for text, style in line.pieces]
