"""The links of a page with the words that they are written in: what a list of announcements or versions is read by."""

from __future__ import annotations

from kbcite.page.tree import parse_html, text_content
from kbcite.records import DecodedPage
from kbcite.urls import resolve

MAX_LINK_TEXTS = 500
MIN_CHARS = 4
"""Shorter texts are page numbers and arrows, not titles."""


def link_texts(page: DecodedPage, url: str) -> tuple[tuple[str, str], ...]:
    """(absolute URL, text) of the links, in the page's order, the longest text of each URL."""
    root = parse_html(page.text)
    base = next((resolve(url, href) for href in root.xpath("//base/@href")), None) or url
    found: dict[str, str] = {}
    for element in root.iter("a"):
        text = " ".join(text_content(element).split())
        href = element.get("href")
        if not href or len(text) < MIN_CHARS or len(found) >= MAX_LINK_TEXTS:
            continue
        target = resolve(base, href, page.encoding)
        if target is not None and target != url and len(text) > len(found.get(target, "")):
            found[target] = text
    return tuple(found.items())


def selected_text(page: DecodedPage, selector: str) -> str | None:
    """The text of the elements that a CSS selector names, a paragraph each; None where it is none or names nothing."""
    from bs4 import BeautifulSoup
    from soupsieve import SelectorSyntaxError

    try:
        chosen = BeautifulSoup(page.text, "lxml").select(selector)
    except SelectorSyntaxError:
        return None
    texts = [element.get_text("\n", strip=True) for element in chosen]
    return "\n\n".join(text for text in texts if text) or None
