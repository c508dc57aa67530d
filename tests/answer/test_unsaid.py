from dataclasses import replace

import pytest

from kbcite.answer.questions import read_question
from kbcite.answer.unsaid import NEVER, find_unsaid
from kbcite.records import RefusalReason, Scores
from kbcite.render import answer_pieces
from tests.answer.blocks import retrieved
from tests.answer.test_answering import ask

SERVER = retrieved(
    "Ferrodb needs a 64-bit Linux with kernel 5.4. To run it as a service, unpack the archive. The undo window is one day.",
    0,
    title="Ferrodb quickstart",
)
PURIFIER = retrieved("栖木净水器整机保修期为两年，易损件保修期为三个月。", 1, title="栖木净水器 保修说明")
BRIDGE = retrieved(
    "| 南河桥 |  |\n| --- | --- |\n| 管理单位 | 河口市市政管理处 |\n| 设计类型 | 斜拉桥 |\n| 全长 | 2146米 |",
    2,
    title="南河桥",
)
PRICES = retrieved(
    "| 项目 | 2026年价格 | 2025年价格 |\n| --- | --- | --- |\n| 上门服务费 | 50元 | 40元 |", 3, title="价目表"
)
INSTALLING = retrieved("安装净水器时，先关闭水阀，再接上进水管。", 5)
MODES = retrieved(
    "The mode 'r' of open() means reading and the mode W of open() is writing.\n\n```\nchmod 755 mode\n```", 0
)
HISTORY = retrieved("Ferrodb is made by engineers in an office. Most engineers of Ferrodb came from Oslo.", 1)
OFFICE = retrieved("Ferrodb 的总结由办公室的张三丰上传。", 7)
FOUND = retrieved("The licence of Ferrodb by John Smith can be found in the archive.", 8)
INDIA = retrieved("In India the court of Ferrodb hears appeals.", 6)
PLANS = retrieved(
    "There are three plans.\n\n- Free: $0\n- Team: $29\n- Business: $79", 4, title="Ferrodb plans: what they cost"
)


@pytest.mark.parametrize(
    ("question", "block"),
    [
        ("Does Ferrodb run on Windows?", SERVER),
        ("Who founded Ferrodb?", SERVER),
        ("Who founded Ferrodb?", FOUND),
        ("How do I uninstall Ferrodb?", SERVER),
        ("How much does the Enterprise plan of Ferrodb cost?", PLANS),
        ("What is new in Ferrodb 3.5.0?", SERVER),
        ("栖木热水器的保修期是多久？", PURIFIER),
        ("南河桥的设计师是谁？", BRIDGE),
        ("谁是河口市市长？", BRIDGE),
        ("2027年上门服务费是多少？", PRICES),
        ("南河桥的造桥工人有多少？", BRIDGE),
        ("How much does the archive of Ferrodb cost?", SERVER),
        ("What is the salary of a Ferrodb engineer?", SERVER),
        ("怎么安装微信？", INSTALLING),
        ("净水器在 Rust 里怎么安装？", INSTALLING),
        ("Ferrodb 的总裁是谁？", OFFICE),
        ("What does the open() mode 'q' mean?", MODES),
        ("What is the open() mode Z?", MODES),
        ("What is the open() mode %W?", MODES),
        ("What does the xr command do?", MODES),
        ("What does the mode 755 mean?", MODES),
        ("How do I install Ferrodb?", HISTORY),
        ("How many engineers does Ferrodb have?", HISTORY),
    ],
)
def test_a_question_on_what_no_passage_says_is_refused(question, block):
    refusal = ask(question, [block]).refusal
    assert refusal is not None
    assert refusal.reason is RefusalReason.BELOW_THRESHOLD


@pytest.mark.parametrize(
    ("question", "block"),
    [
        ("Does Ferrodb run on Linux?", SERVER),
        ("How much is the Team plan?", PLANS),
        ("栖木净水器的保修期是多久？", PURIFIER),
        ("南河桥的管理单位是谁？", BRIDGE),
        ("南河桥有多长？", BRIDGE),
        ("2026年上门服务费是多少？", PRICES),
        ("净水器保修多长时间？", PURIFIER),
        ("What does the open() mode 'r' mean?", MODES),
        ("What is the open() mode W?", MODES),
        ("How many engineers of Ferrodb came from Oslo?", HISTORY),
        ("怎么安装净水器？", INSTALLING),
        ("What does an Indian court of Ferrodb do?", INDIA),
        ("Which kernel does Ferrodb need in Germany?", SERVER),
        ("Which kernel does a British Ferrodb need?", SERVER),
        ("栖木净水器易损件的最长期限是多久？", PURIFIER),
    ],
)
def test_the_same_question_on_what_is_there_is_answered(question, block):
    assert ask(question, [block]).status == "answered"


@pytest.mark.parametrize(
    ("name", "is_known"), [("Sheeshanks", True), ("Sheepshanks", True), ("Shepherd", False), ("Windows", False)]
)
def test_a_name_with_a_slip_in_it_is_known(name, is_known):
    paintings = "In 1857 Sheepshanks gave 233 paintings to the museum. A window was added."
    question = read_question(f"How many paintings did {name} give to the museum in 1857?")
    found = find_unsaid(question, [paintings], [paintings], paintings, lambda _: 1.0)
    assert (found.needed < NEVER) == is_known


def test_words_of_another_language_are_not_asked_for():
    assert ask("How long is the warranty of the purifier?", [PURIFIER]).status == "answered"


def test_a_refusal_names_the_words_and_the_number_that_decided():
    result = ask("What is new in Ferrodb 3.5.0?", [SERVER])
    assert result.notices == ("No passage found speaks of: 3.5.0",)
    assert result.refusal.needed > result.refusal.best_score >= result.grounding.confidence
    shown = "".join(piece[0] for pieces in answer_pieces(result) for piece in pieces)
    assert f"best match {result.refusal.best_score:.2f}, needed {result.refusal.needed:.2f}" in shown


def test_another_block_that_says_the_word_is_taken_instead():
    board = retrieved("海川精密股份有限公司董事会", 0)
    meeting = retrieved("海川精密股份有限公司股东会由董事长丁一主持。", 1)
    assert "丁一" in ask("海川精密公司的董事长是谁？", [board, meeting]).text


def test_an_attribute_is_said_by_its_noun():
    found = find_unsaid(
        read_question("What does the K2 weigh?"), ["Weight: 12 kg"], ["K2\nWeight: 12 kg"], "K2 weight", lambda _: 1.0
    )
    assert found.words == ()


@pytest.mark.parametrize("question", ["临时取水站设在什么地方？", "臨時取水站設在什麼地方？"])
def test_simplified_and_traditional_characters_are_one(question):
    notice = retrieved("停水期間於港口國小校門口設置臨時取水站。", title="停水公告")
    assert ask(question, [notice]).sources[0].quote.text == "停水期間於港口國小校門口設置臨時取水站。"


def test_a_bar_of_zero_answers_from_any_passage():
    assert ask("Who founded Ferrodb?", [SERVER], min_confidence=0.0).status == "answered"


def test_in_a_store_of_one_page_what_the_passage_says_is_enough():
    low = replace(PURIFIER, scores=Scores(dense=0.1, coverage=0.5, fused=0.2, relevance=0.46))
    assert ask("栖木净水器整机的保修期是多久？", [low]).status == "answered"


def test_one_thing_is_said_by_one_page():
    word = retrieved("In other words, install the Linux package of Ferrodb with the script.", 0)
    windows = retrieved("To install Ferrodb, open the store of Microsoft.", 1)
    assert ask("How do I install the Microsoft package of Ferrodb on Linux?", [word, windows]).refusal is not None


def test_what_is_left_unsaid_lowers_the_confidence():
    whole = ask("2026年上门服务费是多少？", [PRICES]).grounding.confidence
    part = ask("2026年上门服务费的增值税是多少？", [PRICES]).grounding.confidence
    assert part < whole
