"""What a page holds but no reader sees: scripts, controls, hidden elements; and pages that are nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

from kbcite.page.regions import HEADINGS
from kbcite.page.tree import text_content

_UNSEEN = (
    "script style template svg iframe option input embed canvas video audio link meta map datalist progress".split()
)
CONTROLS = "button select textarea object nav".split()
_CONTROL_CHARS = 300
"""A control with more text than this was never closed, or is misused, and holds the page instead."""
_REMOVED = "kbcite-removed"
_LABELLED = HEADINGS | {"dt", "summary"}
_edit_links = etree.XPath("descendant::span[contains(@class,'editsection')]")
_NAV_LINKS = 0.4
"""Share of its text in links from which a `<nav>` is navigation."""
# Asking for attributes and going back to their elements takes an eighth of the time of asking all elements for them.
_styles = etree.XPath("descendant::*/@style")
_marked_hidden = etree.XPath("descendant::*/@hidden/parent::* | descendant::*/@aria-hidden[.='true']/parent::*")
_HIDING_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_REVEALED = re.compile(
    r"\b(?:accordion|collaps(?:e|ed|ible)|tab-?pane|tab-?panel|tab-?content|faq|expandable)", re.IGNORECASE
)
_SHOWN_CHARS = 600
"""Where no more than this is left beside more that is hidden, a script shows the hidden text."""
_ASKS_FOR_JAVASCRIPT = re.compile(
    r"<noscript\b.{0,600}?javascript|(?:enable|requires?|turn on|needs?|启用|开启|打开|支持)\s*javascript",
    re.IGNORECASE | re.DOTALL,
)
_MOUNT_POINTS = frozenset("root app main react-root __next __nuxt __layout app-root q-app application".split())


def strip_unseen(root: etree._Element, body: etree._Element, source: str) -> None:
    """Takes out of the tree what no reader sees or reads."""
    etree.strip_elements(root, *_UNSEEN, with_tail=False)
    _settle_noscript(body)
    for element in list(body.iter(*CONTROLS)):
        text = text_content(element) if len(element) else element.text or ""
        if len(text) > _CONTROL_CHARS and _holds_text(element):
            element.tag = "div"
        elif element.tag == "button" and element.getparent().tag in _LABELLED:
            element.tag = "span"  # a heading that opens its section by a click
    etree.strip_elements(body, *CONTROLS, with_tail=False)
    if "editsection" in source:
        _remove(body, _edit_links(body))
    styled = [style.getparent() for style in _styles(body) if _HIDING_STYLE.search(style)]
    marked = [element for element in _marked_hidden(body) if element.tag != "a" or element.get("hidden") is not None]
    hidden = [element for element in dict.fromkeys(styled + marked) if not _is_shown(element)]
    hidden_chars = sum(map(_length, hidden))
    if hidden_chars > _SHOWN_CHARS / 2 and hidden_chars > _length(body) - hidden_chars < _SHOWN_CHARS:
        return  # a script shows all of it when it has loaded
    _remove(body, hidden)


def _holds_text(control: etree._Element) -> bool:
    length = _length(control)
    if control.tag == "nav":
        return sum(map(_length, control.iter("a"))) < _NAV_LINKS * length > _NAV_LINKS * _CONTROL_CHARS
    return length > _CONTROL_CHARS


def _length(element: etree._Element) -> int:
    return sum(map(len, text_content(element).split()))


def _is_shown(element: etree._Element) -> bool:
    """True for a hidden element that a click reveals, and for hidden code samples."""
    if element.get("role") in ("tabpanel", "region") or _REVEALED.search(element.get("class", "")):
        return True
    code = sum(map(_length, element.iter("pre")))
    return code > 0.5 * _length(element) if code else False


def _settle_noscript(body: etree._Element) -> None:
    """Takes `<noscript>` out, unless it holds most of the page: the text of pages that a script would draw."""
    inside = list(body.iter("noscript"))
    if not inside:
        return
    hidden = sum(len(text_content(element).strip()) for element in inside)
    if hidden > 500 and hidden > 0.6 * len(text_content(body)):
        for element in inside:
            element.tag = "div"
    else:
        etree.strip_elements(body, "noscript", with_tail=False)


def _remove(body: etree._Element, elements: Iterable[etree._Element]) -> None:
    """Takes elements out of the tree; the text behind them stays."""
    for element in elements:
        element.tag = _REMOVED
    etree.strip_elements(body, _REMOVED, with_tail=False)


def is_shell(body: etree._Element, source: str, chars: int) -> bool:
    """True for a page with next to no text that a script would fill: it says so, or its mount point is empty."""
    if "<script" not in source:
        return False
    if chars == 0 or _ASKS_FOR_JAVASCRIPT.search(source):
        return True
    return any(element.get("id") in _MOUNT_POINTS and not text_content(element).strip() for element in body.iter("div"))
