"""Differences between two readings of a page, counted in words and marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.page.text_difference import Difference, compare

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
