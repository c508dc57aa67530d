"""Renders pages in a process of its own: `python -m tests.web.render_alone SITE PATH...`; one JSON line a page, then one for the process.

Its memory is so measured by itself, and it can be killed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kbcite.clock import system_clock
from kbcite.fetch_records import FetchedPage
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.web.browser import Browser, BrowserLimits, Rendered
from kbcite.web.fetch import Fetcher
from kbcite.web.page_reader import PageLimits
from kbcite.web.page_requests import PageRequests
from kbcite.web.scope import Scope
from tests.apart import peak_mb

LIMITS = BrowserLimits(memory_bytes=600_000_000, pages=100, parallel=2)
PAGE_LIMITS = PageLimits(page_s=20.0, max_requests=100, max_nodes=50_000)


def main(site: str, paths: list[str]) -> None:
    settings = CrawlSettings(connect_timeout_s=5.0, total_timeout_s=10.0)
    scope = Scope((SourceSettings(url=f"{site}/", allow_private=True),))
    with (
        Fetcher(settings, allow_private=scope.allows_private) as fetcher,
        Browser(
            PageRequests(fetcher.fetch, scope, {}, system_clock), fetcher.user_agent, "", LIMITS, PAGE_LIMITS
        ) as browser,
    ):

        def render(path: str) -> dict[str, Any]:
            page = fetcher.fetch(site + path)
            assert isinstance(page, FetchedPage)
            began = time.monotonic()
            result = browser.render(page)
            took = round(time.monotonic() - began, 2)
            if isinstance(result, Rendered):
                return {"path": path, "html": result.html, "left_for": result.left_for, "took": took}
            return {"path": path, "reason": result.reason, "detail": result.detail, "took": took}

        with ThreadPoolExecutor(4) as pool:
            for outcome in pool.map(render, paths):
                print(json.dumps(outcome), flush=True)
        pid = browser._running.pid if browser._running else 0
        print(json.dumps({"pid": os.getpid(), "group": pid, "starts": browser.starts, **memory()}), flush=True)
        if os.environ.get("KBCITE_TEST_STAYS"):
            time.sleep(600)


def memory() -> dict[str, float]:
    return {"peak_mb": peak_mb()}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
