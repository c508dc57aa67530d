"""What small models put round an answer is taken off; what is left is checked as ever."""

from __future__ import annotations

import json

import pytest

from kbcite.answer.answering import AnswerOptions, answer
from kbcite.answer.llm import Reply
from kbcite.records import Answer
from tests.answer.blocks import NOW, retrieved

BLOCKS = [
    retrieved(
        "A day ticket costs 6.50 euros. The pool opens at seven in the morning.", 0, title="Swimming pool › Prices"
    ),
    retrieved("Children under six swim free of charge. Dogs are not allowed.", 1, title="House rules"),
]
QUESTION = "How much is a day ticket, and when does the pool open?"
TICKET = "A day ticket costs 6.50 euros."
OPENS = "The pool opens at seven in the morning."
BOTH = f"{TICKET} [1] {OPENS} [1]"


def ask(*replies: str | Reply) -> tuple[Answer, int]:
    """The answer, and how often the model was asked."""
    given = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
    asked = 0

    def complete(_messages: object) -> Reply:
        nonlocal asked
        asked += 1
        return given[min(asked, len(given)) - 1]

    options = AnswerOptions(model="stub")
    said = answer(QUESTION, BLOCKS, options, now=NOW, answer_id="a", trace_id="t", complete=complete, delimiter="k7q2")
    return said, asked


WRAPPED = {
    "thinking": f"<think>\nMaybe it costs 8 euros [2].\n</think>\n\n{BOTH}",
    "thinking whose start the server took": f"It may cost 8 euros.\n</think>\n\n{BOTH}",
    "a fence": f"```markdown\n{BOTH}\n```",
    "a fence without a name": f"```\n{BOTH}\n```",
    "JSON": json.dumps({"answer": BOTH, "sources": [1]}),
    "JSON in a fence": f"```json\n{json.dumps({'answer': BOTH})}\n```",
    "the fence words of the prompt": f"<k7q2>\n{BOTH}\n</k7q2>",
    "the marks of a turn": f"<|im_start|>assistant\n{BOTH}<|im_end|>\n<|im_start|>user\nmore",
    "the end of a text": f"{BOTH}</s>",
    "the question again": f"{QUESTION} {BOTH}",
    "question and label": f"Question: {QUESTION}\nAnswer: {BOTH}",
    "a label": f"**Answer:** {BOTH}",
    "a label in Chinese": f"回答：{BOTH}",
    "a next question": f"{BOTH}\nQuestion: How old is the pool?\nAnswer: It is ten years old. [1]",
    "footnotes": f"{TICKET}[^1] {OPENS}[^1]\n\n[^1]: Swimming pool, https://example.com/0",
    "a list of addresses": f"{BOTH}\n\n---\n[1] Prices, https://example.com/0\n[2] Rules: https://example.com/1",
    "a list of titles": f"{BOTH}\n\n[1] Swimming pool › Prices",
    "a headed list of titles": f"{BOTH}\n\n**Sources used:**\n- [1] Swimming pool\n- [2] House rules",
    "pleasantries": f"Sure! {BOTH} Let me know if you need anything else!",
    "one thing twice": f"{BOTH} {TICKET} [1] {TICKET} [1]",
    "marks in brackets": f"{TICKET} ([1]) {OPENS} (see [1])",
    "marks in bold": f"{TICKET} **[1]** {OPENS} *[1]*",
    "marks in code": f"{TICKET} `[1]` {OPENS} `[1]`",
    "escaped marks": f"{TICKET} \\[1\\] {OPENS} \\[1\\]",
    "raised marks": f"{TICKET}<sup>[1]</sup> {OPENS}<sup>1</sup>",
    "a mark that the limit cut": f"{BOTH} [",
}


@pytest.mark.parametrize("way", WRAPPED)
def test_what_stands_round_an_answer_is_taken_off_without_asking_again(way: str) -> None:
    said, asked = ask(WRAPPED[way])
    assert (said.text.strip(), asked) == (BOTH, 1)
    assert [claim.verdict for claim in said.claims] == ["supported", "supported"]


EMPTY = {
    "nothing but thinking": f"<think>\nThe user asks. {TICKET} [1]",
    "a heading": "Swimming pool › Prices [1]",
    "a part of a heading": "House rules. [2]",
    "the question": f"{QUESTION} [1]",
    "the line of a source": "[1] source: https://example.com/0 (2026-01-01)",
    "circles": "the pool opens " * 40 + "[1]",
    "words without content": "the the the the the the [1]",
    "bytes that are no text": "The pool opens \ufffd\x0b at\x1c [1]",
    "JSON that broke off": '{"answer": "A day ticket costs 6.50 euros. [1]", "sour',
    "JSON without a text": '{"sources": [1, 2]}',
}


@pytest.mark.parametrize("way", EMPTY)
def test_a_reply_that_states_nothing_is_asked_for_again_and_then_refused(way: str) -> None:
    said, asked = ask(EMPTY[way])
    assert (said.status, asked) == ("refused", 2)
    assert "does not answer" in said.grounding.path[1]
    assert ask(EMPTY[way], BOTH)[0].text == BOTH


def test_sentences_of_json_keep_the_numbers_of_their_own_object() -> None:
    claims = [{"text": TICKET, "sources": [1]}, {"text": "Dogs are not allowed.", "sources": ["2"]}]
    assert ask(json.dumps({"claims": claims}))[0].text == f"{TICKET} [1]\nDogs are not allowed. [2]"


def test_the_number_of_a_list_is_no_figure_of_its_sentence() -> None:
    said, asked = ask(f"1. {TICKET} [1]\n2. {OPENS} [1]")
    assert (said.text, asked) == (f"1. {TICKET} [1]\n2. {OPENS} [1]", 1)
    assert [claim.verdict for claim in said.claims] == ["supported", "supported"]


def test_a_source_that_is_named_as_a_word_leaves_a_whole_sentence() -> None:
    wanted = "According to the source, a day ticket costs 6.50 euros. [1]"
    for name in ("[1]", "source 1", "source [1]", "the source [1]"):
        assert ask(f"According to {name}, a day ticket costs 6.50 euros.")[0].text == wanted


def test_a_reply_that_broke_off_is_asked_for_again_in_fewer_words() -> None:
    said, asked = ask(Reply(f"{TICKET} [1] The pool opens at sev", is_cut=True), BOTH)
    assert (said.text, asked) == (BOTH, 2)
    assert "broke off" in said.grounding.path[1]


def test_half_a_sentence_is_never_shown() -> None:
    said, _ = ask(Reply(f"{TICKET} [1] Children under six", is_cut=True))
    assert said.text.strip() == f"{TICKET} [1]"
    assert "broke off" in said.grounding.path[-1]
    assert ask(Reply("A day ticket costs 6.", is_cut=True))[0].status == "refused"


def test_code_that_is_the_answer_keeps_its_fence() -> None:
    block = [retrieved("To upgrade, run this command:\n\n```sh\napt upgrade\n```", 0)]
    said = answer(
        "How do I upgrade?",
        block,
        AnswerOptions(model="stub"),
        now=NOW,
        answer_id="a",
        trace_id="t",
        complete=lambda _: Reply("To upgrade, run this command: [1]\n\n```sh\napt upgrade\n```\n[1]"),
        delimiter="k7q2",
    )
    assert "```sh\napt upgrade\n```" in said.text
