"""Which pages are worth a look, which are fit, and which were corrected."""

from __future__ import annotations

import pytest

from kbcite.answer.corrections import corrected_pages
from kbcite.answer.freshness import has_time_words, is_high_risk
from kbcite.answer.live_filters import why_unfit
from kbcite.answer.live_pages import LiveEntry, is_topical, links_to_follow
from tests.answer.blocks import NOW, retrieved

LIST = "https://a.example/notices/"
LINKS = (
    ("https://a.example/", "首页 返回首页 欢迎"),
    ("https://a.example/notices/9.html", "关于国庆节放假安排的通知"),
    ("https://a.example/notices/8.html", "河东区计划停水公告（12月3日）"),
    ("https://a.example/notices/7.html", "关于系统升级维护的公告"),
)


@pytest.mark.parametrize(
    ("question", "topics", "title", "expected"),
    [
        ("栖岚滤芯现在多少钱？", ("滤芯", "价格"), "", True),
        ("今天会下雨吗？", ("滤芯", "价格"), "", False),
        ("最新的停水公告是什么？", (), "城市供水停水公告列表", True),
        ("今天会下雨吗？", (), "城市供水停水公告列表", False),
        ("今天会下雨吗？", (), "", True),
        ("What does the Pro plan cost?", ("plan", "pricing"), "", True),
    ],
)
def test_a_live_page_is_chosen_by_its_topics_or_its_title(
    question: str, topics: tuple[str, ...], title: str, expected: bool
) -> None:
    assert is_topical(question, LiveEntry(LIST, topics, title)) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("河东区最近什么时候停水？", ["8.html"]),
        ("最新公告是什么？", ["9.html", "8.html"]),
        ("首页欢迎什么？", []),
        ("今天股价多少？", []),
    ],
)
def test_of_a_list_the_links_that_speak_of_the_question_are_followed(question: str, expected: list[str]) -> None:
    assert [url.rpartition("/")[2] for url in links_to_follow(question, LIST, LINKS, 2)] == expected


@pytest.mark.parametrize(
    ("text", "published_at", "reason"),
    [
        ("太短了。" * 30, None, "too_short"),
        ("够长了。" * 60, None, None),
        ("说明。\n\n| 型号 | 价格 |\n| --- | --- |\n| QL-RO600 反渗透滤芯（两年） | 149 元每支，含税 |", None, None),
        ("够长了。" * 60, "2026-10-20", "too_old"),
        ("够长了。" * 60, "2026-11-10", None),
        ("够长了。" * 60, "no date", None),
    ],
)
def test_a_live_page_that_is_too_short_or_too_old_is_not_used(
    text: str, published_at: str | None, reason: str | None
) -> None:
    unfit = why_unfit(text, published_at, NOW, min_chars=200, max_age_s=30 * 86_400)
    assert (unfit[0] if unfit else None) == reason


def test_a_correction_takes_back_the_page_that_it_names() -> None:
    wrong = retrieved(
        "停水从12月3日8时开始。",
        1,
        url="https://a.example/8.html",
        title="河东区计划停水公告",
        published_at="2026-11-20",
    )
    notice = retrieved(
        "停水时间更正为12月4日8时。",
        2,
        url="https://a.example/10.html",
        title="更正：河东区计划停水公告",
        published_at="2026-11-21",
    )
    other = retrieved(
        "停水从12月3日8时开始。",
        3,
        url="https://b.example/8.html",
        title="河东区计划停水公告",
        published_at="2026-11-20",
    )
    later = retrieved(
        "恢复供水。", 4, url="https://a.example/11.html", title="河东区计划停水公告", published_at="2026-11-25"
    )
    places = [block.place for block in (wrong, notice, other, later)]
    assert corrected_pages(places) == {wrong.place.url: notice.place.url}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("最新的停水公告是什么？", True),
        ("What did the company announce this week?", True),
        ("最近油价调整了多少？", True),
        ("《今日说法》的主持人是谁？", False),
        ("《最新一课》的作者是谁？", False),
        ("你好，今天过得怎么样？", False),
        ("How are you today?", False),
        ("2008年夏季奥运会在哪里举办？", False),
        ("What does HTTP status code 404 mean?", False),
    ],
)
def test_time_words_count_where_they_speak_of_an_event(question: str, expected: bool) -> None:
    assert has_time_words(question) is expected


def test_contract_health_and_finance_are_high_risk() -> None:
    assert is_high_risk("提前解除租赁合同的违约金是多少？")
    assert is_high_risk("What is the dose of ibuprofen for a child?")
    assert not is_high_risk("What time does the pool open?")
    assert is_high_risk("锅炉的最高压力是多少？", ("锅炉",))
