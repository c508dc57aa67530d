"""Decoded text → element tree, without losing text and without being brought down by hostile HTML.

libxml2 is fast and forgiving, but it drops text in silence: below 2,048 levels of nesting, behind a second `<html>`,
inside anything left unclosed. So a marker element is put behind the page; where it does not come out at the end
of the tree, something was swallowed, and the page is mended (nesting flattened) or read again by a slower parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup
from lxml import etree

MAX_DEPTH = 200
"""Levels of nesting kept. Real pages stay under 60; recursion over the tree needs a bound."""
MAX_TAG_CHARS = 65_536
MAX_ATTRIBUTES = 2_000
"""A longer tag keeps its name and loses its attributes: libxml2 needs time quadratic in their number."""
_HOSTILE_DEPTH = 2_000
"""Levels from which on a page is no page: the rest of it is read without its tags."""

_MARKER = "kbcite-end"
_MARKER_ELEMENT = f"<{_MARKER}></{_MARKER}>".encode()
_TAG_START = re.compile(r"<[a-zA-Z][^\s/>]*")
_TAG = re.compile(r"""<(?P<slash>/?)(?P<name>[a-zA-Z][^\s/<>]*)(?:[^<>"']|"[^"]*"|'[^']*')*(?P<close>>?)""")
_NOT_SHOWN = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)
"""Each alternative ends at the end of the text at the latest, so that a search never begins twice at the same unclosed tag."""
_MARKUP = re.compile(r"<[^<>]*>")
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_is_deep = etree.XPath("boolean(" + "/*" * MAX_DEPTH + ")")


def text_content(element: etree._Element) -> str:
    """All text in an element, white space as it is; ten times as fast as joining `itertext()`."""
    if not len(element):
        return element.text or ""
    return str(etree.tostring(element, encoding="unicode", method="text", with_tail=False))


def parse_html(text: str, utf8: bytes | None = None) -> etree._Element:
    """The page's `html` element, its body holding all text that a browser would show.

    Always returns a tree, empty for an empty page; at most `MAX_DEPTH` levels deep. utf8: the text in UTF-8, where it is at
    hand.
    """
    return parse_with_notes(text, utf8)[0]


def parse_with_notes(text: str, utf8: bytes | None = None) -> tuple[etree._Element, tuple[str, ...]]:
    """`parse_html`, and what had to be done that no text was lost: a sentence each, none for most pages."""
    notes = []
    source = _without_giant_tags(text)
    if source is not text:
        notes.append("a tag too long to be one lost its attributes")
    root = _parse_bytes(utf8) if utf8 is not None and source is text else _parse(source)
    if root is None:
        return _empty(), ("nothing in it could be parsed",)
    if any(isinstance(extra.tag, str) and text_content(extra).strip() for extra in root.itersiblings()):
        notes.append("what stands behind the end of the page was joined to it")
    whole = _join_roots(root)
    deep = _is_deep(root)
    if not whole or deep:
        notes.append(
            "read again without the tags nested too deep" if deep else "read again, for the parser lost the end"
        )
        root = _parse(_flatten(source))
        if root is None:
            return _empty(), ("nothing in it could be parsed",)
        whole = _join_roots(root)
        if not whole and _has_lost_text(root, source):
            notes.append("read by a slower parser, for text was lost again")
            root = _parse_with_beautifulsoup(source)
    return root, tuple(notes)


def _parse(source: str) -> etree._Element | None:
    return _parse_bytes(source.encode("utf-8", "replace"))  # a lone surrogate cannot be encoded


def _parse_bytes(utf8: bytes) -> etree._Element | None:
    # NUL ends a document early in older libxml2.
    data = utf8.replace(b"\0", b"") + _MARKER_ELEMENT
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:  # nothing in it that could be a document
        return None


def _empty() -> etree._Element:
    root = etree.Element("html")
    etree.SubElement(root, "body")
    return root


def _join_roots(root: etree._Element) -> bool:
    """Moves the roots that libxml2 puts beside the first into it; True where the marker was the last thing read."""
    for extra in list(root.itersiblings()):
        if isinstance(extra.tag, str):
            for child in list(extra):
                root.append(child)
    last = root
    while len(last):
        last = last[-1]
    if last.tag != _MARKER:
        return False
    parent = last.getparent()
    if parent is not None:
        parent.remove(last)
    return True


def _without_giant_tags(text: str) -> str:
    """The text with the attributes of tags over `MAX_TAG_CHARS` or `MAX_ATTRIBUTES` left out."""
    if len(text) <= MAX_TAG_CHARS:
        return text
    kept, position, end = [], 0, 0
    # A stretch of this length without `>` covers at least one whole step of half its length.
    step = MAX_TAG_CHARS // 2
    for inside in range(0, len(text) - step, step):
        if inside >= end and text.find(">", inside, inside + step) < 0:
            start, end = text.rfind(">", 0, inside) + 1, text.find(">", inside)
            end = len(text) if end < 0 else end
            # Only at the end of such a stretch can a tag be.
            tag = _TAG_START.search(text, start, end) if end - start > MAX_TAG_CHARS else None
            if tag and end - tag.start() > MAX_TAG_CHARS:
                kept.append(text[position : tag.end()])
                position = end
    text = "".join(kept) + text[position:]
    # Attribute values may hold `>`; the exact look costs a third of a parse, so only pages that could hold so many get it:
    # an attribute that is one has four characters.
    if len(text) > 40 * MAX_ATTRIBUTES and text.count("=") > 10 * MAX_ATTRIBUTES:
        kept, position = [], 0
        for tag in _tags(text):
            if text.count("=", tag.start(), tag.end()) > MAX_ATTRIBUTES:
                kept += [text[position : tag.start()], f"<{tag['name']}>"]
                position = tag.end()
        text = "".join(kept) + text[position:]
    return text


def _tags(source: str) -> Iterator[re.Match[str]]:
    """The tags of the source in order, `>` in quoted values respected; ends early at a quote that is never closed.

    Going on there would search the rest of the page again from every tag.
    """
    for tag in _TAG.finditer(source):
        if tag["close"]:
            yield tag
        elif source[tag.end() : tag.end() + 1] != "<":
            return


def _flatten(source: str) -> str:
    """The source without the tags that open or close an element deeper than `MAX_DEPTH` levels."""
    open_tags: list[str] = []
    dropped: list[str] = []
    kept: list[str] = []
    position = 0
    limit = MAX_DEPTH // 2  # the parser adds levels of its own: tbody, and formatting it opens again
    source = _NOT_SHOWN.sub("", source)
    for tag in _tags(source):
        start, end = tag.span()
        name = tag["name"].lower()
        is_kept = not dropped
        if name in _VOID:
            is_kept = True
        elif not tag["slash"]:
            is_kept = len(open_tags) < limit
            (open_tags if is_kept else dropped).append(name)
        elif dropped and dropped[-1] == name:
            dropped.pop()
        elif name in open_tags[-8:]:
            is_kept = True
            while open_tags.pop() != name:
                pass
        if not is_kept:
            kept.append(source[position:start])
            position = end
            if len(dropped) > _HOSTILE_DEPTH:
                return "".join(kept) + _MARKUP.sub(" ", source[position:])
    kept.append(source[position:])
    return "".join(kept)


def _has_lost_text(root: etree._Element, source: str) -> bool:
    """True where more than a fifth of the text between tags is not in the tree."""
    expected = len("".join(_MARKUP.sub("", _NOT_SHOWN.sub("", source)).split()))
    parsed = len("".join(text_content(root).split()))
    return parsed < 0.8 * expected


def _parse_with_beautifulsoup(source: str) -> etree._Element:
    """The tree as Python's own tolerant parser sees it: about 20 times slower, but it stops at nothing."""
    soup = BeautifulSoup(source, "html.parser")
    root = _parse(str(soup))
    if root is None:
        return _empty()
    _join_roots(root)
    return root
