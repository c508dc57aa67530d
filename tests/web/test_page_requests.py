from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kbcite.clock import system_clock
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.web.fetch import Fetcher
from kbcite.web.page_requests import MAX_SENT_BYTES, PageRequest, PageRequests
from kbcite.web.scope import Scope
from tests.site_server import Reply, Site, serve_site

WEB = "https://public.example/"


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site({"/app.js": "1", "/data": "{}", "/robots.txt": "User-agent: *\nDisallow: /secret"}) as running:
        yield running


@pytest.fixture
def requests(site: Site) -> Iterator[PageRequests]:
    scope = Scope((SourceSettings(url=f"{site.url}/", allow_private=True), SourceSettings(url=WEB)))
    settings = CrawlSettings(connect_timeout_s=5.0)
    with Fetcher(settings, allow_private=scope.allows_private) as fetcher:
        yield PageRequests(fetcher.fetch, scope, {}, system_clock)


def asked(site: Site, path: str, kind: str = "fetch", page: str = "/", **more: object) -> PageRequest:
    return PageRequest(site.url + page, site.url + path, kind, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "kind", ["image", "font", "media", "websocket", "eventsource", "ping", "manifest", "texttrack", "other", "document"]
)
def test_what_brings_no_text_is_not_fetched(site: Site, requests: PageRequests, kind: str) -> None:
    result = requests.answer(asked(site, "/data", kind))
    assert isinstance(result, FetchFailure)
    assert result.reason == "kind"
    assert site.requests == []


@pytest.mark.parametrize("kind", ["script", "stylesheet", "xhr", "fetch"])
def test_what_may_bring_text_is(site: Site, requests: PageRequests, kind: str) -> None:
    result = requests.answer(asked(site, "/data", kind))
    assert isinstance(result, FetchedPage)
    assert result.body == b"{}"


def test_a_script_is_fetched_once_for_all_pages_and_data_each_time(site: Site, requests: PageRequests) -> None:
    for page in ("/", "/a", "/b"):
        requests.answer(asked(site, "/app.js", "script", page))
        requests.answer(asked(site, "/data", "fetch", page))
    assert site.paths().count("/app.js") == 1
    assert site.paths().count("/data") == 3


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.example/", "data:text/plain,x", "chrome://version"])
def test_other_schemes_are_refused(site: Site, requests: PageRequests, url: str) -> None:
    result = requests.answer(PageRequest(site.url, url, "fetch"))
    assert isinstance(result, FetchFailure)
    assert result.reason == "scheme"


def test_a_page_on_the_web_gets_nothing_from_an_intranet_that_is_a_source_too(
    site: Site, requests: PageRequests
) -> None:
    result = requests.answer(PageRequest(WEB, f"{site.url}/data", "fetch"))
    assert isinstance(result, FetchFailure)
    assert result.reason == "private_address"
    assert site.requests == []


def test_a_page_gets_nothing_from_a_private_host_that_is_no_source(site: Site, requests: PageRequests) -> None:
    with serve_site({"/": "secret"}) as other:
        site.pages["/hop"] = Reply(status=302, headers=(("Location", other.url + "/"),))
        for url in (other.url + "/", site.url + "/hop"):
            result = requests.answer(PageRequest(f"{site.url}/", url, "fetch"))
            assert isinstance(result, FetchFailure)
        assert other.requests == []


def test_robots_txt_holds_at_every_hop(site: Site, requests: PageRequests) -> None:
    site.pages |= {"/secret": "x", "/hop": Reply(status=302, headers=(("Location", "/secret"),))}
    for path in ("/secret", "/hop"):
        result = requests.answer(asked(site, path))
        assert isinstance(result, FetchFailure)
        assert result.reason == "robots_disallowed"
    assert "/secret" not in site.paths()


@pytest.mark.parametrize(
    ("page", "url", "method", "size", "is_refused"),
    [
        (WEB, "https://public.example/api", "POST", 10, False),
        (WEB, "https://tracker.example/api", "POST", 10, True),
        (WEB, "https://public.example/api", "POST", MAX_SENT_BYTES + 1, True),
        (WEB, "https://public.example/api", "DELETE", 0, True),
        (WEB, "https://public.example/api", "PUT", 10, True),
        (WEB, "https://cdn.example/app.js", "GET", 0, False),
    ],
)
def test_data_is_sent_to_sources_only(
    requests: PageRequests, page: str, url: str, method: str, size: int, is_refused: bool
) -> None:
    asked = PageRequest(page, url, "fetch", method, data=b"x" * size)
    assert (requests.refusal(asked) is not None) == is_refused


def test_a_script_s_data_and_headers_reach_the_server_and_not_the_next_hop(site: Site, requests: PageRequests) -> None:
    seen: list[tuple[str, bytes]] = []

    def take(handler: Any) -> Reply:
        length = int(handler.headers.get("Content-Length", "0"))
        seen.append((handler.command, handler.rfile.read(length)))
        return Reply(status=303, headers=(("Location", "/data"),))

    site.pages["/api"] = take
    headers = (
        ("accept", "application/json"),
        ("x-requested-with", "XMLHttpRequest"),
        ("cookie", "a=b"),
        ("user-agent", "me"),
    )
    result = requests.answer(asked(site, "/api", method="POST", headers=headers, data=b'{"query": 1}'))
    assert isinstance(result, FetchedPage)
    assert seen == [("POST", b'{"query": 1}')]
    first, second = (request.headers for request in site.requests if request.path in ("/api", "/data"))
    assert (first["accept"], first["x-requested-with"]) == ("application/json", "XMLHttpRequest")
    assert first["user-agent"].startswith("kbcite/")
    assert "cookie" not in first
    assert "x-requested-with" not in second
