"""What people look up in manuals: what a function sends, a default, a key in a table, two things of one table."""

import pytest

from kbcite.answer.kinds import answers_kind
from kbcite.answer.passages import split_passages
from kbcite.answer.questions import Kind, defines, read_question, subject_of
from tests.answer.blocks import retrieved
from tests.answer.test_answering import ask

WORKERS = retrieved(
    "## Worker objects\n\nWorker.stop()\n: End the worker. On POSIX it sends the signal SIGINT.\n\n"
    "Worker.poll()\n: Tell whether the worker ended.",
    0,
)


def test_what_a_definition_goes_on_to_say_it_says_of_its_term():
    text = ask("Which signal does Worker.stop() send?", [WORKERS], max_sentences=1).text
    assert text.startswith("Worker.stop(): On POSIX it sends the signal SIGINT.")


def test_what_a_thing_is_is_told_by_the_first_sentence_of_its_definition():
    lock = retrieved("big lock\n: The mechanism by which one thread runs at a time. This keeps the runtime simple.", 0)
    assert "mechanism" in ask("What is the big lock?", [lock]).text


SERVER = retrieved(
    "The relay listens to port 7000 by default. The default can be overridden by naming another port of the relay:\n\n"
    "```\nrelay --port 9000\n```",
    0,
)


def test_a_default_is_a_value_and_no_example_of_another():
    assert ask("What is the default port of the relay?", [SERVER], max_sentences=1).text.startswith("The relay listens")


@pytest.mark.parametrize(
    ("question", "sentence", "kind"),
    [
        ("What is the default level of the log?", "By default the log is at `info`.", 1.0),
        ("What is the default level of the log?", "The log has levels.", 0.0),
        ("日志的默认级别是什么？", "日志默认为 INFO 级。", 1.0),
        ("日志的默认级别是什么？", "日志分为多级。", 0.0),
    ],
)
def test_a_default_is_told_with_its_value(question, sentence, kind):
    assert answers_kind(read_question(question), sentence) == kind


def test_a_default_is_no_definition():
    assert subject_of(read_question("What is the default port?")) == ""


KEYS = retrieved(
    "## 快捷键\n\n| 快捷键 | 描述 |\n| --- | --- |\n| `Ctrl-Z` | 把程序移到后台来暂停它 |\n| `Ctrl-S` | 停止屏幕输出 |\n| `Ctrl-Q` | 恢复屏幕输出 |",
    0,
)


def test_what_happens_at_a_key_is_its_row():
    assert read_question("按 Ctrl-Z 会怎样？").kind is Kind.OTHER
    assert "暂停" in ask("按 Ctrl-Z 会怎样？", [KEYS]).text


def test_a_comparison_of_two_rows_is_these_rows():
    text = ask("Ctrl-S 和 Ctrl-Q 有什么区别？", [KEYS]).text
    assert "停止屏幕输出" in text
    assert "恢复屏幕输出" in text
    assert "暂停" not in text


@pytest.mark.parametrize(
    ("sentence", "degree"),
    [
        ("Harbor（强制港口管理与许可－Harbour Access Rules）是一种访问控制系统。", 1.0),
        ("Harbor 策略是一系列规则。", 0.3),
        ("Harbor 系统是一系列规则。", 1.0),
    ],
)
def test_what_is_said_of_a_part_does_not_define_the_whole(sentence, degree):
    assert defines("Harbor", sentence, "") == degree


def test_a_sentence_that_goes_on_with_a_definition_is_shown_after_its_name():
    [_, second] = split_passages("pack(size, *, fill=None)\n: Pack the box. The fill is left out.")
    assert second.shown == "pack(): The fill is left out."
    assert second.text == "The fill is left out."
