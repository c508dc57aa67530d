"""Elements → Markdown-like text, with the source text of every piece kept beside it.

One walk over the chosen elements, written to a stream: blocks ask for a line or a blank line, text opens it. Emphasis
and link targets are not printed, because the text is quoted to people later; what carries structure is:
headings, lists, tables, code, quotes, images' alternative texts, formulas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import accumulate
from typing import NamedTuple

from lxml import etree

from kbcite.page.code import code_language, code_table, is_code_block, read_code
from kbcite.page.tables import data_rows
from kbcite.page.tree import text_content

HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
PARAGRAPHS = frozenset("p article section dl figure figcaption caption summary address center".split())
LINES = frozenset(
    "div main header footer aside nav form fieldset details dt tr tbody thead tfoot td th "
    "body html legend hgroup search menu dir".split()
)
CODE_WORDS = frozenset("code kbd samp tt".split())
UNREADABLE = frozenset(
    "script style noscript template svg iframe button select input textarea object embed canvas video audio head link "
    "meta map area datalist progress meter rp kbcite-end".split()
)
_SPACES = re.compile(r"[^\S\u3000]+")
_STRUCTURE = re.compile(r"#{1,6} |>|```|~~~|\|")
_SAYS_NOTHING = re.compile(
    r"^\S+\.(?:jpe?g|png|gif|webp|svg|bmp)$|^[\W\d_]*$|^(?a:[\w-]*\d{4}[\w-]*)$"
    r"|^(?:img|images?|pictures?|photos?|pic|alt(?: text)?|avatar(?: (?:of|von) \S+)?|user avatar|icon|logo|null|undefined|untitled"
    r"|enter image description here|(?:在这里插入|请在此添加)?图片(?:描述)?|图像|插图|配图|头像)$",
    re.IGNORECASE,
)
"""Alternative texts that are names of files, or that editors put there themselves."""
_SHORTEST_CAPTION = 8
_NOT_IN_ALT = frozenset("[]<>")
_TEX_IN_ALT = re.compile(r"^\{\\(?:display|text)style (.*)\}$", re.DOTALL)
_PERMALINKS = frozenset(("#", "¶", "§", "🔗", "\uf0c1", "^", "↑", "↩", "↩︎"))
"""What documentation puts behind its headings and terms as a link to them, and encyclopedias before notes as a link back."""


class Piece(NamedTuple):
    """A run of the Markdown text that stands in the page: `raw`, with its white space folded.

    A tuple, for a page has hundreds and they are made in half the time of a dataclass.
    """

    start: int
    end: int
    raw: str
    is_code: bool = False
    """True where white space is kept."""
    is_attribute: bool = False
    """True for an alternative text."""


def write_markdown(elements: Iterable[etree._Element], dropped: Collection[etree._Element]) -> tuple[str, list[Piece]]:
    """The Markdown of the elements without the dropped ones below them, and its pieces in order."""
    writer = _Writer(dropped)
    for element in elements:
        writer.block_break(2)
        writer.element(element)
        writer.block_break(2)
    return "".join(writer.out), writer.pieces()


def fold(text: str) -> str:
    """The text with each run of white space as one blank; ideographic spaces inside it stay, Chinese texts set terms off by them."""
    if "\u3000" in text:
        return _SPACES.sub(" ", text.strip())
    return " ".join(text.split())


class _Writer:
    def __init__(self, dropped: Collection[etree._Element]) -> None:
        self.out: list[str] = []
        self._put = self.out.append
        self._origins: list[tuple[int, str, bool, bool]] = []
        """Number in `out` of each text that stands in the page, and the rest of its `Piece`."""
        self._dropped = dropped
        self._prefixes: list[str] = []
        self._pending_breaks = 0
        self._pending_space = False
        self._space = " "
        """What a pending space is: an ideographic one stays one."""
        self._line_is_open = False
        self._one_line = 0
        """Above 0 inside headings and table cells: breaks become spaces."""
        self._in_cell = False
        self._pictured: set[str] = set()
        """Alternative texts that were written: the pictures of a gallery mostly share one."""
        self._items = 0
        """List items around."""

    # ------------------------------------------------------------ the stream

    def block_break(self, lines: int) -> None:
        """Asks for the next text to start a new line (1) or to stand after a blank line (2)."""
        if self._one_line:
            self._pending_space = True
        elif lines > self._pending_breaks:
            self._pending_breaks = lines

    def pieces(self) -> list[Piece]:
        ends = [0, *accumulate(map(len, self.out))]
        return [
            Piece(ends[number], ends[number + 1], raw, is_code, is_attribute)
            for number, raw, is_code, is_attribute in self._origins
        ]

    def _open_line(self) -> bool:
        """Does the breaks that were asked for; True where the next text is the first of its line."""
        if self._pending_breaks and not self._one_line:
            if self._line_is_open:
                prefix = "".join(self._prefixes)
                if self.out:
                    self._put("\n")
                    if self._pending_breaks > 1:
                        self._put(prefix.rstrip() + "\n")
                self._put(prefix)
                self._line_is_open = False
            self._pending_breaks = 0
        first = not self._line_is_open
        if first and not self.out and self._prefixes:
            self._put("".join(self._prefixes))
        self._line_is_open = True
        return first

    def text(self, raw: str) -> None:
        """Running text: white space folded, line starts that would read as structure escaped."""
        stripped = raw.strip()
        if not stripped:
            self._pending_space = True
            return
        folded = fold(stripped)
        begin, end = raw[0], raw[-1]
        if (self._pending_breaks or not self._line_is_open) and self._open_line():
            if not self._one_line and _STRUCTURE.match(folded):
                self._put("\\")
        elif self._pending_space or begin.isspace():
            self._put("\u3000" if begin == "\u3000" else self._space)
        if self._in_cell and "|" in folded:
            self._escaped_cell(raw)
        else:
            self._piece(folded, stripped)
        self._pending_space = end.isspace()
        self._space = "\u3000" if end == "\u3000" else " "

    def _escaped_cell(self, raw: str) -> None:
        for number, part in enumerate(raw.split("|")):
            if number:
                self._put("\\|")
            if folded := fold(part):
                if number and part[0].isspace():
                    self._put(" ")
                self._piece(folded, part.strip())
                if part[-1].isspace():
                    self._put(" ")

    def _piece(self, shown: str, raw: str, is_code: bool = False, is_attribute: bool = False) -> None:
        self._origins.append((len(self.out), raw, is_code, is_attribute))
        self._put(shown)

    def _mark(self, mark: str) -> None:
        """Markup that belongs to the text around it and has no place in the page."""
        first = self._open_line()
        if not first and self._pending_space:
            self._put(" ")
        self._pending_space = False
        self._put(mark)

    # ------------------------------------------------------------ elements

    def content(self, element: etree._Element) -> None:
        if text := element.text:
            self.text(text)
        dropped = self._dropped
        for child in element:
            write = _WRITERS.get(child.tag, _Writer.content)
            if write is not None and child not in dropped:
                write(self, child)
            if text := child.tail:
                self.text(text)

    def element(self, element: etree._Element) -> None:
        write = _WRITERS.get(element.tag, _Writer.content)
        if write is not None and element not in self._dropped:
            write(self, element)

    def _link(self, element: etree._Element) -> None:
        text = text_content(element) if len(element) else element.text or ""
        if text.strip() not in _PERMALINKS:
            self.content(element)

    def _break(self, _: etree._Element) -> None:
        if self._items and self._pending_breaks == 0:
            self._pending_space = True  # an item is one line, as far as it is one paragraph
        elif self._pending_breaks == 1:
            self._pending_breaks = 2
        else:
            self.block_break(1)

    def _rule(self, _: etree._Element) -> None:
        self.block_break(2)

    def _lines(self, element: etree._Element) -> None:
        self._block(element, 1)

    def _paragraph(self, element: etree._Element) -> None:
        self._block(element, 2)

    def _block(self, element: etree._Element, lines: int) -> None:
        self.block_break(lines)
        self.content(element)
        self.block_break(lines)

    def _heading(self, element: etree._Element) -> None:
        if not text_content(element).strip():
            for child in element.iter("img"):
                self._image(child)
            return
        if self._one_line:
            self.content(element)
            return
        self.block_break(2)
        self._open_line()
        self._put(HEADINGS[element.tag])
        self._line_is_open = False
        self._pending_space = False
        self._one_line += 1
        self.content(element)
        self._one_line -= 1
        self._line_is_open = True
        self._pending_space = False
        self.block_break(2)

    def _list(self, element: etree._Element) -> None:
        numbered = element.tag == "ol"
        nested = bool(self._prefixes) and not self._prefixes[-1].startswith(">")
        self.block_break(1 if nested else 2)
        number = _start_number(element)
        for child in element:
            if child.tag == "li":
                if child in self._dropped:
                    pass
                elif not numbered and next(child.iterchildren("section"), None) is not None:
                    self._block(child, 2)  # the sections of a reference, and no items of a list
                else:
                    self._item(child, f"{number}. " if numbered else "- ")
                number += 1
            else:
                self.element(child)
            if child.tail:
                self.text(child.tail)
        self.block_break(1 if nested else 2)

    def _item(self, element: etree._Element, marker: str = "- ") -> None:
        if self._one_line:
            self._block(element, 1)
            return
        if not _has_content(element, self._dropped):
            return
        self.block_break(1)
        self._open_line()
        self._put(marker)
        self._line_is_open = False
        self._pending_space = False
        self._prefixes.append(" " * len(marker))
        self._items += 1
        self.content(element)
        self._items -= 1
        self._prefixes.pop()
        self._line_is_open = True
        self.block_break(1)

    def _definition(self, element: etree._Element) -> None:
        self._item(element, ": ")

    def _quote(self, element: etree._Element) -> None:
        if self._one_line or not _has_content(element, self._dropped):
            self._block(element, 2)
            return
        self.block_break(2)
        self._open_line()
        self._put("> ")
        self._line_is_open = False
        self._pending_space = False
        self._prefixes.append("> ")
        self.content(element)
        self._prefixes.pop()
        self._line_is_open = True
        self.block_break(2)

    def _table(self, element: etree._Element) -> None:
        code = code_table(element)
        if code:
            self.block_break(2)
            self._fenced(code, code_language(element))
            self.block_break(2)
            return
        rows = None if self._one_line else data_rows(element)
        if rows is None:
            self._block(element, 2)
            return
        self.block_break(2)
        for caption in element.iterchildren("caption"):
            self._block(caption, 2)
        for number, row in enumerate(rows):
            self.block_break(1)
            self._open_line()
            self._put("|")
            for cell in row:
                self._put(" ")
                if cell is not None:
                    self._cell(cell)
                self._put(" |")
            if number == 0:
                self.block_break(1)
                self._open_line()
                self._put("|" + " --- |" * len(row))
        self.block_break(2)

    def _cell(self, cell: etree._Element) -> None:
        self._one_line += 1
        self._in_cell = True
        self._line_is_open = False
        self._pending_space = False
        self.content(cell)
        self._line_is_open = True
        self._pending_space = False
        self._in_cell = False
        self._one_line -= 1

    def _code(self, element: etree._Element) -> None:
        if self._one_line:
            self.content(element)
            return
        self.block_break(2)
        self._fenced([element], code_language(element))
        self.block_break(2)

    def _fenced(self, elements: list[etree._Element], language: str) -> None:
        lines: list[list[str]] = [[]]
        for element in elements:
            for text in read_code(element):
                first, *rest = text.split("\n")
                lines[-1].append(first)
                lines.extend([part] for part in rest)
        while lines and not "".join(lines[0]).strip():
            lines.pop(0)
        while lines and not "".join(lines[-1]).strip():
            lines.pop()
        if not lines:
            return
        fence = "```"
        while any(fence in "".join(line) for line in lines):
            fence += "`"
        self._open_line()
        self._put(fence + language)
        prefix = "".join(self._prefixes)
        for line in lines:
            self._put("\n" + prefix)
            for text in line:
                if text.strip():
                    self._piece(text, text, is_code=True)
                else:
                    self._put(text)
        self._put("\n" + prefix + fence)
        self._pending_space = False

    def _inline_code(self, element: etree._Element) -> None:
        if len(element) and is_code_block(element):
            self._code(element)
            return
        text = text_content(element)
        if not text.strip() or "`" in text:
            self.content(element)
            return
        self._pending_space = self._pending_space or text[0].isspace()
        self._mark("`")
        self._line_is_open = False
        self._one_line += 1
        self.content(element)
        self._one_line -= 1
        self._line_is_open = True
        self._pending_space = False
        self._put("`")
        self._pending_space = text[-1].isspace()

    def _image(self, element: etree._Element) -> None:
        alt = " ".join(element.get("alt", "").split())
        if not alt:
            return
        if tex := _TEX_IN_ALT.match(alt):
            self._formula(tex[1])
        elif "math" in element.get("class", ""):
            self._formula(alt)
        elif alt in self._pictured:
            return
        elif not _SAYS_NOTHING.match(alt) and "avatar" not in element.get("class", "") and _NOT_IN_ALT.isdisjoint(alt):
            if len(alt) >= _SHORTEST_CAPTION:
                self._pictured.add(alt)
            self._mark("![")
            self._piece(alt, element.get("alt", "").strip(), is_attribute=True)
            self._put("]()")

    def _math(self, element: etree._Element) -> None:
        tex = element.get("alttext", "")
        for annotation in element.iter("annotation"):
            if "tex" in annotation.get("encoding", ""):
                tex = annotation.text or tex
        if tex:
            match = _TEX_IN_ALT.match(" ".join(tex.split()))
            self._formula(match[1] if match else tex)
        else:
            self.content(element)

    def _formula(self, tex: str) -> None:
        raw = tex.strip().strip("$").strip()
        if not raw:
            return
        self._mark("$")
        self._piece(" ".join(raw.split()), raw)
        self._put("$")


_WRITERS: dict[str, Callable[[_Writer, etree._Element], None] | None] = {
    **dict.fromkeys(UNREADABLE),
    **dict.fromkeys(LINES, _Writer._lines),
    **dict.fromkeys(PARAGRAPHS, _Writer._paragraph),
    **dict.fromkeys(HEADINGS, _Writer._heading),
    **dict.fromkeys(CODE_WORDS, _Writer._inline_code),
    **dict.fromkeys(("ul", "ol"), _Writer._list),
    "a": _Writer._link,
    "blockquote": _Writer._quote,
    "br": _Writer._break,
    "dd": _Writer._definition,
    "hr": _Writer._rule,
    "img": _Writer._image,
    "li": _Writer._item,
    "math": _Writer._math,
    "pre": _Writer._code,
    "table": _Writer._table,
}
"""How an element is written, by its tag: None for not at all; all others are inline."""


def _start_number(element: etree._Element) -> int:
    start = element.get("start", "")
    return int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1


def _has_content(element: etree._Element, dropped: Collection[etree._Element]) -> bool:
    """True where something of the element would be printed."""
    if element.text and element.text.strip():
        return True
    for child in element:
        tag = child.tag
        is_read = isinstance(tag, str) and tag not in UNREADABLE and child not in dropped
        if is_read and ((tag == "img" and child.get("alt", "").strip()) or _has_content(child, dropped)):
            return True
        if child.tail and child.tail.strip():
            return True
    return False
