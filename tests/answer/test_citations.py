import pytest

from kbcite.answer.citations import parse_reply


def cited(text):
    return [(sentence.text, sentence.numbers) for sentence in parse_reply(text).sentences]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("事实如此。[1]", (1,)),
        ("事实如此[1]。", (1,)),
        ("事实如此。[1][3]", (1, 3)),
        ("事实如此。[1, 3]", (1, 3)),
        ("事实如此。[1，2、4]", (1, 2, 4)),
        ("事实如此。[2-4]", (2, 3, 4)),
        ("事实如此。【2】", (2,)),
        ("事实如此。[^2]", (2,)),
        ("事实如此。[来源：2]", (2,)),
        ("It is so [Source 2].", (2,)),
        ("It is so. [[2]](https://a.example)", (2,)),
        ("It is so. [2](https://a.example)", (2,)),
        ("It is so (2).", (2,)),
        ("It is so.²", (2,)),
    ],
)
def test_a_mark_of_any_numeric_style_belongs_to_its_sentence(text, numbers):
    [(_, found)] = cited(text)
    assert found == numbers


def test_each_sentence_has_its_own_marks():
    assert cited("第一句话在此。[1] 第二句话在此[2][3]。第三句话在此。") == [
        ("第一句话在此。", (1,)),
        ("第二句话在此。", (2, 3)),
        ("第三句话在此。", ()),
    ]


def test_a_mark_at_the_head_of_a_line_belongs_to_what_follows():
    assert cited("[2] It is so indeed.\n[1] And so is this.") == [
        ("It is so indeed.", (2,)),
        ("And so is this.", (1,)),
    ]


def test_brackets_in_code_are_code():
    [(text, numbers), *_] = cited("```c\nint a = b[1];\n```\n[2]")
    assert (text, numbers) == ("```c\nint a = b[1];\n```", (2,))
    assert cited("用 `a[0]` 取第一个元素。[1]") == [("用 `a[0]` 取第一个元素。", (1,))]


@pytest.mark.parametrize("style", ["(Smith et al., 2020)", "(Smith and Lee, 2020)", "（张三等，2020）"])
def test_names_and_years_are_reported(style):
    assert parse_reply(f"It is so {style}.").foreign == (style,)


@pytest.mark.parametrize(
    "tail",
    ["来源：\n[1] https://a.example", "Sources:\n1. https://a.example", "## 参考资料\n[1] 标题 https://a.example"],
)
def test_a_source_list_of_the_models_own_is_left_out(tail):
    assert cited(f"事实如此。[1]\n\n{tail}") == [("事实如此。", (1,))]


@pytest.mark.parametrize(
    ("text", "factual"),
    [
        ("退货期限为 30 天。", True),
        ("# 退货", False),
        ("具体如下：", False),
        ("还有什么问题？", False),
        ("我无法从提供的资料中确认这一点。", False),
        ("The sources do not mention it.", False),
    ],
)
def test_what_states_nothing_needs_no_citation(text, factual):
    [sentence] = parse_reply(text).sentences
    assert sentence.is_factual is factual
