"""Questions that people ask a company's pages: prices, hours, durations, conditions, whole lists, things that are not there."""

import pytest

from kbcite.answer.kinds import answers_kind
from kbcite.answer.passages import split_passages
from kbcite.answer.questions import Kind, halves, read_question, subject_of
from tests.answer.blocks import retrieved
from tests.answer.test_answering import ask

PRICES = retrieved(
    "## Rental prices 2026\n\n| Boat | One hour | One day |\n| --- | --- | --- |\n| Rowing boat | 7.00 € | 35.00 € |\n"
    "| Sailing boat | 9.00 € | 49.00 € |",
    0,
)
COVER = retrieved("Theft and damage of a sailing boat are covered only with the plan, which costs 3 euros a day.", 1)


def test_a_price_may_have_its_sign_behind_it():
    assert answers_kind(read_question("How much is a day with a rowing boat?"), "Rowing boat; One day: 35.00 €") == 1.0
    result = ask("How much does a sailing boat cost per day?", [PRICES, COVER], max_sentences=1)
    assert "One day: 49.00 €" in result.text


@pytest.mark.parametrize(
    ("question", "sentence", "kind"),
    [
        ("When did the harbour open?", "Harbour; Monday: 07:00–21:00", 0.0),
        ("When did the harbour open?", "2023: the harbour opens.", 1.0),
        ("When does the harbour open?", "Harbour; Monday: 07:00–21:00", 1.0),
        ("How long does a mechanic take?", "We are looking for two mechanics.", 0.2),
        ("How long does a mechanic take?", "A mechanic comes within 90 minutes.", 1.0),
        ("How heavy is the box?", "The box has 3 doors.", 0.2),
        ("保修期是多久？", "保修期为6个月。", 1.0),
        ("保修期是多久？", "共有3家维修点。", 0.2),
        ("滤网多久清洗一次？", "建议清洗周期: 3个月", 1.0),
        ("滤网多久清洗一次？", "清洗前: 3分10秒; 清洗后: 58秒", 0.3),
        ("How often is the filter cleaned?", "Clean the filter every three months.", 1.0),
        ("How often is the filter cleaned?", "Cleaning took 3 minutes.", 0.3),
        ("如何重启水泵？", "水泵不能通过面板重启。", 0.15),
        ("湖畔镇去年的粮食产量", "湖畔镇的粮食总产量为 3.2 万吨。", 1.0),
        ("湖畔镇去年的粮食产量", "湖畔镇有 12 家粮店。", 0.2),
        ("湖畔公司的股价是多少？", "第 16 章讲湖畔公司的历史。", 0.3),
        ("这部电影的票房是多少？", "影片的票房突破 2.1 亿元。", 1.0),
        ("这部电影的票房是多少？", "上座率是去年的 90%。", 0.2),
        ("湖畔镇的经济增长了多少？", "全镇生产总值增长 4.2%。", 1.0),
        ("湖畔镇的粮食总产量是多少？", "12月10日，湖畔镇公布了粮食总产量。", 0.3),
        ("In which year was the lake dammed?", "The Lake Act of 1931 says so.", 1.0),
        ("In which decade was the lake dammed?", "It was dammed in the 1930s.", 1.0),
        ("水库是哪个世纪修的？", "直至十九世纪才修成。", 1.0),
    ],
)
def test_a_measure_is_answered_in_its_units(question, sentence, kind):
    assert answers_kind(read_question(question), sentence) == kind


def test_an_example_of_code_is_no_figure():
    store = retrieved(
        "Keys are short. A key has at most 1,024 bytes, a value at most 64 MB.\n\nThe largest key of a store:\n\n"
        "```\nstore.largest_key(4096)\n```",
        0,
    )
    assert "1,024 bytes" in ask("How large may a key of a store be?", [store], max_sentences=1).text


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("仪式在南岭会议中心举行。", 1.0),
        ("仪式在湖畔大厅举行。", 1.0),
        ("仪式吸引了全国各地区的市场人士。", 0.0),
        ("仪式在网站和道路两旁播放。", 0.0),
    ],
)
def test_a_place_is_named_by_more_than_its_last_character(sentence, kind):
    assert answers_kind(read_question("仪式在哪里举行？"), sentence) == kind


def test_what_is_asked_first_decides_the_kind():
    assert read_question("When does the pump start?").kind is Kind.TIME
    assert read_question("What happens when the pump starts?").kind is not Kind.TIME
    assert read_question("Which error is raised when a key is missing?").kind is not Kind.TIME


def test_something_of_a_thing_is_told_and_not_defined():
    assert subject_of(read_question("水闸是什么？")) == "水闸"
    assert subject_of(read_question("这座桥的主要材料是什么？")) == ""


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("湖畔镇图书馆的开馆时间？", "湖畔镇图书馆即将开馆，居民都很期待。"),
        ("湖畔镇图书馆是哪一年开馆的？", "湖畔镇图书馆开馆仪式上，镇长致辞。"),
        ("湖畔镇图书馆的馆长是谁？", "湖畔镇图书馆的馆长十分热心，读者都很喜欢。"),
        ("湖畔镇图书馆有多少本藏书？", "5月3日，湖畔镇图书馆公布了藏书的数量。"),
    ],
)
def test_a_date_number_or_name_that_is_not_there_is_no_answer(question, sentence):
    assert ask(question, [retrieved(sentence, 0)]).refusal


def test_a_passage_with_the_date_is_taken_before_a_nearer_one_without():
    near = retrieved("湖畔镇图书馆开馆时间已经确定，欢迎来馆。", 0)
    dated = retrieved("湖畔镇图书馆将于5月3日开馆。", 1)
    assert "5月3日" in ask("湖畔镇图书馆的开馆时间？", [near, dated], max_sentences=1).text


RULES = retrieved("## 禁止行为\n\n- 酒后骑车。\n- 在人行道上骑车。\n- 骑行时使用手机。\n- 载人。", 0)


def test_an_item_is_not_shown_without_a_heading_that_turns_it_into_its_opposite():
    assert ask("可以在人行道上骑车吗？", [RULES]).text.startswith("禁止行为：在人行道上骑车。")


def test_a_list_of_things_is_given_whole():
    text = ask("骑行时禁止哪些行为？", [RULES]).text
    assert text.startswith("禁止行为：\n- 酒后骑车。\n")
    assert "载人" in text


def test_what_is_not_covered_is_no_definition():
    plan = retrieved(
        "The plan is an optional protection that covers theft.\n\n## What is not covered\n\n- Boats left open.\n- Lost keys.",
        0,
    )
    question = read_question("What is not covered by the plan?")
    assert (question.kind, subject_of(question)) == (Kind.LIST, "")
    assert ask(question.text, [plan]).text.startswith("What is not covered:\n- Boats left open.\n- Lost keys.")


def test_the_first_column_of_a_table_without_a_head_names_its_rows():
    table = retrieved("|  | S | L |\n| --- | --- | --- |\n| Weight | 19 kg | 24 kg |", 0, title="Models S and L")
    assert ask("Is the L heavier than the S?", [table]).text.startswith("Weight: S 19 kg, L 24 kg")


def test_a_sentence_cut_at_a_semicolon_is_shown_without_it():
    page = retrieved(
        "Since 1 March 2024 the managing director of the yard has been Dana Okoye; she came from the harbour office.", 0
    )
    assert ask("Who is the managing director of the yard?", [page]).text.startswith(
        "Since 1 March 2024 the managing director of the yard has been Dana Okoye [1]"
    )


def test_a_question_of_two_clauses_in_chinese_is_two_questions():
    assert [half.text for half in halves(read_question("补胎要多少钱，需要多久？"))] == [
        "补胎要多少钱",
        "补胎需要多久？",
    ]


def test_each_thing_has_its_row_and_nothing_beside_them():
    cards = retrieved(
        "会员卡有等级，银卡和黑卡也是。\n\n| 等级 | 租车折扣 |\n| --- | --- |\n| 银卡 | 5% |\n| 金卡 | 12% |\n| 黑卡 | 20% |",
        0,
    )
    text = ask("银卡和黑卡的租车折扣各是多少？", [cards]).text
    assert "银卡; 租车折扣: 5%" in text
    assert "黑卡; 租车折扣: 20%" in text
    assert "也是" not in text


def test_a_question_of_a_case_is_told_the_other_case():
    page = retrieved(
        "You may cancel a booking free of charge up to 24 hours before. If you cancel later, we charge half. Bye.", 0
    )
    text = ask("What happens if I cancel a booking late?", [page]).text
    assert "If you cancel later, we charge half." in text
    assert "Bye" not in text


def test_the_reason_stands_under_a_heading_that_asks_in_another_order():
    faq = retrieved(
        "押金为100元，租车时收取。押金可用支付宝支付。\n\n## 为什么押金还没有退？\n\n节假日期间银行会延迟。", 0
    )
    assert ask("押金为什么还没有退？", [faq], max_sentences=1).text.startswith("节假日期间银行会延迟。")


def test_a_name_before_a_noun_that_nothing_holds_is_not_answered_by_the_others():
    cards = retrieved("| 等级 | 年费 |\n| --- | --- |\n| 银卡 | 29欧元 |\n| 金卡 | 59欧元 |", 0, title="会员制度")
    assert ask("钻石卡会员年费是多少？", [cards]).refusal is not None
    assert ask("金卡会员年费是多少？", [cards]).text.startswith("等级: 金卡; 年费: 59欧元")


def test_who_works_there_is_said_by_who_is_employed():
    page = retrieved("Today the company employs 64 people and runs five stations.", 0, title="About the company")
    assert "64 people" in ask("How many people work at the company?", [page]).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("这条线路一期工程全长20公里。", "这条线路一期工程全长20千米。"),
        ("记者采访了解到，合唱团是刘超创办的。", "记者采访时获悉，合唱团是刘超创办的。"),
        ("这家公司与亚马逊、谷歌并称为四大。", "这家公司与亚马逊、Google并称为四大。"),
        ("距离选举只剩四天，民主、共和两党的选战白热化。", "距离选举只剩几天，红蓝两党的选战白热化。"),
    ],
)
def test_other_words_for_the_same_are_no_difference(one, other):
    blocks = [retrieved(one, 0), retrieved(other, 1)]
    question = "一期工程全长多少？" if "工程" in one else "合唱团是谁创办的？" if "合唱" in one else f"{one[:8]}怎样？"
    assert ask(question, blocks).conflicts == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("新华社南京1月10日电（记者王志）决赛将于11日进行。", "决赛将于11日进行。"),
        ("某某网讯 6月2日下午消息，公司今日发布财报。", "公司今日发布财报。"),
        ("人民日报报道的内容有误。", "人民日报报道的内容有误。"),
    ],
)
def test_who_reports_is_no_part_of_what_is_reported(text, shown):
    assert [passage.shown for passage in split_passages(text)] == [shown]


def test_a_comparison_is_the_whole_table():
    table = retrieved(
        "|  | Volta S | Volta L |\n| --- | --- | --- |\n| Weight | 19 kg | 24 kg |\n| Range | 70 km | 120 km |\n"
        "| Battery | 400 Wh | 625 Wh |\n| Charging | 4 h | 6 h |",
        0,
        title="The models Volta S and Volta L",
    )
    text = ask("What is the difference between Volta S and Volta L?", [table]).text
    assert text.startswith("Weight: Volta S 19 kg, Volta L 24 kg\nRange: Volta S 70 km")
    assert "Charging: Volta S 4 h, Volta L 6 h" in text


def test_a_row_of_hours_does_not_tell_when_a_thing_was_opened():
    hours = retrieved("| Station | Monday |\n| --- | --- |\n| Harbour | 07:00–21:00 |\n| Airport | 06:00–23:00 |", 0)
    history = retrieved("- 2011: the Airport station opens.\n- 2023: the Harbour station opens.", 1, title="Milestones")
    assert ask("When did the Harbour station open?", [hours, history], max_sentences=1).text.startswith(
        "2023: the Harbour"
    )


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("2021年和2022年的产量分别是多少？", [("2021年 的产量分别是多少？", Kind.QUANTITY), (" 2022年的产量分别是多少？", Kind.QUANTITY)]),
        ("音乐节的时间和地点？", [("音乐节的时间 ？", Kind.TIME), ("音乐节的 地点？", Kind.PLACE)]),
        ("《山与海》的作者和导演", [("《山与海》的作者 ", Kind.PERSON), ("《山与海》的 导演", Kind.PERSON)]),
        ("大桥是谁设计的？何时通车？是哪一年？", [("大桥是谁设计的", Kind.PERSON), ("大桥何时通车？是哪一年？", Kind.TIME)]),
        ("Who designed the bridge? When was it opened?",
         [("Who designed the bridge", Kind.PERSON), ("When was it opened? designed the bridge", Kind.TIME)]),
    ],
)  # fmt: skip
def test_each_half_of_a_question_asks_for_its_own_kind_of_thing(asked: str, parts: list[tuple[str, Kind]]) -> None:
    assert [(half.text, half.kind) for half in halves(read_question(asked))] == parts


def test_each_half_is_answered_by_a_passage_that_is_about_it():
    told_apart = retrieved("2021年，北湖油田原油产量达到182万吨，比上年增长3%，创下新高。", 0, title="北湖油田年报")
    beside = retrieved(
        "北湖油田2022年的产量指标定为190万吨。北湖油田2022年的产量上半年为91万吨。北湖油田2022年的产量每月约16万吨。",
        1,
        title="北湖油田产量",
    )
    first, *_ = ask("北湖油田2021年和2022年的产量分别是多少？", [beside, told_apart]).text.splitlines()
    assert "182万吨" in first


CAUSE = retrieved(
    "That the fever came from bad water was the common belief. Today, this is known as the well theory.", 0
)


def test_a_sentence_that_refers_back_says_what_the_one_before_it_says():
    assert ask("What is the bad water belief known as?", [CAUSE], max_sentences=1).text.startswith(
        "Today, this is known"
    )
    club = retrieved("渔人队是本地的老对手，支持者明显较少。它于1946年夺得全国冠军，也两次夺得杯赛冠军。", 1)
    assert ask("渔人队什么时候夺得全国冠军？", [club], max_sentences=1).text.startswith("它于1946年")


def test_a_sentence_that_holds_the_answer_lends_nothing_to_the_next():
    dated = retrieved("The mill of Arlen was burnt down in 1904. This was remembered in 1954 by the town.", 0)
    assert "in 1904" in ask("When was the mill of Arlen burnt down?", [dated], max_sentences=1).text


@pytest.mark.parametrize(
    "question",
    ["What is the harbour bridge known as?", "What is a nickname for the bridge?", "What is another term for a weir?"],
)
def test_what_a_thing_is_called_is_no_definition(question):
    assert subject_of(read_question(question)) == ""
    assert answers_kind(read_question(question), "It is known as the Old Lady.") == 1.0
