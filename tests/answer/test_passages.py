import pytest

from kbcite.answer.passages import split_passages, without_footnotes

PAGE = """# 退货

自签收之日起 30 天内可以退货[3]。运费由买家承担。

| 项目 | 期限 |
| --- | --- |
| 换货 | 15 天 |
| 保修 |  |

支持以下方式：

- 微信支付
- 银行卡

安装命令如下：

```bash
pip install kb

kb run
```
"""


def test_every_passage_is_an_exact_slice_of_the_text():
    passages = split_passages(PAGE)
    assert passages
    assert all(PAGE[p.start : p.end] == p.text for p in passages)


def test_a_row_is_shown_with_its_column_names_and_quoted_as_it_stands():
    row = next(p for p in split_passages(PAGE) if p.kind == "row")
    assert (row.text, row.shown) == ("| 换货 | 15 天 |", "项目: 换货; 期限: 15 天")


def test_the_head_of_a_table_cut_elsewhere_is_used():
    [row] = split_passages("| 换货 | 15 天 |", "| 项目 | 期限 |\n| --- | --- |")
    assert row.shown == "项目: 换货; 期限: 15 天"


def test_an_empty_cell_is_left_out():
    assert [p.shown for p in split_passages(PAGE) if p.kind == "row"][1] == "项目: 保修"


def test_a_code_block_stays_whole_with_its_fences_and_its_lead_in():
    code = next(p for p in split_passages(PAGE) if p.kind == "code")
    assert code.shown == "安装命令如下：\n\n```bash\npip install kb\n\nkb run\n```"


def test_a_list_is_offered_whole_beside_its_items():
    kinds = {p.kind: p.shown for p in split_passages(PAGE)}
    assert kinds["item"] == "银行卡"
    assert kinds["list"] == "支持以下方式：\n\n- 微信支付\n- 银行卡"


def test_an_item_knows_the_line_that_leads_in_to_it():
    item = next(p for p in split_passages(PAGE) if p.kind == "item")
    assert item.context == "退货 支持以下方式："


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("共有 70 席[3]。", "共有 70 席。"),
        ("It rained.[12][13]", "It rained."),
        ("数组 a[i] 的值", "数组 a[i] 的值"),
        ("人口 14 亿[1-3]。", "人口 14 亿。"),
        ("It rained.[citation needed]", "It rained."),
    ],
)
def test_footnote_marks_of_the_page_are_dropped(text, shown):
    assert without_footnotes(text) == shown


def test_the_date_at_the_head_of_a_snippet_is_not_quoted():
    [passage] = split_passages("Nov 15, 2020 ... RCEP has 15 members.")
    assert passage.shown == "RCEP has 15 members."


def test_a_definition_is_one_passage_with_its_term():
    text = "str.split(sep=None)\n: Return a list of the words. If sep is given, it delimits."
    [first, second] = split_passages(text)
    assert first.shown == "str.split(sep=None): Return a list of the words."
    assert text[first.start : first.end] == first.text
    assert second.context == "str.split(sep=None)"


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        ("| Capacity | 1,024 Wh |", ["Capacity: 1,024 Wh", "Weight: 12.4 kg"]),
        ("| Feature | Value |", ["Feature: Weight; Value: 12.4 kg"]),
        ("| Feature | 2026 |", ["Feature: Weight; 2026: 12.4 kg"]),
    ],
)
def test_the_first_row_of_a_table_without_a_head_is_a_row(head, shown):
    rows = [p for p in split_passages(f"{head}\n| --- | --- |\n| Weight | 12.4 kg |") if p.kind == "row"]
    assert [row.shown for row in rows] == shown


@pytest.mark.parametrize("lead", ["You need not remove it; you can run", "Build the package as follows.", "构建如下。"])
def test_a_sentence_that_announces_a_code_block_belongs_to_it(lead):
    assert split_passages(f"{lead}\n\n```\nrun it\n```")[-1].shown.startswith(lead)


def test_a_sentence_that_announces_nothing_stays_apart_from_the_code():
    assert split_passages("That was all.\n\n```\nrun it\n```")[-1].shown.startswith("```")
