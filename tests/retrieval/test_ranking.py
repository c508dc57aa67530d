from __future__ import annotations

from dataclasses import replace

import pytest

from kbcite.records import Block, PageState, Place, RetrievedBlock, SourceType
from kbcite.retrieval.ranking import MOST_DECAY, Candidate, Decay, RankingOptions, rank, relevance


def candidate(
    name: str,
    dense: float,
    coverage: float,
    text: str = "",
    url: str = "",
    *,
    language: str = "en",
    title: str = "",
    published_at: str | None = None,
) -> Candidate:
    text = text or f"The text of {name}"
    place = Place(
        1,
        0,
        len(text),
        (),
        url or f"https://{name}.example/",
        title,
        published_at,
        "",
        SourceType.WEB,
        PageState.ALIVE,
        "d",
    )
    return Candidate(Block(name, text, 1, language), (place, place), dense, coverage)


def names(found: list[RetrievedBlock]) -> list[str]:
    return [hit.block.id for hit in found]


def reasons(found: list[RetrievedBlock]) -> dict[str, str | None]:
    return {hit.block.id: hit.dropped for hit in found}


def test_cosine_and_coverage_both_count() -> None:
    found = rank(
        "who?", [candidate("a", 0.5, 0.2), candidate("b", 0.5, 0.8), candidate("c", 0.7, 0.2)], RankingOptions()
    )
    assert names(found) == ["b", "c", "a"]


def test_coverage_by_chance_does_not_beat_a_nearer_block_of_another_language() -> None:
    found = rank("who?", [candidate("chance", 0.30, 0.14), candidate("zh", 0.31, 0.0, language="zh")], RankingOptions())
    assert names(found) == ["zh", "chance"]


def test_equal_scores_are_ordered_by_id() -> None:
    pair = [candidate("b", 0.5, 0.5), candidate("a", 0.5, 0.5)]
    assert names(rank("who?", pair, RankingOptions())) == ["a", "b"]


def test_a_near_miss_year_sinks_below_the_right_one_and_in_relevance() -> None:
    wrong = candidate("wrong", 0.52, 0.6, "Champions of the 2015 season")
    right = candidate("right", 0.48, 0.6, "Champions of the 2020 season")
    found = rank("Who won the 2020 season?", [wrong, right], RankingOptions())
    assert names(found) == ["right", "wrong"]
    assert found[0].scores.relevance > found[1].scores.relevance


@pytest.mark.parametrize("where", [{"title": "Season 2020"}, {"published_at": "2020-11-12"}])
def test_a_year_in_the_title_or_the_date_counts_as_held(where: dict[str, str]) -> None:
    found = rank(
        "Who won in 2020?",
        [candidate("a", 0.5, 0.5, "They won."), candidate("b", 0.49, 0.5, "They won it.", **where)],
        RankingOptions(),
    )
    assert names(found) == ["b", "a"]


def test_a_block_with_a_date_comes_first_where_a_date_is_asked_for() -> None:
    pair = [candidate("a", 0.5, 0.5, "It was released."), candidate("b", 0.49, 0.5, "It was released on May 15, 2012.")]
    assert names(rank("When was it released?", pair, RankingOptions())) == ["b", "a"]
    assert names(rank("Who released it?", pair, RankingOptions())) == ["a", "b"]


def test_each_unused_candidate_says_why() -> None:
    found = rank(
        "who?",
        [
            candidate("a", 0.9, 0.9, url="https://one.example/"),
            candidate("b", 0.8, 0.9, url="https://one.example/"),
            candidate("c", 0.7, 0.9),
            candidate("d", 0.6, 0.9),
            candidate("e", 0.1, 0.0),
        ],
        RankingOptions(top_k=2, per_page=1),
    )
    assert reasons(found) == {"a": None, "b": "page_crowded", "c": None, "d": "over_top_k", "e": "below_threshold"}


def test_a_block_that_fails_for_a_figure_alone_says_so() -> None:
    pair = [candidate("a", 0.4, 0.5, "What changed in version 3.4.1"), candidate("b", 0.1, 0.1, "Nothing.")]
    found = rank("What changed in version 3.4.9?", pair, RankingOptions())
    assert reasons(found) == {"a": "figure_mismatch", "b": "below_threshold"}
    assert reasons(rank("What changed in version 3.4.1?", pair, RankingOptions()))["a"] is None


def test_a_page_may_fill_the_room_that_no_other_page_wants() -> None:
    blocks = [candidate(str(i), 0.9 - i / 100, 0.9, url="https://one.example/") for i in range(5)]
    found = rank("who?", [*blocks, candidate("off", 0.0, 0.0)], RankingOptions(top_k=4, per_page=2))
    assert reasons(found) == {"0": None, "1": None, "2": None, "3": None, "4": "page_crowded", "off": "below_threshold"}


def test_the_first_place_is_cited_and_the_others_are_kept() -> None:
    (found,) = rank("who?", [candidate("a", 0.9, 0.9)], RankingOptions())
    assert (found.place, found.also) == (candidate("a", 0, 0).places[0], candidate("a", 0, 0).places[1:])


@pytest.mark.parametrize("same_language", [True, False])
def test_relevance_rises_with_cosine_and_stays_between_0_and_1(same_language: bool) -> None:
    values = [relevance(dense / 10, 0.0, same_language=same_language) for dense in range(-10, 11)]
    assert values == sorted(values)
    assert 0 <= values[0] < 0.01
    assert 0.9 < values[-1] <= 1


def test_coverage_is_evidence_in_one_language_only() -> None:
    assert relevance(0.3, 0.7, same_language=True) > 0.45 > relevance(0.3, 0.0, same_language=True)
    assert relevance(0.3, 0.6, same_language=False) == relevance(0.3, 0.0, same_language=False)


OPENING = "The city library opens its new reading room on Monday, said the mayor, who thanked all those who had helped to build it."
REPRINT = "The city library opens its new reading room on Monday, told the mayor, who thanked all those who had helped to build it."
OTHER_DAY = OPENING.replace("Monday", "Friday")


def test_of_blocks_that_say_the_same_the_earliest_is_used_with_the_places_of_all() -> None:
    found = rank(
        "When does the reading room open?",
        [
            candidate("reprint", 0.9, 0.9, REPRINT, published_at="2026-05-02"),
            candidate("first", 0.8, 0.8, OPENING, published_at="2026-05-01"),
            candidate("off", 0.1, 0.1, OPENING + " Not.", published_at="2026-01-01"),
        ],
        RankingOptions(),
    )
    assert reasons(found) == {"first": None, "reprint": "near_duplicate", "off": "below_threshold"}
    assert names(found) == ["first", "reprint", "off"]
    assert [place.url for place in found[0].also] == ["https://first.example/"] + ["https://reprint.example/"] * 2


def test_a_block_with_another_day_is_not_a_duplicate() -> None:
    pair = [candidate("monday", 0.9, 0.9, OPENING), candidate("friday", 0.8, 0.8, OTHER_DAY)]
    assert set(reasons(rank("When does the reading room open?", pair, RankingOptions())).values()) == {None}


def test_duplicates_leave_room_for_other_blocks() -> None:
    copies = [candidate(f"copy{i}", 0.9, 0.9, OPENING + " " * i) for i in range(8)]
    other = candidate("other", 0.7, 0.7, "It closes at nine in the evening, except on Sundays.")
    used = [hit.block.id for hit in rank("When?", [*copies, other], RankingOptions(top_k=2)) if hit.dropped is None]
    assert used == ["copy0", "other"]


NOW = "2026-11-30T08:00:00Z"
AGEING = RankingOptions(decay=Decay(half_life_days=100, now=NOW))


def dated(name: str, published_at: str | None, dense: float = 0.5) -> Candidate:
    return candidate(name, dense, 0.5, published_at=published_at)


def test_the_newer_of_two_pages_that_are_as_near_comes_first_where_age_counts() -> None:
    pair = [dated("a-old", "2024-01-01"), dated("b-new", "2026-11-01")]
    assert names(rank("who?", pair, AGEING)) == ["b-new", "a-old"]
    assert names(rank("who?", pair, RankingOptions())) == ["a-old", "b-new"]


def test_half_of_what_age_can_cost_is_lost_after_one_half_life() -> None:
    (found,) = rank("who?", [dated("a", "2026-08-22T08:00:00Z")], AGEING)
    (ageless,) = rank("who?", [dated("a", "2026-08-22T08:00:00Z")], RankingOptions())
    assert found.scores.kept == pytest.approx(1 - MOST_DECAY / 2)
    assert found.scores.fused == pytest.approx(ageless.scores.fused * (1 - MOST_DECAY / 2))
    assert ageless.scores.kept is None


def test_a_page_without_a_date_loses_nothing_and_one_of_the_future_neither() -> None:
    found = rank("who?", [dated("old", "2020-01-01"), dated("undated", None), dated("ahead", "2027-01-01")], AGEING)
    assert {hit.block.id: hit.scores.kept for hit in found if hit.block.id != "old"} == {"undated": None, "ahead": 1.0}
    assert names(found)[-1] == "old"


def test_age_changes_nothing_of_relevance_and_a_page_that_is_clearly_nearer_stays_in_front() -> None:
    pair = [dated("old", "1999-01-01", 0.7), dated("new", "2026-11-29", 0.5)]
    found = rank("who?", pair, AGEING)
    assert names(found) == ["old", "new"]
    assert found[0].scores.relevance == rank("who?", pair, RankingOptions())[0].scores.relevance


def test_a_text_is_as_new_as_the_newest_page_that_holds_it() -> None:
    old, new = dated("a", "2020-01-01").places[0], dated("a", "2026-11-30").places[0]
    both = replace(dated("a", None), places=(old, new))
    (found,) = rank("who?", [both], AGEING)
    assert found.scores.kept == pytest.approx(1.0, abs=1e-3)
