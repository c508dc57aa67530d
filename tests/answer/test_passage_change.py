import pytest

from kbcite.answer.passage_change import nearest_passage, still_stands, word_difference

TABLE = "Prices\n\n| Type | Price |\n| --- | --- |\n| Adults | 6.50 |\n| Children | 3.00 |\n"


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("A ticket costs 6.50 euros.", "Open daily. A **ticket** costs\n6.50 euros. Closed on Monday."),
        ("- Bring a towel.", "1. Bring a towel.\n2. Bring soap."),
        ("押金三十天内退还。", "规定：押金三十天内退还。其他不变。"),
        ("It costs 14", "It costs 14. And more."),
    ],
)
def test_words_that_still_stand_there_are_found_whatever_the_markup(quote: str, text: str) -> None:
    assert still_stands(quote, quote, 0, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("A ticket costs 6.50 euros.", "A ticket costs 7.20 euros."),
        ("It costs 14", "It costs 149 euros."),
        ("It costs 14", "It costs 14.50 euros."),
        ("50 euros", "It costs 6.50 euros."),
        ("押金三十天内退还。", "押金六十天内退还。"),
    ],
)
def test_another_figure_or_word_is_a_change(quote: str, text: str) -> None:
    assert not still_stands(quote, quote, 0, text)


def test_a_row_needs_the_head_of_its_table() -> None:
    start = TABLE.index("| Adults")
    assert still_stands("| Adults | 6.50 |", TABLE, start, f"News of today.\n\n{TABLE}")
    assert not still_stands("| Adults | 6.50 |", TABLE, start, TABLE.replace("Price |", "Price until May |"))
    assert not still_stands(
        "| Adults | 6.50 |", TABLE, start, TABLE.replace("| Adults | 6.50 |", "| Adults | 6.50 | new |")
    )


@pytest.mark.parametrize(
    ("quote", "text", "now"),
    [
        (
            "A day ticket costs 6.50 euros.",
            "The pool opens at seven. A day ticket costs 7.20 euros. Children swim free.",
            "A day ticket costs 7.20 euros.",
        ),
        (
            "居民用水每立方米2.85元。",
            "停水通知已发布。居民用水每立方米3.10元。商业用水另计。",
            "居民用水每立方米3.10元。",
        ),
        ("| Adults | 6.50 |", TABLE.replace("6.50", "7.20"), "| Adults | 7.20 |"),
        ("A day ticket costs 6.50 euros.", "The library lends books for four weeks.", ""),
        ("A day ticket costs 6.50 euros.", "", ""),
    ],
)
def test_what_took_the_place_of_a_quote_is_the_sentence_most_like_it(quote: str, text: str, now: str) -> None:
    assert nearest_passage(quote, text) == now


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("It costs 6.50 euros.", "It costs 7.20 euros.", "It costs [-6.50-]{+7.20+} euros."),
        (
            "每立方米2.85元，按季度收取。",
            "每立方米3.10元，按月收取。",
            "每立方米[-2.85-]{+3.10+}元，按[-季度-]{+月+}收取。",
        ),
        ("Open daily.", "Open daily from nine.", "Open daily{+ from nine+}."),
        ("The old pool is big.", "The new bath is big.", "The [-old pool-]{+new bath+} is big."),
        ("same", "same", "same"),
    ],
)
def test_a_difference_reads_word_by_word(old: str, new: str, shown: str) -> None:
    brackets = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    changes = word_difference(old, new)
    assert "".join(f"{brackets[c.kind][0]}{c.text}{brackets[c.kind][1]}" for c in changes) == shown
    assert "".join(c.text for c in changes if c.kind != "added") == old
    assert "".join(c.text for c in changes if c.kind != "removed") == new


def test_the_line_under_the_head_of_a_table_is_no_difference():
    changes = word_difference(TABLE.partition("\n\n")[2], "| Type | Price |\n| Adults | 7.50 |\n| Children | 3.00 |\n")
    assert [(change.kind, change.text) for change in changes if change.kind != "same"] == [
        ("removed", "6.50"),
        ("added", "7.50"),
    ]
