import time

import pytest

from kbcite.page.links import Refresh, read_links

URL = "https://example.com/docs/page.html"


def links(html: str, encoding: str = "utf-8") -> tuple[str, ...]:
    return read_links(html, URL, encoding).links


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ('<a href="a.html">A</a>', "https://example.com/docs/a.html"),
        ("<A HREF='a.html'>", "https://example.com/docs/a.html"),
        ("<a class=x href=a.html>", "https://example.com/docs/a.html"),
        ('<a title="a > b" href="a.html">', "https://example.com/docs/a.html"),
        ('<a href = "\n a.html \n">', "https://example.com/docs/a.html"),
        ('<a\nhref="a.html"\n>', "https://example.com/docs/a.html"),
        ('<a data-href="x.html" href="a.html">', "https://example.com/docs/a.html"),
        ('<map><area href="/m"></map>', "https://example.com/m"),
        ('<frameset><frame src="menu.htm">', "https://example.com/docs/menu.htm"),
        ('<link rel="next" href="?page=2">', "https://example.com/docs/page.html?page=2"),
        ('<link rel="alternate" type="application/rss+xml" href="/rss">', "https://example.com/rss"),
        ('<a href="/a?x=1&amp;y=2">', "https://example.com/a?x=1&y=2"),
        ('<a href="/a?x=1&y=2">', "https://example.com/a?x=1&y=2"),
        ('<a href="/a?x=1&copy=2&reg=3&lang=4">', "https://example.com/a?x=1&copy=2&reg=3&lang=4"),
        ('<a href="/a?x=1&amp;amp;y=2">', "https://example.com/a?x=1&amp;y=2"),
        ('<a href="/&#x4e2d;&#25991;">', "https://example.com/%E4%B8%AD%E6%96%87"),
        ('<noscript><a href="/n"></noscript>', "https://example.com/n"),
    ],
)
def test_a_link_is_found_and_made_absolute(html: str, wanted: str) -> None:
    assert links(html) == (wanted,)


@pytest.mark.parametrize(
    "html",
    [
        '<!-- <a href="a"> -->',
        "<script>document.write('<a href=\"a\">')</script>",
        '<SCRIPT>x = "<a href=a>"</SCRIPT>',
        '<style>/* <a href="a"> */</style>',
        '<textarea><a href="a"></textarea>',
        '<a name="top">',
        '<a href="">',
        '<a href="#part">',
        '<a href="javascript:void(0)">',
        '<a href="mailto:a@b.c">',
        '<a href="http://">',
        '<abbr href="a">',
        '<!-- never closed <a href="a">',
        '<script>never closed <a href="a">',
    ],
)
def test_what_is_no_link_is_not_one(html: str) -> None:
    assert links(html) == ()


def test_links_keep_their_order_and_come_once() -> None:
    assert links('<a href="/b"><a href="/a"><a href="/b#x">') == ("https://example.com/b", "https://example.com/a")


def test_a_base_counts_for_every_link_and_the_first_one_wins() -> None:
    html = '<a href="a"><base target=_top><base href="/other/"><base href="/ignored/"><a href="b">'
    assert links(html) == ("https://example.com/other/a", "https://example.com/other/b")


def test_a_base_of_another_scheme_is_ignored() -> None:
    assert links('<base href="file:///etc/"><a href="passwd">') == ("https://example.com/docs/passwd",)


def test_queries_on_a_gbk_page_are_written_in_gbk() -> None:
    assert links('<a href="/s?wd=中文">', "gb18030") == ("https://example.com/s?wd=%D6%D0%CE%C4",)


def test_canonical_is_absolute() -> None:
    assert read_links('<link rel="canonical" href="/real">', URL).canonical == "https://example.com/real"
    assert read_links('<link rel="stylesheet" href="/s.css">', URL).canonical is None


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("0; url=/next", Refresh(0, "https://example.com/next")),
        ("5;URL='/next'", Refresh(5, "https://example.com/next")),
        ("3, /next", Refresh(3, "https://example.com/next")),
        ("0;url=/a?b=1&amp;c=2", Refresh(0, "https://example.com/a?b=1&c=2")),
        ("300", Refresh(300, None)),
        ("0;url=javascript:x", Refresh(0, None)),
        ("", None),
    ],
)
def test_a_meta_refresh_is_read(content: str, wanted: Refresh | None) -> None:
    assert read_links(f'<meta http-equiv="Refresh" content="{content}">', URL).refresh == wanted


def test_a_refresh_for_browsers_without_scripts_is_none() -> None:
    html = '<noscript><meta http-equiv=refresh content="0;url=/nojs"></noscript>'
    assert read_links(html, URL).refresh is None


@pytest.mark.parametrize(
    ("html", "noindex", "nofollow"),
    [
        ('<meta name="robots" content="noindex, nofollow">', True, True),
        ('<meta name="ROBOTS" content="NONE">', True, True),
        ('<meta name="kbcite" content="nofollow">', False, True),
        ('<meta name="googlebot" content="noindex">', False, False),
        ('<meta name="robots" content="index,follow">', False, False),
    ],
)
def test_robots_directives_of_the_page_are_read(html: str, noindex: bool, nofollow: bool) -> None:
    read = read_links(html, URL)
    assert (read.is_noindex, read.is_nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(
    "html",
    [
        "<a " * 300_000,
        '<a href="' * 100_000,
        "<a '\"" * 100_000,
        "<!--" * 200_000,
        "<script>" * 100_000,
        "<noscript>" * 100_000,
        "<a " + "x=1 " * 200_000 + ">",
        "<div>" * 100_000 + '<a href="/deep">',
        '<meta http-equiv=refresh content="' + "1" * 500_000 + '">',
    ],
    ids=lambda html: html[:12],
)
def test_hostile_pages_take_no_more_than_linear_time(html: str) -> None:
    started = time.perf_counter()
    read_links(html, URL)
    assert time.perf_counter() - started < 2


def test_a_link_below_a_thousand_levels_is_found() -> None:
    assert links("<div>" * 1000 + '<a href="/deep">') == ("https://example.com/deep",)
