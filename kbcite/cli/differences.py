"""Lines that differ, as a person reads them: `- a ticket is [-6.50-] euros`, `+ a ticket is {+7.20+} euros`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbcite.page.text_difference import DifferingLine

KEPT_AROUND = 30
"""Characters shown on either side of a change; longer unchanged runs are shortened."""


def marked(line: DifferingLine) -> str:
    """A line with what the other text does not have in brackets, and long unchanged runs shortened."""
    if line.side == " ":
        return _shortened(line.text)
    opening, closing = ("[-", "-]") if line.side == "-" else ("{+", "+}")
    return "".join(f"{opening}{part.text}{closing}" if part.changed else _shortened(part.text) for part in line.parts)


def _shortened(text: str) -> str:
    if len(text) <= 2 * KEPT_AROUND:
        return text
    return f"{text[:KEPT_AROUND]} … {text[-KEPT_AROUND:]}"
