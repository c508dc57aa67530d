"""The parts of a section → the units between which it may be cut, and what to repeat where a block begins at one of them.

A unit is a sentence, a row of a table or a line of code. What it needs from further up, its context, is the header of its
table, the line that announces its code or list, or the term it is a definition of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kbcite.page.cutting import Boundary, Sizes, Unit, make_unit
from kbcite.page.outline import Part, PartKind, closes_fence, indent_of, item_indent, opening_fence, split_lines
from kbcite.sentences import split_sentences

_MAX_CONTEXT_CHARS = 200
_MAX_INDENT = 40
_MAX_LABEL_CHARS = 60
_MAX_LABELS = 3
"""That many short lines before a text belong to it: a number, a headline, a second headline."""
_STOPS = tuple("。.!！?？…；;，,")
_TERM = re.compile(r"^[ \t]*(?!: )(\S.*)\n[ \t]*: ", re.MULTILINE)
_CLAUSE = re.compile(r"[^\s；;，,、]*[；;，,、]+|[^\s；;，,、]+")
_MAX_CLAUSE_CHARS = 500

_Piece = tuple[int, int, Boundary, str]
"""Start, end, the boundary before it, and its context."""


def split_units(text: str, parts: Sequence[Part], sizes: Sizes) -> list[Unit]:
    """The units of the parts of one section, in order."""
    units: list[Unit] = []
    labels = [_is_label(text, part) for part in parts]
    terms: dict[int, str] = {}
    for n, part in enumerate(parts):
        indent = indent_of(text[part.start : part.start + _MAX_INDENT])
        terms = {at: term for at, term in terms.items() if at < indent}
        outer = "\n".join(terms.values())
        pieces = _pieces(text, part, parts[n - 1] if n else None, outer)
        first = _boundary_before(text, parts, n, labels, is_indented=bool(terms))
        for k, (start, end, boundary, context) in enumerate(pieces):
            unit = make_unit(text, start, end, boundary if k else first, context)
            units.extend(_clauses(text, unit) if sizes.fill(unit.words, unit.tokens) > 2 else (unit,))
        if term := _last_term(text, part):
            terms[indent] = term
    return units


def _pieces(text: str, part: Part, before: Part | None, outer: str) -> list[_Piece]:
    """The pieces of a part; `outer` is the context of its first, the terms that it belongs to the definition of."""
    if part.kind is PartKind.HEADING:
        return [(part.start, part.end, Boundary.PART, "")]
    if part.kind is PartKind.TABLE:
        return _rows(text, part, outer)
    if part.kind in (PartKind.CODE, PartKind.LIST):
        split = _code_lines if part.kind is PartKind.CODE else _items
        return split(text, part, f"{outer}\n{_announcement(text, before)}".strip(), outer)
    if _last_term(text, part):
        return _definitions(text, part, outer)
    return _sentences(text, part.start, part.end, Boundary.PART, outer)


def _boundary_before(text: str, parts: Sequence[Part], n: int, labels: Sequence[bool], is_indented: bool) -> Boundary:
    if n and (parts[n - 1].kind is PartKind.HEADING or _ends_in_colon(text, parts[n - 1])):
        return Boundary.GLUE
    if n and labels[n - 1] and _is_label_of_text(labels, n - 1):
        return Boundary.GLUE
    if labels[n] and _is_label_of_text(labels, n):
        return Boundary.LABEL
    return Boundary.ITEM if is_indented else Boundary.PART


def _is_label_of_text(labels: Sequence[bool], n: int) -> bool:
    """Whether text follows a label, or other labels and then text; a long row of short lines is no row of labels."""
    return False in labels[n + 1 : n + 1 + _MAX_LABELS]


def _ends_in_colon(text: str, part: Part) -> bool:
    return part.kind is PartKind.PARAGRAPH and text[part.start : part.end].rstrip("*_ ").endswith((":", "："))


def _is_label(text: str, part: Part) -> bool:
    """Whether a part looks like a heading that is not marked up as one: `Note`, `第一次法文创作`."""
    line = text[part.start : part.end]
    return (
        part.kind is PartKind.PARAGRAPH
        and len(line) <= _MAX_LABEL_CHARS
        and "\n" not in line
        and not line.endswith(_STOPS)
    )


def _announcement(text: str, before: Part | None) -> str:
    """The line right before code or a list, if it is one that a reader of a later piece would need."""
    if before is None or before.kind is not PartKind.PARAGRAPH:
        return ""
    line = text[before.start : before.end].rsplit("\n", 1)[-1].strip().removeprefix(": ")
    return line if len(line) <= _MAX_CONTEXT_CHARS else ""


def _sentences(text: str, start: int, end: int, boundary: Boundary, context: str) -> list[_Piece]:
    """Sentences; a line end is no sentence end, but where both fall together the cut is a good one."""
    pieces: list[_Piece] = []
    position = start
    for a, b in split_sentences(text[start:end].replace("\n", " ")):
        if pieces:
            boundary = Boundary.ITEM if "\n" in text[position : start + a] else Boundary.SENTENCE
        pieces.append((start + a, start + b, boundary, context))
        position = start + b
    return pieces


def _last_term(text: str, part: Part) -> str:
    """The term that what follows a `term`, `: definition` part belongs to; empty for any other part."""
    if part.kind is not PartKind.PARAGRAPH:
        return ""
    terms = _TERM.findall(text, part.start, part.end)
    return terms[-1][:_MAX_CONTEXT_CHARS] if terms else ""


def _definitions(text: str, part: Part, outer: str) -> list[_Piece]:
    """Sentences of `term`, `: definition` pairs; the term is the context of all but the first."""
    found = list(_TERM.finditer(text, part.start, part.end))
    pieces = _sentences(text, part.start, found[0].start(), Boundary.PART, outer)
    for match, following in zip(found, [*(later.start() for later in found[1:]), part.end], strict=True):
        term = f"{outer}\n{match.group(1)[:_MAX_CONTEXT_CHARS]}".strip()
        first, *others = _sentences(text, match.start(), following, Boundary.ITEM, term)
        pieces += [(*first[:3], outer), *others]
    return pieces


def _items(text: str, part: Part, context: str, first_context: str) -> list[_Piece]:
    """Sentences of the items; between two items of the outermost level the cut is better than between nested ones."""
    outermost = item_indent(text[part.start : part.end]) or 0
    pieces: list[_Piece] = []
    item: tuple[int, int, Boundary] | None = None
    fence = ""
    for start, end in split_lines(text, part.start, part.end):
        line = text[start:end]
        indent = item_indent(line)
        opening = opening_fence(line)
        if fence or opening or indent is not None or item is None:
            pieces.extend(_sentences(text, *item, context) if item else ())
            item = None
        if fence or opening:
            pieces.append((start, end, Boundary.LINE, context))
            fence = opening if not fence else "" if closes_fence(line, fence) else fence
        elif item is None:
            item = (start, end, Boundary.ITEM if indent is not None and indent <= outermost else Boundary.SENTENCE)
        else:
            item = (item[0], end, item[2])
    pieces.extend(_sentences(text, *item, context) if item else ())
    return [(*piece[:3], first_context) if n == 0 else piece for n, piece in enumerate(pieces)]


def _rows(text: str, part: Part, first_context: str) -> list[_Piece]:
    """Rows, the header with the first of them; the header and its rule are the context of the others."""
    lines = split_lines(text, part.start, part.end)
    has_rule = len(lines) > 1 and not set(text[slice(*lines[1])]) - set("|-: \t")
    header = text[part.start : lines[1 if has_rule else 0][1]]
    head = min(len(lines), 3 if has_rule else 2)
    rows = [(start, end, Boundary.LINE, header) for start, end in lines[head:]]
    return [(part.start, lines[head - 1][1], Boundary.PART, first_context), *rows]


def _code_lines(text: str, part: Part, context: str, first_context: str) -> list[_Piece]:
    """Lines of code, the fences with the first and the last; after a blank line, and best at the margin, code begins anew."""
    lines = [span for span in split_lines(text, part.start, part.end) if text[slice(*span)].strip()]
    if len(lines) < 4:
        return [(part.start, part.end, Boundary.PART, first_context)]
    margin = min(indent_of(text[slice(*line)]) for line in lines)
    pieces: list[_Piece] = [(part.start, lines[1][1], Boundary.PART, first_context)]
    for start, end in lines[2:-2]:
        boundary = Boundary.LINE
        if "\n" in text[pieces[-1][1] + 1 : start]:
            boundary = Boundary.ITEM if indent_of(text[start:end]) == margin else Boundary.SENTENCE
        pieces.append((start, end, boundary, context))
    return [*pieces, (lines[-2][0], part.end, Boundary.LINE, context)]


def _clauses(text: str, unit: Unit) -> list[Unit]:
    """The pieces of a unit that no block could hold: a page in one table cell, a list without any full stop."""
    clauses: list[Unit] = []
    for match in _CLAUSE.finditer(text, unit.start, unit.end):
        for start in range(match.start(), match.end(), _MAX_CLAUSE_CHARS):
            end = min(match.end(), start + _MAX_CLAUSE_CHARS)
            boundary = Boundary.LINE if clauses else unit.boundary
            clauses.append(make_unit(text, start, end, boundary, unit.context))
    return clauses
