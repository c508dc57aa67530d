"""The quotable pieces of a block: sentences, table rows, list items and whole code blocks, each an exact slice of its text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kbcite.datelines import dateline_end
from kbcite.patterns import pattern
from kbcite.sentences import split_sentences
from kbcite.words import CJK, language_of

LONG_SENTENCE = 90
"""Characters from which a sentence is cut at its semicolons and, in Chinese, at its blanks: such run-ons are several statements."""
SHORTEST_PART = 30
LONGEST_LIST = 600
"""Characters up to which a list is offered whole."""

LONGEST_LABEL = 60
_TURNS = pattern(
    r"禁止|严禁|不得|不能|不可|不要|不包括|不含|不适用|请勿|切勿|除外|例外|避免"
    r"|\b(?:not|never|no|forbidden|prohibited|banned|illegal|except|exceptions?|exclu\w+|avoid|without)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Headings and lead-ins that turn what stands under them into its opposite: an item is not shown without them."""

_FENCE = pattern(r"^[ \t]*(```+|~~~+)")
_ROW = pattern(r"^\s*\|.*\|\s*$")
_RULE = pattern(r"^\s*\|(?:\s*:?-{2,}:?\s*\|)+\s*$")
_ITEM = pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)、．]|[（(]\d{1,3}[)）])\s+")
_HEADING = pattern(r"^#{1,6}\s+")
_FOOTNOTE = pattern(
    r"\s?(?:\[\s?\^?\d{1,3}(?:\s?[-–,、]\s?\d{1,3})*\s?\]|【\d{1,3}】|\[(?:citation needed|来源请求|需要引证|未提供引用|编辑|edit|注\s?\d+)\])"
)
_DEFINITION = pattern(r"^\s*[:：]\s+")
LONGEST_TERM = 160
"""Characters up to which a line before a `: definition` is the term it defines, such as a function with its arguments."""
_ARGUMENTS = pattern(r"\(.*\)")
_ANNOUNCES = pattern(
    r"[:：]$|[^.!?。！？…)）\]】\"”'’]$|如下|下面|下列|以下|例如|比如|\b(?:following|below|for (?:example|instance)|like this|as follows)\b",
    re.I,
)
_CAPTION = pattern(
    r"^\s*(?:[表图例]|table|figure|example|listing)\s?\d+(?:[.．-]\d+)*[.．:：]?\s(?=\S).{0,120}(?<![.!?。！？])\s*$",
    re.IGNORECASE,
)
"""The title of a table, figure or example: it says what follows and answers nothing."""
_YEAR = pattern(r"\D*(?:19|20)\d\d\D*")
_WORD = pattern(r"[^\W_]")
_INVISIBLE = pattern(
    r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f\x00-\x08\x0b-\x1f\x7f]"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one block that can be quoted: `text[start:end]` of the block's text."""

    kind: str
    """`sentence`, `row`, `item`, `list` and `table` (a whole one, beside its items or rows), `code`."""
    start: int
    end: int
    text: str
    shown: str
    """As an answer prints it: the page's own footnote marks gone, a row as `heading: value`."""
    context: str = ""
    """What belongs to it and is not part of it: a list's lead-in, a table's caption, the heading inside the block."""
    term: str = ""
    """What the definition that it goes on with defines: `Popen.terminate()`."""


def split_passages(text: str, header: str = "") -> list[Passage]:
    """The passages of a block's text, in order.

    header: the table head or caption that stands before a block cut out of a larger table.
    """
    found: list[Passage] = []
    lines = [(match.start(), match.end()) for match in re.finditer(r"[^\n]+", text)]
    columns = next((_cells(line) for line in header.splitlines() if _ROW.match(line) and not _RULE.match(line)), [])
    columns = [] if _is_row(columns) else columns
    heading = ""
    lead: tuple[int, int] | None = None
    rows: list[Passage] = []
    i = 0
    while i < len(lines):
        start, end = lines[i]
        line = text[start:end]
        said = text[slice(*lead)].strip() if lead else ""
        about = " ".join(filter(None, (heading, said if _ANNOUNCES.search(said) or _CAPTION.match(said) else "")))
        if rows and not _ROW.match(line):
            found.extend(_table(text, rows))
            rows = []
        if fence := _FENCE.match(line):
            last = _closing(text, lines, i, fence[1])
            announced = (
                lead is not None and lead[1] == lines[i - 1][1] and _ANNOUNCES.search(text[slice(*lead)].strip())
            )
            first = lead[0] if lead is not None and announced else start
            found.append(_passage("code", text, first, lines[last][1], heading if first < start else about))
            i = last + 1
        elif _ROW.match(line):
            if i + 1 < len(lines) and _RULE.match(text[slice(*lines[i + 1])]):
                columns = _cells(line)
                if _is_row(columns):
                    columns = []
                    rows.append(_row(text, start, end, columns, about))
                    found.append(rows[-1])
                i += 1
            elif not _RULE.match(line):
                rows.append(_row(text, start, end, columns, about))
                found.append(rows[-1])
            i += 1
        elif _ITEM.match(line):
            last = i
            while last + 1 < len(lines) and _ITEM.match(text[slice(*lines[last + 1])]):
                last += 1
            found.extend(_list(text, lines[i : last + 1], lead, heading, about))
            if last + 1 < len(lines) and _FENCE.match(text[slice(*lines[last + 1])]):
                lead = _last_sentence(text, *lines[last])  # `- To install it:` announces the code below it
            i = last + 1
        else:
            columns = []
            if (sign := _DEFINITION.match(line)) and lead is not None and i and _is_term(text[slice(*lines[i - 1])]):
                term = lines[i - 1][0]
                found = [passage for passage in found if passage.start < term]
                found.extend(_definition(text, term, lines[i - 1][1], start + sign.end(), end, heading))
                lead = _last_sentence(text, start, end)
            elif _HEADING.match(line):
                heading, lead = _HEADING.sub("", line).strip(), None
            elif _CAPTION.match(line):
                lead = (start, end)
            else:
                found.extend(_sentences("sentence", text, start, end, heading))
                lead = _last_sentence(text, start, end) or lead
            i += 1
    found.extend(_table(text, rows))
    return [passage for passage in found if _WORD.search(passage.shown)]


def first_cell(passage: Passage) -> str:
    """The first cell of a row as the page shows it, without quotes; empty for other passages."""
    return _cells(passage.text)[0].strip("`'\"‘’“”* ") if passage.kind == "row" else ""


def without_footnotes(text: str) -> str:
    """Text without the page's own `[12]` marks, which would read as citations of ours."""
    return _FOOTNOTE.sub("", text)


def without_invisible(text: str) -> str:
    """Text without characters that show nothing and could hide words from a reader: zero-width, direction, tag and control."""
    return _INVISIBLE.sub("", text)


def _last_sentence(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the last sentence of a line or item stands; None where there is none."""
    item = _ITEM.match(text[start:end])
    start += item.end() if item else 0
    sentences = split_sentences(text[start:end])
    return (start + sentences[-1][0], end) if sentences else None


def _is_row(columns: list[str]) -> bool:
    """True where what stands as the head of a table of two columns is its first row: `Capacity | 1,024 Wh`."""
    if len(columns) != 2:
        return False
    value = columns[1]
    return value.endswith((".", "。")) or (any(c.isdigit() for c in value) and not _YEAR.fullmatch(value))


def _is_term(line: str) -> bool:
    return len(line) <= LONGEST_TERM and not any(
        sign.match(line) for sign in (_ITEM, _ROW, _HEADING, _DEFINITION, _FENCE)
    )


def _definition(text: str, term: int, term_end: int, start: int, end: int, heading: str) -> list[Passage]:
    """The sentences of a definition, the first one together with the term that it defines, the others shown after its name."""
    name = _passage("sentence", text, term, term_end, heading).shown.rstrip(":： ")
    sentences = _sentences("sentence", text, start, end, f"{heading} {name}".strip())
    if not sentences:
        return []
    first, *others = sentences
    piece = text[term : first.end]
    short = _ARGUMENTS.sub("()", name)
    others = [replace(passage, term=short, shown=f"{short}: {passage.shown}") for passage in others]
    return [Passage("sentence", term, first.end, piece, f"{name}: {first.shown}", heading), *others]


def _closing(text: str, lines: list[tuple[int, int]], opening: int, fence: str) -> int:
    for j in range(opening + 1, len(lines)):
        if text[slice(*lines[j])].strip().startswith(fence):
            return j
    return len(lines) - 1


def _leads_in(text: str, lead: tuple[int, int]) -> bool:
    return text[slice(*lead)].rstrip().endswith((":", "："))


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _row(text: str, start: int, end: int, columns: list[str], about: str) -> Passage:
    cells = _cells(text[start:end])
    if len(columns) == len(cells) and len(cells) > 2 and not columns[0] and cells[0]:
        named = [f"{name} {cell}" for name, cell in zip(columns[1:], cells[1:], strict=True) if cell]
        pairs = [f"{cells[0]}: {', '.join(named)}"]  # the first column names the rows
    elif len(columns) == len(cells):
        pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(columns, cells, strict=True) if cell]
    elif len(cells) == 2 and all(cells):
        pairs = [": ".join(cells)]
    else:
        pairs = [cell for cell in cells if cell]
    passage = _passage("row", text, start, end, " ".join(filter(None, (about, *columns))))
    return replace(passage, shown=without_footnotes("; ".join(pairs)).replace("**", ""))


def _table(text: str, rows: list[Passage]) -> list[Passage]:
    """The rows of a table as one passage, where it is short enough to be given whole."""
    if len(rows) < 2 or rows[-1].end - rows[0].start > LONGEST_LIST:
        return []
    whole = _passage("table", text, rows[0].start, rows[-1].end, rows[0].context)
    return [replace(whole, shown="\n".join(row.shown for row in rows))]


def _list(
    text: str, lines: list[tuple[int, int]], lead: tuple[int, int] | None, heading: str, about: str
) -> list[Passage]:
    """Each item's sentences and, where short enough, the list as a whole with the line that leads in to it."""
    leads_in = lead is not None and _leads_in(text, lead)
    found = []
    label = text[slice(*lead)].strip(" \t:：") if lead is not None and leads_in else heading
    is_turned = len(label) <= LONGEST_LABEL and bool(_TURNS.search(label))
    colon = "：" if language_of(label) == "zh" else ": "
    for start, end in lines:
        item = _ITEM.match(text[start:end])
        items = _sentences("item", text, start + (item.end() if item else 0), end, about)
        if is_turned:
            items = [replace(passage, shown=f"{label}{colon}{passage.shown}") for passage in items]
        found.extend(items)
    first = lead[0] if lead is not None and leads_in else lines[0][0]
    if len(lines) > 1 and lines[-1][1] - first <= LONGEST_LIST:
        shown = "\n".join(
            without_footnotes(line).replace("**", "").rstrip() for line in text[first : lines[-1][1]].splitlines()
        )
        if is_turned and not leads_in:
            shown = f"{label}{colon.strip()}\n{shown}"
        whole = _passage("list", text, first, lines[-1][1], heading if leads_in else about)
        found.append(replace(whole, shown=shown))
    return found


_SEMICOLON = pattern(r"[；;]\s*")
_JOINT = pattern(f"[；;]\\s*|(?<=[{CJK}。”）)])\\s+(?=[{CJK}“《])")
_SPACED = pattern(f"[{CJK}”）)][ \u3000][，、。；]")
"""A text with blanks around its links or terms, `诗人 李白 、杜甫`, whose blanks part no statements."""


def _statements(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, long ones in their parts."""
    spans = []
    joints = _SEMICOLON if _SPACED.search(text) else _JOINT
    for start, end in split_sentences(text):
        cursor = start
        if end - start > LONG_SENTENCE:
            for joint in joints.finditer(text, start, end):
                is_long = joint.start() - cursor >= SHORTEST_PART and end - joint.end() >= SHORTEST_PART
                if is_long and not _is_bracketed(text[cursor : joint.start()]):
                    spans.append((cursor, joint.start() + len(joint.group().rstrip())))
                    cursor = joint.end()
        spans.append((cursor, end))
    return spans


def _is_bracketed(before: str) -> bool:
    """True where a bracket that was opened is not closed yet."""
    return sum(map(before.count, "(（")) > sum(map(before.count, ")）"))


def _sentences(kind: str, text: str, start: int, end: int, context: str) -> list[Passage]:
    found = []
    if sign := _DEFINITION.match(text[start:end]):
        start += sign.end()  # the term that it defines stands in another block
    for s, e in _statements(text[start:end]):
        s += dateline_end(text[start + s : start + e])
        if e > s:
            found.append(_passage(kind, text, start + s, start + e, context))
    return found


def _passage(kind: str, text: str, start: int, end: int, context: str) -> Passage:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    piece = text[start:end]
    if kind == "code":
        return Passage(kind, start, end, piece, without_invisible(piece), context)
    shown = " ".join(without_footnotes(without_invisible(piece)).replace("**", "").split()).lstrip("> ").rstrip("；;")
    return Passage(kind, start, end, piece, re.sub(r"\s*(?:\.\.\.|…)$", "…", shown), context)
