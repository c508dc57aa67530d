import json

import jsonschema
import pytest

from kbcite.answer.answering import AnswerOptions, answer, refuse
from kbcite.answer.freshness import QuestionClass
from kbcite.answer.record import from_record, schema, to_record
from kbcite.errors import UsageError
from kbcite.records import RefusalReason, SourceType
from tests.answer.blocks import NOW, retrieved


def ask(question, blocks, **options):
    texts = {block.place.document_id: block.place.text for block in blocks}
    return answer(
        question,
        blocks,
        AnswerOptions(**options),
        now=NOW,
        answer_id="a1",
        trace_id="t1",
        document_text=texts.__getitem__,
    )


POLICY = retrieved(
    "自签收之日起 30 天内可以退货[3]。退货运费由买家承担。", 0, published_at="2026-11-20", title="退货政策"
)
PAYMENT = retrieved("支持以下支付方式：\n\n- 微信支付\n- 支付宝\n- 银行卡", 1, source_type=SourceType.INTERNAL)
OLD_POLICY = retrieved("自签收之日起 15 天内可以退货。", 2, published_at="2024-01-01", title="退货政策")
ENGLISH = retrieved("The museum opened in 1998. It is closed on Mondays. Tickets cost $12.", 3, title="City Museum")


def test_the_best_sentence_is_quoted_with_a_number_and_without_the_pages_footnote():
    result = ask("签收后多少天内可以退货？", [POLICY, PAYMENT])
    assert result.text.startswith("自签收之日起 30 天内可以退货。[1]")
    assert result.sources[0].quote.text.startswith("自签收之日起 30 天内可以退货[3]。")


@pytest.mark.parametrize("question", ["签收后多少天内可以退货？", "支持哪些支付方式？", "When did the museum open?"])
def test_every_mark_names_a_source_and_every_quote_is_a_slice_of_its_document(question):
    blocks = [POLICY, PAYMENT, ENGLISH]
    result = ask(question, blocks)
    numbers = [source.n for source in result.sources]
    assert numbers == list(range(1, len(numbers) + 1))
    for claim in result.claims:
        assert claim.markers
        for mark in claim.markers:
            assert result.text[mark.start : mark.end] == f"[{mark.n}]"
            assert mark.n in numbers
    texts = {block.place.url: block.place.text for block in blocks}
    for source in result.sources:
        assert texts[source.url][source.quote.start : source.quote.end] == source.quote.text
        assert source.quote.exact


def test_a_quote_of_a_block_inside_a_document_has_the_documents_offsets():
    document = "前言。\n\n" + POLICY.place.text
    block = retrieved(POLICY.place.text, 0, start=5)
    result = answer(
        "多少天内可以退货？",
        [block],
        AnswerOptions(),
        now=NOW,
        answer_id="a",
        trace_id="t",
        document_text=lambda _: document,
    )
    quote = result.sources[0].quote
    assert document[quote.start : quote.end] == quote.text
    assert quote.exact


def test_a_list_question_is_answered_by_the_whole_list():
    assert ask("支持哪些支付方式？", [POLICY, PAYMENT]).text.startswith(
        "支持以下支付方式：\n\n- 微信支付\n- 支付宝\n- 银行卡"
    )


def test_a_difference_between_sources_is_said_and_the_newer_comes_first():
    result = ask("签收之日起多少天内可以退货？", [OLD_POLICY, POLICY])
    assert result.text.startswith("自签收之日起 30 天内可以退货。[1]")
    assert [value for value, _ in result.conflicts[0].values] == ["30", "15"]
    assert "来源之间存在差异" in result.text
    assert {source.n for source in result.sources} == {n for _, n in result.conflicts[0].values}


def test_the_internal_document_beats_a_newer_page():
    internal = retrieved("自签收之日起 7 天内可以退货。", 4, published_at="2020-01-01", source_type=SourceType.INTERNAL)
    result = ask("签收之日起多少天内可以退货？", [POLICY, internal])
    assert result.text.startswith("自签收之日起 7 天内可以退货。")
    assert result.conflicts[0].ruling == "internal"


def test_nothing_found_is_a_refusal_in_the_language_of_the_question():
    assert ask("Who owns the museum?", []).refusal.reason is RefusalReason.EMPTY_RECALL
    assert ask("谁拥有博物馆？", []).text.startswith("我无法从提供的资料中确认这一点")


def test_only_dropped_blocks_are_a_refusal_with_the_best_score():
    block = retrieved("无关内容。", 0, dropped="below_threshold")
    result = ask("博物馆几点开门？", [block])
    assert result.refusal.reason is RefusalReason.BELOW_THRESHOLD
    assert result.refusal.best_score == block.scores.relevance


@pytest.mark.parametrize("text", ["[1][2]\n\n…", "|||\n| --- |\n", "```", " "])
def test_blocks_without_a_word_are_a_refusal(text):
    assert ask("退货期限是多少天？", [retrieved(text)]).status == "refused"


def test_what_shows_nothing_does_not_reach_the_answer():
    result = ask("退货期限是多少天？", [retrieved("退货\u200b期限为\u202e 30 天。")])
    assert result.text == "退货期限为 30 天。[1]"
    assert result.sources[0].quote.text == "退货\u200b期限为\u202e 30 天。"


def test_a_question_for_two_things_takes_the_best_passage_for_each():
    blocks = [
        retrieved("上海的面积为 6340 平方公里。上海有 16 个区。", 0),
        retrieved("北京的面积为 16410 平方公里。北京有 16 个区。", 1),
    ]
    text = ask("上海和北京的面积分别是多少？", blocks).text
    assert "6340" in text
    assert "16410" in text


def test_a_question_of_the_moment_is_not_answered_from_a_page_of_yesterday():
    result = ask("贵州茅台现在的股价是多少？", [retrieved("贵州茅台股价为 1500 元。", 0)])
    assert result.refusal.reason is RefusalReason.STALE_ONLY
    assert result.freshness.question_class == "volatile"


def test_what_only_a_stale_page_answers_is_refused_as_stale_although_a_fresh_page_was_found():
    stale = retrieved("市图书馆最新公告：周末开放至晚上九点。", 0, fetched_at="2025-01-01T08:00:00Z")
    fresh = retrieved("社区食堂的菜单每周更换一次，老人可以预订送餐。", 1)
    result = ask("市图书馆最新公告说周末开放到几点？", [fresh, stale], question_class=QuestionClass.NEWS)
    assert result.refusal.reason is RefusalReason.STALE_ONLY
    assert result.grounding.path[0] == "left out 1 stale blocks"
    assert ask("市图书馆最新公告说周末开放到几点？", [fresh], question_class=QuestionClass.NEWS).refusal.reason is not (
        RefusalReason.STALE_ONLY
    )


def test_a_refusal_that_no_evidence_decides_still_says_what_was_found():
    blocks = [retrieved("甲。", 0), retrieved("乙。", 1, dropped="over_top_k")]
    said = refuse("q", RefusalReason.DOMAIN_NOT_ALLOWED, now=NOW, answer_id="a", trace_id="t", retrieved=blocks)
    assert (said.retrieval.candidates, said.retrieval.used) == (2, 1)


def test_the_callers_own_class_beats_the_rules():
    blocks = [retrieved("贵州茅台股价为 1500 元。", 0)]
    assert ask("贵州茅台现在的股价是多少？", blocks, question_class=QuestionClass.REFERENCE).status == "answered"


def test_internal_and_web_sources_are_kept_apart_with_one_numbering():
    blocks = [retrieved("退货期限为 30 天。", 0), retrieved("换货期限为 15 天。", 1, source_type=SourceType.INTERNAL)]
    record = to_record(ask("退货期限和换货期限是多少天？", blocks))
    assert len(record["sources"]["internal"]) == len(record["sources"]["web"]) == 1
    assert {s["n"] for group in record["sources"].values() for s in group} == {1, 2}


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(ask("签收之日起多少天内可以退货？", [OLD_POLICY, POLICY]), id="answered, with a conflict"),
        pytest.param(ask("Who owns the museum?", []), id="refused"),
        pytest.param(
            refuse("q", RefusalReason.DOMAIN_NOT_ALLOWED, now=NOW, answer_id="a", trace_id="t"),
            id="refused before retrieval",
        ),
    ],
)
def test_a_record_holds_to_the_schema_and_reads_back_as_it_was(result):
    record = json.loads(json.dumps(to_record(result)))
    jsonschema.Draft202012Validator(schema()).validate(record)
    assert from_record(record) == result


def test_a_record_of_another_schema_is_refused_with_a_reason():
    with pytest.raises(UsageError, match=r"not 'kbcite\.answer/1'"):
        from_record({"schema": "other"})


def test_only_blocks_whose_relevance_reaches_the_threshold_count_as_above_it():
    blocks = [retrieved("The pool opens at seven.", n, dropped="figure_mismatch") for n in (0, 12)]
    result = answer(
        "When did the pool open in 2019?", blocks, AnswerOptions(threshold=0.45), now=NOW, answer_id="a", trace_id="t"
    )
    assert (result.retrieval.above_threshold, result.retrieval.used) == (1, 0)
