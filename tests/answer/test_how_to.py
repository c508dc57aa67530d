"""How something is done, as manuals tell it: under its heading, by a command, with the code that is announced."""

import pytest

from kbcite.answer.answering import AnswerOptions, answer
from kbcite.answer.passages import split_passages
from kbcite.answer.questions import defines, read_question, subject_of
from kbcite.records import RefusalReason
from tests.answer.blocks import NOW, retrieved
from tests.answer.test_answering import ask

UPGRADE = retrieved(
    "- 要升级系统中的所有软件包，请运行：\n\n  ```\n  pkg upgrade\n  ```\n\n- 要只看不做，请运行：\n\n  ```\n  pkg check\n  ```",
    0,
)


def test_an_item_announces_the_code_below_it():
    first, second = [p for p in split_passages(UPGRADE.place.text) if p.kind == "code"]
    assert first.text.startswith("要升级系统中的所有软件包，请运行：")
    assert second.text.startswith("要只看不做，请运行：")
    assert "pkg upgrade" in ask("如何升级系统中的所有软件包？", [UPGRADE]).text


def test_what_stands_under_the_heading_of_the_deed_goes_before_a_remark_elsewhere():
    permissions = retrieved("每当一个新用户添加到系统，都会创建一个新的组。", 0, heading_chain=("权限",))
    adding = retrieved("运行 `mkuser 名称`，再回答它的问题。", 1, heading_chain=("用户", "3.2. 添加新用户"))
    assert ask("如何添加一个新用户？", [permissions, adding], max_sentences=1).text.startswith("运行 `mkuser 名称`")


def test_a_row_that_is_told_by_a_command_goes_before_one_that_is_not():
    table = retrieved(
        "| 命令 | 说明 |\n| --- | --- |\n| `0` | 结束进程的信号，没有信号被发送 |\n| `end 1234` | 结束进程 1234 |", 0
    )
    assert ask("如何结束进程？", [table], max_sentences=1).text.startswith("命令: `end 1234`")


def test_the_arguments_of_a_function_say_nothing_of_what_it_does():
    methods = retrieved(
        "bag.sort(*, key=None, reverse=False)\n: Sort the items of the bag in place.\n\n"
        "bag.flip()\n: Reverse the elements of the bag in place.",
        0,
    )
    assert "bag.flip()" in ask("How do I reverse a bag in place?", [methods], max_sentences=1).text


def test_what_cannot_be_done_is_no_way_to_do_it():
    page = retrieved("Parcels are not easy to send by using the box. You can send parcels by using the counter.", 0)
    assert ask("How do I send parcels?", [page], max_sentences=1).text.startswith("You can send")


def test_a_short_yes_is_followed_by_what_it_means():
    faq = retrieved(
        "Yes, there is. The form is:\n\n```\na if b else c\n```",
        0,
        heading_chain=("Is there a short form of a choice?",),
    )
    text = ask("Is there a short form of a choice?", [faq]).text
    assert text.startswith("Yes, there is.")
    assert "a if b else c" in text


def test_a_reason_is_told_from_where_the_section_speaks_of_it():
    faq = retrieved(
        "This fault often bites beginners. Look at this recipe:\n\n```\nbake(bread=[])\n```\n\n"
        "One expects that a recipe makes new trays for shared values. It does not. Trays are made once.",
        0,
        heading_chain=("Why are trays shared between recipes?",),
    )
    text = ask("Why are trays shared between recipes?", [faq]).text
    assert text.startswith("One expects that a recipe makes new trays")
    assert "Trays are made once." in text


@pytest.mark.parametrize(
    ("question", "subject"), [("什么是 sid 发行版？", "sid"), ("xyz 软件包是什么？", "xyz"), ("什么是 LVM？", "LVM")]
)
def test_what_kind_of_thing_it_is_is_no_part_of_its_name(question, subject):
    assert subject_of(read_question(question)) == subject


@pytest.mark.parametrize(
    ("sentence", "at_least", "below"),
    [
        ("LVM2 是一个逻辑卷管理器。", 1.0, 1.1),
        ("`lvm`(8)：机制的基础知识", 0.5, 0.7),
        ("`lvm` 和 `mdadm` - `mdadm` 是用于磁盘的工具。", 0.0, 0.3),
    ],
)
def test_a_definition_speaks_of_the_thing_itself(sentence, at_least, below):
    assert at_least <= defines("lvm", sentence, "") < below


ENGLISH = retrieved("Pyton 3.8 was released on October 14, 2019. The json module parses JSON.", 0, title="Pyton")
CHINESE = retrieved("名称解析的模块写在 `/etc/names.conf` 里。", 1)


def across(question, blocks):
    texts = {block.place.document_id: block.place.text for block in blocks}
    return answer(
        question,
        blocks,
        now=NOW,
        options=AnswerOptions(max_sentences=1),
        answer_id="a1",
        trace_id="t1",
        document_text=texts.__getitem__,
        nearness=lambda _, passages: [0.9 if "json" in passage else 0.8 for passage in passages],
    )


def test_what_its_own_language_does_not_say_another_one_may():
    assert "The json module parses JSON." in across("Pyton 用什么模块解析 JSON？", [CHINESE, ENGLISH]).text


@pytest.mark.parametrize("question", ["Pyton 4.0 什么时候发布？", "怎样用 Fotoshop 裁剪图片？"])
def test_a_version_or_name_that_a_page_in_another_language_lacks_is_not_answered(question):
    refusal = across(question, [ENGLISH]).refusal
    assert refusal is not None
    assert refusal.reason is RefusalReason.BELOW_THRESHOLD


def test_two_functions_told_by_the_verb_that_is_asked_are_no_conflict():
    blocks = [
        retrieved("bag.flip(): Reverse the elements of the bag in place.", 0),
        retrieved("bag.sort(): Sort the items of the bag in place.", 1),
    ]
    assert ask("How do I reverse a bag in place?", blocks).conflicts == ()
