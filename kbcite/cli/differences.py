"""Lines that differ, as a person reads them: `- a ticket is [-6.50-] euros`, `+ a ticket is {+7.20+} euros`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbcite.render import Piece, printable

if TYPE_CHECKING:
    from kbcite.answer.passage_change import Change
    from kbcite.page.text_difference import DifferingLine

_MARKS = {"same": ("", "", ""), "removed": ("[-", "-]", "red strike"), "added": ("{+", "+}", "green")}
KEPT_AROUND = 30
"""Characters shown on either side of a change; longer unchanged runs are shortened."""


def marked(line: DifferingLine) -> str:
    """A line with what the other text does not have in brackets, and long unchanged runs shortened."""
    if line.side == " ":
        return _shortened(line.text)
    opening, closing = ("[-", "-]") if line.side == "-" else ("{+", "+}")
    return "".join(f"{opening}{part.text}{closing}" if part.changed else _shortened(part.text) for part in line.parts)


def change_pieces(changes: Sequence[Change]) -> tuple[Piece, ...]:
    """The runs of a passage's difference, in brackets and colours."""
    return tuple(
        (f"{opening}{printable(change.text)}{closing}", style)
        for change in changes
        for opening, closing, style in [_MARKS[change.kind]]
    )


def _shortened(text: str) -> str:
    if len(text) <= 2 * KEPT_AROUND:
        return text
    return f"{text[:KEPT_AROUND]} … {text[-KEPT_AROUND:]}"
