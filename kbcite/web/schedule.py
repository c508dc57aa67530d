"""When a page is visited again, and which page first where not all can be (SPEC 62, 65).

A visit is worth the time for which the store is right because of it. A page that changes at the rate r and was last seen t seconds
ago is still right with the chance exp(-rt); visits every t seconds therefore keep it right for (1 - exp(-rt)) / r of each interval,
and (1 - (1 + rt) exp(-rt)) / r is what the next second of waiting adds to the worth of the visit (Azar, Horvitz, Lubetzky, Peres,
Shahaf: Tractable near-optimal policies for crawling, PNAS 2018). A page is due when its visit is worth as much as that of a page of
which nothing is known after the settings' interval. What changes faster than it can be followed is so not run after: visiting by
rate of change leaves the store less fresh than visiting all alike. `python -m tests.bench.schedule` measures that on a
simulated stream of pages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from kbcite.clock import from_text, seconds_between, to_text
from kbcite.records import Evidence, PageState
from kbcite.settings import RecheckSettings

DAY_S = 86_400
MIN_INTERVAL_S = DAY_S
MAX_INTERVAL_S = 30 * DAY_S
CHECK_MISSING_AFTER_S = DAY_S
PRIOR_SIGMA = 2.0
"""Width of the prior of a page's rate of change: e^2 to either side is one sigma."""


def is_due(due_at: str, now: str) -> bool:
    """Whether a page's next visit has come."""
    return due_at <= now


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
