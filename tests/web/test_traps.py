import pytest

from kbcite.web.traps import MAX_EQUAL_BODIES, MAX_FILTER_URLS, TrapMemory, trap_of

HOST = "https://example.com"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/" + "a" * 2100, "url_too_long"),
        ("/a/" * 9 + "x/" * 8, "path_too_deep"),
        ("/a/b/a/b/a/b/a/", "repeated_segment"),
        ("/calendar?date=2051-01-01", "calendar"),
        ("/events?year=2012&month=3", "calendar"),
        ("/list?start=20500101", "calendar"),
        ("/calendar/2033/05", "calendar"),
        ("/files/manual.PDF", "not_a_page"),
        ("/x/photo.jpg?size=2", "not_a_page"),
    ],
)
def test_a_trap_is_named(path: str, reason: str) -> None:
    found = trap_of(HOST + path, 2026)
    assert found is not None
    assert found.startswith(f"{reason}: ")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/b/c/d/e/f/g/h",
        "/a/b/a/b/a",
        "/news/2009/05/12/story.html",
        "/archive?date=2024-01-01",
        "/list?year=2009",
        "/article?id=20510101",
        "/calendar/2027/05",
        "/docs/next.js/",
        "/docs/next.js",
        "/story.shtml",
        "/v1.2",
        "/.well-known",
    ],
)
def test_an_ordinary_page_is_none(path: str) -> None:
    assert trap_of(HOST + path, 2026) is None


def test_filters_that_multiply_are_stopped() -> None:
    memory = TrapMemory()
    combinations = [f"{HOST}/shop?color={a}&size={b}&sort={c}" for a in range(9) for b in range(9) for c in range(9)]
    refused = [memory.filter_trap(url) for url in combinations]
    assert refused[:MAX_FILTER_URLS] == [None] * MAX_FILTER_URLS
    assert all(refused[MAX_FILTER_URLS + 150 :])


def test_a_thousand_articles_by_number_are_not() -> None:
    memory = TrapMemory()
    assert not any(memory.filter_trap(f"{HOST}/forum.php?mod=viewthread&tid={n}&page=1") for n in range(1000))


def test_equal_pages_in_a_row_stop_their_pattern() -> None:
    memory = TrapMemory()
    for n in range(MAX_EQUAL_BODIES):
        assert memory.body_trap(f"{HOST}/x/{n}") is None
        memory.see_body(f"{HOST}/x/{n}", f"<a href='/x/{n}/'>Not  found</a> at 12:00:{n:02}")
    assert str(memory.body_trap(f"{HOST}/x/other")).startswith("equal_pages: ")
    assert memory.body_trap(f"{HOST}/y/other") is None


def test_pages_that_differ_in_figures_are_different() -> None:
    memory = TrapMemory()
    for n in range(2 * MAX_EQUAL_BODIES):
        memory.see_body(f"{HOST}/rates/{n}", f"<p>The rate was {n}.{n} %")
    assert memory.body_trap(f"{HOST}/rates/new") is None


def test_a_different_page_ends_the_row() -> None:
    memory = TrapMemory()
    for n in range(3 * MAX_EQUAL_BODIES):
        memory.see_body(f"{HOST}/x/{n}", "same" if n % 10 else f"different {'x' * n}")
    assert memory.body_trap(f"{HOST}/x/new") is None
