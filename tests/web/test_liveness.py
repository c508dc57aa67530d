import math
import random
from datetime import timedelta

import pytest

from kbcite.clock import from_text, to_text
from kbcite.records import Evidence, FetchedPage, FetchFailure, PageState
from kbcite.settings import RecheckSettings
from kbcite.web.liveness import (
    after_failure,
    after_missing,
    change_rate,
    is_missing,
    is_sent_home,
    moved_to,
    next_visit,
    wants_full_fetch,
)

SETTINGS = RecheckSettings(interval_days=7, dead_after_checks=3, dead_after_days=3)
ALIVE = Evidence(PageState.ALIVE)
DAYS = [f"2026-11-{day:02}T12:00:00Z" for day in range(1, 31)]


def answer(status: int, *redirects: tuple[int, str], final: str = "https://e.com/a") -> FetchedPage:
    return FetchedPage("https://e.com/a", final, status, (), b"", DAYS[0], redirects)


def test_three_answers_over_three_days_make_a_page_dead() -> None:
    first = after_missing(ALIVE, DAYS[0], SETTINGS)
    assert first == Evidence(PageState.UNREACHABLE, 1, DAYS[0])
    third = after_missing(after_missing(first, DAYS[1], SETTINGS), DAYS[3], SETTINGS)
    assert third == Evidence(PageState.DEAD, 3, DAYS[0])


def test_many_answers_on_one_day_do_not() -> None:
    evidence = ALIVE
    for _ in range(10):
        evidence = after_missing(evidence, DAYS[0], SETTINGS)
    assert (evidence.state, evidence.misses) == (PageState.UNREACHABLE, 10)


def test_two_answers_far_apart_do_not() -> None:
    assert after_missing(after_missing(ALIVE, DAYS[0], SETTINGS), DAYS[29], SETTINGS).state is PageState.UNREACHABLE


def test_no_number_of_failures_kills_a_page() -> None:
    evidence = ALIVE
    for _ in range(100):
        evidence = after_failure(evidence)
    assert evidence == Evidence(PageState.UNREACHABLE, failures=100)


def test_a_failure_between_two_misses_changes_neither() -> None:
    evidence = after_failure(after_missing(ALIVE, DAYS[0], SETTINGS))
    assert (evidence.misses, evidence.missing_since) == (1, DAYS[0])


def test_a_dead_page_stays_dead_while_its_server_is_down() -> None:
    assert after_failure(Evidence(PageState.DEAD, 3, DAYS[0])).state is PageState.DEAD


@pytest.mark.parametrize(("status", "missing"), [(404, True), (410, True), (403, False), (429, False), (500, False)])
def test_only_404_and_410_say_that_a_page_is_gone(status: int, missing: bool) -> None:
    assert is_missing(answer(status)) is missing


def test_a_lost_connection_does_not_say_so() -> None:
    assert not is_missing(FetchFailure("u", "dns", "", True))


def test_a_permanent_redirect_is_a_move_at_once_and_a_temporary_one_after_some_checks() -> None:
    there = "https://e.com/b"
    assert moved_to(answer(200, (301, "https://e.com/a"), final=there), ALIVE, SETTINGS) == there
    assert moved_to(answer(200, (302, "https://e.com/a"), final=there), ALIVE, SETTINGS) is None
    assert moved_to(answer(200, (301, "x"), (302, "y"), final=there), ALIVE, SETTINGS) is None
    twice = Evidence(PageState.UNREACHABLE, failures=2)
    assert moved_to(answer(200, (302, "https://e.com/a"), final=there), twice, SETTINGS) == there
    assert moved_to(answer(200), ALIVE, SETTINGS) is None


@pytest.mark.parametrize(
    ("asked", "final", "home"),
    [
        ("https://e.com/a", "https://e.com/", True),
        ("https://e.com/a", "https://www.e.com/", True),
        ("https://e.com/a", "https://e.com/b", False),
        ("https://e.com/", "https://www.e.com/", False),
    ],
)
def test_being_sent_to_the_start_page_is_a_404(asked: str, final: str, home: bool) -> None:
    page = FetchedPage(asked, final, 200, (), b"", DAYS[0], ((302, asked),))
    assert is_sent_home(page) is home


@pytest.mark.parametrize(
    ("unmodified", "last_full_at", "wanted"),
    [(0, DAYS[28], False), (10, DAYS[28], True), (0, "2026-10-01T00:00:00Z", True), (0, None, True)],
)
def test_not_modified_is_believed_for_a_while(unmodified: int, last_full_at: str | None, wanted: bool) -> None:
    assert wants_full_fetch(unmodified, last_full_at, DAYS[29]) is wanted


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
