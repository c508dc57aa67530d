from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from kbcite.records import Block, PageState, Place, SourceType
from kbcite.retrieval.builtin_encoder import BuiltinEncoder
from kbcite.retrieval.ranking import RankingOptions
from kbcite.retrieval.search import Found, retrieve
from kbcite.retrieval.vector_index import VectorIndex
from kbcite.store.database import Database
from kbcite.store.word_index import WordIndex

TEXTS = {
    "refund-zh": ("zh", "退款申请提交后，客服会在两个工作日内审核，款项通常在七天内退回原支付账户。"),
    "metro-zh": ("zh", "地铁五号线将于下月开通，全长二十八公里，设二十三座车站，首班车六点发车。"),
    "panda-zh": ("zh", "大熊猫主要以竹子为食，每天要花十几个小时进食。"),
    "leave-en": ("en", "Employees have five days of paid leave after one year and ten days after ten."),
    "rate-en": ("en", "The central bank cut its benchmark rate by twenty-five basis points in May 2024."),
    "rate-old-en": ("en", "The central bank cut its benchmark rate by fifty basis points in May 2019."),
    "panda-en": ("en", "Photosynthesis turns carbon dioxide and water into sugar, giving off oxygen."),
}
LOADED: list[list[str]] = []


def load(ids: Iterable[str]) -> dict[str, tuple[Block, tuple[Place, ...]]]:
    LOADED.append(list(ids))
    place = Place(1, 0, 1, (), "", "", None, "", SourceType.WEB, PageState.ALIVE, "d")
    return {name: (Block(name, TEXTS[name][1], 1, TEXTS[name][0]), (place,)) for name in LOADED[-1]}


@pytest.fixture(scope="module")
def index(builtin: BuiltinEncoder) -> VectorIndex:
    vectors = builtin.encode_passages([text for _, text in TEXTS.values()])
    return VectorIndex.build(list(TEXTS), vectors, [language for language, _ in TEXTS.values()], builtin.fingerprint)


@pytest.fixture
def words(tmp_path: Path):
    with Database(tmp_path / "kb.sqlite3") as database:
        for name, (language, text) in TEXTS.items():
            row = (name, text, language)
            database.connection.execute(
                "INSERT INTO blocks(id, text, words, language, first_seen_at) VALUES(?, ?, 1, ?, '')", row
            )
        found = WordIndex(database.connection)
        found.sync((Block(name, text, 1, language), "") for name, (language, text) in TEXTS.items())
        yield found


@pytest.fixture
def ask(builtin: BuiltinEncoder, index: VectorIndex, words: WordIndex):
    def asked(question: str, top_k: int = 5, allowed: Collection[str] | None = None) -> Found:
        return retrieve(question, builtin, index, words.search, load, RankingOptions(top_k=top_k), allowed)

    return asked


@pytest.mark.parametrize(
    ("question", "block"),
    [
        ("退款要多久才能到账？", "refund-zh"),
        ("五号线有多少个车站？", "metro-zh"),
        ("How long does a refund take?", "refund-zh"),
        ("How much paid leave do employees get?", "leave-en"),
        ("员工有几天带薪年假？", "leave-en"),
        ("What did the central bank do in May 2019?", "rate-old-en"),
        ("What did the central bank do in May 2024?", "rate-en"),
        ("What do giant pandas eat?", "panda-zh"),
    ],
)
def test_a_question_finds_its_block_in_either_language(ask, question: str, block: str) -> None:
    found = ask(question)
    assert found.used[0].block.id == block


@pytest.mark.parametrize(
    "question", ["量子力学的测不准原理是什么？", "Who composed the opera Carmen?", "今天股票多少钱"]
)
def test_what_no_block_answers_is_below_the_threshold(ask, question: str) -> None:
    found = ask(question)
    assert found.used == ()
    assert {block.dropped for block in found.blocks} == {"below_threshold"}
    assert max(block.scores.relevance for block in found.blocks) < 0.45


def test_only_allowed_blocks_are_looked_at(ask) -> None:
    LOADED.clear()
    found = ask("退款要多久才能到账？", allowed={"metro-zh", "panda-zh"})
    assert {block.block.id for block in found.blocks} == {"metro-zh", "panda-zh"}
    assert set(LOADED[-1]) == {"metro-zh", "panda-zh"}


def test_nothing_allowed_finds_nothing(ask) -> None:
    found = ask("退款要多久才能到账？", allowed=frozenset())
    assert found.blocks == ()


def test_every_candidate_is_reported_with_its_cosine(ask) -> None:
    found = ask("What did the central bank do?", top_k=1)
    assert len(found.blocks) == len(TEXTS)
    assert len(found.used) == 1
    assert all(-1 <= block.scores.dense <= 1 for block in found.blocks)
    assert [block.scores.fused for block in found.blocks] == sorted(
        (b.scores.fused for b in found.blocks), reverse=True
    )


def test_the_same_question_finds_the_same_twice(ask) -> None:
    assert ask("退款要多久才能到账？") == ask("退款要多久才能到账？")
