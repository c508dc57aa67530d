import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.retrieval.duplicates import (
    DUPLICATE_THRESHOLD,
    Cluster,
    DatedText,
    cluster_duplicates,
    duplicate_score,
    find_candidates,
    find_difference,
)

ZH = (
    "全球首台16兆瓦海上风电机组在福建海上风电场成功并网发电，标志着我国海上风电大容量机组研发制造及运营能力再上新台阶。"
    "这台机组的轮毂中心高度达152米，叶轮扫风面积约5万平方米。每年发电量超过6600万千瓦时，能满足3.6万户家庭的用电。"
    "三峡集团董事长雷鸣山表示，机组的成功应用实现了核心技术突破。目前全球近六成风电设备产自中国，已覆盖49个国家和地区。"
    "该机组并不依赖进口轴承。价格为每台5元。项目于8月19日完工。"
)
EN = (
    "Facebook announced on Monday that it has reached an agreement to acquire Instagram, a popular photo-sharing app. "
    "The total price is 1 billion dollars in cash and stock, said Mark Zuckerberg, and the deal is expected to close in 2012. "
    "Instagram has 30 million registered users and only 13 employees. It will not be merged into the main application. "
    "The service began in San Francisco in October 2010, and the company has since opened an office in London."
)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (ZH, "16兆瓦", "18兆瓦"),
        (ZH, "152米", "152千米"),
        (ZH, "5元", "5美元"),
        (ZH, "8月19日", "9月19日"),
        (ZH, "超过6600", "不足6600"),
        (ZH, "并不依赖", "依赖"),
        (ZH, "雷鸣山", "王良友"),
        (ZH, "福建", "广东"),
        (ZH, "我国", "美国"),
        (ZH, "达152米", "达米"),
        (EN, "1 billion", "2 billion"),
        (EN, "2012", "2013"),
        (EN, "Facebook", "Apple"),
        (EN, "Mark Zuckerberg", "Tim Cook"),
        (EN, "will not be", "will be"),
        (EN, "Monday", "Friday"),
        (EN, "dollars", "euros"),
        (EN, "30 million", "30"),
        (EN, "London", "New York"),
    ],
)
def test_a_changed_fact_is_never_merged(text: str, old: str, new: str) -> None:
    assert old in text
    changed = text.replace(old, new, 1)
    assert find_difference(text, changed) is not None
    assert duplicate_score(text, changed) < DUPLICATE_THRESHOLD
    assert duplicate_score(changed, text) < DUPLICATE_THRESHOLD


@pytest.mark.parametrize(
    "edited",
    [
        ZH.replace("，", ", ").replace("。", "。\n\n"),
        "首页 > 新闻 > 正文\n分享到：微信 微博\n" + ZH,
        ZH.replace("表示", "称").replace("目前", "当前"),
        ZH.replace("这台机组的轮毂中心高度达152米，叶轮扫风面积约5万平方米。", ""),
        ZH + "责任编辑：某某",
        ZH.replace("16", "１６"),
    ],
)
def test_a_reprint_is_a_duplicate_in_chinese(edited: str) -> None:
    assert find_difference(ZH, edited) is None
    assert duplicate_score(ZH, edited) >= DUPLICATE_THRESHOLD


@pytest.mark.parametrize(
    "edited",
    [
        EN.upper(),
        "  ".join(EN.split()),
        "Home > News\nShare this article\n" + EN + "\nRead more",
        EN.replace("said Mark", "told Mark"),
        EN.replace(" It will not be merged into the main application.", ""),
        EN.replace("a popular", "the popular"),
    ],
)
def test_a_reprint_is_a_duplicate_in_english(edited: str) -> None:
    assert find_difference(EN, edited) is None
    assert duplicate_score(EN, edited) >= DUPLICATE_THRESHOLD


def test_a_difference_shows_both_sides() -> None:
    found = find_difference(EN, EN.replace("Mark Zuckerberg", "Tim Cook"))
    assert found is not None
    assert (found.kind, found.one, found.other) == ("words", "mark zuckerberg", "tim cook")


def test_other_texts_score_low_and_a_text_scores_1_with_itself() -> None:
    assert duplicate_score(ZH, EN) < 0.05
    assert duplicate_score(ZH, ZH) == 1.0
    assert duplicate_score("", "") == 1.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_score_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    score = duplicate_score(one, other)
    assert 0 <= score <= 1
    assert score == duplicate_score(other, one) or min(score, duplicate_score(other, one)) < DUPLICATE_THRESHOLD


def made_up(rng: random.Random, sentences: int = 12) -> list[str]:
    words = [chr(rng.randint(0x4E00, 0x9000)) + chr(rng.randint(0x4E00, 0x9000)) for _ in range(60)]
    return ["".join(rng.choices(words, k=9)) + "。" for _ in range(sentences)]


def test_candidates_hold_every_near_duplicate_and_few_others() -> None:
    rng = random.Random(1)
    texts: list[str] = []
    expected = set()
    for i in range(60):
        sentences = made_up(rng)
        dropped = rng.randrange(len(sentences))
        texts += ["".join(sentences), "".join(s for n, s in enumerate(sentences) if n != dropped)]
        expected.add((2 * i, 2 * i + 1))
    found = find_candidates(texts)
    assert expected <= set(found)
    assert len(found) <= len(expected) + 2
    assert found == find_candidates(texts)


def test_the_main_block_is_the_earliest_of_the_most_complete() -> None:
    short = ZH.replace("该机组并不依赖进口轴承。价格为每台5元。项目于8月19日完工。", "")
    blocks = [
        DatedText("late", ZH, "2023-08-20"),
        DatedText("first-but-short", short, "2023-08-01"),
        DatedText("early", ZH.replace("表示", "称"), "2023-08-19T10:00:00Z"),
        DatedText("undated", ZH.replace("目前", "当前")),
        DatedText("other", EN),
    ]
    [cluster] = cluster_duplicates(blocks, find_candidates([block.text for block in blocks]))
    assert cluster == Cluster("early", ("late", "undated", "first-but-short"))


def test_two_blocks_that_contradict_each_other_are_not_joined_by_a_third() -> None:
    without = ZH.replace("价格为每台5元。", "")
    blocks = [DatedText("5", ZH), DatedText("none", without), DatedText("6", ZH.replace("5元", "6元"))]
    clusters = cluster_duplicates(blocks, [(0, 1), (1, 2), (0, 2)])
    assert len(clusters) == 1
    assert not {"5", "6"} <= {clusters[0].main, *clusters[0].others}


def test_clusters_do_not_depend_on_the_order_of_candidates() -> None:
    blocks = [DatedText(str(i), ZH + f"第{i}家转载。" * (i % 2)) for i in range(4)]
    pairs = [(i, j) for i in range(4) for j in range(4)]
    assert cluster_duplicates(blocks, pairs) == cluster_duplicates(blocks, pairs[::-1])
