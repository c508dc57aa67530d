from __future__ import annotations

import pytest

from kbcite.retrieval.question import Wanted, holds_wanted, missing_figures, read_question


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("2020赛季中超冠军是谁", {"2020"}),
        ("第六届立法会有多少个议席？", {"6"}),
        ("第二十一届和第10届", {"21", "10"}),
        ("What is new in Python 3.11?", {"3.11"}),
        ("Who earned more than 1,200,000 in Q1 2021?", {"1200000", "1", "2021"}),
        ("２０２０年的冠军", {"2020"}),
        ("一般怎么办", set()),
    ],
)
def test_years_numbers_and_ordinals_are_figures(text: str, figures: set[str]) -> None:
    assert read_question(text).figures == figures


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("2020赛季冠军", "2015赛季的冠军是恒大", 1),
        ("2020赛季冠军", "江苏队夺得2020年联赛冠军", 0),
        ("第六届有多少席", "第6届共有70席", 0),
        ("第6届有多少席", "第六届共有70席", 0),
        ("第6届有多少席", "第十六届共有70席", 1),
        ("Python 3.11", "Python 3.1 and 11 others", 1),
        ("over 1200 users", "1,200 users", 0),
        ("season 4", "the fourth season", 0),
        ("第一座桥", "the first bridge", 0),
        ("season 4", "the fortieth season", 1),
        ("who won", "in 2015", 0),
    ],
)
def test_a_figure_that_the_text_lacks_is_missing(question: str, text: str, missing: int) -> None:
    assert missing_figures(read_question(question), text) == missing


@pytest.mark.parametrize(
    ("question", "text", "holds"),
    [
        ("When was it released?", "It came out on May 15, 2012.", True),
        ("What is the opening date of the bridge?", "It was opened on 3rd May 1931.", True),
        ("When was the 2012 edition released?", "The 2012 edition is long.", False),
        ("When was it released?", "Mar 3, 2014 ... It was released at last.", False),
        ("什么时候上映？", "该片于2021年2月12日上映", True),
        ("What year did the mill burn down?", "It burnt down in 1904.", True),
        ("How many stations are there?", "Line 5 has 23 stations", True),
        ("How many stations has line 5?", "Line 5 has many stations", False),
        ("Who leads the choir?", "The choir is led by nobody", False),
        ("Who is Ada Pell?", "Ada Pell is a painter", False),
        ("谁是导演", "导演于1990年出生", False),
    ],
)
def test_a_date_or_an_amount_of_its_own_is_what_is_wanted(question: str, text: str, holds: bool) -> None:
    assert holds_wanted(read_question(question), text) == float(holds)


def test_a_year_is_less_than_the_day_that_is_asked_for() -> None:
    asked = read_question("When was the bridge opened?")
    day, year, none = (
        holds_wanted(asked, text) for text in ("opened on 3 May 1931", "opened in 1931", "opened by him")
    )
    assert day > year > none


def test_a_name_says_who_it_may_be() -> None:
    asked = read_question("Who leads the choir of Ada Pell?")
    assert holds_wanted(asked, "Ada Pell founded the choir. Joan de Witt leads it.") > 0
    assert holds_wanted(asked, "The choir of Ada Pell has a leader.") == 0


def test_the_kind_is_read_from_the_question() -> None:
    kinds = [read_question(text).wanted for text in ("何时开始？", "In which year?", "How much is it?", "Who?", "Why?")]
    assert kinds == [Wanted.DATE, Wanted.YEAR, Wanted.AMOUNT, Wanted.PERSON, Wanted.OTHER]
