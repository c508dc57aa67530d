"""When a page is visited again, and which page first where not all can be (SPEC 62, 65).

A page that changes at the rate r and was last seen t seconds ago is still right in the store with the chance exp(-rt). What one more
second of waiting adds to the worth of its next visit is so (1 - (1 + rt) exp(-rt)) / r, and the store is right for the most of the
time if each visit goes where that is highest (Azar, Horvitz, Lubetzky, Peres, Shahaf: Tractable near-optimal policies for
crawling, PNAS 2018). It rises with the wait towards 1 / r: a page that changes often is worth visiting soon, one that changes
faster than it can be followed is not worth running after.

A page is due when its visit is worth as much as that of a page of which nothing is known yet after the settings' interval, within
the band of its source's tier. Prior and window were chosen on a simulated stream of 2,000 pages over 120 days;
`python -m tests.bench.schedule` runs this module on it again, against visiting all alike, two tiers, and Nutch's rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from itertools import pairwise

from kbcite.clock import from_text, seconds_between, to_text
from kbcite.fetch_records import Evidence
from kbcite.records import PageState, Tier
from kbcite.settings import RecheckSettings

HOUR_S = 3_600.0
DAY_S = 86_400.0
PRIOR_RATE = 0.1 / DAY_S
PRIOR_SIGMA = 3.0
"""The prior of a page's rate of change is log-normal: a change in ten days, and anything from hours to years."""
HISTORY_VISITS = 40
"""What a page did before its last visits of this number says nothing about it any more."""
CHECK_TROUBLE_AFTER_S = DAY_S
REVIVE_AFTER_S = 30 * DAY_S


@dataclass(frozen=True, slots=True)
class Band:
    """Least and most seconds between two visits of a page, and those for a page of which nothing is known yet."""

    least_s: float
    most_s: float
    first_s: float
    """Unless the settings' interval is shorter."""


BANDS = {
    Tier.LIVE: Band(HOUR_S, DAY_S, 6 * HOUR_S),
    Tier.DAILY: Band(DAY_S, DAY_S, DAY_S),
    Tier.WEEKLY: Band(DAY_S, 7 * DAY_S, 2 * DAY_S),
    Tier.MONTHLY: Band(DAY_S, 30 * DAY_S, 30 * DAY_S),
}

History = Sequence[tuple[str, bool]]
"""A page's last visits as (time, changed), oldest first."""
Spans = Sequence[tuple[float, bool]]
"""Seconds between two visits, and whether the second one found a change."""


def is_due(due_at: str, now: str) -> bool:
    """Whether a page's next visit has come."""
    return due_at <= now


def next_visit(
    now: str, evidence: Evidence, history: History, settings: RecheckSettings, tier: Tier = Tier.MONTHLY
) -> str:
    """When to look again.

    A page in trouble is looked at again within days, one that is dead or has moved once a month for its revival.
    """
    if evidence.state is PageState.DEAD or evidence.state is PageState.MOVED:
        seconds = REVIVE_AFTER_S
    elif evidence.misses:
        seconds = CHECK_TROUBLE_AFTER_S
    elif evidence.failures:
        seconds = min(settings.interval_days * DAY_S, CHECK_TROUBLE_AFTER_S * 2.0 ** min(evidence.failures - 1, 10))
    else:
        band = BANDS[tier]
        base_s = min(band.first_s, settings.interval_days * DAY_S)
        seconds = interval_s(change_rate(spans_of(history)), base_s, band)
    return to_text(from_text(now) + timedelta(seconds=round(seconds)))


def interval_s(rate: float, base_s: float, band: Band) -> float:
    """Seconds after which a visit is worth as much as that of an unknown page after `base_s`, kept in the band.

    A page too fast to be followed has no such time. It is seen as often as an unknown one: a copy of it is never right for
    long, but should not be months old.
    """
    wanted = worth_s(PRIOR_RATE, base_s) * rate
    if wanted >= 1.0:
        return _within(band, base_s)
    # Newton's steps from below the root, which x^2 / 2 >= share(x) gives; past the first they come from one side.
    expected = math.sqrt(2 * wanted)
    for _ in range(50):
        step = (wanted - _share(expected)) / (expected * math.exp(-expected))
        expected += step
        if abs(step) < 1e-9 * expected:
            break
    return _within(band, expected / rate)


def worth_s(rate: float, waited_s: float) -> float:
    """What a visit is worth: the more, the sooner it should be made. In seconds, from 0 to 1 / rate."""
    # A clock that was set back makes the time since the last visit negative.
    return _share(rate * max(0.0, waited_s)) / rate


def urgency(
    rate: float, waited_s: float, band: Band, *, is_marked: bool = False, is_in_trouble: bool = False
) -> tuple[int, float]:
    """A key that sorts the visits to be made, first things first.

    Pages that were named out of date, then those whose word of trouble waits to be confirmed or that were not seen for longer
    than their band allows, then the others by the worth of the visit.
    """
    if is_marked:
        return 0, -waited_s
    if is_in_trouble or waited_s > band.most_s:
        return 1, -waited_s
    return 2, -worth_s(rate, waited_s)


def change_rate(spans: Spans) -> float:
    """Changes a second: the likeliest rate of a Poisson process that is only seen at visits (Cho and Garcia-Molina, 2003).

    A visit that found a change after t seconds has the chance 1 - exp(-rate t), one that found none exp(-rate t). The prior
    is wide, so that visits in quick succession, which tell little, change little.
    """
    if not spans:
        return PRIOR_RATE
    changed = [span for span, is_changed in spans if is_changed]
    unchanged = sum(span for span, is_changed in spans if not is_changed)
    middle_of_prior = math.log(PRIOR_RATE)
    low, high = middle_of_prior - 4 * PRIOR_SIGMA, middle_of_prior + 4 * PRIOR_SIGMA
    # The derivative of the log-likelihood by the rate's logarithm falls steadily, so halving finds its zero.
    for _ in range(16):
        middle = (low + high) / 2
        rate = math.exp(middle)
        slope = sum(_seen_change(rate * span) for span in changed) - rate * unchanged
        slope -= (middle - middle_of_prior) / PRIOR_SIGMA**2
        low, high = (middle, high) if slope > 0 else (low, middle)
    return math.exp((low + high) / 2)


def spans_of(history: History) -> list[tuple[float, bool]]:
    return [
        (float(max(1, seconds_between(before, at))), is_changed)
        for (before, _), (at, is_changed) in pairwise(history[-HISTORY_VISITS:])
    ]


def with_last_modified(history: History, last_modified: str | None) -> History:
    """The history with the time before the first visit, where the server says since when the page had stood unchanged.

    What is younger than an hour is not believed: servers exist that call every answer modified just now.
    """
    if not last_modified or not history:
        return history
    try:
        moment = parsedate_to_datetime(last_modified)
        at = to_text(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return history
    first = history[0][0]
    if seconds_between(at, first) < HOUR_S:
        return history
    return [(at, True), (first, False), *history[1:]]


def _share(expected: float) -> float:
    """1 - (1 + x) / e^x, from 0 to 1."""
    return -math.expm1(-expected) - expected * math.exp(-expected)


def _seen_change(expected: float) -> float:
    """x / (e^x - 1), without overflow."""
    return expected / math.expm1(expected) if expected < 500.0 else 0.0


def _within(band: Band, seconds: float) -> float:
    return min(band.most_s, max(band.least_s, seconds))
