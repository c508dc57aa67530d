from collections.abc import Iterator
from pathlib import Path

import pytest

from kbcite.records import RobotsCopy
from kbcite.store.database import Database
from kbcite.store.frontier import Frontier, NewUrl, UrlState

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
    assert frontier.begin_pass(SOURCE, NOW) is False
    frontier.add([found("/done"), found("/flying"), found("/waiting")], NOW)
    frontier.claim(HOST, SOURCE, 2, NOW)
    frontier.settle(f"{HOST}/done", UrlState.DONE, NOW)
    assert frontier.begin_pass(SOURCE, LATER) is True
    assert paths(frontier, UrlState.QUEUED) == ["/flying", "/waiting"]
    assert paths(frontier, UrlState.DONE) == ["/done"]


def test_a_new_pass_queues_everything_known_again(frontier: Frontier) -> None:
    frontier.begin_pass(SOURCE, NOW)
    frontier.add([found("/a"), found("/b"), found("/c"), found("/other", source="https://b.example/")], NOW)
    for path, state in (("/a", UrlState.DONE), ("/b", UrlState.FAILED), ("/c", UrlState.SKIPPED)):
        frontier.settle(f"{HOST}{path}", state, NOW, "why")
    frontier.settle(f"{HOST}/other", UrlState.DONE, NOW)
    frontier.end_pass(SOURCE, NOW)
    assert frontier.begin_pass(SOURCE, LATER) is False
    assert paths(frontier, UrlState.QUEUED) == ["/a", "/b", "/c"]
    assert {row.reason for row in frontier.rows(SOURCE)} == {""}
    assert frontier.counts("https://b.example/") == {"done": 1}


def test_what_still_waits_can_be_settled_at_once(frontier: Frontier) -> None:
    frontier.add([found("/a"), found("/b")], NOW)
    frontier.settle(f"{HOST}/a", UrlState.DONE, NOW)
    assert frontier.settle_queued(SOURCE, UrlState.SKIPPED, NOW, "max_pages") == 1
    assert frontier.counts(SOURCE) == {"done": 1, "skipped": 1}


def test_a_robots_copy_is_kept(frontier: Frontier) -> None:
    copy = RobotsCopy(HOST, "rules", b"User-agent: *", "200", NOW, LATER)
    frontier.save_robots(copy)
    assert frontier.robots() == {HOST: copy}
