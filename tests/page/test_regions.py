import pytest

from kbcite.page.regions import CHARS, IMAGES, LINK_COUNT, LINKS, PROSE, TEASERS, TITLES, WEIGHT, Regions, measure
from kbcite.page.tree import parse_html

SENTENCE = "The ferry to the island runs every two hours, and on Sundays until noon."
BODY = (
    f"<div><h1>Ferries</h1><p>{SENTENCE}</p><ul><li><a href=/a>Tickets</a> <img src=a.png></li><li>Piers</li></ul> end</div>"
    "<div class=sidebar><a href=/b><p>More</p></a></div>"
)


def regions_of(body: str) -> Regions:
    root = parse_html(f"<html><body>{body}</body></html>")
    return measure(root.find("body"))


def test_regions_stand_in_the_order_of_the_page_and_end_behind_what_stands_in_them() -> None:
    regions = regions_of(BODY)
    assert regions.tags == ["body", "div", "h1", "p", "ul", "li", "li", "div", "p"]
    assert regions.parents == [-1, 0, 1, 1, 1, 4, 4, 0, 7]
    assert regions.ends == [9, 7, 3, 4, 7, 6, 7, 9, 9]
    assert list(regions.children(1)) == [2, 3, 4]
    assert list(regions.ancestors(5)) == [4, 1, 0]


def test_text_counts_for_the_region_it_stands_in_and_links_are_counted_apart() -> None:
    own = regions_of(BODY).own
    assert own[CHARS].tolist() == [0, 3, 7, len(SENTENCE), 0, 7, 5, 0, 4]
    assert own[LINKS].tolist() == [0, 0, 0, 0, 0, 7, 0, 0, 4]
    assert own[PROSE].tolist() == [0, 0, 0, len(SENTENCE), 0, 0, 0, 0, 0]
    assert own[LINK_COUNT].tolist() == [0, 0, 0, 0, 0, 1, 0, 1, 0]
    assert own[IMAGES].tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0]
    assert own[TITLES].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_totals_leave_out_what_is_cut() -> None:
    regions = regions_of(BODY)
    page = regions.without({4: "links"})
    assert page.chars[1] == regions.own[CHARS, 1:4].sum()
    assert page.chars[4] == page.chars[5] == 0
    assert page.chars[0] == page.chars[1] + page.chars[7]
    assert (page.cuts, page.outermost_cuts(0), page.is_cut(5), page.is_cut(3)) == ({4: "links"}, [4], True, False)


def test_only_what_names_give_away_is_named() -> None:
    assert regions_of(BODY).named == {7: (False, frozenset({"sidebar"}))}


def test_a_punctuation_mark_makes_running_text_of_a_short_line() -> None:
    own = regions_of("<p>The last ferry leaves at noon.</p><p>The last ferry leaves at noon</p>").own
    assert own[PROSE].tolist() == [0, 30, 0]
    assert own[WEIGHT].tolist() == [0, 30_000, 5_800]


def test_text_behind_a_heading_that_is_a_link_weighs_less_up_to_the_next_heading() -> None:
    own = regions_of(f"<h2><a href=/a>Ferries</a></h2><p>{SENTENCE}</p><h2>Trains</h2><p>{SENTENCE}</p>").own
    assert own[TEASERS].tolist() == [0, 1, 0, 0, 0]
    assert own[WEIGHT, 2] * 4 == own[WEIGHT, 4] == 1000 * len(SENTENCE)


@pytest.mark.parametrize(("factor", "expected"), [(1.0, False), (5.0, True)])
def test_a_favoured_region_pulls_more(factor: float, expected: bool) -> None:
    regions = regions_of(f"<div class=entry-content><p>{SENTENCE}</p></div><div><p>{SENTENCE * 2}</p></div>")
    pulls = regions.without({}).pulls(False, {1: factor})
    assert (pulls[1] > pulls[3]) is expected


def test_a_page_without_text_has_regions_and_no_measures() -> None:
    regions = regions_of("<div><p></p><img src=a.png></div>")
    assert regions.tags == ["body", "div"]
    assert regions.own[CHARS].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "unit"), [(SENTENCE, 1.0), ("轮渡每两小时开一班，星期天停航。", 0.4), ("1234 5678", 1.0)]
)
def test_a_chinese_character_counts_for_more_than_a_letter(text: str, unit: float) -> None:
    assert regions_of(f"<p>{text}</p>").unit == unit
