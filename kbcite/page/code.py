"""Code in a page: where it is, its lines, its language.

Highlighters wrap code in tables of line numbers, one element a line, or `<br>`; here all of them become the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from kbcite.page.tables import own_rows
from kbcite.page.tree import text_content

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|brush:|highlight-source|highlight-text|code|sourceCode)[-:\s]+([\w+#-]{1,20})"
)
_LANGUAGES = frozenset(
    "bash c cpp csharp css dart diff docker dockerfile elixir erlang go golang graphql groovy haskell html http ini java "
    "javascript js json jsx kotlin latex less lisp lua makefile markdown matlab nginx objectivec ocaml perl php plaintext "
    "powershell properties python py r ruby rust sass scala scheme scss sh shell sql swift toml ts tsx typescript vb vim "
    "vue xml yaml yml".split()
)
_NO_LANGUAGES = frozenset(
    "block wrapper snippet container box area toolbar none panel content header example sample".split()
)
_NUMBERS = re.compile(r"[\d\s]*")
_NUMBER_CLASS = re.compile(
    r"\b(?:lineno|linenos|line-?numbers?|gutter|ln-num|lnt?|hljs-ln-numbers|blob-num)\b", re.IGNORECASE
)
_CODE_CLASS = re.compile(
    r"\b(?:code|highlight|highlighter|codehilite|blob-code|hljs|crayon|lntable|syntaxhighlighter)", re.IGNORECASE
)
_NEW_LINE = frozenset("div li p tr br".split())


LINES_OF_A_BLOCK = 3
"""Lines from which code in the middle of a sentence is a block; fewer are an editor's wrapped line: `<code>(1,\\n x)</code>`."""


def is_code_block(element: etree._Element) -> bool:
    """True for a `<code>` without `<pre>` that still holds lines of code."""
    if element.tag != "code":
        return False
    if next(element.iter("br"), None) is not None:
        return True
    lines = text_content(element).strip().count("\n") + 1
    return lines >= LINES_OF_A_BLOCK or (lines > 1 and not _is_in_a_sentence(element))


def _is_in_a_sentence(element: etree._Element) -> bool:
    """True where words stand right before or after an element."""
    previous, parent = element.getprevious(), element.getparent()
    before = previous.tail if previous is not None else parent.text if parent is not None else None
    return bool((before or "").strip() or (element.tail or "").strip())


def code_table(table: etree._Element) -> list[etree._Element] | None:
    """The elements that hold the code of a table made of line numbers and code; None for other tables."""
    rows = own_rows(table)
    if not rows or max(map(len, rows)) > 3:
        return None
    last = [row[-1] for row in rows]
    if len(rows) == 1:
        code = rows[0][-1]
        if len(rows[0]) < 2 or next(code.iter("pre", "code"), None) is None:
            return None
        blocks = list(code.iter("pre")) or [code]
        return blocks if all(_is_numbers(cell) for cell in rows[0][:-1]) else None
    classes = " ".join(filter(None, (table.get("class"), *(cell.get("class") for cell in last))))
    inside_pre = next(table.iterancestors("pre"), None) is not None
    if (inside_pre or _CODE_CLASS.search(classes)) and all(len(row) > 1 and _is_numbers(row[0]) for row in rows):
        return last
    return None


def _is_numbers(cell: etree._Element) -> bool:
    return _NUMBERS.fullmatch(text_content(cell)) is not None


def read_code(element: etree._Element) -> Iterator[str]:
    """The texts of a code block in order, with the line ends that its elements stand for and without line numbers."""
    own_lines = element.tag in ("td", "th")
    children = [child for child in element if isinstance(child.tag, str)]
    code_lines = element.tag == "pre" and len(children) > 1 and all(child.tag == "code" for child in children)
    yield from _read(element, code_lines)
    if own_lines:
        yield "\n"


def _read(element: etree._Element, code_lines: bool = False) -> Iterator[str]:
    if element.text:
        yield element.text.replace("\r", "")
    for child in element:
        tag = child.tag
        if isinstance(tag, str) and tag not in ("script", "style", "button"):
            if tag == "table" and (cells := code_table(child)):
                for cell in cells:
                    yield from _read(cell)
                    yield "\n"
            elif not _is_line_number(child):
                yield from _read(child)
                if tag in _NEW_LINE or (code_lines and not (child.tail or "").startswith("\n")):
                    last = child[-1] if len(child) else None
                    tail = (child.tail or "") if tag != "br" else ""
                    ends = text_content(child).endswith("\n") or tail.startswith("\n")
                    if not ends or (last is None and tag == "br"):
                        yield "\n"
        if child.tail:
            yield child.tail.replace("\r", "")


def _is_line_number(element: etree._Element) -> bool:
    name = element.get("class")
    return bool(name and _NUMBER_CLASS.search(name) and _is_numbers(element))


def code_language(element: etree._Element) -> str:
    """The language that classes or attributes on or around the code name, or an empty text."""
    around = [element, *element.iterdescendants("code", "pre", "table"), *_ancestors(element, 3)]
    for place in around:
        for name in ("data-lang", "data-language", "lang"):
            value = str(place.get(name, "")).strip().lower()
            if value and (name != "lang" or value in _LANGUAGES):
                return value if re.fullmatch(r"[\w+#.-]{1,20}", value) else ""
        classes = str(place.get("class", ""))
        if not classes:
            continue
        match = _LANGUAGE.search(classes)
        if match and match[1].lower() not in _NO_LANGUAGES:
            return match[1].lower()
        words = set(classes.lower().split()) & _LANGUAGES
        if words:
            return min(words)
    return ""


def _ancestors(element: etree._Element, levels: int) -> Iterator[etree._Element]:
    for _ in range(levels):
        element = element.getparent()
        if element is None or element.tag in ("body", "article", "main"):
            return
        yield element
