"""Codes of the record in words, in both languages; the freshness line stands in every form of an answer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kbcite.answer.live_decision import Trigger
from kbcite.answer.markdown_answer import to_markdown
from kbcite.html_answer import to_html
from kbcite.plain_words import REFUSALS, class_name, freshness_line, live_reason, unfit, window
from kbcite.records import Answer, Freshness, LiveUse, RefusalReason
from kbcite.render import answer_pieces
from tests.shown_answers import english, refused

DAY = 86_400
SHORT = english()[0]
REFUSED = refused()
STALE = LiveUse(
    True,
    ("time_words", "stale: 19 days, the window is 3 days"),
    ("https://a.example/p",),
    812.0,
    "live",
    ("https://a.example/old: too_old: published 2026-10-10, 41 days ago",),
)
STORED = LiveUse(False, ("what is stored was seen 1 hour ago, the window is 7 days",))


def fresh(answer: Answer, language: str, live: LiveUse, name: str = "news", window_s: int | None = 3 * DAY) -> Answer:
    return replace(answer, lang=language, freshness=Freshness(name, window_s, "2026-11-18", (), live))


def test_the_line_says_class_window_newest_evidence_and_why_pages_were_fetched() -> None:
    assert freshness_line(fresh(SHORT, "en", STALE)) == (
        "Freshness: news (what was announced lately), within 3 days; newest evidence 2026-11-18; fetched live (the question is about "
        "these days; what is stored was seen 19 days ago, the window is 3 days); not used https://a.example/old (too old, published "
        "2026-10-10, 41 days ago)"
    )
    assert freshness_line(fresh(SHORT, "zh", STALE)) == (
        "时效：近期消息（news），3 天内；最新依据 2026-11-18；已实时抓取（问题涉及近期情况；已存内容见于 19 天前，时效为 3 天）；"
        "未采用 https://a.example/old（过旧，发布于 2026-10-10，41 天前）"
    )


def test_it_says_why_nothing_was_fetched_and_a_class_of_ones_own_by_its_name() -> None:
    line = freshness_line(fresh(SHORT, "zh", STORED, "基金", 7 * DAY))
    assert line == "时效：基金，7 天内；最新依据 2026-11-18；未实时抓取（已存内容见于 1 小时前，时效为 7 天）"


def test_what_does_not_change_needs_no_line() -> None:
    assert freshness_line(fresh(SHORT, "en", LiveUse(False, ("x",)), "reference", None)) == ""


@pytest.mark.parametrize("answer", [SHORT, REFUSED], ids=["answered", "refused"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_stands_in_text_markdown_and_html(answer: Answer, language: str) -> None:
    shown = fresh(answer, language, STORED)
    line = freshness_line(shown)
    body, below = answer_pieces(shown)
    assert line in "".join(text for text, _ in [*body, *below])
    assert f"> {line}\n" in to_markdown(shown)
    assert f'<p class="freshness">{line}</p>' in to_html(shown)


@pytest.mark.parametrize(
    ("reason", "en", "zh"),
    [
        ("asked", "it was asked for", "按要求"),
        ("low_score: 0.20, 0.45 is needed", "what is stored reaches a relevance of 0.20, 0.45 is needed", "已存内容相关度 0.20，需要 0.45"),
        ("low_score: nothing was found", "nothing stored was found", "没有找到已存内容"),
        ("volatile_entity: 茅台", "what is said of 茅台 changes quickly", "关于茅台的内容变化快"),
        ("page_gone: https://a.example/", "a stored page is gone", "原页面已不存在"),
        ("the class reference does not ask for it", "the class reference does not ask for it", "reference 类问题不需要"),
        ("--offline", "offline", "离线"),
        ("something new", "something new", "something new"),
    ],
)  # fmt: skip
def test_reasons_are_said_in_words(reason: str, en: str, zh: str) -> None:
    assert (live_reason(reason, "en"), live_reason(reason, "zh")) == (en, zh)


@pytest.mark.parametrize("trigger", list(Trigger))
def test_every_trigger_has_words_in_chinese(trigger: Trigger) -> None:
    details = {Trigger.STALE: "9 days, the window is 3 days", Trigger.LOW_SCORE: "0.20, 0.45 is needed"}
    reason = f"{trigger}: {details.get(trigger, 'https://a.example/')}"
    bare = trigger in (Trigger.ASKED, Trigger.TIME_WORDS)
    assert re.search("[一-鿿]", live_reason(str(trigger) if bare else reason, "zh"))


@pytest.mark.parametrize(
    ("filtered", "said"),
    [
        ("https://a.example/: http_500: status 500", "https://a.example/ (status 500)"),
        ("https://a.example/: gave_up: not there after 8.0 s", "https://a.example/ (too slow, not there after 8.0 s)"),
        ("https://a.example/: refused_encoding", "https://a.example/ (in an encoding that browsers do not read either)"),
        ("https://a.example/: redirect_loop", "https://a.example/ (redirect loop)"),
    ],
)  # fmt: skip
def test_a_page_that_was_not_used_says_why(filtered: str, said: str) -> None:
    assert unfit(filtered, "en") == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(60, "1 分钟内"), (3 * DAY, "3 天内"), (90, "90 秒内"), (None, "不限时")]
)
def test_a_window_is_said_in_its_largest_whole_unit(seconds: int | None, said: str) -> None:
    assert window(seconds, "zh") == said


def test_every_reason_of_a_refusal_and_every_class_has_words() -> None:
    assert set(REFUSALS) == set(RefusalReason)
    assert class_name("product", "en") == "product (changes now and then)"
    assert class_name("finance", "en") == "finance"
