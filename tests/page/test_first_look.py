from __future__ import annotations

import pytest

from kbcite.fetch_records import FetchedPage
from kbcite.page.first_look import look_at, read_or_skip
from kbcite.records import Skipped, Stage

URL = "https://example.com/notices/"


def fetched(body: bytes, content_type: str = "text/html") -> FetchedPage:
    return FetchedPage(URL, URL, 200, (("content-type", content_type),), body, "2026-11-30T08:00:00Z")


def test_a_first_look_decodes_follows_the_encoding_into_queries_and_finds_no_wall() -> None:
    look = look_at(fetched("<p>停水公告</p><a href='/list?区=东'>东区</a>".encode("gbk"), "text/html; charset=gbk"))
    assert look.decoded.encoding == "gb18030"
    assert look.links.links == ("https://example.com/list?%C7%F8=%B6%AB",)
    assert look.wall is None


def test_a_refresh_is_a_wall_that_leads_on() -> None:
    wall = look_at(fetched(b"<meta http-equiv=refresh content='0;url=/new/'>")).wall
    assert wall is not None
    assert (wall.kind, wall.target) == ("meta_refresh", "https://example.com/new/")


def test_what_a_reader_cannot_bear_is_named() -> None:
    def read() -> str:
        raise RecursionError("too deep")

    assert read_or_skip(URL, Stage.LIVE, read) == Skipped(URL, Stage.LIVE, "internal_error", "RecursionError: too deep")


def test_an_interrupt_is_not_held_up() -> None:
    def read() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_or_skip(URL, Stage.LIVE, read)
