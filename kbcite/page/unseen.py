"""What a page holds but no reader sees: scripts, controls, hidden elements; and pages that are nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lxml import etree

from kbcite.page.code import code_language
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
_hiding_styles = etree.XPath(
    "descendant::*/@style[contains(., 'one') or contains(., 'ONE') or contains(., 'idden') or contains(., 'ont-size:0') or contains(., 'ont-size: 0')"
    " or contains(., 'pacity')]"
)
_marked_hidden = etree.XPath("descendant::*/@hidden/parent::* | descendant::*/@aria-hidden[.='true']/parent::*")
_link_buttons = etree.XPath("descendant::a/@role[.='button']/parent::* | descendant::a/@aria-expanded/parent::*")
_DRAWN_FORMULA = "MathJax-Element-"
"""Where a browser saved the page, formulas stand drawn beside their scripts."""
_IN_PAGE = ("#", "javascript:")
_HIDING_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
# Letters of no size are for robots; on an element that holds others they only close gaps, and the others have a size of their own.
_NO_SIZE = re.compile(r"font-size: ?0(?:\.0*)?(?:[a-z]{2,4}|%)?\s*(?:;|!|$)", re.IGNORECASE)
_FADED = re.compile(r"(?<![\w-])opacity\s*:\s*(?:0+(?:\.0*)?|\.0+)%?\s*(?:;|!|$)", re.IGNORECASE)
_OUT_OF_THE_WAY = re.compile(
    r"pointer-events\s*:\s*none|(?<![\w-])(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|!|$)", re.IGNORECASE
)
_FADING_IN = 3
"""So many transparent elements are no hidden text: a script fades them in when they come into sight. Of 13 pages with such elements
seven had fewer with little in them, notices and menus, three had more, and in three one held the page."""
_REVEALED = re.compile(
    r"\b(?:accordion|collaps(?:e|ed|ible)|tab-?pane|tab-?panel|tab-?content|faq|expandable)", re.IGNORECASE
)
_SHOWN_CHARS = 600
"""Where no more than this is left beside more that is hidden, a script shows the hidden text."""
_SENTENCE_END = re.compile(r"[。！？]|[.!?](?:\s|$)")
_SENTENCES = 3
"""With so many, a short hidden text that is longer than the rest of the page is an article that fades in."""
_ASKS_FOR_JAVASCRIPT = re.compile(
    r"<noscript\b.{0,600}?javascript|(?:enable|requires?|turn on|needs?|启用|开启|打开|支持)\s*javascript",
    re.IGNORECASE | re.DOTALL,
)
_MOUNT_POINTS = frozenset("root app main react-root __next __nuxt __layout app-root q-app application".split())


def strip_unseen(root: etree._Element, body: etree._Element, source: str) -> None:
    """Takes out of the tree what no reader sees or reads."""
    found = list(body.iter("script", "noscript", *CONTROLS))
    formulas = [element for element in found if element.get("type", "").startswith("math/tex")]
    if formulas and _DRAWN_FORMULA not in source:
        _settle_formulas(formulas)
    etree.strip_elements(root, *_UNSEEN, with_tail=False)
    _settle_noscript(body, [element for element in found if element.tag == "noscript"])
    for element in found:
        if element.tag in CONTROLS and _is_misused(element):
            element.tag = "div"
        elif element.tag == "button" and element.getparent().tag in _LABELLED:
            element.tag = "span"  # a heading that opens its section by a click
    if found:
        etree.strip_elements(body, "noscript", *CONTROLS, with_tail=False)
    _settle_link_buttons(body)
    if "<pre" in source:
        _remove(body, [label for pre in body.iter("pre") if (label := _language_label(pre)) is not None])
    if "mediawiki" in body.get("class", "") and "editsection" in source:
        _remove(body, _edit_links(body))
    styles = _hiding_styles(body)
    styled = [style.getparent() for style in styles if _hides(style)]
    faded = [style.getparent() for style in styles if _FADED.search(style)]
    if 0 < len(faded) < _FADING_IN and 2 * sum(map(_length_of, faded)) < _length_of(body):
        styled += faded
    marked = [element for element in _marked_hidden(body) if element.tag != "a" or element.get("hidden") is not None]
    hidden = [element for element in dict.fromkeys(styled + marked) if not _is_shown(element)]
    lengths = list(map(_length_of, hidden))
    hidden_chars = sum(lengths)
    if hidden_chars and _is_shorter(text := text_content(body), hidden_chars + min(hidden_chars, _SHOWN_CHARS)):
        if hidden_chars > _SHOWN_CHARS / 2:
            return  # a script shows all of it when it has loaded
        longest = hidden[lengths.index(max(lengths))]
        shown_chars = _length(text) - hidden_chars
        if max(lengths) > shown_chars and len(_SENTENCE_END.findall(text_content(longest))) >= _SENTENCES:
            hidden.remove(longest)
    _remove(body, hidden)


def _hides(style: etree._ElementUnicodeResult) -> bool:
    """True for a style attribute that hides its element."""
    if _HIDING_STYLE.search(style) or (_FADED.search(style) and _OUT_OF_THE_WAY.search(style)):
        return True
    return _NO_SIZE.search(style) is not None and not len(style.getparent())


def _is_misused(control: etree._Element) -> bool:
    """True for a control that holds text of the page: it was never closed, or it is a `<nav>` of more than links."""
    text = text_content(control)
    if len(text) <= _CONTROL_CHARS or (length := _length(text)) <= _CONTROL_CHARS:
        return False
    if control.tag != "nav":
        return True
    links = 0
    for link in control.iter("a"):
        links += _length(text_content(link))
        if links >= _NAV_LINKS * length:
            return False
    return True


def _settle_formulas(scripts: Iterable[etree._Element]) -> None:
    """Makes formulas of the scripts that MathJax draws them from: a display has a line of its own."""
    for script in scripts:
        tex, script.text = script.text, None
        script.tag = "p" if "display" in script.get("type", "") else "span"
        formula = etree.SubElement(script, "math")
        annotation = etree.SubElement(formula, "annotation", encoding="application/x-tex")
        annotation.text = tex


def _language_label(pre: etree._Element) -> etree._Element | None:
    """The name of its language that a template writes over code; the fence of the code says it, too."""
    label = pre.getprevious()
    if label is None or label.tag not in ("span", "div") or len(label) or not label.text:
        return None
    return label if label.text.strip().lower() == code_language(pre) else None


def _settle_link_buttons(body: etree._Element) -> None:
    """Takes out links that lead nowhere and are buttons; those around or in a heading, which open its section, become text."""
    buttons = []
    for link in _link_buttons(body):
        href = link.get("href", "")
        if href and not href.startswith(_IN_PAGE):
            continue
        if link.getparent().tag in _LABELLED or next(link.iter(*HEADINGS), None) is not None:
            link.tag = "span"
        elif link.get("aria-expanded") is None and link.get("aria-controls") is None and not _is_misused(link):
            buttons.append(link)
    _remove(body, buttons)


def _length(text: str) -> int:
    """Characters without white space."""
    return sum(map(len, text.split()))


def _is_shorter(text: str, chars: int) -> bool:
    """True for a text of fewer characters than that, without white space; most that are longer show it at their beginning."""
    return _length(text[: 5 * chars]) < chars and _length(text) < chars


def _length_of(element: etree._Element) -> int:
    return _length(text_content(element))


def _is_shown(element: etree._Element) -> bool:
    """True for a hidden element that a click reveals, and for hidden code samples."""
    if element.get("role") in ("tabpanel", "region") or _REVEALED.search(element.get("class", "")):
        return True
    code = sum(map(_length_of, element.iter("pre")))
    return code > 0.5 * _length_of(element) if code else False


def _settle_noscript(body: etree._Element, found: list[etree._Element]) -> None:
    """Makes blocks of the `<noscript>` where they hold most of the page: the text of pages that a script would draw."""
    hidden = sum(len(text_content(element).strip()) for element in found)
    if hidden > 500 and hidden > 0.6 * len(text_content(body)):
        for element in found:
            element.tag = "div"


def _remove(body: etree._Element, elements: Sequence[etree._Element]) -> None:
    """Takes elements out of the tree; the text behind them stays."""
    if not elements:
        return
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
