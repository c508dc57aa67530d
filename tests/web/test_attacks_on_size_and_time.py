"""Answers that do not end, grow when they are unpacked, or are not what HTTP says: each ends by a limit, with a reason."""

from __future__ import annotations

import functools
import gzip
import itertools
import os
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import zstandard

from tests.apart import Apart
from tests.site_server import Reply, Site, serve_site

LIMIT = 5_000_000
"""Bytes of a body that the fetches here take."""
BRISK = {"connect_timeout_s": 0.4, "total_timeout_s": 0.6}
MEGABYTE = b"\0" * 1_000_000


def stream(*parts: bytes, then: bytes = b"", pause_s: float = 0.0, wait_s: float = 0.0) -> Callable[[Any], None]:
    """An answer written to the wire as it is: the parts, then `then` for ever."""

    def answer(handler: Any) -> None:
        handler.close_connection = True
        for part in parts:
            handler.wfile.write(part)
        handler.wfile.flush()
        time.sleep(wait_s)
        while then:
            handler.wfile.write(then)
            if pause_s:
                handler.wfile.flush()
                time.sleep(pause_s)

    return answer


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1")


CHUNKED = head("Transfer-Encoding: chunked")


def encoded(coding: str, body: bytes) -> Reply:
    return Reply(body, headers=(("Content-Type", "text/html"), ("Content-Encoding", coding)))


@functools.cache
def gzip_bomb(megabytes: int) -> bytes:
    """One gzip member of so many megabytes of nothing."""
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    return b"".join([*(packer.compress(MEGABYTE) for _ in range(megabytes)), packer.flush()])


def zstd_bomb(megabytes: int, window_log: int = 20) -> bytes:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=window_log)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return b"".join([*(packer.compress(MEGABYTE) for _ in range(megabytes)), packer.flush()])


TOO_LARGE = {
    "a gzip of 64 MB": lambda: encoded("gzip", gzip_bomb(64)),
    "a gzip in a gzip": lambda: encoded("gzip, gzip", gzip.compress(gzip_bomb(64))),
    "three gzips in each other": lambda: encoded("gzip, gzip, gzip", gzip.compress(gzip.compress(gzip_bomb(64)))),
    "thousand gzip members": lambda: encoded("gzip", gzip_bomb(10) * 1000),
    "a deflate of 50 MB": lambda: encoded("deflate", zlib.compress(MEGABYTE * 50, 9)),
    "a zstd of 256 MB": lambda: encoded("zstd", zstd_bomb(256)),
    "a zstd in a gzip": lambda: encoded("zstd, gzip", gzip.compress(zstd_bomb(256))),
    "endless empty gzip members": lambda: stream(head("Content-Encoding: gzip"), then=gzip.compress(b"") * 3000),
    "endless empty zstd frames": lambda: stream(
        head("Content-Encoding: zstd"), then=zstandard.ZstdCompressor().compress(b"") * 9000
    ),
    "an endless name in the gzip header": lambda: stream(
        head("Content-Encoding: gzip"), b"\x1f\x8b\x08\x08\0\0\0\0\0\3", then=b"x" * 65536
    ),
    "endless chunks": lambda: stream(CHUNKED, then=b"10000\r\n" + b"x" * 0x10000 + b"\r\n"),
    "an endless body without a length": lambda: stream(head("Connection: close"), then=b"x" * 65536),
    "a chunk of size -1": lambda: stream(CHUNKED, b"-1\r\n", then=b"x" * 65536),
    "a chunk of 16 exabytes": lambda: stream(CHUNKED, b"FFFFFFFFFFFFFFFF\r\n", then=b"x" * 65536),
    "a length of 10^27": lambda: stream(head(f"Content-Length: {10**27}")),
    "a length of 900 MB and nothing": lambda: stream(head("Content-Length: 900000000")),
    "endless trailers": lambda: stream(CHUNKED, b"1\r\nx\r\n0\r\n", then=b"x: y\r\n" * 30_000),
    "endless 100 Continue": lambda: stream(then=b"HTTP/1.1 100 Continue\r\n\r\n" * 3000),
}
BROKEN = {
    "a chunk size of 5 and no end": (lambda: stream(CHUNKED, b"5;x=", then=b"y" * 65536), "protocol"),
    "a trailer without an end": (lambda: stream(CHUNKED, b"1\r\nx\r\n0\r\nx: ", then=b"y" * 65536), "protocol"),
    "a chunk of size -5": (lambda: stream(CHUNKED, b"-5\r\nabcde\r\n0\r\n\r\n"), "protocol"),
    "a chunk size in words": (lambda: stream(CHUNKED, b"five\r\nabcde\r\n0\r\n\r\n"), "protocol"),
    "a chunked body cut off": (lambda: stream(CHUNKED, b"5\r\nabc"), "protocol"),
    "less than its length": (lambda: stream(head("Content-Length: 100"), b"short"), "protocol"),
    "two lengths": (lambda: stream(head("Content-Length: 5", "Content-Length: 7"), b"abcdefg"), "protocol"),
    "a length in words": (lambda: stream(head("Content-Length: 5, 7"), b"abcdefg"), "protocol"),
    "a transfer coding nobody asked for": (
        lambda: stream(head("Transfer-Encoding: gzip, chunked"), b"5\r\nabcde\r\n0\r\n\r\n"),
        "protocol",
    ),
    "endless header lines": (lambda: stream(b"HTTP/1.1 200 OK\r\n", then=b"x: y\r\n" * 10_000), "protocol"),
    "one header without an end": (lambda: stream(b"HTTP/1.1 200 OK\r\nx: ", then=b"y" * 65536), "protocol"),
    "a status line without an end": (lambda: stream(b"HTTP/1.1 200 ", then=b"y" * 65536), "protocol"),
    "a status of 99999": (lambda: stream(head("Content-Length: 2", status="99999 ?") + b"ok"), "protocol"),
    "no status line": (lambda: stream(b"<html>hello"), "protocol"),
    "another protocol": (lambda: stream(b"220 mail.example ESMTP\r\n"), "protocol"),
    "nothing at all": (lambda: stream(), "protocol"),
    "a brotli nobody asked for": (lambda: encoded("br", b"\x8b\x02\x80Hello\x03"), "content_encoding"),
    "a coding nobody knows": (lambda: encoded("exi", b"x"), "content_encoding"),
    "four codings": (lambda: encoded("gzip, gzip, gzip, gzip", b"x"), "content_encoding"),
    "a thousand codings": (lambda: encoded(", ".join(["gzip"] * 1000), b"x"), "content_encoding"),
    "a zstd that wants a window of 128 MB": (lambda: encoded("zstd", zstd_bomb(200, 27)), "content_encoding"),
    "a gzip that is none": (lambda: encoded("gzip", b"<html>not packed"), "content_encoding"),
    "half a gzip": (lambda: encoded("gzip", gzip.compress(bytes(range(256)) * 99)[:-30]), "content_encoding"),
    "half a zstd": (lambda: encoded("zstd", zstandard.compress(os.urandom(9999))[:-30]), "content_encoding"),
}
SLOW = {
    "silence": lambda: stream(wait_s=1.5),
    "a status line byte by byte": lambda: stream(b"HTTP/1.1 2", then=b"0", pause_s=0.1),
    "header lines one by one": lambda: stream(b"HTTP/1.1 200 OK\r\n", then=b"x: y\r\n", pause_s=0.1),
    "one header byte by byte": lambda: stream(b"HTTP/1.1 200 OK\r\nx: ", then=b"y", pause_s=0.1),
    "a body byte by byte": lambda: stream(head("Content-Length: 1000"), then=b"y", pause_s=0.1),
    "a body without a length byte by byte": lambda: stream(head(), then=b"y", pause_s=0.1),
    "chunks byte by byte": lambda: stream(CHUNKED, then=b"1\r\nx\r\n", pause_s=0.1),
    "a chunk size byte by byte": lambda: stream(CHUNKED, then=b"0", pause_s=0.1),
    "trailers one by one": lambda: stream(CHUNKED, b"1\r\nx\r\n0\r\n", then=b"x: y\r\n", pause_s=0.1),
    "a gzip byte by byte": lambda: stream(
        head("Content-Encoding: gzip"), gzip.compress(b"x" * 99)[:20], then=b"\0", pause_s=0.1
    ),
    "100 Continue again and again": lambda: stream(then=b"HTTP/1.1 100 Continue\r\n\r\n", pause_s=0.1),
    "all but the last byte": lambda: stream(head("Content-Length: 3") + b"ab", wait_s=1.5),
    "millions of chunks of one byte": lambda: stream(CHUNKED, then=b"1\r\nx\r\n" * 10_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", TOO_LARGE)
def test_what_does_not_end_is_cut_at_the_limit(apart: Apart, site: Site, attack: str) -> None:
    site.pages["/"] = TOO_LARGE[attack]()
    outcome = apart.fetch(f"{site.url}/", settings={"total_timeout_s": 20.0, "connect_timeout_s": 20.0}, limit_s=8.0)
    assert outcome["reason"] == "too_large"
    assert outcome.peak_mb < 120


@pytest.mark.parametrize("attack", BROKEN)
def test_an_answer_that_is_no_http_is_a_failure_with_its_reason(apart: Apart, site: Site, attack: str) -> None:
    answer, reason = BROKEN[attack]
    site.pages["/"] = answer()
    outcome = apart.fetch(f"{site.url}/")
    assert outcome["reason"] == reason
    assert outcome["detail"]


@pytest.mark.parametrize("attack", SLOW)
def test_a_drip_ends_at_the_absolute_deadline(apart: Apart, site: Site, attack: str) -> None:
    site.pages["/"] = SLOW[attack]()
    outcome = apart.fetch(f"{site.url}/", settings=BRISK, limit_s=1.3)
    assert (outcome["reason"], outcome["retryable"]) == ("timeout", True)


def test_the_deadline_counts_over_all_redirects(apart: Apart, site: Site) -> None:
    def slow_redirect(handler: Any) -> Reply:
        time.sleep(0.2)
        return Reply(status=302, headers=(("Location", f"{handler.path}x"),))

    site.missing = slow_redirect
    outcome = apart.fetch(f"{site.url}/", settings=BRISK, limit_s=1.3)
    assert outcome["reason"] == "timeout"


REDIRECTS = {
    "to itself": (lambda path: path, "redirect_loop"),
    "to itself with a fragment": (lambda path: f"{path}#x", "redirect_loop"),
    "to itself with ever more": (lambda path: f"{path}x", "redirect_loop"),
    "to one of two": (lambda path: "/b" if path == "/a" else "/a", "redirect_loop"),
    "to an address of 60 kB": (lambda path: "/" + "x" * 60_000, "url_too_long"),
    "to an address of 200 kB": (lambda path: "/" + "x" * 200_000, "protocol"),
    "to nowhere": (lambda path: "", None),
}


@pytest.mark.parametrize("attack", REDIRECTS)
def test_redirects_without_an_end_end(apart: Apart, site: Site, attack: str) -> None:
    target, reason = REDIRECTS[attack]
    site.missing = lambda handler: Reply(status=302, headers=(("Location", target(handler.path)),))
    outcome = apart.fetch(f"{site.url}/a")
    assert outcome["reason"] == reason
    assert len(site.requests) <= 6


def test_the_address_asked_for_is_bounded_too(apart: Apart, site: Site) -> None:
    assert apart.fetch(f"{site.url}/{'x' * 70_000}")["reason"] == "url_too_long"
    assert site.requests == []


def test_a_second_answer_behind_the_first_is_not_taken_for_the_next(apart: Apart, site: Site) -> None:
    site.pages |= {
        "/a": stream(
            head("Content-Length: 0", "Location: /b", status="302 Found") + head("Content-Length: 4") + b"evil"
        ),
        "/b": "good",
    }
    assert apart.fetch(f"{site.url}/a")["body"] == "good"


def test_a_flood_of_cookies_makes_no_request_long(apart: Apart, site: Site) -> None:
    numbers = itertools.count()

    def bake(handler: Any) -> Reply:
        cookies = [("Set-Cookie", f"c{next(numbers)}={'x' * 3000}; Path=/") for _ in range(40)]
        return Reply(status=302, headers=(("Location", f"{handler.path}x"), *cookies))

    site.missing = bake
    apart.fetch(f"{site.url}/")
    assert len(site.requests) == 6
    assert len(site.requests[-1].headers["cookie"]) <= 8300


def test_a_giant_cookie_is_not_sent_back(apart: Apart, site: Site) -> None:
    site.pages |= {
        "/a": Reply(
            status=302, headers=(("Location", "/b"), ("Set-Cookie", f"big={'x' * 60_000}"), ("Set-Cookie", "a=1"))
        ),
        "/b": "end",
    }
    apart.fetch(f"{site.url}/a")
    assert site.requests[-1].headers["cookie"] == "a=1"


def test_an_honest_answer_under_the_same_limits_is_read(apart: Apart) -> None:
    """The tests above could pass because nothing works."""
    body = b"x" * (LIMIT - 1)
    with serve_site({"/": encoded("gzip", gzip.compress(body))}) as site:
        assert apart.fetch(f"{site.url}/")["length"] == len(body)
