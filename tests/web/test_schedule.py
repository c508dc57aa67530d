import math
import random
from datetime import timedelta

import pytest

from kbcite.clock import from_text, to_text
from kbcite.records import Evidence, PageState
from kbcite.settings import RecheckSettings
from kbcite.web.schedule import change_rate, is_due, next_visit

SETTINGS = RecheckSettings(interval_days=7, dead_after_checks=3, dead_after_days=3)
ALIVE = Evidence(PageState.ALIVE)
DAYS = [f"2026-11-{day:02}T12:00:00Z" for day in range(1, 31)]


def test_a_page_is_due_from_the_moment_of_its_next_visit() -> None:
    assert [is_due(DAYS[5], now) for now in DAYS[4:7]] == [False, True, True]


def days_until(evidence: Evidence, history: list[tuple[str, bool]]) -> float:
    due = next_visit(DAYS[29], evidence, history, SETTINGS)
    month, day = int(due[5:7]), int(due[8:10])
    return day - 30 if month == 11 else day + (0 if month == 12 else 31)


def test_a_new_page_is_seen_again_after_the_settings_interval() -> None:
    assert days_until(ALIVE, []) == 7


@pytest.mark.parametrize("per_day", [0.03, 0.2, 1.0])
def test_the_rate_of_a_simulated_page_is_found(per_day: float) -> None:
    chance = random.Random(5)
    moment, history = from_text(DAYS[0]), [(DAYS[0], True)]
    for _ in range(200):
        days = chance.choice([1, 2, 7])
        moment += timedelta(days=days)
        history.append((to_text(moment), chance.random() < 1 - math.exp(-per_day * days)))
    assert change_rate(history, 1 / (7 * 86_400)) * 86_400 == pytest.approx(per_day, rel=0.3)


def test_visits_in_quick_succession_tell_little() -> None:
    quick = [(f"2026-11-30T12:{minute:02}:00Z", False) for minute in range(20)]
    assert 6 <= days_until(ALIVE, quick) <= 8


def test_a_page_that_changes_daily_is_visited_daily() -> None:
    assert days_until(ALIVE, [(day, True) for day in DAYS[20:]]) == 1


def test_a_page_that_never_changed_is_visited_more_and_more_rarely_but_within_a_month() -> None:
    weekly = [DAYS[0], DAYS[7], DAYS[14], DAYS[21], DAYS[28]]
    assert days_until(ALIVE, [(day, False) for day in weekly]) > 14
    daily = [(day, False) for day in DAYS]
    assert 7 < days_until(ALIVE, daily) <= 30


def test_a_missing_page_is_checked_daily_and_a_dead_one_monthly() -> None:
    assert days_until(Evidence(PageState.UNREACHABLE, 1, DAYS[0]), []) == 1
    assert days_until(Evidence(PageState.DEAD, 3, DAYS[0]), []) == 30
    assert days_until(Evidence(PageState.UNREACHABLE, failures=1), []) == 1
    assert days_until(Evidence(PageState.UNREACHABLE, failures=9), []) == 7
