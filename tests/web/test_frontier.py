import pytest

from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.web.frontier import BREAKER_FAILURES, HostPace, retry_after_s, retry_pause_s

OK = FetchedPage("u", "u", 200, (), b"", "")
LOST = FetchFailure("u", "timeout", "", True)
REFUSED = FetchFailure("u", "content_type", "", False)


def status(code: int, *headers: tuple[str, str]) -> FetchedPage:
    return FetchedPage("u", "u", code, headers, b"", "")


def test_requests_keep_the_interval_with_jitter_on_top() -> None:
    pace = HostPace(2.0, 0.5, 8)
    assert pace.wait_s(100.0) == 0
    pace.begin(100.0)
    pace.end(100.1, OK)
    wait = pace.wait_s(100.1)
    assert wait is not None
    assert 1.9 <= wait <= 2.9


def test_one_request_at_a_time_where_there_is_an_interval() -> None:
    pace = HostPace(0.1, 0.0, 8)
    pace.begin(0.0)
    assert pace.wait_s(50.0) is None
    pace.end(50.0, OK)
    assert pace.wait_s(50.0) == 0


def test_several_at_a_time_where_there_is_none() -> None:
    pace = HostPace(0.0, 0.3, 2)
    pace.begin(0.0)
    assert pace.wait_s(0.0) == 0
    pace.begin(0.0)
    assert pace.wait_s(0.0) is None


def test_a_redirect_books_its_own_turn() -> None:
    pace = HostPace(1.0, 0.0, 1)
    pace.begin(10.0)
    assert pace.reserve(10.2) == pytest.approx(0.8)
    pace.end(11.1, OK)
    assert pace.wait_s(11.1) == pytest.approx(0.9)


def test_a_crawl_delay_slows_the_host_but_never_speeds_it_up() -> None:
    pace = HostPace(1.0, 0.0, 1)
    pace.begin(0.0)
    pace.slow_to(5.0)
    pace.slow_to(0.5)
    pace.end(0.1, OK)
    assert pace.wait_s(0.1) == pytest.approx(4.9)


def test_a_crawl_delay_beyond_reason_leaves_the_host_for_the_next_run() -> None:
    pace = HostPace(1.0, 0.0, 1)
    pace.slow_to(86_400)
    assert pace.wait_s(0.0) is None
    assert pace.closed is not None


def test_retry_after_is_honoured() -> None:
    pace = HostPace(0.0, 0.0, 1)
    pace.begin(0.0)
    pace.end(1.0, status(503, ("retry-after", "7")))
    assert pace.wait_s(1.0) == pytest.approx(7.0)


def test_a_long_retry_after_closes_the_host() -> None:
    pace = HostPace(0.0, 0.0, 1)
    pace.begin(0.0)
    pace.end(1.0, status(429, ("retry-after", "3600")))
    assert pace.closed == "it asks to come back in 3600 s"


def test_too_many_requests_double_the_interval() -> None:
    pace = HostPace(1.0, 0.0, 1)
    pace.begin(0.0)
    pace.end(1.0, status(429))
    assert pace.wait_s(1.0) == pytest.approx(2.0)


def test_failures_in_a_row_close_the_host() -> None:
    pace = HostPace(0.0, 0.0, 1)
    for _ in range(BREAKER_FAILURES):
        assert pace.closed is None
        pace.begin(0.0)
        pace.end(0.0, LOST)
    assert pace.wait_s(1e9) is None
    assert str(pace.closed).endswith("the last with timeout")


@pytest.mark.parametrize("good", [OK, status(404), REFUSED])
def test_what_is_not_the_hosts_fault_ends_the_row(good: FetchedPage | FetchFailure) -> None:
    pace = HostPace(0.0, 0.0, 1)
    for n in range(3 * BREAKER_FAILURES):
        pace.begin(0.0)
        pace.end(0.0, good if n % 3 == 2 else LOST)
    assert pace.closed is None


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("12", 12.0),
        ("Mon, 30 Nov 2020 15:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("9" * 400, 999999999.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, wanted: float | None) -> None:
    assert retry_after_s(status(503, ("retry-after", value))) == wanted


def test_retries_back_off() -> None:
    assert 2.0 <= retry_pause_s(1) <= 3.0
    assert 8.0 <= retry_pause_s(3) <= 12.0
