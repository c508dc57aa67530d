import gzip
import time

import pytest

from kbcite.page.feeds import MAX_URLS, read_list

URL = "https://example.com/sitemap.xml"
SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> https://example.com/a?x=1&amp;y=2 </loc><image:image><image:loc>https://example.com/i.jpg</image:loc></image:image></url>
<url><loc>/b</loc></url><url><loc>/b</loc></url></urlset>"""
INDEX = b"<sitemapindex><sitemap><loc>https://example.com/s1.xml.gz</loc></sitemap></sitemapindex>"
RSS = b"""<rss version="2.0"><channel><link>https://example.com/</link><item><title>T</title>
<link>https://example.com/post</link></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="alternate" href="/post"/>
<link rel="enclosure" href="/post.mp3"/></entry></feed>"""


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (SITEMAP, ("https://example.com/a?x=1&y=2", "https://example.com/b")),
        (gzip.compress(SITEMAP, mtime=0), ("https://example.com/a?x=1&y=2", "https://example.com/b")),
        (INDEX, ("https://example.com/s1.xml.gz",)),
        (RSS, ("https://example.com/post",)),
        (ATOM, ("https://example.com/post",)),
        (b"<urlset><url><loc>/a</loc></url><url><loc>/b", ("https://example.com/a", "https://example.com/b")),
        (b"<urlset/>", ()),
    ],
    ids=["sitemap", "gzip", "index", "rss", "atom", "cut off", "empty"],
)
def test_the_links_of_a_list_are_read(data: bytes, wanted: tuple[str, ...]) -> None:
    assert read_list(data, URL) == wanted


@pytest.mark.parametrize(
    "data",
    [b"", b"<html><body>x</body></html>", b"plain", b"\x1f\x8bnonsense", b"<svg xmlns='http://www.w3.org/2000/svg'/>"],
)
def test_what_is_no_list_is_none(data: bytes) -> None:
    assert read_list(data, URL) is None


def test_entities_of_files_and_bombs_are_not_resolved() -> None:
    head = b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY a "/aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    bomb = b"".join(b'<!ENTITY %c "%s">' % (c, b"&%c;" % (c - 1) * 10) for c in range(ord("c"), ord("k")))
    data = head + bomb + b"]><urlset><url><loc>/x&f;</loc></url><url><loc>&j;</loc></url></urlset>"
    started = time.perf_counter()
    links = read_list(data, URL)
    assert time.perf_counter() - started < 1
    assert "root" not in str(links)
    assert len(str(links)) < 1000


def test_the_number_of_links_is_bounded() -> None:
    data = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % n for n in range(MAX_URLS + 10)) + b"</urlset>"
    links = read_list(data, URL)
    assert links is not None
    assert len(links) == MAX_URLS
