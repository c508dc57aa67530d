"""A little web site in two languages: what the command tests crawl and ask about."""

from __future__ import annotations

from tests.site_server import Reply

SHARED = (
    "The town library lends every resident up to twelve items at a time. Books may be kept for four weeks, films for one week, "
    "and both can be renewed twice unless another reader has asked for them."
)
POOL = (
    "The swimming pool on Mill Lane opens at seven in the morning and closes at nine in the evening, on Sundays at six. "
    "A day ticket costs 6.50 euros. Children under six swim free of charge when an adult is with them, and pupils, students and "
    "pensioners pay half. Lockers take a one euro coin, which comes back. The pool is closed for cleaning in the first week of July."
)


def page(title: str, body: str, language: str = "en") -> str:
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f'<nav><a href="/">Home</a> <a href="/library.html">Library</a></nav><main><h1>{title}</h1>{body}</main>'
        '<footer><a href="/imprint.html">Imprint</a></footer></body></html>'
    )


def pool_page(ticket: str = "6.50") -> str:
    return page(
        "Swimming pool",
        f"<h2>Opening hours</h2><p>{POOL.replace('6.50', ticket)}</p>"
        "<h2>Lessons</h2><p>Swimming lessons for children are held on Tuesday afternoons by Ms Okafor. "
        "Each course has ten lessons and at most eight children; the next one starts on 14 April 2026. The fee is 85 euros for the "
        "whole course and includes the entrance. Children should be at least five years old and bring a towel, a bathing cap and "
        "something to drink. Parents may watch the first and the last lesson. Missed lessons cannot be made up, but a child who falls "
        "ill for longer may join the next course at no cost.</p>",
    )


WATER = (
    "<h2>停水通知</h2><p>因更换主管道，河东区将于2026年5月12日9时至17时停水，请居民提前储水。恢复供水后请先放水五分钟再饮用。</p>"
    "<h2>水费标准</h2><table><tr><th>用户类型</th><th>价格（元/立方米）</th></tr><tr><td>居民</td><td>2.85</td></tr>"
    "<tr><td>商业</td><td>4.30</td></tr></table><p>水费每两个月结算一次，逾期未缴的，从第三十一天起按日加收千分之一的滞纳金。</p>"
)

TOWN = {
    "/": page(
        "Town of Eastbrook",
        "<p>Eastbrook is a town of about eleven thousand people on the river Sill. The mayor is Helen Marsh, elected in 2024 for five "
        'years. The town hall is open on weekdays from eight to four.</p><p><a href="/pool.html">Pool</a> <a href="/library.html">Library'
        '</a> <a href="/water.html">供水</a> <a href="/branch.html">Branch library</a> <a href="/empty.html">Map</a></p>',
    ),
    "/pool.html": pool_page(),
    "/library.html": page("Library", f"<h2>Lending</h2><p>{SHARED}</p>"),
    "/branch.html": page("Branch library", f"<h2>Lending</h2><p>{SHARED}</p>"),
    "/water.html": Reply(
        page("东溪镇供水", WATER, "zh").encode("gbk", "replace").replace(b"utf-8", b"gb2312"),
        200,
        (("Content-Type", "text/html"),),
    ),
    "/imprint.html": page(
        "Imprint",
        "<p>Published by the town of Eastbrook, Market Square 1. Responsible for the content: Jonas Field.</p>",
    ),
    "/empty.html": '<!doctype html><html><head><title>Map</title><script src="/map.js"></script></head><body><div id="app"></div></body></html>',
}
