import pytest

from kbcite.answer.slots import differing_runs


@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [
        ("第六届立法会共有70个议席。", "第六届立法会共有170个议席。", ("70", "170")),
        ("The game was launched on May 15, 2012 in Europe.", "The game was launched on May 1, 2002 in Europe.", ("15, 2012", "1, 2002")),
        ("2018年史蒂文·斯皮尔伯格执导科幻冒险电影。", "2018年詹姆斯·卡梅隆执导科幻冒险电影。", ("史蒂文·斯皮尔伯格", "詹姆斯·卡梅隆")),
    ],
)  # fmt: skip
def test_what_fills_the_one_differing_place_is_found(first, second, runs):
    assert differing_runs(first, second) == runs


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("奔驰全球销量2,093,476辆。", "奔驰全球销量2093476辆。", id="the same figure written otherwise"),
        pytest.param("总票房1.20亿元，观影人次很多。", "总票房1.2亿元，观影人次很多。", id="a trailing zero"),
        pytest.param("甲队在第一场以三分胜乙队。", "丙队在第二场以两分负丁队。", id="many places: another statement"),
        pytest.param("今天天气很好。", "退货期限为三十天。", id="nothing in common"),
    ],
)
def test_other_sentences_do_not_differ_in_one_place(first, second):
    assert differing_runs(first, second) is None
