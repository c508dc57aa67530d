"""How robots.txt is fetched and what its answers mean, with real servers: one test a rule."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kbcite.fetch_records import FetchedPage, FetchFailure, RobotsCopy
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.web.fetch import Fetcher
from kbcite.web.robots import MAX_BYTES
from kbcite.web.scope import Scope
from kbcite.web.visitor import Visitor
from tests.site_server import Reply, Site, serve_site

CLOSED_TO_ALL = "User-agent: *\nDisallow: /"
SETTINGS = CrawlSettings(connect_timeout_s=0.5, total_timeout_s=1.0)


class Asker:
    """Visits pages of hosts that are on the whitelist, at a time that the test sets."""

    def __init__(self) -> None:
        self.now = "2026-11-30T12:00:00Z"
        self.known: dict[str, RobotsCopy] = {}
        self.visitor: Visitor | None = None

    def __call__(self, *hosts: str, path: str = "/page") -> FetchedPage | FetchFailure:
        scope = Scope([SourceSettings(url=f"{host}/", allow_private=True) for host in hosts])
        with Fetcher(SETTINGS, allow_private=scope.allows_private, clock=lambda: self.now) as fetcher:
            visitor = Visitor(fetcher.fetch, scope, SETTINGS, self.known, lambda: self.now)
            result = visitor.visit(f"{hosts[0]}{path}")
            self.known |= {copy.host: copy for copy in visitor.new_robots()}
        return result


@pytest.fixture
def ask() -> Asker:
    return Asker()


@pytest.fixture
def other() -> Iterator[Site]:
    with serve_site() as running:
        yield running


@pytest.fixture(autouse=True)
def _page(site: Site) -> None:
    site.pages["/page"] = "<p>a page"


def went_through(result: FetchedPage | FetchFailure) -> bool:
    return isinstance(result, FetchedPage) and result.status == 200


def reason(result: FetchedPage | FetchFailure) -> str:
    assert isinstance(result, FetchFailure)
    return result.reason


def redirect(target: str, status: int = 301) -> Reply:
    return Reply(status=status, headers=(("Location", target),))


@pytest.mark.parametrize("status", [200, 203])
def test_a_file_that_is_there_is_obeyed(site: Site, ask: Asker, status: int) -> None:
    site.pages["/robots.txt"] = Reply(CLOSED_TO_ALL.encode(), status)
    assert reason(ask(site.url)) == "robots_disallowed"
    assert site.paths() == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451])
def test_an_answer_of_the_4xx_allows_everything(site: Site, ask: Asker, status: int) -> None:
    site.pages["/robots.txt"] = Reply(CLOSED_TO_ALL.encode(), status)
    assert went_through(ask(site.url))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_in_trouble_allows_nothing_until_it_answers(site: Site, ask: Asker, status: int) -> None:
    site.pages["/robots.txt"] = Reply(b"", status)
    assert reason(ask(site.url)) == "robots_unreachable"
    del site.pages["/robots.txt"]
    assert went_through(ask(site.url))


def hang_up(handler: Any) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "answer",
    [lambda _: time.sleep(1.5), hang_up, Reply(b"xx", headers=(("Content-Length", "9"),)), redirect("ftp://x/y")],
    ids=["time-out", "hang-up", "cut", "scheme"],
)
def test_no_usable_answer_allows_nothing(site: Site, ask: Asker, answer: Any) -> None:
    site.pages["/robots.txt"] = answer
    assert reason(ask(site.url)) == "robots_unreachable"
    assert site.paths() == []


def test_a_name_without_address_allows_nothing(ask: Asker) -> None:
    assert reason(ask("http://no-such-host.invalid")) == "robots_unreachable"


def test_a_failed_handshake_allows_nothing(ask: Asker, site: Site) -> None:
    assert reason(ask(site.url.replace("http:", "https:"))) == "robots_unreachable"


@pytest.mark.parametrize("hops", [1, 5])
def test_five_redirects_are_followed_across_hosts_and_count_for_the_host_that_was_asked(
    site: Site, other: Site, ask: Asker, hops: int
) -> None:
    hosts = [other.url, site.url]
    site.pages["/robots.txt"] = redirect(f"{hosts[hops % 2]}/r{hops - 1}")
    for one in (site, other):
        one.pages |= {f"/r{n}": redirect(f"{hosts[n % 2]}/r{n - 1}") for n in range(1, hops)} | {"/r0": CLOSED_TO_ALL}
    assert reason(ask(site.url, other.url)) == "robots_disallowed"
    assert ask.known[site.url].outcome == "rules"
    assert other.url not in ask.known


def test_behind_a_sixth_redirect_there_is_no_file(site: Site, ask: Asker) -> None:
    site.pages |= {f"/r{n}": redirect(f"/r{n - 1}") for n in range(1, 6)} | {"/r0": CLOSED_TO_ALL}
    site.pages["/robots.txt"] = redirect("/r5")
    assert went_through(ask(site.url))
    assert site.paths() == ["/r5", "/r4", "/r3", "/r2", "/r1", "/page"]


def test_redirects_in_a_circle_are_no_file(site: Site, ask: Asker) -> None:
    site.pages["/robots.txt"] = redirect("/robots.txt")
    assert went_through(ask(site.url))


def test_a_redirect_to_a_private_host_is_refused_and_allows_nothing(site: Site, other: Site, ask: Asker) -> None:
    """The source may be at a private address, the host that its robots.txt leads to may not."""
    other.pages["/robots.txt"] = "User-agent: *\nAllow: /"
    site.pages["/robots.txt"] = redirect(f"{other.url}/robots.txt")
    result = ask(site.url)
    assert reason(result) == "robots_unreachable"
    assert isinstance(result, FetchFailure)
    assert "private_address" in result.detail
    assert other.requests == []


def test_a_redirect_takes_a_turn_of_its_host(site: Site) -> None:
    site.pages |= {"/robots.txt": redirect("/r"), "/r": ""}
    scope = Scope([SourceSettings(url=f"{site.url}/", allow_private=True)])
    settings = CrawlSettings(private_interval_s=0.2, jitter=0.0)
    with Fetcher(settings, allow_private=scope.allows_private) as fetcher:
        visitor = Visitor(fetcher.fetch, scope, settings, {}, lambda: "2026-11-30T12:00:00Z")
        assert went_through(visitor.visit(f"{site.url}/page"))
    times = [request.at for request in site.requests]
    assert len(times) == 3
    assert times[2] - times[0] > 0.39


def test_a_run_that_is_stopped_on_the_way_to_the_file_says_interrupted(site: Site) -> None:
    site.pages |= {"/robots.txt": redirect("/r"), "/r": ""}
    scope = Scope([SourceSettings(url=f"{site.url}/", allow_private=True)])
    settings = CrawlSettings(private_interval_s=30.0)
    with Fetcher(settings, allow_private=scope.allows_private) as fetcher:
        visitor = Visitor(fetcher.fetch, scope, settings, {}, lambda: "2026-11-30T12:00:00Z")
        threading.Timer(0.2, visitor.stopping.set).start()
        assert reason(visitor.visit(f"{site.url}/page")) == "interrupted"


@pytest.mark.parametrize("type_", ["text/html", "text/plain"])
def test_a_web_page_in_its_place_has_no_rules(site: Site, ask: Asker, type_: str) -> None:
    body = f"<!DOCTYPE html><pre>{CLOSED_TO_ALL}</pre>".encode()
    site.pages["/robots.txt"] = Reply(body, headers=(("Content-Type", type_),))
    assert went_through(ask(site.url))


def test_the_byte_order_mark_does_not_hide_the_first_line(site: Site, ask: Asker) -> None:
    site.pages["/robots.txt"] = Reply(b"\xef\xbb\xbf" + CLOSED_TO_ALL.encode())
    assert reason(ask(site.url)) == "robots_disallowed"


def test_of_a_huge_file_the_beginning_is_read_and_obeyed(site: Site, ask: Asker) -> None:
    site.pages["/robots.txt"] = CLOSED_TO_ALL + "\n" + "# filler\n" * 1_200_000
    assert reason(ask(site.url)) == "robots_disallowed"
    assert len(ask.known[site.url].body) == MAX_BYTES


def test_a_file_is_kept_a_day_and_no_longer(site: Site, ask: Asker) -> None:
    site.pages["/robots.txt"] = CLOSED_TO_ALL
    ask(site.url)
    site.pages["/robots.txt"] = ""
    ask.now = "2026-12-01T11:59:59Z"
    assert reason(ask(site.url)) == "robots_disallowed"
    ask.now = "2026-12-01T12:00:00Z"
    assert went_through(ask(site.url))


def test_the_last_good_file_serves_while_the_host_fails_until_it_is_a_day_old(site: Site, ask: Asker) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private"
    ask(site.url)
    copy = ask.known[site.url]
    site.pages["/robots.txt"] = Reply(b"", 503)
    ask.now = "2026-12-01T11:00:00Z"
    ask.known[site.url] = RobotsCopy(copy.host, copy.outcome, copy.body, copy.detail, copy.fetched_at, ask.now)
    assert went_through(ask(site.url))
    assert reason(ask(site.url, path="/private")) == "robots_disallowed"
    ask.now = "2026-12-01T12:10:00Z"
    assert reason(ask(site.url)) == "robots_unreachable"


def test_each_port_has_a_file_of_its_own(site: Site, other: Site, ask: Asker) -> None:
    site.pages["/robots.txt"] = CLOSED_TO_ALL
    other.pages["/page"] = "<p>a page"
    assert reason(ask(site.url, other.url)) == "robots_disallowed"
    assert went_through(ask(other.url, site.url))


def test_a_redirect_to_another_host_obeys_that_hosts_file(site: Site, other: Site, ask: Asker) -> None:
    site.pages["/page"] = redirect(f"{other.url}/page")
    other.pages["/robots.txt"] = CLOSED_TO_ALL
    assert reason(ask(site.url, other.url)) == "robots_disallowed"
    assert other.paths() == []


def test_the_file_is_asked_for_as_everything_is_with_one_name_and_a_contact(site: Site, ask: Asker) -> None:
    ask(site.url)
    assert {request.headers["user-agent"].split("/")[0] for request in site.requests} == {"kbcite"}
    assert all("+http" in request.headers["user-agent"] for request in site.requests)
