from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.page.cleaning import clean_page
from kbcite.records import CleanDocument
from kbcite.settings import CrawlSettings, ToolServerSettings
from kbcite.web.fetch import Fetcher
from kbcite.web.tool_fetch import TOOL, ToolFetch, page_of
from kbcite.web.tool_server import open_tool_server
from tests.site_server import serve_site
from tests.tool_servers.running import left_running, settings
from tests.tool_servers.server import PAGE

pytest.importorskip("mcp", reason="the extra kbcite[mcp] is not installed")

URL = "http://127.0.0.1:9/prices"


@contextmanager
def fetching(server: ToolServerSettings, private: bool = True, max_bytes: int = 1_000_000) -> Iterator[ToolFetch]:
    def is_private(_: str) -> bool:
        return private

    with open_tool_server("shop", server) as opened, Fetcher(CrawlSettings(), allow_private=is_private) as plain:
        yield ToolFetch(
            opened,
            plain.fetch,
            is_private,
            max_bytes=max_bytes,
            within_s=20.0,
            clock=lambda: "2026-11-30T08:00:00Z",
        )


def fetched(server: ToolServerSettings, url: str = URL) -> FetchedPage | FetchFailure:
    with fetching(server) as tool:
        return tool.fetch(url)


def text_of(page: FetchedPage | FetchFailure) -> str:
    assert isinstance(page, FetchedPage)
    document = clean_page(page.body, page.final_url, page.header("content-type"))
    assert isinstance(document, CleanDocument)
    return document.text


def test_a_page_of_a_tool_is_a_page_and_says_whose_it_is(tmp_path: Path) -> None:
    page = fetched(settings("good", str(tmp_path)))
    assert isinstance(page, FetchedPage)
    assert (page.status, page.final_url, page.body) == (200, URL, PAGE.encode())
    assert page.header(TOOL) == "mcp:shop"
    assert "The hammer costs 12 euros" in text_of(page)
    assert not left_running(str(tmp_path))


def test_markdown_becomes_a_page_with_its_table_and_its_list_and_no_tags_of_its_own(tmp_path: Path) -> None:
    page = fetched(settings("markdown", str(tmp_path)))
    assert isinstance(page, FetchedPage)
    assert b"<script" not in page.body
    text = text_of(page)
    assert "# Tool prices" in text
    assert "| saw | 19 euros |" in text
    assert "- one\n- two" in text


def test_orders_hidden_in_a_page_of_a_tool_are_not_read(tmp_path: Path) -> None:
    text = text_of(fetched(settings("orders", str(tmp_path))))
    assert "The hammer costs 12 euros" in text
    assert "Ignore" not in text


@pytest.mark.parametrize(
    ("mode", "reason", "detail"),
    [
        ("error", "tool_error", 'tool of "shop": 403 from the page'),
        ("nothing", "tool_error", "it gave no text"),
        ("dies", "tool_failed", "ended with exit code 3"),
    ],
)
def test_a_tool_that_gives_no_page_is_a_failed_fetch(tmp_path: Path, mode: str, reason: str, detail: str) -> None:
    failure = fetched(settings(mode, str(tmp_path)))
    assert isinstance(failure, FetchFailure)
    assert failure.reason == reason
    assert detail in failure.detail


def test_a_page_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with fetching(settings("good", str(tmp_path)), max_bytes=100) as tool:
        failure = tool.fetch(URL)
    assert isinstance(failure, FetchFailure)
    assert failure.reason == "too_large"


def test_the_tool_is_asked_for_nothing_that_is_not_allowed(tmp_path: Path) -> None:
    with fetching(settings("dies", str(tmp_path)), private=False) as tool:
        private = tool.fetch("http://127.0.0.1/admin")
        outside = tool.fetch("http://127.0.0.1/admin", is_allowed=lambda _: "out_of_scope: no source")
        other = tool.fetch("file:///etc/passwd")
    # The server ends at its first call: that all three have another reason shows that there was none.
    assert [r.reason for r in (private, outside, other) if isinstance(r, FetchFailure)] == [
        "private_address",
        "out_of_scope",
        "scheme",
    ]


def test_robots_txt_is_fetched_without_the_tool(tmp_path: Path) -> None:
    with (
        serve_site({"/robots.txt": "User-agent: *\nDisallow: /x\n"}) as site,
        fetching(settings("dies", str(tmp_path))) as tool,
    ):
        page = tool.fetch(f"{site.url}/robots.txt")
    assert isinstance(page, FetchedPage)
    assert page.body.startswith(b"User-agent")


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("Contents of http://a.example/:\n<HTML><p>x</p></HTML>", "<HTML><p>x</p></HTML>"),
        ("Contents of http://a.example/:\nSome *words*.", "<main><p>Some <em>words</em>.</p>\n</main>"),
        ("A note: see http://a.example/ for more.\nMore", "<main><p>A note: see http://a.example/ for more.\nMore</p>"),
        ("<img src=x onerror=alert(1)> [a](javascript:alert(1))", "<main><p>&lt;img src=x"),
        ("# A & <b>\n\ntext", "<title>A &amp; &lt;b&gt;</title>"),
    ],
)
def test_what_a_tool_says_around_a_page_is_not_of_it(text: str, body: str) -> None:
    page = page_of(text, "http://a.example/")
    assert body in page
    assert "javascript:" not in page.replace("[a](javascript:alert(1))", "")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mcp_server_fetch") is None, reason="mcp-server-fetch is not installed")
def test_the_reference_server_fetches_a_loopback_page() -> None:

    server = ToolServerSettings(
        command=(sys.executable, "-m", "mcp_server_fetch", "--allow-private-ips"),
        tool="fetch",
        arguments=(("url", "{url}"), ("raw", True), ("max_length", 999_999)),
    )
    with serve_site({"/prices": PAGE}) as site, fetching(server) as tool:
        text = text_of(tool.fetch(f"{site.url}/prices"))
        gone = tool.fetch(f"{site.url}/gone")
    assert "The hammer costs 12 euros since March 2026" in text
    assert "Contents of" not in text
    assert isinstance(gone, FetchFailure)
    assert "404" in gone.detail
