"""What a visit says about a page: alive, missing, dead, out of reach; and when to look again (SPEC 62, 63).

A page is dead only on repeated word of its server that it is gone: 404 or 410 on several checks spread over days. What may be the
network, a wall against bots or a bad day of the server (403, 429, 5xx, time-outs) makes it unreachable, for however long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from kbcite.clock import from_text, seconds_between, to_text
from kbcite.records import Evidence, FetchedPage, FetchFailure, PageState
from kbcite.settings import RecheckSettings
from kbcite.urls import split
from kbcite.web.frontier import describe

DAY_S = 86_400
MIN_INTERVAL_S = DAY_S
MAX_INTERVAL_S = 30 * DAY_S
FULL_FETCH_EVERY = 10
"""Every so many answers "not modified" the page is fetched in full: servers exist whose ETag never changes."""
FULL_FETCH_AFTER_S = 30 * DAY_S
CHECK_MISSING_AFTER_S = DAY_S
PRIOR_SIGMA = 2.0
"""Width of the prior of a page's rate of change: e^2 to either side is one sigma."""
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


def next_visit(now: str, evidence: Evidence, history: Sequence[tuple[str, bool]], settings: RecheckSettings) -> str:
    """When to look again.

    history: the page's last visits as (time, changed), oldest first. A page in trouble is seen again within days, a dead one
    once a month for its revival. Else the interval follows the page: see `interval_s`.
    """
    base = settings.interval_days * DAY_S
    if evidence.state is PageState.DEAD or evidence.state is PageState.MOVED:
        seconds = float(MAX_INTERVAL_S)
    elif evidence.misses:
        seconds = CHECK_MISSING_AFTER_S
    elif evidence.failures:
        seconds = min(base, CHECK_MISSING_AFTER_S * 2 ** (evidence.failures - 1))
    else:
        seconds = interval_s(history, base)
    return to_text(from_text(now) + timedelta(seconds=seconds))


def interval_s(history: Sequence[tuple[str, bool]], base_s: float) -> float:
    """Seconds between visits that fit how often the page was seen to change: about one visit a change.

    Between a day and thirty days, and the settings' interval for a page of which nothing is known.
    """
    rate = change_rate(history, 1.0 / base_s)
    return min(MAX_INTERVAL_S, max(MIN_INTERVAL_S, 1.0 / rate))


def change_rate(history: Sequence[tuple[str, bool]], prior_rate: float) -> float:
    """Changes a second: the likeliest rate of a Poisson process that is only seen at visits (Cho and Garcia-Molina, 2003).

    A visit that found a change after t seconds has the chance 1 - exp(-rate t), one that found none exp(-rate t). The prior
    is log-normal around `prior_rate` and wide, so that visits in quick succession, which tell little, change little.
    """
    changed: list[float] = []
    unchanged = 0.0
    for (before, _), (at, is_changed) in pairwise(history):
        span = float(max(1, seconds_between(before, at)))
        if is_changed:
            changed.append(span)
        else:
            unchanged += span
    low, high = math.log(prior_rate) - 12.0, math.log(prior_rate) + 12.0
    # The derivative of the log-likelihood by the rate's logarithm falls steadily, so halving finds its zero.
    for _ in range(40):
        middle = (low + high) / 2
        rate = math.exp(middle)
        slope = sum(_seen_change(rate * span) for span in changed) - rate * unchanged
        slope -= (middle - math.log(prior_rate)) / PRIOR_SIGMA**2
        low, high = (middle, high) if slope > 0 else (low, middle)
    return math.exp((low + high) / 2)


def _seen_change(expected: float) -> float:
    """x / (e^x - 1), without overflow."""
    return expected / math.expm1(expected) if expected < 500.0 else 0.0


def trouble_detail(result: FetchedPage | FetchFailure) -> str:
    """One line for the page's record: `status 503`, `timeout: no answer in 10 s`."""
    return f"{result.reason}: {result.detail}" if isinstance(result, FetchFailure) else describe(result)
