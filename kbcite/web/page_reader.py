"""One page in the browser: what it is handed, when it is read, and how it ends. Everything here runs in the browser's loop."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Coroutine
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error

from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.urls import resolve, url_key
from kbcite.web.browser_scripts import MEASURE, SERIALISE
from kbcite.web.page_requests import PageRequest, PageRequests

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Page, Route

POLL_S = 0.1
SETTLED_S = 0.5
"""A page with text, and without a request under way, is read when its text stood still this long."""
PATIENCE_S = 3.0
"""The same for a page that still says next to nothing, or that it is loading."""
RESTLESS_S = 15.0
"""A page whose text never stands still is read as it is then."""
FULL_CHARS = 200
LEAVING_COST = 20
"""Requests that an attempt to leave the page, or a dialog, counts as: an endless loop of them is to end soon."""
_HOP_HEADERS = frozenset(
    "content-encoding content-length transfer-encoding connection keep-alive link refresh alt-svc nel report-to reporting-endpoints"
    " strict-transport-security clear-site-data content-disposition".split()
)


@dataclass(frozen=True, slots=True)
class PageLimits:
    page_s: float = 25.0
    """From the moment a page is handed over, whatever it does."""
    max_requests: int = 400
    max_bytes: int = 30_000_000
    """Of all that a page asks for."""
    max_html_chars: int = 5_000_000
    max_nodes: int = 300_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page was when it was read."""

    html: str
    left_for: str | None
    """Where a script wanted to take the reader."""


class Ended(Exception):
    """A page was over before it could be read."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class PageReader:
    """Hands a fetched page over to a browser context and reads it when its scripts are done."""

    def __init__(self, page: FetchedPage, requests: PageRequests, workers: Executor, limits: PageLimits) -> None:
        self._url = page.final_url
        self._document: FetchedPage | None = page
        self._requests = requests
        self._workers = workers
        self._limits = limits
        self._page: Page | None = None
        self._pending = 0
        self._asked = 0
        self._bytes = 0
        self._left_for: str | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()

    def end(self, reason: str, detail: str) -> None:
        """Give the page up; whoever reads it gets `Ended`."""
        if not self._ended.done():
            self._ended.set_exception(Ended(reason, detail))

    async def read(self, context: BrowserContext, wait_selector: str) -> Reading:
        """The page after its scripts ran. Raises Ended; Playwright's Error where the browser is lost."""
        work = asyncio.ensure_future(self._read(context, wait_selector))
        waiting: set[asyncio.Future[Reading]] = {work, self._ended}
        try:
            done, _ = await asyncio.wait(waiting, timeout=self._limits.page_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise Ended("render_timeout", f"not to be read in {self._limits.page_s:g} s")
            return (self._ended if self._ended in done else work).result()
        finally:
            for future in waiting:
                future.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*waiting, *self._tasks, return_exceptions=True)

    async def _read(self, context: BrowserContext, wait_selector: str) -> Reading:
        await context.route("**/*", self._on_request)
        self._page = page = await context.new_page()
        page.on("crash", lambda _: self.end("render_crashed", "the page's process crashed"))
        page.on("dialog", self._refuse_dialog)
        context.on("page", self._refuse_popup)
        await page.goto(self._url, wait_until="commit", timeout=self._limits.page_s * 1000)
        world = await _World.open(context, page)
        await self._settle(world, wait_selector)
        result = await world.run(SERIALISE.replace("MAX_CHARS", str(self._limits.max_html_chars)))
        if "tooLarge" in result:
            raise Ended("render_too_large", f"{result['tooLarge']} characters of HTML")
        return Reading(result["html"], self._left_for)

    async def _settle(self, world: _World, wait_selector: str) -> None:
        """Wait until the page has its text and the text stands still. Raises Ended for a page too large to be read."""
        script = MEASURE.replace("SELECTOR", json.dumps(wait_selector))
        began = changed_at = time.monotonic()
        last = None
        while True:
            seen = await world.run(script)
            now = time.monotonic()
            if seen["nodes"] > self._limits.max_nodes:
                raise Ended("render_too_large", f"more than {self._limits.max_nodes} nodes")
            if seen["isFound"] is None:
                raise Ended(
                    "render_selector", f"wait_selector {wait_selector!r} is no CSS selector; mend it in kbcite.toml"
                )
            if (text := (seen["chars"], seen["nodes"], seen["hash"])) != last:
                last, changed_at = text, now
            is_full = bool(wait_selector) or (seen["chars"] >= FULL_CHARS and not seen["isLoading"])
            patience = SETTLED_S if is_full and not self._pending else PATIENCE_S
            if seen["isFound"] and now - changed_at >= patience:
                return
            if now - began >= RESTLESS_S:
                break
            await asyncio.sleep(POLL_S)
        if not seen["isFound"]:
            raise Ended("render_selector", f"nothing matches wait_selector {wait_selector!r} after {RESTLESS_S:g} s")

    def _refuse_popup(self, other: Page) -> None:
        if other is not self._page:
            self._go(other.close())

    def _refuse_dialog(self, dialog: Dialog) -> None:
        self._count(LEAVING_COST, "it opens dialogs without end")
        self._go(dialog.dismiss())

    def _go(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            with suppress(Error):  # what it is about is gone already
                await work

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ------------------------------------------------------------ what the page asks for

    async def _on_request(self, route: Route) -> None:
        with suppress(Error):  # the page is gone meanwhile: nobody waits for the answer
            if route.request.is_navigation_request():
                await self._on_navigation(route)
            else:
                await self._on_fetch(route)

    async def _on_navigation(self, route: Route) -> None:
        """Hand over the document. A script that wants to leave for another address stays; where it wanted to go is noted."""
        if self._document is not None:
            document, self._document = self._document, None
            await route.fulfill(status=200, headers=_headers_of(document), body=document.body)
            return
        if self._is_top(route):
            target = resolve(self._url, route.request.url)
            if target is not None and route.request.method == "GET" and url_key(target) != url_key(self._url):
                self._left_for = self._left_for or target
            self._count(LEAVING_COST, "it reloads itself, or leaves for other addresses, without end")
        await route.abort("aborted")

    async def _on_fetch(self, route: Route) -> None:
        request = route.request
        self._count(1, f"more than {self._limits.max_requests} requests")
        wanted = PageRequest(
            self._url,
            request.url,
            request.resource_type,
            request.method,
            tuple(request.headers.items()),
            request.post_data_buffer if request.method == "POST" else None,
        )
        if self._ended.done() or self._requests.refusal(wanted) is not None:
            await route.abort("blockedbyclient")
            return
        self._pending += 1
        try:
            result = await asyncio.get_running_loop().run_in_executor(self._workers, self._requests.answer, wanted)
        finally:
            self._pending -= 1
        if isinstance(result, FetchFailure):
            await route.abort("failed")
            return
        self._bytes += len(result.body)
        if self._bytes > self._limits.max_bytes:
            self.end("render_requests", f"more than {self._limits.max_bytes} bytes asked for")
        await route.fulfill(status=result.status, headers=_headers_of(result), body=result.body)

    def _count(self, requests: int, detail: str) -> None:
        self._asked += requests
        if self._asked > self._limits.max_requests:
            self.end("render_requests", detail)

    def _is_top(self, route: Route) -> bool:
        try:
            return self._page is not None and route.request.frame == self._page.main_frame
        except Error:
            return False  # a popup's first request, before its frame is there


@dataclass(frozen=True, slots=True)
class _World:
    """A script world of our own in a page."""

    session: CDPSession
    context_id: int

    @classmethod
    async def open(cls, context: BrowserContext, page: Page) -> _World:
        session = await context.new_cdp_session(page)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        made = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "kbcite"})
        return cls(session, made["executionContextId"])

    async def run(self, script: str) -> Any:
        """What a script gives back. Raises Ended if it fails."""
        asked = {"expression": script, "contextId": self.context_id, "returnByValue": True}
        reply = await self.session.send("Runtime.evaluate", asked)
        if "exceptionDetails" in reply:
            raise Ended("render_crashed", first_line(reply["exceptionDetails"].get("exception", {}).get("description")))
        return reply["result"]["value"]


def first_line(error: object) -> str:
    """An error's text in one line, without the colours that Playwright gives it."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split())[:200] or type(error).__name__


def _headers_of(page: FetchedPage) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in page.headers:
        if name not in _HOP_HEADERS:
            headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    return headers
