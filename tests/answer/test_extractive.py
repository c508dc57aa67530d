"""What an extractive answer holds: the right passage, whole, and nothing beside the point."""

import pytest

from kbcite.answer.answering import AnswerOptions, answer
from kbcite.answer.questions import Kind, halves, read_question
from tests.answer.blocks import NOW, retrieved
from tests.answer.test_answering import ask

LAMP = retrieved(
    "The L2 is a lamp for workshops and camp sites with a battery of 20 hours.\n\n"
    "| Feature | Value |\n| --- | --- |\n| Light | 900 lumens |\n| Weight | 1.4 kg |\n| Dimensions | 20 × 9 × 9 cm |",
    0,
    title="Beamwell L2 lamp",
)
BACKUPS = retrieved(
    "I would like to know how long backups are kept.\n\nAfter a drop we keep the data in three stages:\n\n"
    "- the first 24 hours: instant undo\n- up to day 7: restore from the log\n- up to day 35: restore from a snapshot",
    1,
    title="How long are backups kept after a drop?",
)
PLANS = retrieved(
    "It depends on the plan how long backups are kept:\n\n- Free: 48 hours\n- Team and Business: 35 days",
    2,
    title="Plans and limits",
)
HUT = retrieved(
    "The hut stands at 2,318 metres and has 46 bunks.\n\n## In your rucksack\n\n- Head torch\n- Rain jacket\n- Gloves\n\n"
    "## Prices per night\n\n- Member: 34 crowns\n- Guest: 48 crowns",
    3,
    title="Your stay at the hut",
)
STATIONS = retrieved(
    "臨時取水站一覽表\n\n| 地點 | 地址 |\n| --- | --- |\n| 國小門口 | 港口路120號 |\n| 活動中心 | 福安街36號 |",
    4,
    title="停水公告",
)
MODULES = retrieved(
    "读者写道：相关阅读放了十二条。\n\n| 模块名称 | 最多条数 |\n| --- | --- |\n| 相关阅读 | 3 |\n| 热门文章 | 10 |",
    5,
    title="模块规范",
)
TOLL = retrieved(
    "2017年1月1日起，通行费全部取消。\n\n## 参考文献\n\n1. 关于取消南河桥车辆通行费的通告. 2016-12-20.",
    6,
    title="南河桥",
)


@pytest.mark.parametrize(
    ("question", "block", "expected"),
    [
        ("What does the L2 weigh?", LAMP, "Weight; Value: 1.4 kg"),
        ("How heavy is the L2?", LAMP, "Weight; Value: 1.4 kg"),
        ("How much is a night at the hut for a guest?", HUT, "Guest: 48 crowns"),
        ("How long are backups kept on the Free plan?", PLANS, "Free: 48 hours"),
        ("相关阅读最多几条？", MODULES, "模块名称: 相关阅读; 最多条数: 3"),
        ("南河桥的通行费什么时候取消的？", TOLL, "2017年1月1日起，通行费全部取消。"),
    ],
)
def test_the_answer_is_the_one_passage(question, block, expected):
    text = ask(question, [block]).text
    assert text.split("[")[0].strip().replace("Feature: ", "") == expected


@pytest.mark.parametrize(
    ("question", "block", "parts"),
    [
        ("How long are backups kept after a drop?", BACKUPS, ("first 24 hours", "up to day 7", "up to day 35")),
        ("What should I pack in my rucksack?", HUT, ("Head torch", "Rain jacket", "Gloves")),
        ("临时取水站在哪里？", STATIONS, ("港口路120號", "福安街36號")),
    ],
)
def test_a_list_or_table_that_answers_by_its_heading_is_given_whole(question, block, parts):
    result = ask(question, [block])
    assert all(part in result.text for part in parts)
    assert len(result.sources) == 1


def test_two_sentences_on_one_thing_that_go_on_differently_are_no_conflict():
    blocks = [
        retrieved("The SQL endpoint on port 7407 is now stable.", 0, published_at="2026-02-01"),
        retrieved("The SQL endpoint on port 7407 is meant for reports.", 1, published_at="2026-01-01"),
    ]
    result = ask("Which port does the SQL endpoint use?", blocks)
    assert result.conflicts == ()
    assert "7407" in result.text


def test_a_question_of_two_clauses_is_two_questions():
    first, second = halves(read_question("When will the bridge be built and how much does it cost?"))
    assert (first.kind, second.kind) == (Kind.TIME, Kind.PRICE)
    assert "bridge" in second.text


def test_passages_in_another_language_are_ranked_by_their_nearness():
    limits = retrieved(
        "Ferrodb keeps data in 64 segments.\n\nA single value may be at most 16 MiB.", title="Ferrodb limits"
    )

    def nearness(question, passages):
        return [1.0 if "16 MiB" in passage else 0.5 for passage in passages]

    result = answer(
        "Ferrodb 的单个值最大是多少？",
        [limits],
        AnswerOptions(),
        now=NOW,
        answer_id="a",
        trace_id="t",
        nearness=nearness,
    )
    assert result.text.startswith("A single value may be at most 16 MiB.")


SOURCES_LIST = retrieved(
    "## 语法\n\n`/etc/apt/sources.list` 文件每一行都代表一个软件包源。\n\n```\n# sources.list\ndeb url distribution\n```",
    7,
)
GENERATORS = retrieved(
    "Generators in Python save memory.\n\nGenerators are a special class of functions.\n\n```\n# a generator\nyield i\n```",
    8,
)
CHANGELOG = retrieved("## changelog\n\n`debian/changelog` 总是会被安装。这个文件事实上是一份历史记录。", 16)
RULES = retrieved(
    "修改时要更新 `debian/rules` 文件。`rules` 文件是一个 Makefile。比如说，\n\n```\ndebian/rules\n```", 9
)


@pytest.mark.parametrize(
    ("question", "block", "expected"),
    [
        ("什么是 sources.list？", SOURCES_LIST, "代表一个软件包源"),
        ("What is a generator in Python?", GENERATORS, "Generators are a special class of functions."),
        ("debian/rules 文件是什么？", RULES, "`rules` 文件是一个 Makefile。"),
        ("debian/changelog 文件是什么？", CHANGELOG, "这个文件事实上是一份历史记录。"),
    ],
)
def test_a_definition_is_the_sentence_that_says_what_it_is(question, block, expected):
    text = ask(question, [block]).text
    assert expected in text
    assert "```" not in text


def test_a_definition_is_the_row_of_the_thing_and_no_difference():
    table = retrieved(
        "| Directive | Meaning |\n| --- | --- |\n| `%p` | AM or PM. |\n\nWith the function, `%p` directive of strftime is used.",
        12,
        title="time: strftime directives",
    )
    other = retrieved("With the method, `%p` directive of strftime is used.", 13, title="datetime")
    result = ask("What does the strftime directive %p mean?", [other, table])
    assert result.text.startswith("Directive: `%p`; Meaning: AM or PM.")
    assert result.conflicts == ()


def test_under_a_heading_that_asks_the_question_the_first_sentence_answers():
    faq = retrieved(
        "## How do I convert a string to a number?\n\nFor integers, use the built-in `int()` function.\n\n"
        "## Back\n\nTo convert a number to a string, use `str()`.",
        14,
        title="Programming FAQ",
    )
    assert ask("How do I convert a string to a number?", [faq], max_sentences=1).text.startswith("For integers")


def test_a_sentence_is_not_given_without_the_code_that_it_announces():
    faq = retrieved("您可以用以下命令检查任意服务的状态\n\n```\nsystemctl status foo\n```", 15, title="服务")
    assert "systemctl status foo" in ask("怎么检查服务的状态？", [faq]).text


def test_a_how_to_is_the_sentence_that_says_it_with_its_code():
    program = retrieved("```\nfor line in reversed(list(input)):\n    print line\n```", 10, title="Python news")
    slices = retrieved("Use a slice to reverse a list:\n\n```\nL[::-1]\n```", 11, title="Python news")
    result = ask("How do I reverse a list in Python?", [program, slices])
    assert result.text.startswith("Use a slice to reverse a list:")
    assert "L[::-1]" in result.text
    assert "print line" not in result.text


@pytest.mark.parametrize("question", ["卡洛琳堡改名为什么？", "这条河又被称为什么？"])
def test_called_what_is_no_question_for_a_reason(question):
    assert read_question(question).kind is not Kind.REASON
    assert read_question("河水为什么涨？").kind is Kind.REASON


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much is a day ticket for the swimming pool?", Kind.PRICE),
        ("How much is the Team plan?", Kind.PRICE),
        ("How much of the rain falls in May?", Kind.QUANTITY),
    ],
)
def test_how_much_is_a_thing_asks_for_its_price(question, kind):
    assert read_question(question).kind is kind


MODES = retrieved(
    "It defaults to `'r'`, the mode to open for reading.\n\nChanged in version 3.3:\n\n- The `'x'` mode of open was added.\n\n"
    "| Mode | Meaning |\n| --- | --- |\n| `'r'` | read only |\n| `'x'` | create, and fail if it exists |",
    17,
    title="open()",
)
UDEV = retrieved("udev 正是为了解决该问题而创立的。\n\n从内核 2.6 版开始，udev 系统提供了硬件发现机制。", 18)
PACKAGES = retrieved("这里仅叙述了源码包的格式。一个源码包通常包括三个文件。", 19)


@pytest.mark.parametrize(
    ("question", "block", "expected"),
    [
        ("What does the mode 'x' do in open()?", MODES, "Mode: `'x'`; Meaning: create, and fail if it exists"),
        ("What is the open() mode 'r' for?", MODES, "Mode: `'r'`; Meaning: read only"),
        ("什么是 udev？", UDEV, "从内核 2.6 版开始，udev 系统提供了硬件发现机制。"),
        ("源码包是什么？", PACKAGES, "一个源码包通常包括三个文件。"),
    ],
)
def test_what_is_looked_up_is_the_row_or_sentence_of_that_name(question, block, expected):
    assert ask(question, [block], max_sentences=1).text.split(" [")[0].split("[1]")[0] == expected


WHY = retrieved(
    "## Why are knots immutable?\n\nThere are several advantages.\n\nOne is speed: a knot is tied once.\n\n"
    "## Other\n\nKnots are old.",
    21,
    title="Knot FAQ",
)
OTHER_KNOTS = retrieved("Because knots are immutable, do not pull at them.", 22, title="Knots")


def test_under_a_heading_that_asks_why_the_answer_goes_on_with_what_follows():
    result = ask("Why are knots immutable?", [WHY, OTHER_KNOTS])
    assert "One is speed" in result.text
    assert "pull" not in result.text
    assert "old" not in result.text


def test_a_caption_is_no_answer():
    table = retrieved("表 1.5. 文件权限的数字模式\n\n文件权限的数字有三位。", 23)
    assert ask("文件权限的数字怎么读？", [table], max_sentences=1).text.startswith("文件权限的数字有三位。")


def test_a_definition_cut_from_its_term_is_shown_without_its_sign():
    table = retrieved(": Create a new dictionary with the merged keys of two dictionaries.", 24)
    assert ask("How do I merge two dictionaries?", [table]).text.startswith("Create a new")


def test_two_examples_that_call_a_thing_differently_are_no_conflict():
    blocks = [
        retrieved(f"Run it like this:\n\n```\nrun(['ls', '-l'], {argument}=True)\n```", n)
        for n, argument in enumerate(("capture", "pipe"))
    ]
    assert ask("How do I run ls?", blocks).conflicts == ()


def test_what_are_the_things_is_answered_by_the_whole_table():
    levels = retrieved(
        "## Logging levels\n\nLevels can be set by the reader, or through a configuration.\n\n"
        "| Level | Number |\n| --- | --- |\n| CRITICAL | 50 |\n| ERROR | 40 |\n| INFO | 20 |\n| DEBUG | 10 |",
        1,
    )
    text = ask("What are the logging levels?", [levels]).text
    assert text.startswith("Level: CRITICAL; Number: 50\nLevel: ERROR; Number: 40\n")
    assert "DEBUG" in text


def test_a_row_that_answers_a_how_to_stands_alone():
    commands = retrieved(
        "| 命令 | 说明 |\n| --- | --- |\n| `tar -c` | 压缩一个目录 |\n| `tar -x` | 展开一个包 |\n| `cat` | 显示文件 |",
        1,
    )
    assert ask("怎么压缩一个目录？", [commands]).text.startswith("命令: `tar -c`; 说明: 压缩一个目录[1]")


def test_a_sentence_that_starts_with_this_comes_with_the_one_before():
    installer = retrieved(
        "The machine starts quickly.\n\nAnswers may be given ahead in a file. This is known as preseeding. Use preseeding with care.",
        1,
    )
    text = ask("What is preseeding?", [installer]).text
    assert text.startswith("Answers may be given ahead in a file. [1]\nThis is known as preseeding. [1]")
    assert "care" not in text


def test_a_command_is_the_answer_under_a_heading_that_asks():
    faq = retrieved(
        "- `dpkg --search foo`\n\n这个方法可以找到软件包的文件，文件已安装。",
        1,
        heading_chain=("如何查出文件属于哪个软件包？",),
    )
    assert ask("怎么查看某个文件属于哪个软件包？", [faq], max_sentences=1).text.startswith("`dpkg --search foo`")


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("南河桥又被称为什么？", "南河桥是一座被河水围着的桥。\n\n当地人也称作南河的桥为白桥。", "白桥"),
        (
            "What is the south bridge also called?",
            "The south bridge is also a road.\n\nPeople called the bridge White.",
            "White",
        ),
    ],
)
def test_a_question_for_a_name_is_answered_where_one_is_given(question, text, expected):
    assert expected in ask(question, [retrieved(text, 0)], max_sentences=1).text


def test_a_how_to_is_told_by_a_guide_before_the_entry_of_one_function():
    entry = retrieved("Parser.convert(line): Arguments read from a file can be given one argument per line.", 0)
    guide = retrieved("For reading a file line by line, you can loop over it.", 1)
    assert ask("How do I read a file line by line?", [entry, guide], max_sentences=1).text.startswith("For reading")
