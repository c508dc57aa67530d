"""High-risk questions: two or three sources compared."""

from __future__ import annotations

from kbcite.answer.answering import AnswerOptions, answer
from kbcite.answer.record import from_record, to_record
from kbcite.records import Answer, RetrievedBlock
from tests.answer.blocks import NOW, retrieved

QUESTION = "提前解除租赁合同的违约金是多少？"


def asked(*texts: str, is_high_risk: bool = True, question: str = QUESTION) -> Answer:
    blocks: list[RetrievedBlock] = [
        retrieved(text, n, title="租赁合同说明", url=f"https://site{n}.example/lease") for n, text in enumerate(texts)
    ]
    options = AnswerOptions(is_high_risk=is_high_risk)
    return answer(question, blocks, options, now=NOW, answer_id="a1", trace_id="t1")


def test_two_that_agree_carry_the_answer_and_the_third_is_named() -> None:
    found = asked(
        "提前解除租赁合同的，违约金为3个月租金。",
        "租客提前解除租赁合同时，应支付违约金2个月租金。",
        "根据租赁合同，提前解除的违约金是2个月的租金。",
    )
    assert "2 个来源一致为“2个月”，另有来源为“3个月”" in found.text
    assert found.text.splitlines()[0].find("2个月") >= 0
    (conflict,) = to_record(found)["conflicts"]
    assert conflict["ruling"] == "majority"
    assert sorted(value["value"] for value in conflict["values"]) == ["2个月", "2个月", "3个月"]
    assert {value["n"] for value in conflict["values"]} <= {source.n for source in found.sources}
    assert not any("冲突" in notice for notice in found.notices)
    assert from_record(to_record(found)) == found


def test_two_that_disagree_are_said_to_before_anything_else() -> None:
    found = asked("提前解除租赁合同的，违约金为3个月租金。", "租客提前解除租赁合同时，应支付违约金2个月租金。")
    assert found.notices[0] == "多来源信息存在冲突，以下内容可能不完全准确"
    (conflict,) = to_record(found)["conflicts"]
    assert conflict["ruling"] == "disagree"
    assert {value["value"] for value in conflict["values"]} == {"2个月", "3个月"}
    assert len({value["n"] for value in conflict["values"]}) == 2


def test_two_that_agree_are_marked_without_a_conflict() -> None:
    found = asked("提前解除租赁合同的，违约金为2个月租金。", "租客提前解除租赁合同时，应支付违约金2个月租金。")
    assert "经核对，2 个来源一致为“2个月”。" in found.text
    assert found.conflicts == ()


def test_one_source_alone_is_not_called_checked() -> None:
    assert "核对" not in asked("提前解除租赁合同的，违约金为2个月租金。").text


def test_without_risk_nothing_is_compared() -> None:
    texts = ("提前解除租赁合同的，违约金为2个月租金。", "租客提前解除租赁合同时，应支付违约金2个月租金。")
    assert "核对" not in asked(*texts, is_high_risk=False).text


def test_it_is_said_in_the_language_of_the_question() -> None:
    found = asked(
        "The penalty for ending the lease contract early is 3 months of rent.",
        "Whoever ends the lease contract early pays a penalty of 2 months of rent.",
        question="What is the penalty for ending the lease contract early?",
    )
    assert found.notices[0] == "Sources contradict one another; the following may not be wholly accurate"
    assert "the sources differ: " in found.text
