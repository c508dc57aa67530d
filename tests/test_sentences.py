import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.sentences import split_sentences

SPLIT = [
    ("今天下雨。明天放晴！后天呢？", 3),
    ("他说：“今天下雨。”会议还讨论了预算。", 2),
    ("价格是 3.5 元。库存为 1,000 件。", 2),
    ("真的吗?他不信.后来信了。", 3),
    ("He came. She left! Who stayed?", 3),
    ('He said "It works." Then he left.', 2),
    ("(It works.) Then he left.", 2),
    ("It works.[12] Then it breaks. [3] At last it stops.", 3),
    ("罗马建于此。[1]后来扩建。", 2),
    ("It was founded in 2016. Then it grew.", 2),
    ("It grew in the U.S. The rest followed.", 2),
    ("Apple Inc. The firm grew.", 2),
    ("He liked plan B. The others did not.", 2),
    ("Use apples, pears, etc. They keep well.", 2),
    ("He waited … Nobody came.", 2),
    ("Sep 13, 2016 ... 香港选举已经结束。", 2),
    ("one line\nanother line", 2),
    ("**Bold.** Then plain.", 2),
    ("i saw the machines. it was late.", 2),
    ('他说。"你好。"她走了。', 3),
]
WHOLE = [
    "Python 3.11 是 v1.2 之后的版本。",
    "Dr. Smith met Mr. Jones at St. James vs. Gen. Grant.",
    "See Fig. 3 and No. 5 on pp. 12, e.g. Table 1.",
    "J. K. Rowling and George W. Bush met the U.S. Army.",
    "Apple Inc. CEO Tim Cook spoke.",
    "It closes at 5 p.m. sharp on Jan. 5.",
    "See https://example.org/a.b?c=1!d for more.",
    "“你说什么？”他问。",
    "“这不可能！”张三表示，他不信。",
    "电影《你好，之华！》于 2018 年上映。",
    "他（不是她！）来了。",
    "他想了想……然后走了。",
    "Wait... what is it?",
    '"What?" he said.',
    "Yahoo! is a company.",
    "1. Install the package.",
    "2.1. Install the package.",
    "a. Install the package.",
    "一、安装软件包。",
    "（一）安装软件包。",
    "First (see below) it ends…",
    "编辑 /etc/apt/sources.list 文件。",
    "真的吗？！",
    "没有句号",
]


@pytest.mark.parametrize(("text", "count"), SPLIT, ids=[text for text, _ in SPLIT])
def test_sentences_are_told_apart(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


@pytest.mark.parametrize("text", WHOLE)
def test_a_sentence_stays_whole(text: str) -> None:
    assert split_sentences(text) == [(0, len(text))]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("“好。”\n他说。", ["“好。”", "他说。"]),
        ("He said “It works.” Then left.", ["He said “It works.”", "Then left."]),
        ("事实如此。[1][2] 另一事实。[3]", ["事实如此。[1][2]", "另一事实。[3]"]),
        ("  a.  \n\n  b  ", ["a.", "b"]),
        ("", []),
        (" \n", []),
    ],
)
def test_spans_hold_closers_and_notes_and_no_outer_blanks(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


@given(st.one_of(st.text(), st.text("aA1中。！？.!?…\"'”“）()[] \n\r\u3000,，Mr")))
def test_spans_are_in_order_never_overlap_and_hold_every_character_that_is_not_blank(text: str) -> None:
    position = 0
    for start, end in split_sentences(text):
        assert position <= start < end
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()
