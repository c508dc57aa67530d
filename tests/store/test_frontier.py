from collections.abc import Iterator
from pathlib import Path

import pytest

from kbcite.fetch_records import FetchedPage, RobotsCopy
from kbcite.records import SourceType
from kbcite.store.database import Database
from kbcite.store.frontier import NEVER, Frontier, NewUrl, UrlState

NOW, LATER = "2026-11-30T12:00:00Z", "2026-11-30T13:00:00Z"
SOURCE, HOST = "https://a.example/", "https://a.example"


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Frontier]:
    with Database(tmp_path / "kb.sqlite3") as database:
        yield database.frontier


def found(path: str, depth: int = 1, source: str = SOURCE) -> NewUrl:
    return NewUrl(f"{HOST}{path}", f"{HOST}{path}", source, HOST, depth, SOURCE)


def paths(frontier: Frontier, *states: UrlState) -> list[str]:
    return [row.url.removeprefix(HOST) for row in frontier.rows(SOURCE, *states)]


def test_a_url_is_queued_once(frontier: Frontier) -> None:
    assert frontier.add([found("/a"), found("/b"), found("/a")], NOW) == 2
    assert frontier.add([found("/b"), found("/c")], NOW) == 1
    assert paths(frontier, UrlState.QUEUED) == ["/a", "/b", "/c"]


def test_a_waiting_url_keeps_its_lesser_depth(frontier: Frontier) -> None:
    frontier.add([found("/a", 4)], NOW)
    frontier.add([found("/a", 2)], NOW)
    frontier.add([found("/a", 3)], NOW)
    row = frontier.get(f"{HOST}/a")
    assert row is not None
    assert row.depth == 2


def test_the_least_deep_are_claimed_first_in_the_order_they_were_found(frontier: Frontier) -> None:
    frontier.add([found("/deep", 2), found("/b", 1), found("/a", 1)], NOW)
    assert [row.url for row in frontier.claim(HOST, SOURCE, 2, NOW)] == [f"{HOST}/b", f"{HOST}/a"]
    assert paths(frontier, UrlState.IN_FLIGHT) == ["/b", "/a"]
    assert frontier.hosts(SOURCE, NOW) == [HOST]
    frontier.claim(HOST, SOURCE, 5, NOW)
    assert frontier.hosts(SOURCE, NOW) == []


def test_an_outcome_is_remembered_with_its_reason(frontier: Frontier) -> None:
    frontier.add([found("/a")], NOW)
    frontier.settle(f"{HOST}/a", UrlState.SKIPPED, LATER, "robots_disallowed", "its robots.txt disallows it")
    row = frontier.get(f"{HOST}/a")
    assert row is not None
    assert (row.state, row.reason, row.detail, row.updated_at) == (
        UrlState.SKIPPED,
        "robots_disallowed",
        "its robots.txt disallows it",
        LATER,
    )
    assert row.discovered_from == SOURCE
    assert frontier.counts(SOURCE) == {"skipped": 1}


def test_a_deferred_url_waits_for_its_time(frontier: Frontier) -> None:
    frontier.add([found("/a")], NOW)
    frontier.claim(HOST, SOURCE, 1, NOW)
    frontier.defer(f"{HOST}/a", NOW, "http_503", "busy", LATER)
    assert frontier.claim(HOST, SOURCE, 1, NOW) == []
    assert len(frontier.claim(HOST, SOURCE, 1, LATER)) == 1


def test_an_unfinished_pass_goes_on_with_what_was_in_flight(frontier: Frontier) -> None:
    frontier.begin_pass(SOURCE, NOW)
    frontier.add([found("/done"), found("/flying"), found("/waiting")], NOW)
    frontier.claim(HOST, SOURCE, 2, NOW)
    frontier.settle(f"{HOST}/done", UrlState.DONE, NOW)
    frontier.begin_pass(SOURCE, LATER)
    assert paths(frontier, UrlState.QUEUED) == ["/flying", "/waiting"]
    assert paths(frontier, UrlState.DONE) == ["/done"]


def settled(frontier: Frontier, **not_before: str) -> None:
    """A pass that ended, with a URL for each name, settled until its time."""
    frontier.begin_pass(SOURCE, NOW, rules="depth 5")
    for name, moment in not_before.items():
        frontier.add([found(f"/{name}")], NOW)
        frontier.settle(f"{HOST}/{name}", UrlState.SKIPPED, NOW, "why", "detail", not_before=moment)
    frontier.end_pass(SOURCE, NOW)


def test_a_new_pass_queues_what_is_due(frontier: Frontier) -> None:
    settled(frontier, now="", soon=LATER, late="2027-01-01T00:00:00Z", never=NEVER)
    frontier.begin_pass(SOURCE, LATER, rules="depth 5")
    assert paths(frontier, UrlState.QUEUED) == ["/now", "/soon"]
    assert {row.reason for row in frontier.rows(SOURCE, UrlState.QUEUED)} == {""}


def test_other_settings_queue_everything_once(frontier: Frontier) -> None:
    settled(frontier, late="2027-01-01T00:00:00Z", never=NEVER)
    frontier.begin_pass(SOURCE, LATER, rules="depth 6")
    assert paths(frontier, UrlState.QUEUED) == ["/late", "/never"]
    for name in ("late", "never"):
        frontier.settle(f"{HOST}/{name}", UrlState.SKIPPED, LATER, not_before=NEVER)
    frontier.end_pass(SOURCE, LATER)
    frontier.begin_pass(SOURCE, LATER, rules="depth 6")
    assert paths(frontier, UrlState.QUEUED) == []


def test_everything_can_be_asked_for_in_an_unfinished_pass_too(frontier: Frontier) -> None:
    settled(frontier, never=NEVER)
    frontier.begin_pass(SOURCE, LATER, rules="depth 5")
    frontier.begin_pass(SOURCE, LATER, rules="depth 5", everything=True)
    assert paths(frontier, UrlState.QUEUED) == ["/never"]


def test_a_run_of_named_urls_leaves_the_rest_and_its_settings_alone(frontier: Frontier) -> None:
    settled(frontier, now="")
    frontier.begin_pass(SOURCE, LATER, rules="depth 6", keep=True)
    assert paths(frontier, UrlState.QUEUED) == []
    frontier.end_pass(SOURCE, LATER)
    frontier.begin_pass(SOURCE, LATER, rules="depth 5")
    assert paths(frontier, UrlState.QUEUED) == ["/now"]


def test_other_sources_are_left_alone(frontier: Frontier) -> None:
    frontier.add([found("/other", source="https://b.example/")], NOW)
    frontier.settle(f"{HOST}/other", UrlState.DONE, NOW)
    frontier.begin_pass(SOURCE, LATER, everything=True)
    assert frontier.counts("https://b.example/") == {"done": 1}


def stored(database: Database, path: str, due_at: str) -> None:
    url = f"{HOST}{path}"
    page = FetchedPage(url, url, 200, (), b"x", NOW)
    database.pages.save_fetch(url, page, "0" * 64, source=SOURCE, source_type=SourceType.WEB, labels=(), due_at=due_at)
    database.pages.add_alias(url, url)
    database.frontier.add([found(path)], NOW)
    database.frontier.settle(url, UrlState.DONE, NOW)


def test_a_page_is_queued_when_its_own_visit_is_due(tmp_path: Path) -> None:
    with Database(tmp_path / "kb.sqlite3") as database:
        database.frontier.begin_pass(SOURCE, NOW)
        stored(database, "/due", LATER)
        stored(database, "/not-yet", "2027-01-01T00:00:00Z")
        database.frontier.end_pass(SOURCE, NOW)
        database.frontier.begin_pass(SOURCE, LATER)
        assert paths(database.frontier, UrlState.QUEUED) == ["/due"]


def test_a_page_known_to_be_out_of_date_goes_before_the_others(tmp_path: Path) -> None:
    with Database(tmp_path / "kb.sqlite3") as database:
        database.frontier.begin_pass(SOURCE, NOW)
        stored(database, "/due", LATER)
        stored(database, "/out-of-date", "2027-01-01T00:00:00Z")
        page = database.pages.get(f"{HOST}/out-of-date", f"{HOST}/out-of-date")
        assert page is not None
        database.pages.mark(page.id, NOW)
        database.frontier.end_pass(SOURCE, NOW)
        database.frontier.begin_pass(SOURCE, LATER)
        claimed = database.frontier.claim(HOST, SOURCE, 2, LATER)
        assert [row.url.removeprefix(HOST) for row in claimed] == ["/out-of-date", "/due"]


def test_a_named_url_goes_before_the_others(frontier: Frontier) -> None:
    frontier.add([found("/a", 0), found("/b", 3)], NOW)
    frontier.requeue(f"{HOST}/b")
    assert [row.url for row in frontier.claim(HOST, SOURCE, 1, NOW)] == [f"{HOST}/b"]


def test_what_still_waits_can_be_settled_at_once(frontier: Frontier) -> None:
    frontier.add([found("/a"), found("/b")], NOW)
    frontier.settle(f"{HOST}/a", UrlState.DONE, NOW)
    assert frontier.settle_queued(SOURCE, UrlState.SKIPPED, NOW, "max_pages") == 1
    assert frontier.counts(SOURCE) == {"done": 1, "skipped": 1}


def test_a_robots_copy_is_kept(frontier: Frontier) -> None:
    copy = RobotsCopy(HOST, "rules", b"User-agent: *", "200", NOW, LATER)
    frontier.save_robots(copy)
    assert frontier.robots() == {HOST: copy}
