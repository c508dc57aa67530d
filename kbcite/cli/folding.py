"""Lines folded to a terminal's width: between words, and Chinese, which has no blanks, between its characters.

A terminal breaks a long line wherever its last column falls, in the middle of a word. Files and pipes get whole lines.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from typing import TextIO

from kbcite.render import width_of

LEAST_COLUMNS = 20
_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U0001f300-\U0001faff\U00020000-\U0003fffd"
_OPENING, _CLOSING = "（《「『【〔“‘", "，。、；：？！）》」』】〕…”’％"
_PIECE = re.compile(
    rf"[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENING}]+)(?:[{_CLOSING}]|\[\d+\])*\s*|[{_OPENING}]+\s*|\s+"
)
"""What stays on one line, with the blanks after it: no line begins with a closing mark or a citation, or ends with an opening mark."""
_LABEL = re.compile(r" *(?:(?:\[\d+\]|\d+\.|[-+*]) |\S{1,20}(?: \S{1,12})?  +)?")
"""What the later lines of a folded one stand under: its indentation, with a number, a bullet, or a word set off by two blanks."""
_FENCE = re.compile(r"\s*(?:```|~~~)[^\s`]*$")


def columns_of(stream: TextIO) -> int | None:
    """Columns of the terminal behind a stream; None where it is none."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def breaks(line: str, columns: int, indent: int = 0) -> list[int]:
    """Offsets at which one line goes on in a next one, which has `indent` columns less.

    A word wider than a line, such as an address, is left whole: what the terminal breaks can still be copied in one piece.
    """
    columns = max(columns, LEAST_COLUMNS)
    later = columns - indent
    found = []
    used, room = 0, columns
    for piece in _PIECE.finditer(line):
        width = width_of(piece.group().rstrip())
        if used and used + width > room and width <= later:
            found.append(piece.start())
            used, room = 0, later
        used += width_of(piece.group())
    return found


def hanging(line: str, columns: int) -> int:
    """Columns by which the later lines of a folded one are indented."""
    label = _LABEL.match(line)
    return min(width_of(label.group()), columns // 3) if label else 0


def folded(text: str, columns: int | None) -> str:
    """The text with every line folded, except those of fenced code; as it is where there is no terminal."""
    return text if columns is None else "\n".join(_folded_lines(text, columns))


def _folded_lines(text: str, columns: int) -> Iterator[str]:
    for line, is_code in lines_of(text):
        if is_code or width_of(line) <= columns:
            yield line
            continue
        indent = hanging(line, columns)
        at = [0, *breaks(line, columns, indent), len(line)]
        for number, (begin, end) in enumerate(pairwise(at)):
            yield " " * indent * bool(number) + line[begin:end].rstrip()


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """The lines, and whether each is of fenced code, fences included."""
    is_code = False
    for line in text.split("\n"):
        is_fence = bool(_FENCE.match(line))
        yield line, is_code or is_fence
        is_code ^= is_fence
