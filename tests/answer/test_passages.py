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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # Blanks around linked names, as one before a comma tells, part nothing.
        (
            "湖畔镇出过多位著名的画家和作家，其中包括山水画家 林远山 、以小说闻名的 周一舟 ，以及在首都教书多年、晚年才回到"
            "故乡的书法家 何清 ，他们的故居如今都对外开放，每天上午九点到下午五点可以参观，周一闭馆不接待游客",
            1,
        ),
        # A blank inside a bracket, and one before it, neither.
        (
            "自成立以来，先后有六个城镇通过一系列协议加入了联盟，最早的是湖畔、石桥、南岭和北港（虽然北港在最后一刻 没有 加入），后来是"
            "东川、西坪和柳湾 （三地在同一天签字），如今联盟的秘书处设在石桥，每三年轮换一次主席，上一次轮换是在今年春天",
            1,
        ),
        # Elsewhere it parts what a page runs together.
        (
            "首页新闻天气交通服务指南联系我们常见问题网站地图无障碍浏览繁体版移动版登录注册退出 本市第三座跨江大桥今天上午正式通车，全长两千三百"
            "米，双向六车道，设计时速八十公里，预计每天通行车辆五万辆次，沿线设有两座公交站",
            2,
        ),
    ],
)
def test_blanks_part_a_long_chinese_sentence_only_where_they_part_statements(text: str, count: int) -> None:
    assert len(split_passages(text)) == count
