"""Differences between two readings of a page, counted in words and marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.page import text_difference
from kbcite.page.text_difference import Difference, compare, is_same_but_for_address, share_kept

TEXT = """# 价目表

RO滤芯149元，保修期两年。

| 项目 | 价格 |
| --- | --- |
| 上门 | 50 |

- one
  - two
"""


def counts(difference: Difference) -> tuple[int, int, int]:
    return difference.missing, difference.superfluous, difference.marks


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("保修期两年。", "保修期两年。", (0, 0, 0)),
        ("保修期两年。", "保修期。", (2, 0, 0)),
        ("one two", "one two three four", (0, 2, 0)),
        ("costs $24 a month", "costs $29 a month", (1, 1, 0)),
        ("保修期两年。", "保修期两年", (0, 0, 1)),
        ("## Limits", "Limits", (0, 0, 1)),
        ("- one\n  - two", "- one\n- two", (0, 0, 1)),
        ("```\n    return 1\n```", "```\nreturn 1\n```", (0, 0, 1)),
        ("one\ntwo", "one two", (0, 0, 1)),
        ("one\n\ntwo", "one\ntwo", (0, 0, 0)),
        ("one  two", "one two", (0, 0, 0)),
        ("first line\nsecond line", "second line\nfirst line", (2, 2, 2)),
    ],
)
def test_words_and_marks_are_counted_apart(old: str, new: str, expected: tuple[int, int, int]) -> None:
    assert counts(compare(old, new)) == expected


def test_a_changed_line_shows_only_its_changed_words_as_changed() -> None:
    [hunk] = compare("heading\nRO滤芯149元，保修两年\nend", "heading\nRO滤芯129元，保修两年\nend").hunks
    assert [line.side for line in hunk] == [" ", "-", "+", " "]
    assert [[part.text for part in line.parts if part.changed] for line in hunk] == [[], ["149"], ["129"], []]


def test_a_lost_line_is_shown_whole_between_its_neighbours() -> None:
    [hunk] = compare("a\nb c\nd", "a\nd").hunks
    assert [(line.side, line.text) for line in hunk] == [(" ", "a"), ("-", "b c"), (" ", "d")]


def test_agreement_of_an_empty_reading_is_zero_and_of_the_same_text_one() -> None:
    assert compare(TEXT, "").f1 == 0
    assert compare(TEXT, TEXT).f1 == 1
    assert compare("", "").f1 == 1


@given(
    st.lists(st.sampled_from(TEXT.splitlines()), max_size=12), st.lists(st.sampled_from(TEXT.splitlines()), max_size=12)
)
def test_the_other_way_round_what_was_missing_is_superfluous(a: list[str], b: list[str]) -> None:
    there, back = compare("\n".join(a), "\n".join(b)), compare("\n".join(b), "\n".join(a))
    assert there.missing - there.superfluous == back.superfluous - back.missing


@given(st.text(alphabet="ab 中文，\n#-|> `"), st.text(alphabet="ab 中文，\n#-|> `"))
def test_shown_lines_are_the_lines_of_the_texts(a: str, b: str) -> None:
    difference = compare(a, b)
    for hunk in difference.hunks:
        for line in hunk:
            text = a if line.side in "- " else b
            assert line.text in text
    assert 0 <= difference.f1 <= 1


def test_the_share_of_a_text_that_is_kept_counts_characters_of_whole_lines() -> None:
    assert share_kept("one two\nthree\nfour", "three\nnew\none two") == pytest.approx(12 / 16)
    assert share_kept("a\na", "a") == 0.5
    assert share_kept("", "a") == 1.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("No page /shop/red-shoes here.\nGo home.", "No page /shop/kbcite-0af3.html here.\nGo home.", True),
        ("Nothing at red-shoes.", "Nothing at kbcite-0af3.", True),
        ("Red shoes cost 10.\nGo home.", "No page /shop/kbcite-0af3.html here.\nGo home.", False),
        ("", "", True),
    ],
)
def test_two_pages_may_differ_in_their_own_address(one: str, other: str, same: bool) -> None:
    urls = "https://e.com/shop/red-shoes", "https://e.com/shop/kbcite-0af3.html"
    assert is_same_but_for_address(one, urls[0], other, urls[1]) is same


def test_two_long_texts_on_different_things_are_not_searched_for_what_they_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_difference, "MAX_TOKEN_PAIRS", 10)
    found = compare("one two three four", "one two three five")
    assert (found.missing, found.superfluous) == (4, 4)


def test_a_number_is_marked_as_one() -> None:
    (hunk,) = compare("A ticket costs 6.50 euros.", "A ticket costs 7.20 euros.").hunks
    assert [part.text for line in hunk for part in line.parts if part.changed] == ["6.50", "7.20"]
