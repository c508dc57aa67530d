"""The scheduler: stored, pool or live, and which pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kbcite.answer.live_decision import Decision, PageChoice, Situation, Way, decide
from kbcite.records import LiveMode

DAY = 86_400
HIT = PageChoice("https://a.example/hit", "stale hit")
LIST = PageChoice("https://a.example/notices/", "live page")
FRESH = Situation(
    question_class="news",
    window_s=3 * DAY,
    class_mode=LiveMode.AUTO,
    mode=LiveMode.AUTO,
    is_retrieved=True,
    best_score=0.9,
    best_age_s=3600,
)


def decided(max_pages: int = 3, **changes: Any) -> Decision:
    return decide(replace(FRESH, **changes), max_pages)


@pytest.mark.parametrize(
    ("changes", "trigger"),
    [
        ({"best_age_s": 9 * DAY, "hits": (HIT,)}, "stale: 9 days, the window is 3 days"),
        ({"has_time_words": True, "live_pages": (LIST,)}, "time_words"),
        ({"best_score": 0.2, "live_pages": (LIST,)}, "low_score: 0.20, 0.45 is needed"),
        ({"best_score": None, "best_age_s": None, "live_pages": (LIST,)}, "low_score: nothing was found"),
        ({"volatile_entity": "茅台", "hits": (HIT,)}, "volatile_entity: 茅台"),
        ({"gone": (HIT.url,), "hits": (HIT,)}, f"page_gone: {HIT.url}"),
        ({"corrected": (HIT.url,), "live_pages": (LIST,)}, f"corrected: {HIT.url}"),
        ({"named": (replace(HIT, why="named"),)}, f"named_page: {HIT.url}"),
        ({"mode": LiveMode.ALWAYS, "hits": (HIT,)}, "asked"),
    ],
)
def test_each_trigger_has_pages_looked_at(changes: dict[str, Any], trigger: str) -> None:
    found = decided(**changes)
    assert (found.way, found.triggers) == (Way.LIVE, (trigger,))
    assert [page.url for page in found.pages] == [HIT.url if "hits" in changes or "named" in changes else LIST.url]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "what is stored was seen 1 hour ago, the window is 3 days"),
        ({"window_s": None}, "such answers do not go out of date"),
        ({"best_age_s": 9 * DAY, "hits": (HIT,), "mode": LiveMode.NEVER}, "live fetching is turned off"),
        ({"best_age_s": 9 * DAY, "hits": (HIT,), "barred": "--offline"}, "--offline"),
        (
            {"best_score": 0.1, "class_mode": LiveMode.NEVER, "live_pages": (LIST,)},
            "the class news does not ask for it",
        ),
        ({"has_time_words": True}, "no page of the sources to look at"),
        ({"has_time_words": True, "live_pages": (replace(LIST, is_fresh=True),)}, "no page of the sources to look at"),
    ],
)
def test_without_a_reason_or_a_page_nothing_is_fetched(changes: dict[str, Any], reason: str) -> None:
    found = decided(**changes)
    assert (found.way, found.reason, found.pages) == (Way.STORED, reason, ())


def test_what_was_fetched_lately_is_read_from_the_pool() -> None:
    found = decided(has_time_words=True, live_pages=(replace(LIST, is_pooled=True),))
    assert (found.way, found.reason) == (Way.POOL, "fetched lately")


def test_one_page_that_is_not_in_the_pool_is_worth_a_fetch() -> None:
    found = decided(best_age_s=9 * DAY, live_pages=(replace(LIST, is_pooled=True),), hits=(HIT,))
    assert found.way is Way.LIVE


def test_the_whitelist_keeps_a_page_out_with_its_reason() -> None:
    outside = PageChoice("https://evil.example/", "named", "out_of_scope: no source covers it")
    found = decided(mode=LiveMode.ALWAYS, named=(outside,), hits=(HIT,))
    assert [page.url for page in found.pages] == [HIT.url]
    assert found.refused == ((outside.url, "out_of_scope: no source covers it"),)


def test_live_pages_go_before_hits_and_the_number_of_pages_is_bounded() -> None:
    hits = tuple(replace(HIT, url=f"https://a.example/{n}") for n in range(5))
    found = decided(max_pages=3, best_age_s=9 * DAY, live_pages=(LIST,), hits=hits)
    assert [page.url for page in found.pages] == [LIST.url, hits[0].url, hits[1].url]


def test_before_the_retrieval_a_low_score_is_not_known() -> None:
    assert decided(is_retrieved=False, best_score=None, best_age_s=None, live_pages=(LIST,)).way is Way.STORED
    early = decided(is_retrieved=False, best_score=None, best_age_s=None, live_pages=(LIST,), live_page_age_s=4 * DAY)
    assert early.way is Way.LIVE
