"""Sites made to keep a crawl busy for ever, to lead it astray, or to bring it down: it ends, and the other sites are fetched."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from kbcite.settings import SourceSettings
from tests.apart import Apart
from tests.site_server import Answer, Reply, Site, serve_site
from tests.web.test_attacks_on_size_and_time import BROKEN, SLOW, TOO_LARGE

XML = (("Content-Type", "application/xml"),)
WORDS = "<p>" + "Some words that make this an honest page. " * 10 + "</p>"


def source(site: Site, path: str = "/", **options: Any) -> SourceSettings:
    return SourceSettings(url=f"{site.url}{path}", **({"allow_private": True} | options))


def page(*links: str) -> str:
    return WORDS + "".join(f'<a href="{link}">{link}</a> ' for link in links)


def redirect(target: str) -> Reply:
    return Reply(status=302, headers=(("Location", target),))


BAD_ANSWERS = {name: make for name, make in TOO_LARGE.items() if "256" not in name} | {
    name: make for name, (make, _) in BROKEN.items()
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", [*BAD_ANSWERS, *SLOW])
def test_other_hosts_go_on_whatever_one_answers(apart: Apart, site: Site, attack: str) -> None:
    site.pages |= {"/": page("/a"), "/a": page()}
    with serve_site({"/": (BAD_ANSWERS | SLOW)[attack](), "/robots.txt": ""}) as bad:
        told = apart.crawl(source(bad), source(site))
    assert sorted(told["pages"]) == [f"{site.url}/", f"{site.url}/a"]
    assert f"{bad.url}/" in told["left_out"]


# ------------------------------------------------------------ sites without an end


def numbered(answer: Callable[[int], str]) -> Callable[[Any], str]:
    count = itertools.count()
    return lambda _: answer(next(count))


ENDLESS: dict[str, Callable[[Any], Answer]] = {
    "a page that links to the next, all alike": lambda handler: page(f"{handler.path.rstrip('/')}1"),
    "a path that grows": lambda handler: f"<p>{handler.path}{WORDS}" + page("more/"),
    "a query that grows": lambda handler: f"<p>{handler.path}{WORDS}" + page(f"/?{handler.path.partition('?')[2]}&a=1"),
    "a calendar": lambda handler: (
        f"<p>{handler.path}{WORDS}"
        + page(f"/calendar?year={int(handler.path.rpartition('=')[2] or 2026) + 1 if '=' in handler.path else 2026}")
    ),
    "session names": lambda handler: page(f"/?phpsessid={abs(hash(handler.path)):x}"),
    "entities decoded again each hop": lambda handler: f"<p>{handler.path}" + page("?a=1&amp;amp;b=2&amp;amp;amp;c=3"),
    "three thousand links on every page": lambda handler: (
        f"<p>{handler.path}" + page(*(f"{handler.path.rstrip('/')}/{n}" for n in range(3_000)))
    ),
    "links of 70 kB": lambda handler: f"<p>{handler.path}" + page(*("/" + "x" * 70_000 for _ in range(50))),
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ENDLESS)
def test_a_site_without_an_end_is_left_at_its_limits(apart: Apart, site: Site, attack: str) -> None:
    site.missing = ENDLESS[attack]
    site.pages["/robots.txt"] = ""
    told = apart.crawl(source(site, depth=1000, max_pages=60), limit_s=15.0)
    assert len(told["pages"]) <= 60
    assert len(site.paths()) <= 80
    assert told["rows"] < 60_000


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        ("a page that links to the next, all alike", "equal_pages"),
        ("a path that grows", "repeated_segment"),
        ("a calendar", "calendar"),
    ],
)
def test_a_trap_is_named(apart: Apart, site: Site, attack: str, reason: str) -> None:
    site.missing = ENDLESS[attack]
    site.pages["/robots.txt"] = ""
    told = apart.crawl(source(site, depth=1000, max_pages=1000), limit_s=15.0)
    assert reason in told["reasons"]
    assert len(site.paths()) < 60


# ------------------------------------------------------------ robots.txt


def lines(count: int) -> str:
    return "User-agent: *\n" + "".join(f"Disallow: /x{n}/*a*b*c\n" for n in range(count))


@pytest.mark.parametrize(
    ("answer", "is_fetched"),
    [
        (Reply(b"", 500), False),
        (Reply(b"", 503, (("Retry-After", "99999999"),)), False),
        (Reply(b"", 429), False),
        (TOO_LARGE["endless 100 Continue"](), False),
        (SLOW["header lines one by one"](), False),
        (SLOW["a body byte by byte"](), False),
        (BROKEN["less than its length"][0](), False),
        (BROKEN["no status line"][0](), False),
        (redirect("http://10.0.0.1/robots.txt"), False),
        (redirect("file:///etc/passwd"), False),
        (redirect("/robots.txt"), True),
        (Reply(b"", 404), True),
        (Reply(b"", 403), True),
        (Reply(b"<!doctype html><title>Not found</title>Disallow: /"), True),
        (Reply(b"\0" * 10_000_000), True),
        (Reply(("User-agent: *\nDisallow:\n" + "#" * 9_000_000).encode()), True),
        (Reply(("User-agent: *\nDisallow: /\n" + "#" * 9_000_000).encode()), False),
        (Reply(lines(20_000).encode()), True),
        (Reply(("User-agent: *\nDisallow: /" + "*" * 400_000 + "x\n").encode()), True),
        (Reply(("User-agent: *\nDisallow: /" + "*a" * 5_000 + "\n").encode()), True),
        (Reply(("Sitemap: /s\n" * 40_000).encode()), True),
        (Reply(b"User-agent: *\nCrawl-delay: 1e308\nDisallow: /b"), None),
        (Reply(b"User-agent: *\nCrawl-delay: nan"), None),
        (Reply(b"User-agent: *\nCrawl-delay: -5"), True),
        (Reply(b"User-agent: *\nRequest-rate: 1/0s"), True),
        (Reply(b"User-agent: *\nRequest-rate: 99999999999999999999/1s 9999-9999"), True),
        (Reply(gzip.compress(b"\0" * 50_000_000), headers=(("Content-Encoding", "gzip"),)), True),
    ],
)
def test_a_hostile_robots_txt_neither_opens_a_site_nor_brings_the_crawl_down(
    apart: Apart, site: Site, answer: Answer, is_fetched: bool | None
) -> None:
    """`None`: whether the page is fetched is the site's affair, but nothing breaks and nothing waits for ever."""
    site.pages |= {"/robots.txt": answer, "/": page()}
    with serve_site({"/": page()}) as other:
        told = apart.crawl(source(site), source(other))
    assert f"{other.url}/" in told["pages"]
    assert is_fetched is None or (f"{site.url}/" in told["pages"]) is is_fetched


def test_what_robots_txt_disallows_is_not_reached_by_any_road(apart: Apart, site: Site) -> None:
    sitemap = f"<urlset><url><loc>{site.url}/no/1</loc></url></urlset>"
    feed = f"<rss><channel><item><link>{site.url}/no/2</link></item></channel></rss>"
    site.pages |= {
        "/robots.txt": f"User-agent: *\nDisallow: /no\nSitemap: {site.url}/sitemap.xml",
        "/sitemap.xml": Reply(sitemap.encode(), headers=XML),
        "/rss": Reply(feed.encode(), headers=XML),
        "/": '<link rel="alternate" type="application/rss+xml" href="/rss"><link rel="canonical" href="/no/3">'
        + page("/no/4", "/a", "/r", "/%6eo/5", "/./no/6", "//no/7", "/x/../no/8"),
        "/a": '<meta http-equiv="refresh" content="0;url=/no/9">',
        "/r": redirect("/no/10"),
    }
    site.missing = "secret"
    told = apart.crawl(source(site))
    assert told["pages"] == [f"{site.url}/"]
    assert [path for path in site.paths() if "no/" in path] == []


# ------------------------------------------------------------ roads to private addresses and off the whitelist


@pytest.mark.parametrize("where", ["private", "outside"])
def test_no_road_of_a_page_leads_to_where_no_source_is(apart: Apart, site: Site, where: str) -> None:
    with serve_site({}, "127.0.0.2") as secret:
        secret.missing = "secret"
        goal = secret.url
        sitemap = f"<urlset><url><loc>{goal}/1</loc></url></urlset>"
        site.pages |= {
            "/robots.txt": f"Sitemap: {goal}/s.xml\nSitemap: {site.url}/sitemap.xml\nSitemap: {site.url}/moved.xml",
            "/sitemap.xml": Reply(sitemap.encode(), headers=XML),
            "/moved.xml": redirect(f"{goal}/2"),
            "/": f'<link rel="canonical" href="{goal}/3"><link rel="next" href="{goal}/4">'
            + page(f"{goal}/5", "/base", "/refresh", "/r", "/frame", "/area"),
            "/base": f'<base href="{goal}/">' + page("6"),
            "/refresh": f'<meta http-equiv="refresh" content="0;url={goal}/7">',
            "/r": redirect(f"{goal}/8"),
            "/frame": f'<frame src="{goal}/9"><iframe src="{goal}/10"></iframe>' + WORDS,
            "/area": f'<map><area href="{goal}/11"></map><form action="{goal}/12"></form>' + WORDS,
        }
        # Inside the whitelist and yet at a private address nobody allowed; or outside of it altogether.
        extra = [SourceSettings(url=f"{goal}/x")] if where == "private" else []
        told = apart.crawl(source(site), *extra, settings={"interval_s": 0.0})
        assert secret.requests == []
    assert f"{site.url}/" in told["pages"]


@pytest.mark.parametrize(
    "link",
    ["file:///etc/passwd", "ftp://example.com/x", "gopher://example.com/", "data:text/html,x", "javascript:alert(1)",
     "jar:x", "about:blank", "mailto:a@example.com", "tel:1", "blob:x", "view-source:http://example.com", "http:", "\0"],
)  # fmt: skip
def test_a_link_that_is_no_web_address_is_left(apart: Apart, site: Site, link: str) -> None:
    site.pages["/"] = page(link)
    site.missing = "found"
    told = apart.crawl(source(site))
    assert told["pages"] == [f"{site.url}/"]


# ------------------------------------------------------------ lists of pages


def index_of(*urls: str) -> Reply:
    return Reply(
        f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>".encode(),
        headers=XML,
    )


def test_an_index_of_sitemaps_that_leads_to_itself_ends(apart: Apart, site: Site) -> None:
    site.pages |= {"/robots.txt": f"Sitemap: {site.url}/s.xml", "/": page(), "/s.xml": index_of(f"{site.url}/s.xml")}
    assert apart.crawl(source(site))["pages"] == [f"{site.url}/"]
    assert site.paths().count("/s.xml") == 1


def test_a_sitemap_of_long_addresses_does_not_fill_the_store(apart: Apart, site: Site) -> None:
    urls = "".join(f"<url><loc>{site.url}/{n}/{'x' * 100_000}</loc></url>" for n in range(40))
    site.pages |= {
        "/robots.txt": f"Sitemap: {site.url}/s.xml",
        "/": page(),
        "/s.xml": Reply(f"<urlset>{urls}</urlset>".encode(), headers=XML),
    }
    told = apart.crawl(source(site))
    assert told["pages"] == [f"{site.url}/"]
    assert told["characters"] < 10_000
