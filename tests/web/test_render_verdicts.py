from __future__ import annotations

import pytest

from kbcite.web.render_verdicts import Need, RenderVerdicts, place_of

NOW = "2026-11-30T12:00:00Z"
NEXT_WEEK = "2026-12-08T12:00:00Z"


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("https://a.example/", "/"),
        ("https://a.example/about", "/*"),
        ("https://a.example/docs/install.HTML", "/docs/*.html"),
        ("https://a.example/user/4711/posts/first-post", "/user/*/posts/*"),
        ("https://a.example/news/2026-11-30/", "/news/*/"),
        ("https://a.example/list?page=2&sort=up", "/*?page&sort"),
        ("https://a.example/%E6%96%87/x", "/*/*"),
    ],
)
def test_pages_made_by_one_template_have_one_pattern(url: str, pattern: str) -> None:
    assert place_of(url) == ("https://a.example", pattern)


def test_a_pattern_of_which_all_pages_needed_rendering_is_rendered_at_once() -> None:
    first = RenderVerdicts()
    first.note("https://a.example/app/1", Need.RENDERED, NOW)
    assert not first.is_needed("https://a.example/app/2"), "in the run that learns it each page is judged"
    verdicts = RenderVerdicts(first.take_new())
    assert verdicts.is_needed("https://a.example/app/2")
    assert not verdicts.is_needed("https://a.example/docs/2")
    assert not verdicts.is_needed("https://b.example/app/2")


def test_a_mixed_pattern_is_judged_page_by_page() -> None:
    first = RenderVerdicts()
    first.note("https://a.example/app/1", Need.RENDERED, NOW)
    verdicts = RenderVerdicts(first.take_new())
    verdicts.note("https://a.example/app/2", Need.STATIC, NOW)
    assert not verdicts.is_needed("https://a.example/app/1")
    assert verdicts.was_needed("https://a.example/app/1")


def test_where_rendering_brings_nothing_it_is_given_up_for_a_week() -> None:
    verdicts = RenderVerdicts()
    for n in range(2):
        verdicts.note(f"https://a.example/x/{n}", Need.BARREN, NOW)
    assert not verdicts.is_hopeless("https://a.example/x/9", NOW)
    verdicts.note("https://a.example/x/3", Need.BARREN, NOW)
    assert verdicts.is_hopeless("https://a.example/x/9", NOW)
    assert not verdicts.is_hopeless("https://a.example/x/9", NEXT_WEEK)
    verdicts.note("https://a.example/x/4", Need.RENDERED, NOW)
    assert not verdicts.is_hopeless("https://a.example/x/9", NOW)


def test_what_was_noted_is_handed_over_once_and_read_again() -> None:
    verdicts = RenderVerdicts()
    verdicts.note("https://a.example/app/1", Need.RENDERED, NOW)
    verdicts.note("https://a.example/app/2", Need.RENDERED, NOW)
    for _ in range(3):
        verdicts.note("https://a.example/x/2", Need.BARREN, NOW)
    new = verdicts.take_new()
    assert [(one.pattern, one.need, one.pages) for one in new] == [
        ("/app/*", Need.RENDERED, 1),
        ("/x/*", Need.BARREN, 3),
    ]
    assert verdicts.take_new() == []
    again = RenderVerdicts(new)
    assert again.is_needed("https://a.example/app/3")
    assert again.is_hopeless("https://a.example/x/3", NOW)
