"""What a visit says about a page: alive, missing, dead, out of reach (SPEC 63).

A page is dead only on repeated word of its server that it is gone: 404 or 410 on several checks spread over days. What may be the
network, a wall against bots or a bad day of the server (403, 429, 5xx, time-outs) makes it unreachable, for however long.
"""

from __future__ import annotations

from kbcite.clock import seconds_between
from kbcite.fetch_records import Evidence, FetchedPage, FetchFailure
from kbcite.records import PageState
from kbcite.settings import RecheckSettings
from kbcite.urls import split
from kbcite.web.frontier import describe

DAY_S = 86_400
FULL_FETCH_EVERY = 10
"""Every so many answers "not modified" the page is fetched in full: servers exist whose ETag never changes."""
FULL_FETCH_AFTER_S = 30 * DAY_S
PERMANENT = frozenset({301, 308})


def is_missing(result: FetchedPage | FetchFailure) -> bool:
    return isinstance(result, FetchedPage) and result.status in (404, 410)


def after_missing(before: Evidence, now: str, settings: RecheckSettings) -> Evidence:
    """The evidence after one more answer that the page is gone."""
    since = before.missing_since or now
    misses = before.misses + 1
    is_dead = misses >= settings.dead_after_checks and seconds_between(since, now) >= settings.dead_after_days * DAY_S
    still_dead = before.state is PageState.DEAD
    return Evidence(PageState.DEAD if is_dead or still_dead else PageState.UNREACHABLE, misses, since, 0)


def after_failure(before: Evidence) -> Evidence:
    """The evidence after a visit that brought no answer about the page; what is missing stays as missing as it was."""
    state = before.state if before.state in (PageState.DEAD, PageState.MOVED) else PageState.UNREACHABLE
    return Evidence(state, before.misses, before.missing_since, before.failures + 1)


def moved_to(page: FetchedPage, before: Evidence, settings: RecheckSettings) -> str | None:
    """Where a page has moved, None if it has not.

    A permanent redirect is believed at once, a temporary one when it was met on as many checks as it takes to call a page
    dead. A redirect of a deep page to the start page is not a move (`is_sent_home`).
    """
    if not page.redirects or page.final_url == page.url:
        return None
    is_permanent = all(status in PERMANENT for status, _ in page.redirects)
    return page.final_url if is_permanent or before.failures + 1 >= settings.dead_after_checks else None


def is_sent_home(page: FetchedPage) -> bool:
    """Whether a redirect led from a page to the site's start page: how many sites say 404."""
    asked, got = split(page.url), split(page.final_url)
    return bool(
        page.redirects and asked and got and got.path == "/" and not got.query and (asked.path != "/" or asked.query)
    )


def wants_full_fetch(unmodified: int, last_full_at: str | None, now: str) -> bool:
    """Whether a page should be asked for without validators: after many "not modified" or long without its bytes."""
    if last_full_at is None or unmodified >= FULL_FETCH_EVERY:
        return True
    return seconds_between(last_full_at, now) >= FULL_FETCH_AFTER_S


def trouble_detail(result: FetchedPage | FetchFailure) -> str:
    """One line for the page's record: `status 503`, `timeout: no answer in 10 s`."""
    return f"{result.reason}: {result.detail}" if isinstance(result, FetchFailure) else describe(result)
