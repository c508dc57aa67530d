"""Outlinks of a page and what its head says about its address.

A scan over the tags, not a tree: libxml2 drops what is nested deeper than 256 levels and needs quadratic time for some
hostile tags, and a link wants nothing of the tree. Linear in the page's length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from html.entities import html5

from kbcite.urls import MAX_URL_LENGTH, resolve, resolve_plain

MAX_LINKS = 10_000
MAX_TAGS = 200_000
"""Tags looked at: the rest of a page that has more of them is not read for links."""
FEED_TYPES = ("application/rss+xml", "application/atom+xml")
_AGENTS = ("robots", "kbcite")

_START = re.compile(
    r"<(?=[!abflmnstx])(?:(?P<comment>!--)|(?P<raw>script|style|textarea|title|xmp)(?![\w-])|(?P<noscript>noscript)(?![\w-])"
    r"|(?P<tag>a|area|base|link|meta|frame)(?=[\s/>])(?P<attributes>(?:[^\"'<>]++|\"[^\"]*\"|'[^']*')*+)>)",
    re.IGNORECASE,
)
_END = {
    name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "textarea", "title", "xmp", "noscript")
}
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
# In an attribute a name without its semicolon is no reference where a letter, a digit or `=` follows: `?a=1&copy=2`.
_REFERENCE = re.compile(r"&(?:#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,8});?|[a-zA-Z][a-zA-Z0-9]*(?:;|(?![a-zA-Z0-9=])))")
_REFRESH = re.compile(r"""\s*(\d*)(?:\.\d*)?\s*[;,]?\s*(?:url\s*=\s*)?["']?([^"']*)""", re.IGNORECASE)
_NO_PAGE = re.compile(r"\s*(?:#|(?:javascript|mailto|tel|data|about|sms|weixin|tencent):|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refresh:
    delay_s: int
    url: str | None
    """None for a page that reloads itself."""


@dataclass(frozen=True, slots=True)
class PageLinks:
    links: tuple[str, ...]
    """Absolute http and https URLs, each once, in the page's order."""
    canonical: str | None
    """`rel=canonical`, absolute."""
    refresh: Refresh | None
    """A meta refresh outside `noscript`."""
    is_noindex: bool
    is_nofollow: bool


def read_links(text: str, url: str, encoding: str = "utf-8") -> PageLinks:
    """The links of a decoded page at `url`, references in them decoded once, resolved against its `<base href>`.

    encoding: the page's, for non-ASCII characters in queries.
    """
    base: str | None = None
    hrefs: dict[str, None] = {}
    canonical = refresh = None
    directives: set[str] = set()
    position = noscript_end = tags = 0
    while (found := _START.search(text, position)) and tags < MAX_TAGS:
        tags += 1
        position = found.end()
        kind = found.lastgroup
        if kind == "comment":
            position = _after(text.find("-->", position), text, 3)
        elif kind == "raw":
            position = _after(_find(_END[found["raw"].lower()], text, position), text, 0)
        elif kind == "noscript":
            if position > noscript_end:
                noscript_end = _after(_find(_END["noscript"], text, position), text, 0)
        else:
            tag = found["tag"].lower()
            if tag in ("a", "area"):
                hrefs[_attribute_of(found["attributes"], "href")] = None
                continue
            attributes = _attributes_of(found["attributes"])
            if tag == "frame":
                hrefs[attributes.get("src", "")] = None
            elif tag == "base":
                base = base or (resolve(url, attributes["href"]) if "href" in attributes else None)
            elif tag == "link":
                relations = attributes.get("rel", "").lower().split()
                if "canonical" in relations:
                    canonical = canonical or attributes.get("href")
                is_feed = "alternate" in relations and attributes.get("type", "").strip().lower() in FEED_TYPES
                if "next" in relations or is_feed:
                    hrefs[attributes.get("href", "")] = None
            elif attributes.get("name", "").lower() in _AGENTS:
                directives.update(re.split(r"[\s,]+", attributes.get("content", "").lower()))
            elif attributes.get("http-equiv", "").lower() == "refresh" and position > noscript_end:
                refresh = refresh or _read_refresh(attributes.get("content", ""))
    base = base or url
    return PageLinks(
        links=_resolve_all(hrefs, base, encoding),
        canonical=resolve(base, canonical, encoding) if canonical else None,
        refresh=Refresh(refresh[0], resolve(base, refresh[1], encoding) if refresh[1] else None) if refresh else None,
        is_noindex=bool(directives & {"noindex", "none"}),
        is_nofollow=bool(directives & {"nofollow", "none"}),
    )


def _resolve_all(hrefs: dict[str, None], base: str, encoding: str) -> tuple[str, ...]:
    links: dict[str, None] = {}
    for href in hrefs:
        if len(href) > 2 * MAX_URL_LENGTH:
            continue
        link = resolve_plain(base, href) or (None if _NO_PAGE.match(href) else resolve(base, href, encoding))
        if link and len(link) <= 2 * MAX_URL_LENGTH:
            links[link] = None
            if len(links) == MAX_LINKS:
                break
    return tuple(links)


def _attributes_of(text: str) -> dict[str, str]:
    """Attributes by lower-case name, the first of each name, references decoded."""
    attributes: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        attributes.setdefault(name.lower(), _decode(double or single or bare))
    return attributes


def _attribute_of(text: str, wanted: str) -> str:
    """The value of one attribute of a tag, empty without it: nine tags of ten are links, of which nothing else is needed."""
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        if name.lower() == wanted:
            return _decode(double or single or bare)
    return ""


def _decode(value: str) -> str:
    return _REFERENCE.sub(_decode_reference, value) if "&" in value else value


def _decode_reference(match: re.Match[str]) -> str:
    reference = match.group()
    return unescape(reference) if reference[1] == "#" else html5.get(reference[1:], reference)


def _read_refresh(content: str) -> tuple[int, str] | None:
    match = _REFRESH.match(content)
    if match is None or not (match[1] or match[2]):
        return None
    return int(match[1][:6] or 0), match[2].strip()


def _find(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.search(text, position)
    return match.start() if match else -1


def _after(found: int, text: str, length: int) -> int:
    """Where to go on; an element that is never closed reaches to the end."""
    return len(text) if found < 0 else found + length
