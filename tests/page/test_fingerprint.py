import pytest

from kbcite.page.fingerprint import is_near_duplicate, mask_line, masked_fingerprint, simhash

BODY = "# 标题\n\n{}\n\n数据中心的电力消耗在过去五年中增长了 20 %。会议时间为 14:00。"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("阅读 1234", "阅读 1,301"),
        ("阅读：1234", "阅读：9"),
        ("浏览次数：88", "浏览次数：1.2万"),
        ("阅读量 3.4万 评论 12 点赞 7", "阅读量 3.5万 评论 13 点赞 8"),
        ("来源：新华网 | 点击数(31)", "来源：新华网 | 点击数(42)"),
        ("访问量：1234", "访问量：1235"),
        ("1.2万次浏览", "1.3万次浏览"),
        ("356人阅读", "357人阅读"),
        ("1,234 views", "1,301 views"),
        ("Views: 12", "Views: 13"),
        ("12 comments · 3 likes", "14 comments · 4 likes"),
        ("2.1K views", "2.2K views"),
        ("3分钟前", "4分钟前"),
        ("发布于 3 小时前", "发布于 5 小时前"),
        ("刚刚", "1分钟前"),
        ("3 minutes ago", "an hour ago"),
        ("2026-11-30 12:34:56", "2026-11-30 12:35:02"),
        ("2026年11月30日 12:34 来源：新华网", "2026年11月30日 12:36 来源：新华网"),
        ("当前时间：12:34:56", "当前时间：12:34:59"),
        ("12:34", "12:35"),
        ("2026年11月30日 星期一 12:34:56", "2026年11月30日 星期一 12:40:00"),
        ("Updated: 12:34 UTC", "Updated: 13:34 UTC"),
        ("30 Nov 2026 9:05 am", "30 Nov 2026 9:06 am"),
    ],
)
def test_counters_and_clocks_do_not_change_the_fingerprint(one: str, other: str) -> None:
    assert masked_fingerprint("T", BODY.format(one)) == masked_fingerprint("T", BODY.format(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("营业时间 9:00-18:00", "营业时间 10:00-18:00"),
        ("14:00 开幕式", "15:00 开幕式"),
        ("会议时间：14:00", "会议时间：15:00"),
        ("2026-11-30 12:34", "2026-12-01 12:34"),
        ("共有 3 人", "共有 4 人"),
        ("价格 1234 元", "价格 1235 元"),
        ("版本 3.11", "版本 3.12"),
        ("他在 3 年前创立了公司。", "他在 4 年前创立了公司。"),
        ("The database has 3 views.", "The database has 4 views."),
        ("访问端口 8080 的服务。", "访问端口 8081 的服务。"),
        ("访问 8080", "访问 8081"),
        ("下载 3.11", "下载 3.12"),
        ("刚刚装好的系统", "装好的系统"),
        ("须在 3 天前往登记", "须在 4 天前往登记"),
        ("| 阅读 | 1234 |", "| 阅读 | 1235 |"),
        ("```\nviews: 3\n```", "```\nviews: 4\n```"),
        ("```\n  x\n```", "```\n    x\n```"),
        ("Python 3", "python 3"),
    ],
)
def test_real_edits_change_the_fingerprint(one: str, other: str) -> None:
    assert masked_fingerprint("T", BODY.format(one)) != masked_fingerprint("T", BODY.format(other))


def test_the_title_counts_and_blank_lines_do_not() -> None:
    assert masked_fingerprint("A", "x\ny") != masked_fingerprint("B", "x\ny")
    assert masked_fingerprint("A  b", "x \n\n\ny\n") == masked_fingerprint("A b", "x\ny")


def test_a_masked_line_keeps_what_is_not_a_counter() -> None:
    assert mask_line("来源：新华网  阅读 1234 次") == "来源：新华网  阅读 #次"


def test_simhash_is_near_for_a_light_edit_and_far_for_another_text() -> None:
    text = "".join(f"第{i}台机组于{2000 + i}年在福建投入运行，装机容量为{i * 7}兆瓦。" for i in range(40))
    other = "".join(f"本届运动会的第{i}个项目在成都举行，共有{i * 3}名选手报名。" for i in range(40))
    assert is_near_duplicate(simhash(text), simhash(text.replace("福建", "广东", 1)))
    assert not is_near_duplicate(simhash(text), simhash(other))
    assert simhash(text) == simhash(text.replace("，", ", "))


def test_simhash_of_a_known_text_is_the_same_on_every_machine() -> None:
    assert simhash("one two three 一二三") == SIMHASH_OF_SAMPLE
    assert simhash("") == 0


SIMHASH_OF_SAMPLE = 0x60D2472ADBC24740
