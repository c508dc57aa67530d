"""A fetch that goes through an MCP server's tool, in the place of kbcite's own.

What the tool gives is taken for a page: its HTML as it is, or the HTML of its Markdown, in which tags of the text are text. So it goes
the way of every page: decoded, cleaned, its invisible letters and its orders to a reader dropped, archived. The whitelist, robots.txt
(which is fetched without the tool) and addresses are asked before the tool is; where the tool is redirected to is not known.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from kbcite.clock import Clock, system_clock
from kbcite.errors import KbciteError
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.urls import resolve, split
from kbcite.web.addresses import is_private
from kbcite.web.fetch import allow_any
from kbcite.web.guard import NameNotFound, look_up
from kbcite.web.tool_server import PREFIX, ToolServer
from kbcite.web.visitor import Fetch

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

TOOL = "x-kbcite-tool"
"""Header of a page that came through a tool: which."""
_HTML = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_PREAMBLE_CHARS = 1000
"""Within which a tool's own words before a page end."""
_TITLE = re.compile(r"^#\s+(.+)$", re.MULTILINE)


class ToolFetch:
    """A `Fetch` whose pages come from a tool; safe to use from several threads.

    plain: fetches robots.txt. allows_private: whether the host of a URL may be at a private address. max_bytes: of a page.
    """

    def __init__(
        self,
        server: ToolServer,
        plain: Fetch,
        allows_private: Callable[[str], bool],
        *,
        max_bytes: int,
        within_s: float,
        clock: Clock = system_clock,
    ) -> None:
        self._server = server
        self._plain = plain
        self._allows_private = allows_private
        self._max_bytes = max_bytes
        self._within_s = within_s
        self._clock = clock

    def fetch(
        self,
        url: str,
        *,
        is_allowed: Callable[[str], str | None] = allow_any,
        etag: str | None = None,  # noqa: ARG002 - a tool cannot be asked whether a page has changed
        last_modified: str | None = None,  # noqa: ARG002 - as above
        types: tuple[str, ...] | None = None,
        cut_at: int | None = None,
    ) -> FetchedPage | FetchFailure:
        """The page at a URL as the tool gives it, or why there is none: `tool_failed`, `tool_error`, or a reason of `Fetcher.fetch`."""
        current = resolve(url, url)
        parts = split(current) if current is not None else None
        if current is None or parts is None:
            return FetchFailure(url, "scheme", "only http and https addresses are fetched", retryable=False)
        if parts.path == "/robots.txt":
            return self._plain(url, is_allowed=is_allowed, types=types, cut_at=cut_at)
        started = time.monotonic()
        if refusal := is_allowed(current):
            reason, _, detail = refusal.partition(": ")
            return FetchFailure(url, reason, detail, retryable=False)
        try:
            if not self._allows_private(current) and _is_at_private(parts.host, parts.port, self._within_s):
                return FetchFailure(url, "private_address", f"{parts.host} is at a private address", retryable=False)
            reply = self._server.call({"url": current}, self._within_s)
        except NameNotFound as error:
            return FetchFailure(url, "dns", str(error), retryable=True)
        except KbciteError as error:
            return FetchFailure(url, "tool_failed", str(error), retryable=True)
        text = reply.text or _only_text(reply.structured)
        if reply.is_error or not text.strip():
            said = " ".join(text.split())[:300] or "it gave no text"
            return FetchFailure(url, "tool_error", f'tool of "{self._server.name}": {said}', retryable=True)
        body = page_of(text, current).encode("utf-8", "replace")
        if len(body) > self._max_bytes:
            return FetchFailure(url, "too_large", f"more than {self._max_bytes} bytes", retryable=False)
        return FetchedPage(
            url,
            current,
            200,
            (("content-type", "text/html; charset=utf-8"), (TOOL, PREFIX + self._server.name)),
            body,
            self._clock(),
            encoded_length=len(body),
            elapsed_s=time.monotonic() - started,
        )


def page_of(text: str, url: str) -> str:
    """The HTML page in a tool's text, or the page that its Markdown makes."""
    found = _HTML.search(text[:_PREAMBLE_CHARS])
    if found:
        return text[found.start() :]
    first, _, rest = text.lstrip().partition("\n")
    markdown = rest if url in first and first.rstrip().endswith(":") else text  # "Contents of URL:" is the tool's
    title = _TITLE.search(markdown)
    head = f"<title>{html.escape(title[1].strip())}</title>" if title else ""
    return (
        f'<!doctype html><html><head><meta charset="utf-8">{head}</head>'
        f"<body><main>{_markdown().render(markdown)}</main></body></html>"
    )


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _only_text(structured: object) -> str:
    """The longest text of a structured result: a page is longer than its address and its title."""
    if not isinstance(structured, dict):
        return ""
    return max((value for value in structured.values() if isinstance(value, str)), key=len, default="")


def _is_at_private(host: str, port: str, within_s: float) -> bool:
    addresses = look_up(host.strip("[]"), int(port or 443), within_s)
    return any(is_private(str(address[4][0])) for address in addresses)
