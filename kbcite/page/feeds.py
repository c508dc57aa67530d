"""Sitemaps and feeds: lists of pages in XML, read for their links only.

The parser loads no DTD, resolves no entity of its own accord and opens no address; what a list may hold is bounded (the protocol's own limits:
50 MB and 50,000 URLs a file).
"""

from __future__ import annotations

import zlib

from lxml import etree

from kbcite.urls import MAX_URL_LENGTH, resolve

LIST_TYPES = (
    "application/xml",
    "text/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/gzip",
    "application/x-gzip",
)
MAX_BYTES = 50_000_000
MAX_URLS = 50_000
_ROOTS = frozenset({"urlset", "sitemapindex", "rss", "feed", "RDF"})
_GZIP_START = b"\x1f\x8b"


def read_list(data: bytes, url: str) -> tuple[str, ...] | None:
    """The links of a sitemap, a sitemap index, an RSS or an Atom feed at `url`, in order; None for anything else.

    A gzip file is unpacked up to `MAX_BYTES`. What of a damaged file can be read is read.
    """
    if data.startswith(_GZIP_START):
        try:
            data = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, MAX_BYTES)
        except zlib.error:
            return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None or etree.QName(root).localname not in _ROOTS:
        return None
    links: dict[str, None] = {}
    for element in root.iter("{*}loc", "{*}link"):
        parent = element.getparent()
        if parent is None or etree.QName(parent).localname not in ("url", "sitemap", "item", "entry"):
            continue
        if element.get("rel", "alternate") != "alternate":
            continue
        href = (element.get("href") or element.text or "").strip()
        link = resolve(url, href) if len(href) <= 2 * MAX_URL_LENGTH else None
        if link is not None and link != url:
            links[link] = None
            if len(links) == MAX_URLS:
                break
    return tuple(links)
