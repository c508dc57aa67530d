import pytest

from kbcite.answer.freshness import WINDOWS, QuestionClass, classify_question, is_stale
from kbcite.records import SourceType
from tests.answer.blocks import NOW, retrieved

ASKED = {
    "volatile": (
        "贵州茅台现在的股价是多少？",
        "京东上这款显卡现在还有货吗？",
        "沪深300现在多少点？",
        "高铁G102次还有二等座吗？",
        "国际金价现在每克多少钱？",
        "一美元现在能换多少日元？",
        "北京现在下雨吗？",
        "这趟火车晚点了吗？",
        "茅台现在多少钱一股？",
        "What is the exchange rate of the euro right now?",
        "What is Nvidia trading at?",
        "How much is an ounce of silver?",
        "How many pounds do I get for 100 euros?",
        "Is GitHub down?",
        "Are there any seats left for the evening performance?",
        "Is the Northern line running right now?",
    ),
    "news": (
        "公司最新的放假公告是什么？",
        "这款手机目前的官方售价是多少？",
        "双十一有什么优惠活动？",
        "这次更新修复了哪些漏洞？",
        "河东区最近有停水通知吗？",
        "下周有哪些讲座？",
        "What did the company announce this week?",
        "What is the current price of the Pro plan?",
        "What's new in the latest version of Firefox?",
        "When is the next board meeting?",
        "Has the bus timetable changed recently?",
    ),
    "product": (
        "这家公司有多少名员工？",
        "这款手机的官方售价是多少？",
        "图书馆的年费是多少？",
        "居民用水每吨多少钱？",
        "营业时间是几点到几点？",
        "财务总监是谁？",
        "Who is the prime minister of Norway?",
        "How much does a day ticket for the pool cost?",
        "What is the fee for a replacement card?",
        "What time does the post office open on Saturdays?",
        "How many people work at the company?",
    ),
    "reference": (
        "《红楼梦》的作者是谁？",
        "《最新世界地图集》是谁编的？",
        "“现在进行时”怎么用？",
        "2008年夏季奥运会在哪里举办？",
        "秦始皇是哪一年统一六国的？",
        "你好，今天过得怎么样？",
        "What does HTTP status code 404 mean?",
        'What does "latest" mean in Docker tags?',
        "How much did the first iPhone cost?",
        "How many legs does a spider have?",
        "How do I reset my password?",
        "How are you today?",
    ),
}
"""Fifty questions, forty of them written before the rules were tried on them."""


@pytest.mark.parametrize(
    ("question", "expected"), [(question, name) for name, questions in ASKED.items() for question in questions]
)
def test_a_question_is_classed_by_its_words(question, expected):
    assert classify_question(question) == expected


@pytest.mark.parametrize(
    ("fetched_at", "source_type", "question_class", "stale"),
    [
        ("2026-11-30T07:58:00Z", SourceType.WEB, QuestionClass.VOLATILE, True),
        ("2026-11-30T07:58:00Z", SourceType.LIVE, QuestionClass.VOLATILE, False),
        ("2026-11-28T08:00:00Z", SourceType.WEB, QuestionClass.NEWS, False),
        ("2026-11-26T08:00:00Z", SourceType.WEB, QuestionClass.NEWS, True),
        ("2020-01-01T08:00:00Z", SourceType.WEB, QuestionClass.REFERENCE, False),
    ],
)
def test_a_page_is_stale_when_it_was_last_seen_before_the_window(fetched_at, source_type, question_class, stale):
    place = retrieved("内容。", fetched_at=fetched_at, source_type=source_type).place
    assert is_stale(place, WINDOWS[question_class], NOW) is stale
