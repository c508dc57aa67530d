"""The parts of a Markdown-like text: headings, paragraphs, lists, tables, code and quotes as spans, and the tree of sections.

Only what cleaning writes is read: `#` headings, `-`, `*`, `+`, `1.` lists with indented continuation, `|` tables, fenced
code, `>` quotes. Everything else is a paragraph, so that no text is ever lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_MARKUP = re.compile(r"`|\*\*|(?<!\w)_|_(?!\w)|!?\[(?=[^\]]*\]\()|\]\([^)]*\)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+|$)")


class PartKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Part:
    """One heading, paragraph, list ...; `start` and `end` without outer blank lines."""

    kind: PartKind
    start: int
    end: int
    level: int = 0
    """Of a heading, 1 to 6."""
    title: str = ""


@dataclass(slots=True)
class Section:
    """A heading and what stands under it; the root has no heading."""

    heading: Part | None
    chain: tuple[str, ...]
    """Titles from the outermost heading down to this section's own."""
    parts: list[Part] = field(default_factory=list)
    """Its own, up to the first heading below it."""
    children: list[Section] = field(default_factory=list)

    def walk(self) -> Iterator[Section]:
        yield self
        for child in self.children:
            yield from child.walk()


def item_indent(line: str) -> int | None:
    """Blanks before the bullet or number of a list line; None for any other line."""
    match = _ITEM.match(line)
    return len(match.group(1).expandtabs(4)) if match else None


def opening_fence(line: str) -> str:
    """The fence of a line that opens a code block, else empty."""
    match = _FENCE.match(line)
    return match.group(1) if match else ""


def closes_fence(line: str, fence: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(fence) and not stripped.strip(fence[0])


def indent_of(line: str) -> int:
    """Blanks before a line's first other character; a tab counts up to the next multiple of four."""
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip(" "))


def split_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the lines in a span, line ends left out."""
    spans = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        spans.append((start, stop))
        start = stop + 1
    return spans


def parse_parts(text: str) -> list[Part]:
    """The parts of a text in order; together they hold every character that is not blank."""
    lines = split_lines(text, 0, len(text))
    parts: list[Part] = []
    i = 0
    while i < len(lines):
        start, end = lines[i]
        line = text[start:end]
        if not line.strip():
            i += 1
            continue
        if heading := _HEADING.fullmatch(line):
            parts.append(Part(PartKind.HEADING, start, end, len(heading.group(1)), _plain(heading.group(2) or "")))
            i += 1
            continue
        kind = _kind_of(line)
        stop = _end_of_part(text, lines, i, kind)
        parts.append(Part(kind, start, lines[stop - 1][1]))
        i = stop
    return parts


def build_sections(text: str) -> Section:
    """The root of the tree of sections; a heading belongs to the nearest heading above it with a smaller level."""
    root = Section(None, ())
    path: list[tuple[int, Section]] = [(0, root)]
    for part in parse_parts(text):
        if part.kind is not PartKind.HEADING:
            path[-1][1].parts.append(part)
            continue
        while path[-1][0] >= part.level:
            path.pop()
        parent = path[-1][1]
        section = Section(part, (*parent.chain, part.title) if part.title else parent.chain)
        parent.children.append(section)
        path.append((part.level, section))
    return root


def _plain(title: str) -> str:
    """A heading's words without marks of emphasis, code and links."""
    return " ".join(_MARKUP.sub("", title).split())


def _kind_of(line: str) -> PartKind:
    if opening_fence(line):
        return PartKind.CODE
    first = line.lstrip()[0]
    if first == "|":
        return PartKind.TABLE
    if first == ">":
        return PartKind.QUOTE
    return PartKind.LIST if item_indent(line) is not None else PartKind.PARAGRAPH


def _end_of_part(text: str, lines: list[tuple[int, int]], first: int, kind: PartKind) -> int:
    """Index of the line after the part that begins with line `first`."""
    i = first + 1
    if kind is PartKind.CODE:
        fence = opening_fence(text[slice(*lines[first])])
        while i < len(lines):
            i += 1
            if closes_fence(text[slice(*lines[i - 1])], fence):
                return i
        return _without_blank_end(text, lines, i)
    if kind is PartKind.LIST:
        return _end_of_list(text, lines, i)
    while i < len(lines):
        line = text[slice(*lines[i])]
        if not line.strip() or _HEADING.fullmatch(line):
            break
        other = _kind_of(line)
        if other is not kind and not (kind is PartKind.QUOTE and other is PartKind.PARAGRAPH):
            break
        i += 1
    return i


def _end_of_list(text: str, lines: list[tuple[int, int]], i: int) -> int:
    """A list goes on over blank lines as long as another of its items or a line indented deeper than the list follows."""
    indent = indent_of(text[slice(*lines[i - 1])])
    after_blank = False
    last = i
    fence = ""
    while i < len(lines):
        line = text[slice(*lines[i])]
        i += 1
        if fence:
            fence = "" if closes_fence(line, fence) else fence
        elif not line.strip():
            after_blank = True
            continue
        else:
            indented = indent_of(line) > indent
            if not indented and item_indent(line) is None and (after_blank or _kind_of(line) is not PartKind.PARAGRAPH):
                break
            if indent_of(line) < indent and after_blank:
                break
            if _HEADING.fullmatch(line) and not indented:
                break
            fence = opening_fence(line) if indented else ""
        after_blank = False
        last = i
    return last


def _without_blank_end(text: str, lines: list[tuple[int, int]], i: int) -> int:
    while not text[slice(*lines[i - 1])].strip():
        i -= 1
    return i
