import math
import random
from datetime import timedelta

import pytest

from kbcite.clock import from_text, seconds_between, to_text
from kbcite.fetch_records import Evidence
from kbcite.records import PageState, Tier
from kbcite.settings import RecheckSettings
from kbcite.web.schedule import (
    BANDS,
    DAY_S,
    PRIOR_RATE,
    change_rate,
    interval_s,
    is_due,
    next_visit,
    spans_of,
    urgency,
    with_last_modified,
    worth_s,
)
from tests.bench.schedule import Known, Nutch, Ours, Policy, TwoTiers, simulate

SETTINGS = RecheckSettings(interval_days=7, dead_after_checks=3, dead_after_days=3)
ALIVE = Evidence(PageState.ALIVE)
DAYS = [f"2026-11-{day:02}T12:00:00Z" for day in range(1, 31)]
MONTHLY = BANDS[Tier.MONTHLY]


def days_until(evidence: Evidence, history: list[tuple[str, bool]], tier: Tier = Tier.MONTHLY) -> float:
    return seconds_between(DAYS[29], next_visit(DAYS[29], evidence, history, SETTINGS, tier)) / DAY_S


def test_a_page_is_due_from_the_moment_of_its_next_visit() -> None:
    assert [is_due(DAYS[5], now) for now in DAYS[4:7]] == [False, True, True]


# ------------------------------------------------------------ how often a page changes


@pytest.mark.parametrize("per_day", [0.03, 0.2, 1.0])
def test_the_rate_of_a_simulated_page_is_found(per_day: float) -> None:
    chance = random.Random(5)
    spans = []
    for _ in range(400):
        days = chance.choice([1, 2, 7])
        spans.append((days * DAY_S, chance.random() < 1 - math.exp(-per_day * days)))
    assert change_rate(spans) * DAY_S == pytest.approx(per_day, rel=0.3)


def test_the_rate_of_an_unknown_page_is_that_of_the_prior() -> None:
    assert change_rate([]) == pytest.approx(PRIOR_RATE, rel=0.01)


def test_only_the_last_visits_count() -> None:
    history = [(to_text(from_text(DAYS[0]) + timedelta(days=day)), day < 50) for day in range(100)]
    assert spans_of(history) == [(DAY_S, False)] * 39


def test_last_modified_is_a_visit_before_the_first() -> None:
    seen = with_last_modified([(DAYS[9], True), (DAYS[16], False)], "Mon, 02 Nov 2026 12:00:00 GMT")
    assert spans_of(seen) == [(8 * DAY_S, False), (7 * DAY_S, False)]


@pytest.mark.parametrize(
    "last_modified",
    [None, "", "yesterday", "Tue, 10 Nov 2026 11:59:00 GMT", "Fri, 20 Nov 2026 12:00:00 GMT", "Mon, 99 Nov 2026"],
)
def test_a_last_modified_that_says_nothing_is_left_out(last_modified: str | None) -> None:
    history = [(DAYS[9], True), (DAYS[16], False)]
    assert with_last_modified(history, last_modified) == history


# ------------------------------------------------------------ when it is visited


def test_a_new_page_is_seen_again_after_the_settings_interval() -> None:
    assert days_until(ALIVE, []) == pytest.approx(7, rel=0.01)


def test_visits_in_quick_succession_tell_little() -> None:
    quick = [(f"2026-11-30T12:{minute:02}:00Z", False) for minute in range(20)]
    assert 6 <= days_until(ALIVE, quick) <= 8


def test_a_page_that_changes_every_few_days_is_visited_more_often_than_an_unknown_one() -> None:
    history = [(day, n % 3 == 0) for n, day in enumerate(DAYS)]
    assert 2 < days_until(ALIVE, history) < 6


def test_a_page_that_changes_faster_than_it_can_be_followed_is_not_run_after_and_not_forgotten() -> None:
    hourly = [(to_text(from_text(DAYS[0]) + timedelta(hours=hour)), True) for hour in range(30)]
    assert days_until(ALIVE, hourly) == pytest.approx(7, rel=0.01)


def test_a_page_that_never_changed_is_visited_more_and_more_rarely_but_within_a_month() -> None:
    weekly = [DAYS[0], DAYS[7], DAYS[14], DAYS[21], DAYS[28]]
    waits = [days_until(ALIVE, [(day, False) for day in weekly[:n]]) for n in (1, 2, 3, 5)]
    assert waits == sorted(waits)
    assert waits[0] < 8
    assert 14 < waits[-1] <= 30


@pytest.mark.parametrize(
    ("tier", "least", "most"),
    [(Tier.LIVE, 1 / 24, 1), (Tier.DAILY, 1, 1), (Tier.WEEKLY, 1, 7), (Tier.MONTHLY, 1, 30)],
)
def test_a_tier_bounds_the_interval_from_both_sides(tier: Tier, least: float, most: float) -> None:
    often = [(to_text(from_text(DAYS[0]) + timedelta(minutes=10 * n)), True) for n in range(30)]
    never = [(day, False) for day in DAYS]
    assert least <= days_until(ALIVE, often, tier) <= most
    assert days_until(ALIVE, never, tier) <= most


def test_a_live_page_that_changes_hourly_is_visited_every_few_hours() -> None:
    hourly = [(to_text(from_text(DAYS[0]) + timedelta(hours=2 * n)), n % 2 == 0) for n in range(30)]
    assert days_until(ALIVE, hourly, Tier.LIVE) < 0.25


def test_a_missing_page_is_checked_daily_and_a_dead_one_monthly() -> None:
    assert days_until(Evidence(PageState.UNREACHABLE, 1, DAYS[0]), []) == 1
    assert days_until(Evidence(PageState.DEAD, 3, DAYS[0]), []) == 30
    assert days_until(Evidence(PageState.UNREACHABLE, failures=1), []) == 1
    assert days_until(Evidence(PageState.UNREACHABLE, failures=9000), []) == 7


# ------------------------------------------------------------ which page first


def test_waiting_makes_a_visit_worth_more_up_to_the_time_between_two_changes() -> None:
    worths = [worth_s(1 / DAY_S, days * DAY_S) for days in (0, 0.5, 1, 3, 100)]
    assert worths == sorted(worths)
    assert worths[0] == 0
    assert worths[-1] == pytest.approx(DAY_S)


def test_the_interval_ends_where_the_visit_is_worth_that_of_an_unknown_page() -> None:
    for rate in (PRIOR_RATE / 5, PRIOR_RATE, PRIOR_RATE * 4):
        waited = interval_s(rate, 7 * DAY_S, MONTHLY)
        assert worth_s(rate, waited) == pytest.approx(worth_s(PRIOR_RATE, 7 * DAY_S), rel=1e-6)


def test_what_was_named_out_of_date_comes_first_then_trouble_and_the_overdue_then_what_is_worth_most() -> None:
    keys = [
        urgency(PRIOR_RATE, DAY_S, MONTHLY, is_marked=True),
        urgency(PRIOR_RATE, 31 * DAY_S, MONTHLY),
        urgency(PRIOR_RATE, DAY_S, MONTHLY, is_in_trouble=True),
        urgency(PRIOR_RATE, 20 * DAY_S, MONTHLY),
        urgency(PRIOR_RATE, 10 * DAY_S, MONTHLY),
        urgency(PRIOR_RATE * 1000, 10 * DAY_S, MONTHLY),
    ]
    assert keys == sorted(keys)


@pytest.mark.parametrize("peer", [Policy, TwoTiers, Nutch])
def test_a_small_simulated_store_is_fresher_than_by_simple_rules(peer: type[Policy]) -> None:
    size = {"pages": 200, "days": 60, "seed": 1}
    ours, cost = simulate(Ours, 0.1, **size)
    assert cost <= 0.1
    assert ours > simulate(peer, 0.1, **size)[0] + 0.005
    assert ours > 0.9 * simulate(Known, 0.1, **size)[0]
