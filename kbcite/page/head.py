"""What a page says about itself for machines: meta elements, link elements, JSON-LD; and its headings and time elements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from kbcite.page.tree import text_content

_TAGS = ("html", "title", "meta", "link", "script", "time", "abbr", "h1", "h2", "h3")
_NESTED = ("@graph", "mainEntity", "mainEntityOfPage")
"""Where JSON-LD keeps what the page is about. Comments, reviews and parts are dated, too, but are not the page."""
_LONGEST_TITLE = 1000
_COMMENT_START = re.compile(r"\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)")
_COMMENT_ENDS = ("-->", "]]>")
_TRAILING_COMMA = re.compile(r",\s*(?=[}\]])")

_item_types = etree.XPath("descendant-or-self::*/@itemtype", smart_strings=False)

JsonObject = dict[str, Any]


@dataclass
class Head:
    """The parts of a page that metadata is read from, gathered in one pass over the tree."""

    language: str = ""
    title: str = ""
    metas: dict[str, list[str]] = field(default_factory=dict)
    """Contents by name, property or itemprop in lower case."""
    links: dict[str, str] = field(default_factory=dict)
    """First href by relation in lower case."""
    records: list[str] = field(default_factory=list)
    """The JSON-LD scripts as they are written."""
    items: list[JsonObject] = field(default_factory=list)
    """Objects of these that describe the page, articles first."""
    item_types: list[str] = field(default_factory=list)
    """Types of microdata all over the page."""
    headings: list[etree._Element] = field(default_factory=list)
    times: list[etree._Element] = field(default_factory=list)
    """`time` elements, and the `abbr` elements that microformats use for them."""

    def meta(self, *names: str) -> str:
        """The first content that is not blank of the first of the names that has one, or an empty string."""
        for name in names:
            for content in self.metas.get(name, ()):
                if content:
                    return content
        return ""


def read_head(root: etree._Element) -> Head:
    head = Head(item_types=_item_types(root))
    for element in root.iter(*_TAGS):
        tag = element.tag
        if tag == "meta":
            attributes = dict(element.items())
            content = attributes.get("content", "").strip()
            for attribute in ("name", "property", "itemprop", "http-equiv"):
                if name := attributes.get(attribute):
                    head.metas.setdefault(name.strip().lower(), []).append(content)
        elif tag == "link":
            for relation in (element.get("rel") or "").lower().split():
                head.links.setdefault(relation, (element.get("href") or "").strip())
        elif tag == "script":
            if "ld+json" in (element.get("type") or ""):
                head.records.append(element.text or "")
        elif tag == "title":
            # Pictures in SVG have titles, too; the page's is the first.
            head.title = head.title or text_of(element)[:_LONGEST_TITLE]
        elif tag == "html":
            head.language = element.get("lang") or element.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
        elif tag in ("time", "abbr"):
            if tag == "time" or element.get("title"):
                head.times.append(element)
        else:
            head.headings.append(element)
    head.items = [item for record in head.records for item in _items(record)]
    head.items.sort(key=lambda item: not is_article(item))
    return head


def is_article(item: JsonObject) -> bool:
    return any(
        kind.endswith(("Article", "Posting", "Report", "Recipe", "Review", "Question")) for kind in types_of(item)
    )


def types_of(item: JsonObject) -> list[str]:
    kinds = item.get("@type")
    return [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]


def text_of(element: etree._Element) -> str:
    """All text in an element, white space folded."""
    return " ".join(text_content(element).split())


def _items(script: str) -> list[JsonObject]:
    text = _without_comment_marks(script)
    try:
        value = json.loads(text, strict=False)
    except (json.JSONDecodeError, RecursionError):
        try:
            value = json.loads(_TRAILING_COMMA.sub("", text), strict=False)
        except (json.JSONDecodeError, RecursionError):
            return []
    return list(_flatten(value, depth=0))


def _without_comment_marks(script: str) -> str:
    """The script without the marks that hide it from old browsers, and without what else may stand behind it."""
    text = script.rstrip("; \t\r\n")
    for end in _COMMENT_ENDS:
        if text.endswith(end):
            text = text.removesuffix(end).rstrip("/; \t\r\n")
    start = _COMMENT_START.match(text)
    return text[start.end() :] if start else text


def _flatten(value: Any, depth: int) -> Iterator[JsonObject]:
    if depth > 4:
        return
    if isinstance(value, list):
        for member in value:
            yield from _flatten(member, depth + 1)
    elif isinstance(value, dict):
        yield value
        for key in _NESTED:
            if key in value:
                yield from _flatten(value[key], depth + 1)
