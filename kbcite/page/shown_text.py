"""A page's text as a browser holds it, each character with its place in the source: what a link into the page is looked for in.

The tree parser mends pages and forgets where things stood; here the source is only read from left to right. Two views:
the text as shown (white space folded, a line each block, hidden elements left out), and the text content of the body, which is what
annotation programs count in.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from dataclasses import dataclass

_TOKEN = re.compile(
    r"(?P<comment><!--.*?(?:-->|\Z)|<[!?][^<>]*>)"
    r"|(?P<raw><(?P<raw_name>script|style|textarea|title|noscript|xmp|iframe|noembed|noframes)\b[^<>]*>)(?P<content>.*?)(?:</(?P=raw_name)\s*>|\Z)"
    r"""|</?(?P<name>[a-zA-Z][^\s/<>]*)(?:[^<>"']|"[^"]*"|'[^']*')*>"""
    r"|(?P<entity>&(?:#[xX]?[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);?)"
    r"|(?P<space>[ \t\r\n\f]{2,}|[\t\r\n\f])",
    re.IGNORECASE | re.DOTALL,
)
_BLOCKS = frozenset(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary table tbody td tfoot th thead "
    "tr ul".split()
)
_UNSEEN = frozenset("head template svg math select datalist object video audio canvas meter progress".split())
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_HIDING = re.compile(
    r"""\s(?:hidden(?=[\s>/]|=["']?(?:hidden)?["'\s>/])|style\s*=\s*(?:"[^"]*|'[^']*|[^\s>]*)(?:display\s*:\s*none|visibility\s*:\s*hidden))""",
    re.IGNORECASE,
)
_BODY = re.compile(r"<body\b[^<>]*>|</(?:head|title)\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    text: str
    _starts: tuple[int, ...]
    _source_starts: tuple[int, ...]
    _source_ends: tuple[int, ...]

    def place(self, source_start: int, source_end: int) -> tuple[int, int]:
        """Where the characters between two places of the source stand in the text; empty where none of them is in it."""
        return self._position(source_start, after=False), self._position(source_end, after=True)

    def _position(self, offset: int, *, after: bool) -> int:
        run = bisect_right(self._source_starts, offset - after) - 1
        if run < 0:
            return 0
        length = (self._starts[run + 1] if run + 1 < len(self._starts) else len(self.text)) - self._starts[run]
        if offset >= self._source_ends[run]:
            return self._starts[run] + length
        return self._starts[run] + min(offset - self._source_starts[run], length)


class _Writer:
    """Collects runs of text with their places."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._source_starts: list[int] = []
        self._source_ends: list[int] = []
        self._length = 0
        self.last = "\n"

    def add(self, text: str, source_start: int, source_end: int) -> None:
        if text:
            self._starts.append(self._length)
            self._source_starts.append(source_start)
            self._source_ends.append(source_end)
            self._parts.append(text)
            self._length += len(text)
            self.last = text[-1]

    def page_text(self) -> PageText:
        return PageText("".join(self._parts), tuple(self._starts), tuple(self._source_starts), tuple(self._source_ends))


def shown_text(source: str) -> PageText:
    """The text of a page as a reader sees it: a line for each block, in the order of the source.

    What a style sheet or a script hides is not known here and counts as shown.
    """
    out = _Writer()
    hidden_in = ""
    depth = 0
    position = preformatted = 0
    for token in _TOKEN.finditer(source):
        if not hidden_in:
            _add_shown(out, source[position : token.start()], position, token.start())
        position = token.end()
        name = (token["name"] or "").lower()
        if hidden_in:
            if name == hidden_in:
                depth += -1 if token[0][1] == "/" else 1
                if not depth:
                    hidden_in = ""
            continue
        if token["space"] is not None:
            if preformatted and "\n" in token[0] and out.last != "\n":
                out.add("\n", *token.span())
            elif out.last not in " \n":
                out.add(" ", *token.span())
        elif token["entity"] is not None:
            _add_shown(out, html.unescape(token[0]), *token.span())
        elif name:
            if name in _BLOCKS and out.last != "\n":
                out.add("\n", *token.span())
            opens = token[0][1] != "/" and name not in _VOID
            if name == "pre":
                preformatted = max(0, preformatted + (1 if opens else -1))
            if opens and (name in _UNSEEN or _HIDING.search(token[0])):
                hidden_in, depth = name, 1
    if not hidden_in:
        _add_shown(out, source[position:], position, len(source))
    return out.page_text()


def _add_shown(out: _Writer, text: str, start: int, end: int) -> None:
    if text == "\u00a0":
        text = " "
    if text.startswith(" ") and out.last in " \n":
        text, start = text[1:], start + 1
    out.add(text, start, end)


def body_text(source: str) -> PageText:
    """The text content of the page's body: scripts, blanks and hidden parts included, as `document.body.textContent` has it."""
    out = _Writer()
    begins = {match[0][:5].lower(): match for match in reversed(list(_BODY.finditer(source)))}
    body = begins.get("<body") or begins.get("</hea") or begins.get("</tit")
    position = body.end() if body else 0
    after_pre = False
    templates = 0  # what a template holds is not in the document
    for token in _TOKEN.finditer(source, position):
        if not templates:
            out.add(source[position : token.start()], position, token.start())
        position = token.end()
        name, closes = (token["name"] or "").lower(), token[0].startswith("</")
        if name == "template":
            templates = max(0, templates + (-1 if closes else 1))
        if templates:
            continue
        if token["entity"] is not None:
            out.add(html.unescape(token[0]), *token.span())
        elif token["space"] is not None:
            text = token[0].replace("\r\n", "\n").replace("\r", "\n")
            out.add(text[1:] if after_pre and text.startswith("\n") else text, *token.span())
        elif token["raw"] is not None:
            out.add(token["content"].replace("\r\n", "\n"), *token.span("content"))
        after_pre = name in ("pre", "listing") and not closes
    if not templates:
        out.add(source[position:], position, len(source))
    return out.page_text()
