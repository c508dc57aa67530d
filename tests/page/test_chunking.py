import random
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbcite.block_id import block_id
from kbcite.errors import UsageError
from kbcite.page.chunking import chunk_document
from kbcite.page.cutting import estimate_tokens
from kbcite.page.outline import parse_parts
from kbcite.records import Block, Occurrence
from kbcite.sentences import split_sentences

ZH = "机房 供电 制冷 预算 部门 计划 系统 数据 网络 安全 报告 研究 设备 成本 项目 质量 服务 用户 市场 政策".split()
EN = "power cooling budget office plan system data network safety report study device cost project user market".split()


def sentence(rng: random.Random, language: str = "zh") -> str:
    if language == "zh":
        return "".join(rng.choices(ZH, k=rng.randint(6, 14))) + f"共{rng.randint(2, 999)}项。"
    return " ".join(rng.choices(EN, k=rng.randint(8, 18))).capitalize() + f" in {rng.randint(2, 999)} cases."


def paragraph(rng: random.Random, characters: int, language: str = "zh") -> str:
    found: list[str] = []
    blank = "" if language == "zh" else " "
    while len(blank.join(found)) < characters:
        found.append(sentence(rng, language))
    return blank.join(found)


def texts(blocks: list[tuple[Block, Occurrence]]) -> list[str]:
    return [block.text for block, _ in blocks]


def check_invariants(text: str, blocks: list[tuple[Block, Occurrence]], overlap: bool = False) -> None:
    position = 0
    for ordinal, (block, occurrence) in enumerate(blocks):
        assert text[occurrence.start : occurrence.end] == block.text
        assert block.id == occurrence.block_id == block_id(block.text)
        assert occurrence.ordinal == ordinal
        assert not text[position : occurrence.start].strip()
        assert overlap or occurrence.start >= position
        position = occurrence.end
    assert not text[position:].strip()


# ---------------------------------------------------------------- sizes


@pytest.mark.parametrize(("sections", "characters"), [(10, 290), (8, 370), (20, 145), (30, 95), (12, 240)])
def test_a_post_of_3000_characters_under_headings_gives_8_to_12_blocks(sections: int, characters: int) -> None:
    rng = random.Random(1)
    text = "\n\n".join(f"## 第{i}节\n\n{paragraph(rng, characters)}" for i in range(sections))
    blocks = chunk_document(text)
    assert 8 <= len(blocks) <= 12
    check_invariants(text, blocks)


def test_nested_headings_of_a_post_of_3000_characters_give_8_to_12_blocks() -> None:
    rng = random.Random(2)
    parts = [
        f"## 第{i}章\n\n" + "\n\n".join(f"### {i}.{k}\n\n{paragraph(rng, 290)}" for k in range(2)) for i in range(5)
    ]
    text = "# 总标题\n\n" + "\n\n".join(parts)
    blocks = chunk_document(text)
    assert 8 <= len(blocks) <= 12
    assert blocks[0][1].heading_chain == ("总标题", "第0章", "0.0")


@pytest.mark.parametrize("characters", [1600, 2000, 2400])
def test_a_simple_post_gives_3_to_5_blocks(characters: int) -> None:
    rng = random.Random(3)
    text = "\n\n".join(paragraph(rng, 150) for _ in range(characters // 165))
    assert 3 <= len(chunk_document(text)) <= 5


@pytest.mark.parametrize("language", ["zh", "en"])
def test_blocks_of_a_long_text_fit_the_window_and_reach_the_aim(language: str) -> None:
    rng = random.Random(4)
    text = "## One\n\n" + "\n\n".join(paragraph(rng, rng.randint(80, 900), language) for _ in range(60))
    blocks = chunk_document(text)
    check_invariants(text, blocks, overlap=True)
    assert all(block.words <= 512 and estimate_tokens(block.text) <= 480 for block, _ in blocks)
    assert sum(block.words >= 128 for block, _ in blocks) >= 0.9 * len(blocks)
    assert sum(block.words for block, _ in blocks) >= 220 * len(blocks)


@pytest.mark.parametrize("text", ["", "\n\n", "# Only a heading", "## A\n\n### B\n", "---\n\n***", "……\n\n。"])
def test_a_page_without_words_or_with_headings_only_gives_no_block(text: str) -> None:
    assert chunk_document(text) == []


@pytest.mark.parametrize(("low", "high", "overlap"), [(0, 512, 0), (300, 200, 0), (256, 512, 200), (256, 512, -1)])
def test_sizes_that_cannot_be_kept_are_refused(low: int, high: int, overlap: int) -> None:
    with pytest.raises(UsageError, match=r"under \[chunk\] set"):
        chunk_document("Text.", low, high, overlap)


@pytest.mark.parametrize("words", [40, 80])
def test_blocks_can_be_set_to_be_small(words: int) -> None:
    rng = random.Random(21)
    text = "\n\n".join(f"## 第{i}节\n\n{paragraph(rng, 200)}" for i in range(10))
    blocks = chunk_document(text, words // 2, words, words // 4)
    check_invariants(text, blocks)
    assert all(block.words <= words for block, _ in blocks)


# ---------------------------------------------------------------- headings


def test_the_heading_line_stands_in_the_block_and_its_title_in_the_chain() -> None:
    rng = random.Random(5)
    text = f"# 手册\n\n## 安装\n\n{paragraph(rng, 500)}\n\n## 升级\n\n{paragraph(rng, 500)}"
    blocks = chunk_document(text)
    assert [occurrence.heading_chain for _, occurrence in blocks] == [("手册", "安装"), ("手册", "升级")]
    assert [block.text.split("\n\n")[0] for block, _ in blocks] == ["# 手册", "## 升级"]


def test_the_page_title_is_left_out_of_the_chain() -> None:
    rng = random.Random(5)
    text = f"# 手册 ２\n\n## 安装\n\n{paragraph(rng, 500)}\n\n## 升级\n\n{paragraph(rng, 500)}"
    blocks = chunk_document(text, title="手册 2")
    assert chunk_document(text.replace("手册 ２", "**手册** `2`"), title="手册 2")[1][1].heading_chain == ("升级",)
    assert [occurrence.heading_chain for _, occurrence in blocks] == [("安装",), ("升级",)]


def test_the_chain_holds_plain_words() -> None:
    text = "## The `apt` **tool**: [a_b](https://example.org/x) ##\n\nText of it."
    assert chunk_document(text)[0][1].heading_chain == ("The apt tool: a_b",)


def test_every_piece_of_a_long_section_has_its_chain() -> None:
    rng = random.Random(6)
    text = f"# A\n\n{paragraph(rng, 400)}\n\n## B\n\n" + "\n\n".join(paragraph(rng, 300) for _ in range(8))
    chains = [occurrence.heading_chain for _, occurrence in chunk_document(text)]
    assert chains[0] == ("A",)
    assert len(chains) >= 4
    assert set(chains[1:]) == {("A", "B")}


def test_tiny_sections_are_joined_under_the_chain_they_share() -> None:
    text = "# FAQ\n\n" + "\n\n".join(f"## Question {i}?\n\nAnswer {i} is short." for i in range(6))
    [(block, occurrence)] = chunk_document(text)
    assert occurrence.heading_chain == ("FAQ",)
    assert block.text == text


def test_a_heading_with_nothing_below_goes_with_the_next_block_and_the_last_one_with_the_block_before() -> None:
    rng = random.Random(7)
    body = [paragraph(rng, 500) for _ in range(2)]
    text = f"## Empty\n\n## B\n\n{body[0]}\n\n## C\n\n{body[1]}\n\n## Last"
    blocks = chunk_document(text)
    assert texts(blocks) == [f"## Empty\n\n## B\n\n{body[0]}", f"## C\n\n{body[1]}\n\n## Last"]
    assert [occurrence.heading_chain for _, occurrence in blocks] == [("B",), ("C",)]


def test_a_hash_line_in_code_is_no_heading() -> None:
    text = "# Real\n\n```sh\n# not a heading\nls\n```\n\n- item\n\n  ```\n  # nor this\n  ```\n- next"
    [(block, occurrence)] = chunk_document(text)
    assert block.text == text
    assert occurrence.heading_chain == ("Real",)


# ---------------------------------------------------------------- what is never cut


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("headed", [True, False])
def test_blocks_begin_and_end_at_sentence_ends(language: str, headed: bool) -> None:
    rng = random.Random(8)
    body = paragraph(rng, 9000, language)
    text = f"## H\n\n{body}" if headed else body
    offset = len(text) - len(body)
    ends = {offset + end for _, end in split_sentences(body)}
    starts = {offset + start for start, _ in split_sentences(body)} | {0}
    blocks = chunk_document(text)
    assert len(blocks) > 4
    assert {occurrence.end for _, occurrence in blocks} <= ends
    assert {occurrence.start for _, occurrence in blocks} <= starts


def test_a_line_end_inside_a_paragraph_is_no_sentence_end() -> None:
    rng = random.Random(9)
    flowing = paragraph(rng, 9000, "en")
    wrapped = re.sub(r"(.{60}\S*) ", r"\1\n", flowing)
    ends = {end for _, end in split_sentences(flowing)}
    assert {occurrence.end for _, occurrence in chunk_document(wrapped)} <= ends


def test_a_large_table_is_cut_between_rows_and_its_header_is_repeated_as_context() -> None:
    rng = random.Random(10)
    head = "| 型号 | 说明 |\n|---|---|"
    rows = [f"| A{i} | {sentence(rng)} |" for i in range(60)]
    text = "## 价格\n\n" + "\n".join([head, *rows])
    blocks = chunk_document(text)
    assert len(blocks) > 2
    check_invariants(text, blocks)
    assert blocks[0][1].context == ""
    assert all(occurrence.context == head for _, occurrence in blocks[1:])
    assert [line for piece in texts(blocks) for line in piece.split("\n") if line.startswith("| A")] == rows


def test_a_large_code_block_is_cut_between_lines_and_its_caption_is_repeated_as_context() -> None:
    lines = [f"    total_{i} = compute(total_{i - 1}, step={i})  # one. two." for i in range(120)]
    caption = "The whole loop:"
    text = f"## Code\n\n{caption}\n\n```python\n" + "\n".join(lines) + "\n```"
    blocks = chunk_document(text)
    assert len(blocks) > 2
    check_invariants(text, blocks)
    assert [occurrence.context for _, occurrence in blocks] == ["", *[caption] * (len(blocks) - 1)]
    assert [line for piece in texts(blocks) for line in piece.split("\n") if line.startswith("    ")] == lines


def test_a_table_that_fits_is_not_cut_for_the_sake_of_the_text_around_it() -> None:
    rng = random.Random(11)
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {i} | {sentence(rng)} |" for i in range(12))
    text = f"## T\n\n{paragraph(rng, 300)}\n\n{table}\n\n{paragraph(rng, 300)}"
    assert any(table in piece for piece in texts(chunk_document(text)))


def test_a_later_piece_of_a_list_repeats_the_line_that_announces_it() -> None:
    rng = random.Random(16)
    text = "## L\n\n前文如此。以下软件包被移除：\n\n" + "\n".join(f"- {sentence(rng)}" for _ in range(60))
    contexts = [occurrence.context for _, occurrence in chunk_document(text)]
    assert contexts == ["", *["前文如此。以下软件包被移除："] * (len(contexts) - 1)]
    assert len(contexts) > 2


def test_a_later_piece_of_a_definition_repeats_its_term() -> None:
    rng = random.Random(17)
    entries = [
        f"run_{i}(command)\n: {paragraph(rng, 700, 'en')}\n\n  {paragraph(rng, 900, 'en')}\n\nstop_{i}()\n: Stops."
        for i in range(4)
    ]
    blocks = chunk_document("## D\n\n" + "\n\n".join(entries))
    assert len(blocks) >= 4
    for block, occurrence in blocks:
        term = re.match(r"(## D\n\n)?(run|stop)_\d\(", block.text)
        assert bool(term) != bool(re.fullmatch(r"(run|stop)_\d\(.*\)", occurrence.context))


def test_a_piece_of_a_nested_definition_repeats_the_terms_it_belongs_to() -> None:
    rng = random.Random(20)
    methods = "\n\n".join(
        f"  method_{i}()\n  : {paragraph(rng, 500, 'en')}\n\n    {sentence(rng, 'en')}" for i in range(8)
    )
    blocks = chunk_document(f"## D\n\nclass Outer()\n: A class.\n\n{methods}\n\nfunction()\n: {sentence(rng, 'en')}")
    assert len(blocks) >= 3
    for block, occurrence in blocks[1:]:
        assert occurrence.context.split("\n")[0] == "class Outer()"
        if not block.text.startswith("method_"):
            assert re.fullmatch(r"class Outer\(\)\nmethod_\d\(\)", occurrence.context)


def test_code_is_cut_where_a_function_begins() -> None:
    bodies = ["\n".join(f"    value_{k} = step_{k}(value_{k - 1}, {i})" for k in range(12)) for i in range(8)]
    code = "\n\n".join(f"def function_{i}(value_0):\n{body}" for i, body in enumerate(bodies))
    blocks = chunk_document(f"## C\n\nThe module:\n\n```python\n{code}\n```")
    assert len(blocks) >= 3
    assert all(piece.startswith("def function_") for piece in texts(blocks)[1:])


def test_a_list_ends_where_the_text_goes_back_to_its_own_depth() -> None:
    text = "## T\n\nterm\n: Takes these:\n\n  - one\n\n    more of one\n\n  - two\n\n  Not of the list."
    kinds = [(part.kind.value, text[part.start : part.end].split("\n")[0].strip()) for part in parse_parts(text)]
    assert kinds == [("heading", "## T"), ("paragraph", "term"), ("list", "- one"), ("paragraph", "Not of the list.")]


def test_a_paragraph_that_begins_like_a_definition_is_one_without_a_term() -> None:
    text = "## D\n\n: 2019-09-30\n: 2019-10-01"
    assert texts(chunk_document(text)) == [text]


def test_a_label_stays_with_what_it_announces() -> None:
    rng = random.Random(18)
    text = "## N\n\n" + "\n\n".join(f"提示 增量更新\n\n{paragraph(rng, 230)}" for _ in range(12))
    assert not any(piece.endswith("提示 增量更新") for piece in texts(chunk_document(text)))


def test_a_page_is_cut_before_short_lines_that_look_like_headings() -> None:
    rng = random.Random(19)
    stories = [
        f"骗局之{i}\n\n第{i}个骗局的真相\n\n" + "\n\n".join(paragraph(rng, 120) for _ in range(4)) for i in range(6)
    ]
    blocks = chunk_document("\n\n".join(stories))
    assert sum(piece.startswith("骗局之") for piece in texts(blocks)) >= 5
    assert not any(re.search("(骗局之.|真相)$", piece) for piece in texts(blocks))


def test_a_list_stays_with_the_line_that_announces_it() -> None:
    rng = random.Random(12)
    announced = "需要以下文件：\n\n" + "\n".join(f"- {sentence(rng)}" for _ in range(6))
    text = "## L\n\n" + "\n\n".join([paragraph(rng, 380), announced, paragraph(rng, 380)])
    assert any(announced in piece for piece in texts(chunk_document(text)))


def test_a_sentence_that_no_block_can_hold_is_cut_between_its_clauses() -> None:
    text = "，".join(f"第{i}项没有句号的内容" for i in range(400))
    blocks = chunk_document(text)
    assert len(blocks) > 3
    assert all(piece.endswith("，") for piece in texts(blocks)[:-1])
    check_invariants(text, blocks)


def test_a_long_run_without_any_blank_is_still_bounded() -> None:
    blocks = chunk_document("x" * 20_000)
    assert max(map(len, texts(blocks))) <= 2_100


# ---------------------------------------------------------------- overlap


def test_only_a_page_that_headings_do_not_divide_has_overlap() -> None:
    rng = random.Random(13)
    body = "\n\n".join(paragraph(rng, 200) for _ in range(20))
    plain = chunk_document(body)
    divided = chunk_document(f"## A\n\n{body}\n\n## B\n\n{body[:500]}")
    gaps = [b.start - a.end for (_, a), (_, b) in pairwise(plain)]
    assert sum(gap < 0 for gap in gaps) > len(gaps) / 2
    check_invariants(body, plain, overlap=True)
    assert all(b.start >= a.end for (_, a), (_, b) in pairwise(divided))
    without = chunk_document(body, overlap_words=0)
    check_invariants(body, without)


# ---------------------------------------------------------------- identity


def test_the_same_section_twice_is_one_block_with_two_occurrences() -> None:
    rng = random.Random(14)
    same = f"## 声明\n\n{paragraph(rng, 400)}"
    text = f"{same}\n\n## 其他\n\n{paragraph(rng, 400)}\n\n{same}"
    blocks = chunk_document(text)
    assert blocks[0][0] == blocks[2][0]
    assert blocks[0][1] != blocks[2][1]


@pytest.mark.parametrize("heading", ["", "## First\n\nA line.\n\n## Second\n\n"], ids=["overlap", "headed"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_edit_of_one_paragraph_changes_one_or_two_blocks(language: str, heading: str) -> None:
    changed: list[int] = []
    for seed in range(12):
        rng = random.Random(seed)
        paragraphs = [paragraph(rng, rng.randint(80, 500), language) for _ in range(40)]
        edited = paragraphs.copy()
        place = rng.randrange(len(edited))
        edited[place] = rng.choice(
            [
                edited[place] + sentence(rng, language),
                sentence(rng, language),
                edited[place] + "\n\n" + paragraph(rng, 200, language),
                edited[place].replace("1", "2") + sentence(rng, language),
            ]
        )
        before = {b.id for b, _ in chunk_document(heading + "\n\n".join(paragraphs))}
        after = {b.id for b, _ in chunk_document(heading + "\n\n".join(edited))}
        changed.append(len(after - before))
    assert sum(count <= 2 for count in changed) >= 9
    assert min(changed) >= 1
    assert max(changed) <= 4


def test_an_edit_of_one_section_leaves_all_others_alone() -> None:
    rng = random.Random(15)
    sections = [f"## {i}\n\n{paragraph(rng, rng.randint(250, 1500))}" for i in range(12)]
    before = {b.id for b, _ in chunk_document("\n\n".join(sections))}
    sections[5] = sections[5].replace("。", "了。", 1)
    after = {b.id for b, _ in chunk_document("\n\n".join(sections))}
    assert len(after - before) == 1


MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            ["# A", "## B", "### C", "", "```", "~~~sh", "- item one.", "  - nested", "1. first", "> quote。", "---"]
        ),
        st.sampled_from(
            [
                "| a | b |",
                "|---|---|",
                "  indented",
                "\tcode",
                "中文句子。第二句！",
                "* * *",
                ": definition",
                "term",
                "#",
                "####### x",
            ]
        ),
        st.text("ab中。. |#->`1\u3000", max_size=12),
        st.integers(1, 400).map(lambda n: "字句。" * n),
    ),
    max_size=40,
).map("\n".join)


@settings(max_examples=60)
@given(MARKDOWN)
def test_blocks_of_any_text_are_in_order_and_hold_everything(text: str) -> None:
    blocks = chunk_document(text, overlap_words=0)
    position = 0
    missed = []
    for block, occurrence in blocks:
        assert text[occurrence.start : occurrence.end] == block.text
        assert occurrence.start >= position
        missed.append(text[position : occurrence.start])
        position = occurrence.end
    missed.append(text[position:])
    assert not re.search(r"[^\W_]", "".join(missed) if blocks else "")


def test_the_same_text_under_another_headline_is_the_same_block() -> None:
    body = "The council has decided that the old bridge over the river Sill will be closed to lorries from the first of May."
    one = chunk_document(f"# Bridge closed\n\n{body}", title="Bridge closed")
    other = chunk_document(f"# No lorries on the Sill\n\n{body}", title="No lorries on the Sill")
    assert [block.id for block, _ in one] == [block.id for block, _ in other]
    assert one[0][0].text == body
