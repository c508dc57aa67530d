"""Rendering: a fetch that hands pages whose words are not in their HTML to a browser, and gives back what the browser made of them.

It stands in the place of the plain fetch, under the same whitelist, robots.txt and pace, so that crawl and recheck store, compare and
follow the links of a rendered page as of any other. The browser starts with the first page that needs it. What is learned of each path
pattern is kept, so that the next run renders such pages at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from kbcite.clock import Clock, system_clock
from kbcite.errors import UsageError
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.page.app_shell import shell_sign, text_bytes
from kbcite.page.first_look import look_at
from kbcite.records import RenderMode
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.web.browser import Browser, why_unavailable
from kbcite.web.fetch import HTML_TYPES, allow_any
from kbcite.web.page_requests import PageFetch, PageRequests
from kbcite.web.render_verdicts import Need, RenderVerdict, RenderVerdicts
from kbcite.web.rendered_page import as_rendered
from kbcite.web.scope import Scope

MAX_LEAPS = 3
"""Times that a script may take the reader to another address before it says anything."""
GAIN_BYTES = 80
"""Text that rendering has to add to have been of use: more than a message that the page is not there."""
SIGNPOST_BYTES = 160
"""A page that says no more than this and leads elsewhere is only the way there."""
NO_BROWSER = "needs_browser"


class RenderingFetch:
    """A `Fetch` that renders; safe to use from several threads. Close it when the run is over.

    Raises UsageError where a source wants every page rendered and no browser is there, before anything is fetched.
    """

    def __init__(
        self,
        database: Database,
        fetch: PageFetch,
        sources: Sequence[SourceSettings],
        settings: CrawlSettings,
        user_agent: str,
        clock: Clock = system_clock,
    ) -> None:
        self._database = database
        self._plain = fetch
        self._scope = Scope(sources, forgotten_places(database.connection))
        self._clock = clock
        self._requests = PageRequests(fetch, self._scope, database.frontier.robots(), clock)
        self._user_agent = user_agent
        self._program = settings.browser
        self._browser: Browser | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        self.unavailable = why_unavailable(settings.browser)
        """Why there is no browser; None where there is one."""
        always = next((source for source in sources if source.render is RenderMode.ALWAYS), None)
        if always is not None and self.unavailable is not None:
            raise UsageError(f'{always.url} has render = "always", but {self.unavailable}')
        self._verdicts = RenderVerdicts(
            RenderVerdict(site, pattern, Need(need), pages, at)
            for site, pattern, need, pages, at in database.rendering.verdicts()
        )
        self.unread: list[str] = []
        """Pages that only a browser that is not there could read."""

    @property
    def rendered(self) -> int:
        """Pages that went through the browser."""
        return self._browser.rendered if self._browser is not None else 0

    def close(self) -> None:
        """End the browser; pages under way end as `interrupted`."""
        with self._lock:
            self._is_closed = True
        if self._browser is not None:
            self._browser.close()

    def __enter__(self) -> RenderingFetch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def save(self) -> None:
        """Keep what was learned of each path pattern; to be called by the thread that the database belongs to."""
        if new := self._verdicts.take_new():
            with self._database.transaction():
                self._database.rendering.save((one.site, one.pattern, one.need, one.pages, one.at) for one in new)

    def fetch(
        self,
        url: str,
        *,
        is_allowed: Callable[[str], str | None] = allow_any,
        etag: str | None = None,
        last_modified: str | None = None,
        types: tuple[str, ...] | None = None,
        cut_at: int | None = None,
    ) -> FetchedPage | FetchFailure:
        """As `Fetcher.fetch`; a page that needs it comes rendered, with the header that says so.

        Failures are besides those of `Browser.render`: `needs_browser` for a page that was rendered before and no browser is there.
        """
        page = self._plain(
            url, is_allowed=is_allowed, etag=etag, last_modified=last_modified, types=types, cut_at=cut_at
        )
        if cut_at is not None:
            return page
        first = page
        for _ in range(MAX_LEAPS):
            if not isinstance(page, FetchedPage) or not self._is_to_render(page):
                break
            outcome = self._render(page)
            if not isinstance(outcome, str):
                page = outcome
                break
            left = (*page.redirects, (page.status, page.final_url))
            page = self._plain(outcome, is_allowed=is_allowed, types=types)
            if isinstance(page, FetchedPage):
                page = replace(page, redirects=(*left, *page.redirects))
        return page if page is first else replace(page, url=url)

    def _is_to_render(self, page: FetchedPage) -> bool:
        """The body check, and what is known of such pages."""
        source = self._scope.source_of(page.final_url)
        content_type = (page.header("content-type") or "text/html").partition(";")[0].strip().lower()
        if source is None or source.render is RenderMode.NEVER or not page.body:
            return False
        if not 200 <= page.status < 300 or content_type not in HTML_TYPES:
            return False
        if source.render is RenderMode.ALWAYS:
            return True
        if self._verdicts.is_needed(page.final_url):
            return True
        if shell_sign(page.body) is None:
            self._verdicts.note(page.final_url, Need.STATIC, self._clock())
            return False
        return not self._verdicts.is_hopeless(page.final_url, self._clock()) and not _is_wall(page)

    def _render(self, page: FetchedPage) -> FetchedPage | FetchFailure | str:
        """The rendered page, or as it was fetched if rendering adds nothing; where its script leads, if it says nothing itself."""
        source = self._scope.require_source(page.final_url)
        browser = self._ready_browser()
        if browser is None:
            self.unread.append(page.final_url)
            if self._verdicts.was_needed(page.final_url):
                # The stored page is worth more than the shell that would take its place.
                return FetchFailure(page.url, NO_BROWSER, self.unavailable or "", retryable=False)
            return page
        result = browser.render(page, source.wait_selector)
        if isinstance(result, FetchFailure):
            if result.reason == "browser":
                self.unavailable = result.detail
            return result
        html = result.html.encode("utf-8", "replace")
        said = _seen(html)
        if said - _seen(page.body) < GAIN_BYTES:
            if result.left_for is not None and said < SIGNPOST_BYTES:
                return result.left_for
            need = Need.STATIC if shell_sign(page.body) is None else Need.BARREN
            self._verdicts.note(page.final_url, need, self._clock())
            if source.render is not RenderMode.ALWAYS:
                return page
        else:
            self._verdicts.note(page.final_url, Need.RENDERED, self._clock())
        return as_rendered(page, html, result.browser)

    def _ready_browser(self) -> Browser | None:
        with self._lock:
            if self.unavailable is not None:
                return None
            if self._browser is None and not self._is_closed:
                self._browser = Browser(self._requests, self._user_agent, self._program)
            return self._browser


def _seen(body: bytes) -> int:
    """Bytes of text that a reader may see."""
    return text_bytes(body, enough=len(body), is_frame_counted=True)


def _is_wall(page: FetchedPage) -> bool:
    """Whether something stands in front of the page that no browser is to get round."""
    found = look_at(page).wall
    return found is not None and found.kind != "script_redirect"
