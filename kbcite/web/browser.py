"""Door: a page whose words scripts write → its HTML after they ran, in an installed Chromium.

**Nothing slips past the guard.** The browser has no network: its proxy is a port that nothing listens on, and its resolver knows no
name and no address. What a page gets is handed to it, request by request, from `PageRequests`. What is not handed over (WebSocket,
WebRTC, prefetch, shared workers, what a later Chromium brings) meets a dead end, without a rule for it here.

**Nothing is left behind.** Chromium is a process group of its own that is killed when it does not close in time; when kbcite itself is
killed, the pipes to Playwright's driver and from there to Chromium close, and both end. Each page has a limit of time, of requests,
of bytes and of size; a process over its memory is killed, and the page with it. A page that hangs costs its own time alone.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kbcite.errors import UsageError
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.web.page_requests import PageRequests
from kbcite.web.processes import group_members, kill_group, kill_process

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, Playwright, ViewportSize

    from kbcite.web.page_reader import PageLimits, PageReader

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge")
MAC_PROGRAMS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
START_S = 30.0
CLOSE_S = 5.0
WATCH_S = 0.2
MEMORY_BLAME_S = 5.0
"""A page that crashes so soon after a process was killed for its memory is the one."""
VIEWPORT: ViewportSize = {"width": 1280, "height": 4000}
"""Tall, so that lists that load more when their end comes into view do so a few times, and not without end."""
_ARGUMENTS = (
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy",
    "--disable-quic",
    "--disable-gpu",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=512",
)


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    memory_bytes: int = 1_000_000_000
    """Of one process; each page has one of its own."""
    pages: int = 100
    """Rendered before the browser is started anew."""
    parallel: int = 3


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page after its scripts ran."""

    html: str
    browser: str
    """`Chromium 156.0.8078.114`."""
    left_for: str | None = None
    """Where a script wanted to take the reader."""


@dataclass(slots=True)
class _Running:
    """A started browser."""

    playwright: Playwright
    browser: PlaywrightBrowser
    pid: int
    """Of its first process, and of its process group."""
    user_agent: str
    readers: set[PageReader] = field(default_factory=set)
    served: int = 0
    is_condemned: bool = False
    killed_at: float = -60.0
    """When a process of it was last killed for its memory."""

    def is_over(self, limits: BrowserLimits) -> bool:
        return self.is_condemned or self.served >= limits.pages or not self.browser.is_connected()


def find_browser(wanted: str = "") -> str | None:
    """The path of Chromium's program: the one wanted, or the first installed one; None if there is none."""
    if wanted:
        return shutil.which(wanted)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found or next((program for program in MAC_PROGRAMS if Path(program).is_file()), None)


def why_unavailable(wanted: str = "") -> str | None:
    """Why no page can be rendered here, and what to install; None if one can."""
    if find_spec("playwright") is None:
        return 'rendering needs Playwright; run pip install "kbcite[render]"'
    if find_browser(wanted) is not None:
        return None
    if wanted:
        return f"browser = {wanted!r} in kbcite.toml is no program; name an installed Chromium, or leave it empty"
    return "rendering needs Chromium; install it (apt install chromium), or name it with browser in kbcite.toml"


class Browser:
    """Renders pages, a few at a time; safe to use from several threads. Chromium starts with the first page.

    Raises UsageError where Playwright or Chromium is missing.
    """

    def __init__(
        self,
        requests: PageRequests,
        user_agent: str,
        program: str = "",
        limits: BrowserLimits | None = None,
        page_limits: PageLimits | None = None,
    ) -> None:
        if reason := why_unavailable(program):
            raise UsageError(reason)
        self._program = find_browser(program) or program
        self._requests = requests
        self._user_agent = user_agent
        self._limits = limits or BrowserLimits()
        self._page_limits = page_limits
        self._loop: _Loop | None = None
        self._running: _Running | None = None
        self._workers = ThreadPoolExecutor(8, thread_name_prefix="kbcite-page-request")
        self._lock = threading.Lock()
        self._is_closed = False
        # Bound and never listened on: no other program can take the port, and who connects to it is refused.
        self._dead_end = socket.socket()
        self._dead_end.bind(("127.0.0.1", 0))
        self.rendered = 0
        """Pages given to Chromium."""
        self.starts = 0

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ from the caller's threads

    def render(self, page: FetchedPage, wait_selector: str = "") -> Rendered | FetchFailure:
        """The page after its scripts ran.

        A failure says `render_timeout`, `render_crashed`, `render_memory`, `render_too_large`, `render_requests`, `render_selector`,
        `browser` (which does not start) or `interrupted`.
        """
        with self._lock:
            if self._is_closed:
                return _interrupted(page)
            if self._loop is None:
                self._loop = _Loop(self._limits.parallel)
            self.rendered += 1
            future = asyncio.run_coroutine_threadsafe(self._render(self._loop, page, wait_selector), self._loop.loop)
        try:
            return future.result()
        except CancelledError:
            return _interrupted(page)

    def close(self) -> None:
        """End Chromium and everything that belongs to it; what is under way ends as `interrupted`."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        if self._loop is not None:
            running = self._running
            try:
                asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop.loop).result(3 * CLOSE_S)
            except FutureTimeoutError:
                if running is not None:
                    kill_group(running.pid)
            self._loop.stop()
        self._workers.shutdown(wait=False, cancel_futures=True)
        self._dead_end.close()

    # ------------------------------------------------------------ in the browser's loop

    async def _render(self, loop: _Loop, page: FetchedPage, wait_selector: str) -> Rendered | FetchFailure:
        from playwright.async_api import Error

        from kbcite.web.page_reader import Ended, PageLimits, PageReader, first_line

        limits = self._page_limits or PageLimits()
        async with loop.slots:
            for is_last_try in (False, True):
                reader = PageReader(page, self._requests, self._workers, limits)
                try:
                    running = await self._board(loop, reader)
                except (Error, OSError, TimeoutError) as error:
                    detail = f"{self._program} does not start: {first_line(error)}"
                    return FetchFailure(page.url, "browser", detail, retryable=False)
                try:
                    return await self._read(running, reader, wait_selector)
                except Ended as ended:
                    is_memory = (
                        ended.reason == "render_crashed" and time.monotonic() - running.killed_at < MEMORY_BLAME_S
                    )
                    if is_memory:
                        ended = Ended("render_memory", f"more than {self._limits.memory_bytes // 1_000_000} MB")
                    return FetchFailure(page.url, ended.reason, ended.detail, retryable=False)
                except Error as error:
                    # The browser went down for what another page did: once more in a new one.
                    running.is_condemned = True
                    if is_last_try or self._is_closed:
                        return FetchFailure(page.url, "render_crashed", first_line(error), retryable=False)
                finally:
                    await self._leave(loop, running, reader)
        raise AssertionError("the second try returns")

    async def _read(self, running: _Running, reader: PageReader, wait_selector: str) -> Rendered:
        """Raises Ended for a page that cannot be read, Playwright's Error where the browser is lost."""
        context = await running.browser.new_context(
            service_workers="block",
            accept_downloads=False,
            viewport=VIEWPORT,
            user_agent=running.user_agent,
            permissions=[],
        )
        try:
            reading = await reader.read(context, wait_selector)
        finally:
            await self._close_context(running, context)
        return Rendered(reading.html, f"Chromium {running.browser.version}", reading.left_for)

    async def _close_context(self, running: _Running, context: BrowserContext) -> None:
        from playwright.async_api import Error

        try:
            await asyncio.wait_for(context.close(), CLOSE_S)
        except Error:
            running.is_condemned = running.is_condemned or not running.browser.is_connected()
        except TimeoutError:
            running.is_condemned = True
            kill_group(running.pid)

    async def _board(self, loop: _Loop, reader: PageReader) -> _Running:
        """A browser with a seat taken in it; started where there is none, or the last one has served its time."""
        async with loop.turn:
            while self._running is not None and self._running.is_over(self._limits):
                if self._running.readers:
                    await loop.turn.wait()
                else:
                    over, self._running = self._running, None
                    await _stop(loop, over)
            if self._running is None:
                self._running = await asyncio.wait_for(self._start(loop), START_S)
            self._running.served += 1
            self._running.readers.add(reader)
            return self._running

    async def _leave(self, loop: _Loop, running: _Running, reader: PageReader) -> None:
        async with loop.turn:
            running.readers.discard(reader)
            loop.turn.notify_all()

    async def _start(self, loop: _Loop) -> _Running:
        from playwright.async_api import async_playwright

        playwright = await async_playwright().start()
        self.starts += 1
        try:
            browser = await playwright.chromium.launch(
                executable_path=self._program,
                args=[*_ARGUMENTS, f"--proxy-server=http://127.0.0.1:{self._dead_end.getsockname()[1]}"],
                # Chromium refuses to run its sandbox as root.
                chromium_sandbox=not (hasattr(os, "geteuid") and os.geteuid() == 0),
                handle_sigint=False,
                timeout=START_S * 1000,
            )
            session = await browser.new_browser_cdp_session()
            processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
            pid = next(int(one["id"]) for one in processes if one["type"] == "browser")
        except BaseException:
            await playwright.stop()
            raise
        version = browser.version.partition(".")[0]
        agent = f"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0 Safari/537.36 {self._user_agent}"
        running = _Running(playwright, browser, pid, agent)
        loop.watch = asyncio.ensure_future(self._watch_memory(running))
        return running

    async def _watch_memory(self, running: _Running) -> None:
        """Kill each process of the browser that takes more memory than a page may."""
        while True:
            await asyncio.sleep(WATCH_S)
            for pid, size in group_members(running.pid) if running.readers else ():
                if size > self._limits.memory_bytes:
                    running.killed_at = time.monotonic()
                    kill_process(pid)

    async def _shut_down(self) -> None:
        assert self._loop is not None
        running, self._running = self._running, None
        if running is not None:
            for reader in running.readers:
                reader.end("interrupted", "the browser was closed")
            await _stop(self._loop, running)
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _Loop:
    """An event loop in a thread of its own, and what belongs to it."""

    def __init__(self, parallel: int) -> None:
        self.loop = asyncio.new_event_loop()
        self.slots = asyncio.Semaphore(parallel)
        self.turn = asyncio.Condition()
        self.watch: asyncio.Future[None] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="kbcite-browser")
        self._thread.start()

    def _run(self) -> None:
        # Inherited by Playwright's driver: Ctrl-C is for kbcite, which ends what it started in its own time.
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(CLOSE_S)


async def _stop(loop: _Loop, running: _Running) -> None:
    """End a browser and its driver, by force where they do not end in time."""
    from playwright.async_api import Error

    if loop.watch is not None:
        loop.watch.cancel()
    for ending in (running.browser.close, running.playwright.stop):
        try:
            await asyncio.wait_for(ending(), CLOSE_S)
        except (Error, TimeoutError):
            kill_group(running.pid)


def _interrupted(page: FetchedPage) -> FetchFailure:
    return FetchFailure(page.url, "interrupted", "the browser was closed", retryable=False)
