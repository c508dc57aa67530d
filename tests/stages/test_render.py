from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbcite.errors import UsageError
from kbcite.fetch_records import RENDERED_BY, FetchedPage, FetchFailure
from kbcite.page.cleaning import clean_page
from kbcite.records import CleanDocument, RenderMode, Skipped
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import Crawled, crawl_site
from kbcite.stages.recheck import Rechecked, recheck_pages
from kbcite.stages.render import RenderingFetch
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.urls import url_key
from kbcite.web.fetch import Fetcher
from kbcite.web.scope import Scope
from tests.script_site import ASSETS, HYDRATED, KINDS, MOUNTED, html_of, needs_browser, shell, text_of, twenty_pages
from tests.site_server import Site, serve_site

QUICK = CrawlSettings(connect_timeout_s=5.0, retries=0)
NO_BROWSER = CrawlSettings(connect_timeout_s=5.0, retries=0, browser="/nowhere/chromium")


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site(dict(ASSETS)) as running:
        yield running


class Store:
    """A store in a folder, and runs over a site that render."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "kb.sqlite3")
        self.archive = Archive(folder / "archive.sqlite3")
        self.now = "2026-11-30T12:00:00Z"
        self.rendered = self.starts = 0
        self.unread: list[str] = []

    def close(self) -> None:
        self.archive.close()
        self.database.close()

    def _run(
        self, stage: Any, site: Site, settings: CrawlSettings, source: dict[str, Any], **options: Any
    ) -> list[Any]:
        sources = (SourceSettings(url=f"{site.url}/", allow_private=True, **source),)

        def clock() -> str:
            return self.now

        with (
            Fetcher(settings, allow_private=Scope(sources).allows_private, clock=clock) as fetcher,
            RenderingFetch(self.database, fetcher.fetch, sources, settings, fetcher.user_agent, clock) as render,
        ):
            fetch = render.fetch
            events = list(stage(self.database, self.archive, fetch, sources, settings=settings, clock=clock, **options))
            render.save()
            self.rendered = render.rendered
            self.starts = render._browser.starts if render._browser else 0
            self.unread = render.unread
        return events

    def crawl(self, site: Site, settings: CrawlSettings = QUICK, **source: Any) -> list[Any]:
        return self._run(crawl_site, site, settings, source)

    def recheck(self, site: Site, **source: Any) -> dict[str, str]:
        options = {"everything": True, "clean": clean_page}
        records = self._run(recheck_pages, site, QUICK, source, **options)
        return {
            record.url.removeprefix(site.url): record.outcome for record in records if isinstance(record, Rechecked)
        }

    def stored(self, site: Site, path: str) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        page = self.database.pages.get(site.url + path, url_key(site.url + path))
        assert page is not None and page.digest is not None
        snapshot = self.database.pages.snapshot_by_digest(page.digest)
        assert snapshot is not None
        return self.archive.get(page.digest), snapshot.headers

    def text(self, site: Site, path: str) -> str:
        body, headers = self.stored(site, path)
        document = clean_page(body, site.url + path, dict(headers)["content-type"])
        assert isinstance(document, CleanDocument)
        return document.text


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    yield opened
    opened.close()


def outcomes(events: list[Any], site: Site) -> dict[str, str]:
    return {event.url.removeprefix(site.url): event.outcome for event in events if isinstance(event, Crawled)}


# ------------------------------------------------------------ with a browser


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_six_of_twenty_pages_are_rendered_the_first_time_and_the_second(site: Site, store: Store) -> None:
    site.pages = twenty_pages()
    first = outcomes(store.crawl(site), site)
    assert len(first) == 20
    assert set(first.values()) == {"new"}
    assert "/only-linked-by-script" in first, "links of a rendered page are followed"
    assert (store.rendered, store.starts) == (6, 1), "within 6 + 1"
    for name in KINDS:
        path = next(path for path in first if path.endswith(f"/{name}"))
        assert all(text in store.text(site, path) for text in text_of(name)), name
    store.now = "2027-01-30T12:00:00Z"
    second = outcomes(store.crawl(site), site)
    assert len(second) == 20
    assert set(second.values()) == {"unchanged"}
    assert (store.rendered, store.starts) == (6, 1)
    assert set(store.recheck(site).values()) == {"unchanged"}
    assert store.rendered == 6


@needs_browser
@pytest.mark.browser
def test_a_rendered_page_is_stored_as_what_the_browser_made_and_says_so(site: Site, store: Store) -> None:
    site.pages |= {"/": MOUNTED}
    store.crawl(site, depth=0)
    body, headers = store.stored(site, "/")
    assert dict(headers)[RENDERED_BY].startswith("Chromium ")
    assert dict(headers)["content-type"] == "text/html; charset=utf-8"
    assert text_of("mounted")[0].encode() in body
    assert b"noscript" not in body


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_page_that_is_rendered_into_other_bytes_and_the_same_words_is_unchanged(site: Site, store: Store) -> None:
    made = "<div id=app></div><script>app.innerHTML = `<i data-token=${Math.random()}></i>WORDS`</script>"
    site.pages |= {"/": shell(made.replace("WORDS", html_of("one")))}
    assert outcomes(store.crawl(site), site) == {"/": "new"}
    first = store.stored(site, "/")
    store.now = "2027-01-30T12:00:00Z"
    assert outcomes(store.crawl(site), site) == {"/": "unchanged"}
    assert store.stored(site, "/")[0] != first[0]
    assert store.recheck(site) == {"/": "unchanged"}
    site.pages |= {"/": shell(made.replace("WORDS", html_of("two")))}
    store.now = "2027-03-30T12:00:00Z"
    assert outcomes(store.crawl(site), site) == {"/": "changed"}
    assert store.recheck(site) == {"/": "unchanged"}


def test_a_static_site_starts_no_browser(site: Site, store: Store) -> None:
    site.pages |= {
        "/": shell(html_of("start") + "<script>1</script><a href=/a>a</a>"),
        "/a": shell("<p>Closed on Mondays."),
    }
    assert outcomes(store.crawl(site), site) == {"/": "new", "/a": "new"}
    assert (store.rendered, store.starts) == (0, 0)
    assert RENDERED_BY not in dict(store.stored(site, "/")[1])


def test_a_source_may_say_that_nothing_is_rendered(site: Site, store: Store) -> None:
    site.pages |= {"/": MOUNTED}
    store.crawl(site, render=RenderMode.NEVER)
    assert store.stored(site, "/")[0] == MOUNTED.encode()
    assert store.rendered == 0
    assert store.unread == []


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_source_may_say_that_everything_is_rendered(site: Site, store: Store) -> None:
    site.pages |= {"/": shell(html_of("start"))}
    store.crawl(site, render=RenderMode.ALWAYS)
    assert store.rendered == 1
    assert RENDERED_BY in dict(store.stored(site, "/")[1])


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_page_that_rendering_adds_nothing_to_is_kept_as_it_was_fetched(site: Site, store: Store) -> None:
    bare = shell("<p>Closed.</p><script>var a = 1</script>")
    site.pages |= {"/": bare}
    store.crawl(site)
    assert store.rendered == 1
    assert store.stored(site, "/")[0] == bare.encode()


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_where_rendering_brought_nothing_three_times_it_is_left_for_a_week(site: Site, store: Store) -> None:
    links = "".join(f'<a href="/bare/{n}">{n}</a>' for n in range(6))
    site.pages |= {"/": shell(html_of("start") + links)}
    site.pages |= {f"/bare/{n}": shell(f"<p>Closed {n}.</p><script>1</script>") for n in range(6)}
    store.crawl(site, CrawlSettings(threads=1))
    assert store.rendered == 3
    store.now = "2027-01-30T12:00:00Z"
    store.crawl(site, CrawlSettings(threads=1))
    assert store.rendered == 1


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_script_that_leads_elsewhere_is_followed_like_a_redirect(site: Site, store: Store) -> None:
    site.pages |= {"/": shell("<div id=app></div><script>location.replace('/home')</script>"), "/home": HYDRATED}
    assert outcomes(store.crawl(site), site) == {"/home": "new"}
    page = store.database.pages.get(site.url + "/", url_key(site.url + "/"))
    assert page is not None and page.url == f"{site.url}/home"


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_page_that_has_its_words_is_not_left_for_where_its_script_leads(site: Site, store: Store) -> None:
    site.pages |= {
        "/": shell(html_of("start") + "<script>location.href = '/elsewhere'</script>"),
        "/elsewhere": HYDRATED,
    }
    assert outcomes(store.crawl(site, render=RenderMode.ALWAYS), site) == {"/": "new"}
    assert "/elsewhere" not in site.paths()


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_bot_wall_that_the_browser_meets_is_not_stored(site: Site, store: Store) -> None:
    wall = "<h1>Just a moment</h1><p>Checking your browser before you can see the page. This may take a few seconds, please stand by.</p>"
    site.pages |= {"/": shell(f"<div id=app></div><script>app.innerHTML = `{wall}`</script>")}
    (event,) = store.crawl(site)
    assert isinstance(event, Skipped)
    assert event.reason == "bot_challenge"
    assert store.database.pages.count() == 0


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_bot_wall_is_not_given_to_the_browser(site: Site, store: Store) -> None:
    site.pages |= {"/": shell("<div id=app></div><p>Checking your browser</p><script>window._cf_chl_opt = {}</script>")}
    (event,) = store.crawl(site)
    assert event.reason == "bot_challenge"
    assert store.rendered == 0


# ------------------------------------------------------------ without one


def test_pages_that_need_a_browser_are_counted_where_there_is_none(site: Site, store: Store) -> None:
    site.pages |= {"/": shell(html_of("start") + "<a href=/app>app</a>"), "/app": MOUNTED}
    assert outcomes(store.crawl(site, NO_BROWSER), site) == {"/": "new", "/app": "new"}
    assert store.unread == [f"{site.url}/app"]
    assert store.stored(site, "/app")[0] == MOUNTED.encode()


def test_a_source_that_wants_everything_rendered_needs_a_browser(site: Site, store: Store) -> None:
    with pytest.raises(UsageError, match=r'render = "always", but .*/nowhere/chromium'):
        store.crawl(site, NO_BROWSER, render=RenderMode.ALWAYS)
    assert site.requests == []


@needs_browser
@pytest.mark.browser
@pytest.mark.slow
def test_a_rendered_page_is_not_replaced_by_its_shell_where_the_browser_is_gone(site: Site, store: Store) -> None:
    site.pages |= {"/": MOUNTED}
    store.crawl(site, depth=0)
    before = store.stored(site, "/")
    store.now = "2027-01-30T12:00:00Z"
    (event,) = store.crawl(site, NO_BROWSER, depth=0)
    assert isinstance(event, FetchFailure)
    assert event.reason == "needs_browser"
    assert store.stored(site, "/") == before


def test_a_fetch_that_renders_gives_other_answers_as_they_are(site: Site, store: Store) -> None:
    site.pages |= {"/feed.xml": shell(""), "/gone": MOUNTED}
    sources = (SourceSettings(url=f"{site.url}/", allow_private=True),)
    with (
        Fetcher(QUICK, allow_private=lambda _: True) as fetcher,
        RenderingFetch(store.database, fetcher.fetch, sources, QUICK, "x") as render,
    ):
        missing = render.fetch(f"{site.url}/missing")
        assert isinstance(missing, FetchedPage)
        assert missing.status == 404
        assert isinstance(render.fetch("ftp://example.com/"), FetchFailure)
