import pytest

from kbcite.answer.freshness import WINDOWS, QuestionClass, classify_question, is_stale
from kbcite.records import SourceType
from tests.answer.blocks import NOW, retrieved


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("贵州茅台现在的股价是多少？", "volatile"),
        ("What is the exchange rate of the euro right now?", "volatile"),
        ("京东上这款显卡现在还有货吗？", "volatile"),
        ("公司最新的放假公告是什么？", "news"),
        ("What did the company announce this week?", "news"),
        ("这款手机的官方售价是多少？", "news"),
        ("这家公司有多少名员工？", "product"),
        ("Who is the prime minister of Norway?", "product"),
        ("《红楼梦》的作者是谁？", "reference"),
        ("2008年夏季奥运会在哪里举办？", "reference"),
        ("What does HTTP status code 404 mean?", "reference"),
        ("你好，今天过得怎么样？", "reference"),
        ("How are you today?", "reference"),
    ],
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
