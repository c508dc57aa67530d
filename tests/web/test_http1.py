"""What the wire may hold: answers written byte for byte by a server on loopback, read through `Fetcher`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kbcite.records import FetchedPage, FetchFailure
from kbcite.settings import CrawlSettings
from kbcite.web.fetch import Fetcher
from tests.site_server import Reply, Site


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    quick = CrawlSettings(connect_timeout_s=1.0, total_timeout_s=2.0, max_bytes=1_000_000)
    with Fetcher(quick, allow_private=lambda _: True) as opened:
        yield opened


class Wire:
    """Answers with these bytes; notes from which port each request came."""

    def __init__(self, *pieces: bytes, ends: bool = False) -> None:
        self.pieces = pieces
        self.ends = ends
        self.ports: list[int] = []

    def __call__(self, handler: Any) -> None:
        self.ports.append(handler.client_address[1])
        for piece in self.pieces:
            handler.wfile.write(piece)
            handler.wfile.flush()
        handler.close_connection = self.ends


def fetch(fetcher: Fetcher, site: Site, wire: Wire) -> FetchedPage:
    site.pages["/"] = wire
    result = fetcher.fetch(f"{site.url}/")
    assert isinstance(result, FetchedPage), result
    return result


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("wire", "body", "received"),
    [
        ([OK + b"Content-Length: 5\r\n\r\nabcde"], b"abcde", 5),
        ([OK, b"Content-Le", b"ngth: 5\r\n\r", b"\nab", b"cde"], b"abcde", 5),
        ([b"HTTP/1.1 200 OK\nContent-Length: 5\n\nabcde"], b"abcde", 5),
        ([OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde"], b"abcde", 5),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX: y\r\n\r\n"], b"abcde", 5),
        ([OK + b"Transfer-Encoding: Chunked\r\n\r\n", b"0000", b"5\r", b"\nab", b"cde\r\n0\r", b"\n\r\n"], b"abcde", 5),
        (
            [
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + OK
                + b"Content-Length: 1\r\n\r\na"
            ],
            b"a",
            1,
        ),
        ([b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na"], b"a", 1),
        ([OK + b"Content-Length: 0\r\n\r\n"], b"", 0),
    ],
    ids=[
        "length",
        "in pieces",
        "bare line feeds",
        "length twice",
        "chunks",
        "chunks in pieces",
        "interim answers",
        "no reason",
        "empty",
    ],
)
def test_a_body_is_read_to_its_end_and_the_connection_used_again(
    site: Site, fetcher: Fetcher, wire: list[bytes], body: bytes, received: int
) -> None:
    answer = Wire(*wire)
    pages = [fetch(fetcher, site, answer) for _ in range(3)]
    assert [(page.body, page.encoded_length) for page in pages] == [(body, received)] * 3
    assert len(set(answer.ports)) == 1


@pytest.mark.parametrize(
    ("wire", "ends"),
    [
        (OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nabcde", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nabcde", False),
        (OK + b"Content-Length: 5\r\n\r\nabcdeHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", False),
        (OK + b"\r\nabcde", True),
    ],
    ids=["asked for", "an old server", "more than was said", "without a length"],
)
def test_a_connection_that_is_not_to_be_used_again_is_not(
    site: Site, fetcher: Fetcher, wire: bytes, ends: bool
) -> None:
    answer = Wire(wire, ends=ends)
    assert [fetch(fetcher, site, answer).body for _ in range(3)] == [b"abcde"] * 3
    assert len(set(answer.ports)) == 3


def test_the_short_body_of_a_redirect_costs_no_new_connection(site: Site, fetcher: Fetcher) -> None:
    answer = Wire(OK + b"Content-Length: 1\r\n\r\na")
    ports: list[int] = []

    def redirect(handler: Any) -> Reply:
        ports.append(handler.client_address[1])
        return Reply(b"<h1>Moved</h1>", 302, (("Location", "/"),))

    site.pages |= {"/old": redirect, "/": answer}
    result = fetcher.fetch(f"{site.url}/old")
    assert isinstance(result, FetchedPage)
    assert result.body == b"a"
    assert ports == answer.ports


def test_headers_are_read_as_they_stand_in_their_order(site: Site, fetcher: Fetcher) -> None:
    head = (
        b"Set-Cookie: a=1\r\nX-Long: one\r\n\ttwo\r\nthis is no header\r\nX-Space :  v \r\nX-Latin: caf\xe9\x85\r\n"
        b"Set-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"
    )
    assert fetch(fetcher, site, Wire(OK + head)).headers == (
        ("set-cookie", "a=1"),
        ("x-long", "one two"),
        ("x-space", "v"),
        ("x-latin", "caf\xe9\x85"),
        ("set-cookie", "b=2"),
        ("content-length", "0"),
    )


def test_the_request_names_host_and_port_and_asks_for_what_was_linked(site: Site, fetcher: Fetcher) -> None:
    site.pages["/a%2fb"] = "x"
    fetcher.fetch(f"{site.url}/a%2fb?q=%e4&&x#part")
    assert site.requests[0].path == "/a%2fb?q=%e4&&x"
    assert site.requests[0].headers["host"] == site.url.removeprefix("http://")


@pytest.mark.parametrize("etag", ['"1"\r\nX-Evil: 1', '"1"\n', "\0", "中"])
def test_a_header_that_would_be_two_is_not_sent(site: Site, fetcher: Fetcher, etag: str) -> None:
    result = fetcher.fetch(f"{site.url}/", etag=etag)
    assert isinstance(result, FetchFailure)
    assert (result.reason, result.retryable) == ("protocol", False)
    assert site.requests == []


def test_a_request_with_a_body_is_sent_once(site: Site, fetcher: Fetcher) -> None:
    """Whether the server worked on it before it closed the connection nobody knows."""
    calls: list[bytes] = []

    def answer(handler: Any) -> Reply | None:
        calls.append(handler.rfile.read(int(handler.headers["Content-Length"])))
        if len(calls) == 1:
            return Reply(b"first")
        handler.close_connection = True
        return None

    site.pages["/"] = answer
    assert isinstance(fetcher.fetch(f"{site.url}/", data=b"once"), FetchedPage)
    result = fetcher.fetch(f"{site.url}/", data=b"twice")
    assert isinstance(result, FetchFailure)
    assert (result.reason, calls) == ("protocol", [b"once", b"twice"])
