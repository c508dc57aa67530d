import pytest

from kbcite.answer.figures import chinese_number, find_figures, is_in


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("1.2亿人", "120,000,000人"),
        ("120 million people", "1.2亿"),
        ("百分之三十", "30%"),
        ("30 percent", "30％"),
        ("三十五个", "35 个"),
        ("１２３天", "123天"),
        ("2021年1月3日", "2021-01-03"),
        ("January 3, 2021", "2021年1月3日"),
        ("1月3日", "2021年1月3日"),
        ("2021年1月3日", "2021年的会议于1月3日举行"),
        ("第六届", "第6届"),
        ("约30%", "30.48%"),
        ("10.48‰", "1.048%"),
        ("two hundred seats", "200 seats"),
        ("2021", "2021年"),
    ],
)
def test_the_same_figure_in_another_dress_is_found(claim, evidence):
    [figure] = find_figures(claim)
    assert is_in(figure, find_figures(evidence))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("70个", "170个"),
        ("30天", "15天"),
        ("30%", "30"),
        ("1月3日", "1月12日和3月3日"),
        ("2015年", "2020年"),
        ("1.2亿", "1.2万"),
        ("2021年1月3日", "2020年1月3日"),
        ("第六届", "第七届"),
        ("30%", "31%"),
    ],
)
def test_another_figure_is_not_taken_for_it(claim, evidence):
    [figure] = find_figures(claim)
    assert not is_in(figure, find_figures(evidence))


@pytest.mark.parametrize("text", ["三星手机", "四川", "百度公司", "一个人", "千万别去", "version A"])
def test_numerals_in_names_and_articles_are_no_figures(text):
    assert find_figures(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三十五", 35),
        ("一千二百万", 12_000_000),
        ("二点五", 2.5),
        ("二〇一九", 2019),
        ("十", 10),
        ("一亿三千万", 130_000_000),
    ],
)
def test_chinese_numerals_have_their_value(text, value):
    assert chinese_number(text) == value


def test_offsets_point_at_the_figure_in_the_text_as_given():
    text = "共１４６５万人，占 12.5%。"
    assert [text[f.start : f.end] for f in find_figures(text)] == ["１４６５万", "12.5%"]


def test_a_year_before_a_name_is_a_year():
    assert [f.year for f in find_figures("In 1857 John Weir sold 1200 Boats")] == [1857, None]
