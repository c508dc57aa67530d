import pytest

from kbcite.fetch_records import Evidence, FetchedPage, FetchFailure
from kbcite.records import PageState
from kbcite.settings import RecheckSettings
from kbcite.web.liveness import (
    after_failure,
    after_missing,
    is_missing,
    is_sent_home,
    moved_to,
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
