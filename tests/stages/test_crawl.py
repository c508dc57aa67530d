"""Crawls of real sites on loopback into a real store."""

import gzip
import itertools
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbcite.errors import NotFound, UsageError
from kbcite.fetch_records import FetchFailure
from kbcite.records import PageState, Skipped
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import crawl_site
from kbcite.stages.crawl_queue import LeftOut
from kbcite.stages.crawl_results import Crawled, CrawlEvent
from kbcite.store.archive import Archive, digest_of
from kbcite.store.database import Database
from kbcite.store.frontier import UrlState
from kbcite.urls import url_key
from kbcite.web.fetch import Fetcher
from kbcite.web.scope import Scope
from tests.site_server import Reply, Site, serve_site

QUICK = CrawlSettings(threads=4, connect_timeout_s=1.0, total_timeout_s=2.0, retries=1)
BODY = "<p>" + "Some words that make this an honest page. " * 10 + "</p>"


def html(*links: str, text: str = "", head: str = "") -> str:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return f"<html><head>{head}<title>{text}</title></head><body><h1>{text}</h1>{BODY}{anchors}</body></html>"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbcite.web.frontier.RETRY_BASE_S", 0.05)


class Store:
    """A store in a folder, and a way to crawl into it."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "kb.sqlite3")
        self.archive = Archive(folder / "archive.sqlite3")
        self.now = "2026-11-30T12:00:00Z"

    def close(self) -> None:
        self.archive.close()
        self.database.close()

    def crawl(self, *sources: SourceSettings, settings: CrawlSettings = QUICK, **options: Any) -> list[CrawlEvent]:
        with Fetcher(settings, allow_private=Scope(sources).allows_private, clock=lambda: self.now) as fetcher:
            return list(
                crawl_site(
                    self.database,
                    self.archive,
                    fetcher.fetch,
                    sources,
                    settings=settings,
                    clock=lambda: self.now,
                    **options,
                )
            )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    yield opened
    opened.close()


def source_of(site: Site, path: str = "/", **options: Any) -> SourceSettings:
    return SourceSettings(url=f"{site.url}{path}", **({"allow_private": True} | options))


def crawled(events: list[CrawlEvent], site: Site) -> dict[str, str]:
    """Outcome by path of the pages that were stored."""
    return {event.url.removeprefix(site.url): event.outcome for event in events if isinstance(event, Crawled)}


def reasons(events: list[CrawlEvent], site: Site) -> dict[str, str]:
    return {
        event.url.removeprefix(site.url): event.reason for event in events if isinstance(event, Skipped | FetchFailure)
    }


def left_out(events: list[CrawlEvent]) -> dict[str, int]:
    """How many URLs were left out by reason."""
    return {event.reason: event.count for event in events if isinstance(event, LeftOut)}


# ------------------------------------------------------------ what is fetched


def test_links_are_followed_inside_the_source(site: Site, store: Store) -> None:
    with serve_site({"/": html()}) as other:
        site.pages |= {
            "/docs/": html("a.html", "sub/b.html", "/blog/", other.url + "/"),
            "/docs/a.html": html("/docs/"),
            "/docs/sub/b.html": html(),
            "/blog/": html(),
        }
        events = store.crawl(source_of(site, "/docs/"))
        assert crawled(events, site) == {"/docs/": "new", "/docs/a.html": "new", "/docs/sub/b.html": "new"}
        assert other.requests == []


def test_the_bytes_lie_in_the_archive_as_fetched(site: Site, store: Store) -> None:
    body = html(text="中文").encode("gbk")
    site.pages["/"] = Reply(body, headers=(("Content-Type", "text/html; charset=gbk"), ("ETag", '"1"')))
    (event,) = store.crawl(source_of(site))
    assert isinstance(event, Crawled)
    assert event.digest == digest_of(body)
    assert store.archive.get(event.digest) == body
    page = store.database.pages.get(event.url, url_key(event.url))
    assert page is not None
    assert (page.state, page.etag, page.due_at) == (PageState.ALIVE, '"1"', "2026-12-07T12:00:00Z")


def test_a_url_outside_the_whitelist_is_refused_before_anything_is_fetched(site: Site, store: Store) -> None:
    with pytest.raises(UsageError, match="kbcite source add"):
        store.crawl(source_of(site, "/docs/"), urls=[f"{site.url}/blog/"])
    assert site.requests == []


def test_without_sources_there_is_nothing_to_crawl(store: Store) -> None:
    with pytest.raises(NotFound, match="kbcite source add"):
        store.crawl()


def test_depth_is_counted_from_the_seed(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/1"), "/1": html("/2"), "/2": html("/3"), "/3": html()}
    assert set(crawled(store.crawl(source_of(site, depth=2)), site)) == {"/", "/1", "/2"}


def test_the_page_limit_of_a_source_holds_and_is_told(site: Site, store: Store) -> None:
    site.pages |= {"/": html(*(f"/{n}" for n in range(20)))} | {f"/{n}": html() for n in range(20)}
    events = store.crawl(source_of(site, max_pages=5))
    assert len(crawled(events, site)) == 5
    assert left_out(events) == {"max_pages": 16}


def test_excluded_urls_are_not_fetched(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/a", "/print/a"), "/a": html(), "/print/a": html()}
    events = store.crawl(source_of(site, exclude=("/print/",)))
    assert set(crawled(events, site)) == {"/", "/a"}
    assert (reasons(events, site), left_out(events)) == ({}, {"excluded": 1})
    row = store.database.frontier.get(f"{site.url}/print/a")
    assert row is not None
    assert (row.state, row.reason) == (UrlState.SKIPPED, "excluded")


def test_urls_of_one_page_are_fetched_once(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/a", "/a#x", "/a?utm_source=y", "/a?"), "/a": html()}
    store.crawl(source_of(site))
    assert sorted(site.paths()) == ["/", "/a"]


def test_links_on_a_gbk_page_are_asked_for_in_gbk(site: Site, store: Store) -> None:
    body = html("/s?q=中文", text="中文").encode("gbk")
    site.pages["/"] = Reply(body, headers=(("Content-Type", "text/html; charset=gb2312"),))
    store.crawl(source_of(site))
    assert "/s?q=%D6%D0%CE%C4" in site.paths()


# ------------------------------------------------------------ what is not a page


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reply(b"%PDF-1.7", headers=(("Content-Type", "application/pdf"),)), "content_type"),
        (Reply(b"gone", 404), "http_404"),
        (Reply(b"", 200), "empty"),
        (Reply(b"x", 300), "http_300"),
        (Reply(status=302, headers=(("Location", "file:///etc/passwd"),)), "scheme"),
        (Reply(status=302, headers=(("Location", "/a"),)), "redirect_loop"),
        (Reply(status=302, headers=(("Location", "http://example.com/"),)), "out_of_scope"),
        ("<title>Just a moment...</title><script>_cf_chl_opt</script>", "bot_challenge"),
        ("<p>Please enable cookies to go on</p>", "cookie_wall"),
        (html(head='<meta name="robots" content="noindex">'), "noindex"),
        (Reply(html().encode(), headers=(("X-Robots-Tag", "noindex"),)), "noindex"),
    ],
)
def test_what_is_not_a_page_is_left_out_with_its_reason(site: Site, store: Store, answer: Any, reason: str) -> None:
    site.pages |= {"/": html("/a"), "/a": answer}
    events = store.crawl(source_of(site))
    assert crawled(events, site) == {"/": "new"}
    assert reasons(events, site) == {"/a": reason}
    row = store.database.frontier.get(f"{site.url}/a")
    assert row is not None
    assert row.reason == reason


def test_a_meta_refresh_is_followed_and_its_page_not_kept(site: Site, store: Store) -> None:
    site.pages |= {"/": '<meta http-equiv="refresh" content="0;url=/real">', "/real": html()}
    events = store.crawl(source_of(site, depth=0))
    assert crawled(events, site) == {"/real": "new"}
    assert reasons(events, site) == {"/": "meta_refresh"}


XML = (("Content-Type", "text/xml"),)


def test_sitemaps_named_by_robots_txt_are_read_index_and_gzip_included(site: Site, store: Store) -> None:
    index = f"<sitemapindex><sitemap><loc>{site.url}/s1.xml.gz</loc></sitemap></sitemapindex>"
    urls = f"<urlset><url><loc>{site.url}/a</loc></url><url><loc>http://example.com/x</loc></url></urlset>"
    site.pages |= {
        "/robots.txt": f"Sitemap: {site.url}/sitemap.xml\nUser-agent: *\nDisallow: /private",
        "/sitemap.xml": Reply(index.encode(), headers=XML),
        "/s1.xml.gz": Reply(gzip.compress(urls.encode()), headers=(("Content-Type", "application/gzip"),)),
        "/": html(),
        "/a": html(),
    }
    events = store.crawl(source_of(site))
    assert crawled(events, site) == {"/": "new", "/a": "new"}
    assert reasons(events, site) == {"/sitemap.xml": "list", "/s1.xml.gz": "list"}


def test_lists_in_lists_end_after_three(site: Site, store: Store) -> None:
    """An index that names the next one, without end; each has a page beside it."""

    def index(handler: Any) -> Reply:
        n = int(handler.path.removeprefix("/").removesuffix(".xml"))
        urls = f"{site.url}/{n + 1}.xml", f"{site.url}/page{n}"
        return Reply(
            f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>".encode(),
            headers=XML,
        )

    site.pages |= {"/robots.txt": f"Sitemap: {site.url}/1.xml", "/": html()}
    site.pages |= {f"/{n}.xml": index for n in range(1, 9)}
    site.pages |= {f"/page{n}": html() for n in range(1, 9)}
    source = source_of(site, depth=50)
    events = store.crawl(source)
    assert crawled(events, site) == {"/": "new", "/page1": "new", "/page2": "new", "/page3": "new"}
    assert reasons(events, site) == {"/1.xml": "list", "/2.xml": "list", "/3.xml": "list", "/4.xml": "nested_lists"}
    store.crawl(source, everything=True)
    assert "/5.xml" not in site.paths(), "a further run goes no deeper"


def test_a_feed_is_read_and_other_xml_is_not(site: Site, store: Store) -> None:
    site.pages |= {
        "/": html("/x.xml", head='<link rel="alternate" type="application/rss+xml" href="/rss">'),
        "/rss": Reply(b"<rss><channel><item><link>/post</link></item></channel></rss>", headers=XML),
        "/x.xml": Reply(b"<catalogue/>", headers=XML),
        "/post": html(),
    }
    events = store.crawl(source_of(site))
    assert crawled(events, site) == {"/": "new", "/post": "new"}
    assert reasons(events, site) == {"/rss": "list", "/x.xml": "content_type"}


def test_nofollow_pages_are_kept_without_their_links(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/a", head='<meta name="robots" content="nofollow">'), "/a": html()}
    assert crawled(store.crawl(source_of(site)), site) == {"/": "new"}


# ------------------------------------------------------------ addresses


def test_the_final_url_is_the_address_and_the_requested_one_an_alias(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/old"), "/old": Reply(status=301, headers=(("Location", "/new"),)), "/new": html()}
    events = store.crawl(source_of(site))
    assert crawled(events, site) == {"/": "new", "/new": "new"}
    page = store.database.pages.get(f"{site.url}/old", f"{site.url}/old")
    assert page is not None
    assert page.url == f"{site.url}/new"


def test_a_canonical_link_is_an_alias_on_the_same_host_only(site: Site, store: Store) -> None:
    site.pages |= {
        "/": html("/a", "/b"),
        "/a": html(head='<link rel="canonical" href="/real-a">'),
        "/b": html(head='<link rel="canonical" href="http://example.com/b">'),
    }
    store.crawl(source_of(site))
    page = store.database.pages.get(f"{site.url}/real-a", f"{site.url}/real-a")
    assert page is not None
    assert page.url == f"{site.url}/a"
    assert store.database.pages.get("http://example.com/b", "http://example.com/b") is None


def test_an_alias_that_brings_other_bytes_is_a_page_of_its_own(site: Site, store: Store) -> None:
    canonical = '<link rel="canonical" href="/list">'
    site.pages |= {
        "/": html("/list?sort=a", "/list"),
        "/list?sort=a": html(text="sorted", head=canonical),
        "/list": html(text="plain", head=canonical),
    }
    assert set(crawled(store.crawl(source_of(site)), site)) == {"/", "/list?sort=a", "/list"}


def test_a_page_that_moves_is_marked_and_the_new_one_stored(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/old"), "/old": html()}
    store.crawl(source_of(site))
    site.pages |= {"/old": Reply(status=301, headers=(("Location", "/new"),)), "/new": html(text="new")}
    store.crawl(source_of(site), everything=True)
    page = store.database.pages.get(f"{site.url}/old", f"{site.url}/old")
    assert page is not None
    assert (page.state, page.moved_to) == (PageState.MOVED, f"{site.url}/new")


# ------------------------------------------------------------ robots.txt and manners


def test_robots_txt_is_obeyed_and_asked_for_once(site: Site, store: Store) -> None:
    site.pages |= {"/robots.txt": "User-agent: *\nDisallow: /private", "/": html("/a", "/private/b"), "/a": html()}
    events = store.crawl(source_of(site))
    assert reasons(events, site) == {"/private/b": "robots_disallowed"}
    store.crawl(source_of(site))
    assert sum(request.path == "/robots.txt" for request in site.requests) == 1
    assert "/private/b" not in site.paths()


def test_a_disallowed_page_is_not_reached_by_a_redirect(site: Site, store: Store) -> None:
    site.pages |= {
        "/robots.txt": "User-agent: *\nDisallow: /private",
        "/": html("/a"),
        "/a": Reply(status=302, headers=(("Location", "/private"),)),
    }
    assert reasons(store.crawl(source_of(site)), site) == {"/a": "robots_disallowed"}
    assert "/private" not in site.paths()


def test_robots_txt_is_asked_for_again_after_a_day(site: Site, store: Store) -> None:
    site.pages["/"] = html()
    store.crawl(source_of(site))
    store.now = "2026-12-01T12:00:01Z"
    store.crawl(source_of(site), everything=True)
    assert sum(request.path == "/robots.txt" for request in site.requests) == 2


def test_nothing_is_fetched_while_robots_txt_fails(site: Site, store: Store) -> None:
    site.pages |= {"/robots.txt": Reply(b"", 503), "/": html()}
    assert reasons(store.crawl(source_of(site)), site) == {"/": "robots_unreachable"}
    assert site.paths() == []


def test_a_host_whose_robots_txt_fails_waits_whole_for_the_next_run(site: Site, store: Store) -> None:
    site.pages |= {"/": html(*(f"/{n}" for n in range(30)))} | {f"/{n}": html() for n in range(30)}
    store.crawl(source_of(site))
    site.pages["/robots.txt"] = Reply(b"", 503)
    site.requests.clear()
    store.now = "2026-12-20T12:00:00Z"
    events = store.crawl(source_of(site))
    assert left_out(events)["host_closed"] >= 31 - QUICK.threads
    assert set(reasons(events, site).values()) == {"robots_unreachable"}
    assert len(site.requests) == 1
    del site.pages["/robots.txt"]
    assert len(crawled(store.crawl(source_of(site)), site)) == 31


def test_a_failed_robots_txt_is_asked_for_again_by_the_next_run(site: Site, store: Store) -> None:
    site.pages |= {"/robots.txt": Reply(b"", 503), "/": html()}
    store.crawl(source_of(site))
    del site.pages["/robots.txt"]
    assert crawled(store.crawl(source_of(site)), site) == {"/": "new"}


def test_robots_txt_can_be_turned_off_for_a_source(site: Site, store: Store) -> None:
    site.pages |= {"/robots.txt": "User-agent: *\nDisallow: /", "/": html()}
    assert crawled(store.crawl(source_of(site, obey_robots=False)), site) == {"/": "new"}


def test_a_host_never_sees_more_than_its_rate(site: Site, store: Store) -> None:
    """By the server's own log: robots.txt, pages and redirects all take a turn."""
    pages: dict[str, Any] = {f"/{n}": html() for n in range(5)}
    site.pages |= pages | {"/": html(*pages, "/r"), "/r": Reply(status=302, headers=(("Location", "/0"),))}
    settings = CrawlSettings(threads=8, private_interval_s=0.1, jitter=0.2)
    store.crawl(source_of(site), settings=settings)
    times = [request.at for request in site.requests]
    assert len(times) == 9
    assert times[-1] - times[0] > 8 * 0.1 * 0.98
    # The server notes a request a little late when the machine is busy, and the next one then seems early.
    assert min(b - a for a, b in itertools.pairwise(times)) > 0.03


def test_the_crawl_delay_of_robots_txt_is_kept(site: Site, store: Store) -> None:
    site.pages |= {"/robots.txt": "User-agent: *\nCrawl-delay: 0.3", "/": html("/a", "/b"), "/a": html(), "/b": html()}
    store.crawl(source_of(site))
    times = [request.at for request in site.requests]
    # One that arrives late on a busy machine shortens the gap behind it, so the whole stretch is looked at.
    assert times[-1] - times[0] > 2 * 0.3


def test_a_busy_server_is_asked_again(site: Site, store: Store) -> None:
    answers = iter([Reply(b"busy", 503, (("Retry-After", "1"),)), Reply(html().encode())])
    site.pages |= {"/robots.txt": "", "/": lambda _: next(answers)}
    assert crawled(store.crawl(source_of(site)), site) == {"/": "new"}


def test_a_host_in_trouble_is_left_for_the_next_run(site: Site, store: Store) -> None:
    site.pages |= {"/": html(*(f"/{n}" for n in range(30))), "/robots.txt": ""}
    site.missing = Reply(b"down", 500, (("Retry-After", "0"),))
    events = store.crawl(source_of(site))
    assert left_out(events)["host_closed"] > 15
    assert len(site.paths()) < 15
    site.missing = Reply(html().encode())
    assert len(crawled(store.crawl(source_of(site)), site)) >= 20


def test_one_bad_host_does_not_stop_the_others(site: Site, store: Store) -> None:
    with serve_site({"/": lambda _: time.sleep(1.5)}) as slow:
        site.pages |= {"/": html("/a"), "/a": html()}
        events = store.crawl(source_of(slow), source_of(site))
        assert crawled(events, site) == {"/": "new", "/a": "new"}


# ------------------------------------------------------------ again, and after a stop


def test_a_second_crawl_asks_conditionally_and_finds_links_of_unmodified_pages(site: Site, store: Store) -> None:
    def answer(handler: Any) -> Reply:
        if handler.headers.get("If-None-Match") == '"v1"':
            return Reply(status=304, headers=(("ETag", '"v1"'),))
        return Reply(html("/a").encode(), headers=(("ETag", '"v1"'), ("Content-Type", "text/html")))

    site.pages |= {"/": answer, "/a": html()}
    assert crawled(store.crawl(source_of(site, depth=0)), site) == {"/": "new"}
    assert crawled(store.crawl(source_of(site, depth=1)), site) == {"/": "unchanged", "/a": "new"}


def test_a_changed_page_gets_a_new_snapshot(site: Site, store: Store) -> None:
    site.pages["/"] = html(text="one")
    store.crawl(source_of(site))
    site.pages["/"] = html(text="two")
    assert crawled(store.crawl(source_of(site), everything=True), site) == {"/": "changed"}
    page = store.database.pages.get(f"{site.url}/", f"{site.url}/")
    assert page is not None
    assert len(store.database.pages.snapshots(page.id)) == 2


def test_a_page_that_disappears_keeps_its_bytes_and_gets_its_first_mark(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/a"), "/a": html()}
    store.crawl(source_of(site))
    del site.pages["/a"]
    store.crawl(source_of(site), everything=True)
    page = store.database.pages.get(f"{site.url}/a", f"{site.url}/a")
    assert page is not None
    assert (page.state, page.misses, page.missing_since) == (PageState.UNREACHABLE, 1, store.now)
    assert page.digest is not None
    assert store.archive.has(page.digest)


def test_given_urls_are_fetched_and_what_else_is_known_left_alone(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/a"), "/a": html()}
    store.crawl(source_of(site))
    site.requests.clear()
    store.crawl(source_of(site), urls=[f"{site.url}/a"])
    assert site.paths() == ["/a"]


def test_a_stopped_run_reports_what_it_stored_and_the_next_goes_on(site: Site, store: Store) -> None:
    site.pages |= {"/": html(*(f"/{n}" for n in range(40)))} | {f"/{n}": html() for n in range(40)}
    first = store.crawl(source_of(site), max_pages=10)
    assert len(crawled(first, site)) == 10
    second = store.crawl(source_of(site))
    paths = [*crawled(first, site), *crawled(second, site)]
    assert sorted(paths) == sorted({"/", *(f"/{n}" for n in range(40))})


def test_a_run_told_to_stop_does_not_wait_for_a_slow_page(
    site: Site, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbcite.web.visitor.LAST_FETCHES_S", 0.3)
    site.pages |= {"/": html("/slow", "/quick"), "/slow": lambda _: time.sleep(4), "/quick": html()}
    settings = CrawlSettings(threads=2)
    started = time.monotonic()
    events = store.crawl(source_of(site), settings=settings, max_time_s=0.8)
    assert time.monotonic() - started < 2.5
    assert set(crawled(events, site)) == {"/", "/quick"}
    assert store.database.frontier.counts(f"{site.url}/") == {"done": 2, "queued": 1}


def test_a_time_limit_ends_the_run(site: Site, store: Store) -> None:
    site.pages |= {"/": html(*(f"/{n}" for n in range(40)))} | {f"/{n}": html() for n in range(40)}
    started = time.monotonic()
    store.crawl(source_of(site), settings=CrawlSettings(private_interval_s=0.2), max_time_s=0.7)
    assert time.monotonic() - started < 2.5
    assert len(site.paths()) < 10


# ------------------------------------------------------------ every hour from cron


def test_a_second_run_asks_for_nothing_that_is_not_due(site: Site, store: Store) -> None:
    site.pages |= {
        "/robots.txt": f"Sitemap: {site.url}/s.xml",
        "/s.xml": Reply(f"<urlset><url><loc>{site.url}/a</loc></url></urlset>".encode(), headers=XML),
        "/": html("/a", "/gone", "/file", "/old", "/print/a"),
        "/a": html(head='<link rel="canonical" href="/canonical-a">'),
        "/file": Reply(b"x", headers=(("Content-Type", "application/x-thing"),)),
        "/old": Reply(status=301, headers=(("Location", "/a"),)),
    }
    source = source_of(site, exclude=("/print/",))
    assert len(crawled(store.crawl(source), site)) == 2
    site.requests.clear()
    store.now = "2026-11-30T12:59:00Z"
    assert store.crawl(source) == []
    assert site.requests == []


def test_pages_are_fetched_again_when_their_visit_is_due(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/a"), "/a": html()}
    store.crawl(source_of(site))
    for path, due_at in (("/", "2026-12-02T00:00:00Z"), ("/a", "2026-12-20T00:00:00Z")):
        page = store.database.pages.get(f"{site.url}{path}", f"{site.url}{path}")
        assert page is not None
        store.database.pages.postpone(page.id, due_at)
    site.requests.clear()
    store.now = "2026-12-03T12:00:00Z"
    assert crawled(store.crawl(source_of(site)), site) == {"/": "unchanged"}
    assert site.paths() == ["/"]


def test_a_feed_is_read_again_within_the_hour_and_what_it_names_is_fetched(site: Site, store: Store) -> None:
    feed = "<rss><channel><item><link>/{}</link></item></channel></rss>"
    site.pages |= {
        "/": html(head='<link rel="alternate" type="application/rss+xml" href="/rss">'),
        "/rss": Reply(feed.format("one").encode(), headers=XML),
        "/one": html(),
        "/two": html(),
    }
    store.crawl(source_of(site))
    site.pages["/rss"] = Reply(feed.format("two").encode(), headers=XML)
    site.requests.clear()
    store.now = "2026-11-30T13:00:00Z"
    assert crawled(store.crawl(source_of(site)), site) == {"/two": "new"}
    assert sorted(site.paths()) == ["/rss", "/two"]


def test_a_fault_of_the_moment_is_tried_again_by_the_next_run_and_a_missing_page_is_not(
    site: Site, store: Store
) -> None:
    site.pages |= {"/": html("/busy", "/gone"), "/busy": Reply(b"", 503, (("Retry-After", "0"),))}
    store.crawl(source_of(site))
    site.requests.clear()
    site.pages["/busy"] = html()
    assert crawled(store.crawl(source_of(site)), site) == {"/busy": "new"}
    assert site.paths() == ["/busy"]


def test_other_settings_of_a_source_go_over_everything_again(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/print/a"), "/print/a": html()}
    store.crawl(source_of(site, exclude=("/print/",)))
    assert set(crawled(store.crawl(source_of(site)), site)) == {"/", "/print/a"}
    assert store.crawl(source_of(site)) == []


def test_a_page_known_to_be_out_of_date_is_fetched_first(site: Site, store: Store) -> None:
    site.pages |= {"/": html("/a", "/b"), "/a": html(), "/b": html()}
    store.crawl(source_of(site))
    page = store.database.pages.get(f"{site.url}/b", f"{site.url}/b")
    assert page is not None
    store.database.pages.mark(page.id, store.now)
    site.requests.clear()
    store.crawl(source_of(site), settings=CrawlSettings(threads=1), max_pages=1)
    assert site.paths() == ["/b"]


# ------------------------------------------------------------ budgets


def pages_of(count: int) -> dict[str, Any]:
    return {"/": html(*(f"/{n}" for n in range(count)))} | {f"/{n}": html() for n in range(count)}


def test_the_page_budget_of_a_run_holds_and_what_is_left_is_told(site: Site, store: Store) -> None:
    site.pages |= pages_of(30)
    events = store.crawl(source_of(site), settings=CrawlSettings(run_pages=7))
    assert len(crawled(events, site)) == len(site.paths()) == 7
    assert left_out(events) == {"run_budget": 24}
    assert len(crawled(store.crawl(source_of(site)), site)) == 24


def test_the_byte_budget_of_a_run_ends_it_within_a_batch(site: Site, store: Store) -> None:
    site.pages |= pages_of(400)
    events = store.crawl(source_of(site), max_bytes=20_000)
    assert 0 < len(crawled(events, site)) < 250
    assert set(left_out(events)) == {"run_budget"}


def test_a_host_that_has_had_its_pages_leaves_the_run_to_the_others(site: Site, store: Store) -> None:
    with serve_site(pages_of(30)) as other:
        site.pages |= pages_of(5)
        events = store.crawl(source_of(other), source_of(site), settings=CrawlSettings(host_pages=10))
        assert len(crawled(events, site)) == 10 + 6
        assert len(other.paths()) == 10
        assert [event.where for event in events if isinstance(event, LeftOut)] == [other.url]
        assert len(crawled(store.crawl(source_of(other)), other)) == 21


@pytest.mark.parametrize("budget", [{"host_bytes": 3_000}, {"host_minutes": 0.5 / 60}])
def test_a_hosts_bytes_and_minutes_are_bounded(site: Site, store: Store, budget: dict[str, Any]) -> None:
    site.pages |= pages_of(30)
    events = store.crawl(source_of(site), settings=CrawlSettings(private_interval_s=0.1, jitter=0.0, **budget))
    assert 0 < len(crawled(events, site)) < 25
    assert left_out(events)["host_closed"] > 5


# ------------------------------------------------------------ hostile pages


def test_a_site_that_makes_up_links_without_end_does_not_fill_the_frontier(
    site: Site, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbcite.stages.crawl_queue.LEAST_KNOWN", 300)
    monkeypatch.setattr("kbcite.stages.crawl_queue.KNOWN_PER_PAGE", 1)
    pages = itertools.count()
    site.missing = lambda _: html(*(f"/{n}-{next(pages)}" for n in range(100)), text=str(next(pages)))
    events = store.crawl(source_of(site, max_pages=20, depth=100))
    assert len(crawled(events, site)) == 20
    assert sum(store.database.frontier.counts(f"{site.url}/").values()) == 301
    assert left_out(events)["too_many_links"] > 1000


@pytest.mark.parametrize("reader", ["decode", "read_links", "recognise"])
def test_a_page_that_the_readers_cannot_bear_ends_nothing(
    site: Site, store: Store, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    import kbcite.page.first_look as module

    real = getattr(module, reader)

    def fail_on_bad(first: Any, *rest: Any) -> Any:
        if (b"hostile" if isinstance(first, bytes) else "hostile") in first:
            raise RecursionError("too deep")
        return real(first, *rest)

    monkeypatch.setattr(module, reader, fail_on_bad)
    site.pages |= {"/": html("/bad", "/good"), "/bad": html(text="hostile"), "/good": html()}
    events = store.crawl(source_of(site))
    assert set(crawled(events, site)) == {"/", "/good"}
    assert reasons(events, site) == {"/bad": "internal_error"}
    row = store.database.frontier.get(f"{site.url}/bad")
    assert row is not None
    assert row.detail == "RecursionError: too deep"


CRAWL = """
import sys
from pathlib import Path
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import crawl_site
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.web.fetch import Fetcher

folder, url = Path(sys.argv[1]), sys.argv[2]
source = SourceSettings(url=url, depth=20, max_pages=10_000, allow_private=True)
settings = CrawlSettings(threads=4)
with Database(folder / "kb.sqlite3") as database, Archive(folder / "archive.sqlite3") as archive:
    with Fetcher(settings, allow_private=lambda _: True) as fetcher:
        for event in crawl_site(database, archive, fetcher.fetch, [source], settings=settings):
            print(event.url, getattr(event, "digest", "-"), flush=True)
"""


def start_crawl(folder: Path, url: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", CRAWL, str(folder), url], stdout=subprocess.PIPE, text=True)


def check_store(folder: Path, reported: list[list[str]]) -> None:
    """Nothing that was reported is lost, and every URL is in exactly one state."""
    with Database(folder / "kb.sqlite3") as database, Archive(folder / "archive.sqlite3") as archive:
        assert database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for url, digest in reported:
            if digest != "-":
                page = database.pages.get(url, url_key(url))
                assert page is not None
                assert page.digest == digest == digest_of(archive.get(digest))
        for page in database.pages.all():
            assert page.digest is not None
            assert archive.has(page.digest)


def finished_lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]


def graph_of(count: int) -> dict[str, Any]:
    """Pages /0, /1 ..., each linking to the two that are its children in a binary tree."""
    return {f"/{n}": html(f"/{n * 2 + 1}", f"/{n * 2 + 2}", text=f"page {n}") for n in range(count)}


@pytest.mark.parametrize("reported", [1, 150])
def test_a_killed_crawl_loses_nothing_it_reported_and_the_next_run_ends_it(
    site: Site, tmp_path: Path, reported: int
) -> None:
    site.pages |= graph_of(300)
    with start_crawl(tmp_path, f"{site.url}/0") as process:
        assert process.stdout is not None
        text = "".join(process.stdout.readline() for _ in range(reported))
        process.send_signal(signal.SIGKILL)
        text += process.stdout.read()
    assert len(finished_lines(text)) >= reported
    check_store(tmp_path, finished_lines(text))
    with start_crawl(tmp_path, f"{site.url}/0") as process:
        process.communicate()
    assert process.returncode == 0
    with Database(tmp_path / "kb.sqlite3") as database:
        assert database.pages.count() == 300
        assert set(database.frontier.counts(f"{site.url}/0")) == {"done", "failed"}


@pytest.mark.slow
def test_a_crawl_killed_again_and_again_at_any_moment_ends_whole(site: Site, tmp_path: Path) -> None:
    site.pages |= graph_of(1000)
    chance = random.Random(7)
    kills = 0
    while kills < 30:
        with start_crawl(tmp_path, f"{site.url}/0") as process:
            time.sleep(chance.uniform(0.5, 2.5))
            process.send_signal(signal.SIGKILL)
            assert process.stdout is not None
            text = process.stdout.read()
        kills += 1
        if (tmp_path / "archive.sqlite3").exists():
            check_store(tmp_path, finished_lines(text))
    with start_crawl(tmp_path, f"{site.url}/0") as process:
        process.communicate()
    assert process.returncode == 0
    with Database(tmp_path / "kb.sqlite3") as database:
        assert database.pages.count() == 1000
