from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from kbcite.records import Block
from kbcite.store.database import Database
from kbcite.store.word_index import STOP_WORDS, SyncCounts, WordIndex, question_terms

TEXTS = {
    "refund": "退款申请提交后，款项通常在七天内退回原支付账户。",
    "metro": "地铁五号线将于下月开通，首班车六点发车。",
    "python": "Python 3.11 was released in October; its C++ bindings follow in .NET style at a@b.org.",
    "pandas": "The pandas are eating bamboo; studies of boxes and planned cities' houses.",
    "paths": "Write it to /etc/apt/sources.list, then run apt-get update, with a 𠮷 and an é.",
}


@pytest.fixture
def database(tmp_path: Path):
    with Database(tmp_path / "kb.sqlite3") as opened:
        yield opened


@pytest.fixture
def words(database: Database) -> WordIndex:
    index = WordIndex(database.connection)
    put(database, index, TEXTS)
    return index


def put(database: Database, index: WordIndex, texts: dict[str, str], context: str = "") -> SyncCounts:
    for name, text in texts.items():
        database.connection.execute(
            "INSERT OR IGNORE INTO blocks(id, text, words, language, first_seen_at) VALUES(?, ?, 1, 'zh', '')",
            (name, text),
        )
    return index.sync((Block(name, text, 1, "zh"), context) for name, text in texts.items())


@pytest.mark.parametrize(
    ("question", "block"),
    [
        ("退款多久能到账？", "refund"),
        ("退", "refund"),
        ("五号线", "metro"),
        ("What is new in 3.11?", "python"),
        ("c++", "python"),
        (".net", "python"),
        ("a@b.org", "python"),
        ("PYTHON", "python"),
        ("Ｐｙｔｈｏｎ", "python"),
        ("panda", "pandas"),
        ("eat", "pandas"),
        ("study of a box", "pandas"),
        ("plan a city house", "pandas"),
        ("sources.list", "paths"),
        ("apt", "paths"),
        ("𠮷", "paths"),
        ("é", "paths"),
    ],
)
def test_a_block_is_found_by_its_words(words: WordIndex, question: str, block: str) -> None:
    assert next(iter(words.search(question))) == block


@pytest.mark.parametrize("question", ["", "  ", "?!", '"', "xyzzy", "\0", "\ud800"])
def test_nothing_is_found_for_a_question_without_known_words(words: WordIndex, question: str) -> None:
    assert words.search(question) == {}


@pytest.mark.parametrize(
    "question",
    [
        'python" OR body:"metro',
        "python NOT python",
        "NEAR(python metro)",
        "python*",
        "{body} : python",
        "^python",
        "a'; DROP TABLE blocks;--",
    ],
)
def test_search_syntax_is_only_text(words: WordIndex, question: str) -> None:
    found = words.search(question)
    assert all(0 < coverage <= 1 for coverage in found.values())
    assert ("python" in found) == ("python" in question)


def test_coverage_is_the_share_of_the_question_that_a_block_holds(words: WordIndex) -> None:
    whole = words.search("bamboo pandas")["pandas"]
    half = words.search("bamboo submarine")["pandas"]
    assert 0.9 < whole <= 1
    assert half < 0.5


def test_a_word_repeated_covers_no_more_than_a_word_present(database: Database) -> None:
    index = WordIndex(database.connection)
    put(database, index, {"once": "tesla sold cars of one kind", "often": "tesla tesla tesla tesla tesla cars"})
    found = index.search("tesla revenue")
    assert found["often"] == pytest.approx(found["once"])


def test_a_word_that_every_block_holds_still_counts(database: Database) -> None:
    index = WordIndex(database.connection)
    put(database, index, {"only": "Refunds arrive within seven days."})
    assert index.search("when do refunds arrive")["only"] > 0.9


def test_title_and_headings_count_less_than_the_text(database: Database) -> None:
    index = WordIndex(database.connection)
    texts = {"text": "warranty of two years", "title": "lasts for two years"}
    put(database, index, texts)
    index.sync(
        [(Block("text", texts["text"], 1, "en"), "other"), (Block("title", texts["title"], 1, "en"), "warranty")]
    )
    found = index.search("warranty")
    assert 0 < found["title"] < found["text"]


def test_a_second_sync_of_the_same_blocks_changes_nothing(database: Database, words: WordIndex) -> None:
    assert put(database, words, TEXTS) == SyncCounts(added=0, removed=0)


def test_a_block_that_is_gone_is_not_found_and_leaves_no_words(database: Database, words: WordIndex) -> None:
    assert put(database, words, {"metro": TEXTS["metro"]}) == SyncCounts(added=0, removed=4)
    assert words.search("退款") == {}
    assert database.connection.execute("SELECT count(*) FROM word_terms WHERE term = 'python'").fetchone() == (0,)
    put(database, words, {})
    assert database.connection.execute("SELECT count(*) FROM word_terms").fetchone() == (0,)


def test_a_changed_context_is_taken_up(database: Database, words: WordIndex) -> None:
    assert put(database, words, TEXTS, context="手册") == SyncCounts(added=5, removed=5)
    assert len(words.search("手册")) == 5
    put(database, words, TEXTS)
    assert words.search("手册") == {}


def test_an_index_of_other_rules_is_made_anew(database: Database, words: WordIndex) -> None:
    database.connection.execute("UPDATE meta SET value = 'older' WHERE key = 'word_rules'")
    assert put(database, words, TEXTS) == SyncCounts(added=5, removed=0)
    assert database.connection.execute("SELECT doc FROM word_terms WHERE term = 'python'").fetchone() == (1,)


def test_the_order_of_equal_blocks_is_fixed(database: Database) -> None:
    index = WordIndex(database.connection)
    put(database, index, {"b": "same words", "a": "same words "})
    assert list(index.search("same words")) == ["a", "b"]


def test_only_allowed_blocks_are_looked_at_before_the_limit(words: WordIndex) -> None:
    question = "pandas eating bamboo 退"
    assert list(words.search(question, limit=1)) != ["refund"]
    assert words.search(question, {"refund", "none"}, limit=1) == {"refund": words.search(question)["refund"]}


def test_a_question_of_many_words_is_answered(words: WordIndex) -> None:
    assert "python" in words.search(" ".join(f"word{i}" for i in range(3000)) + " python")
    assert "refund" in words.search("".join(TEXTS.values()) * 20)


def test_a_rolled_back_sync_leaves_the_index_as_it_was(database: Database, words: WordIndex) -> None:
    with pytest.raises(sqlite3.OperationalError), database.transaction():
        put(database, words, {"metro": TEXTS["metro"]})
        database.connection.execute("SELECT * FROM nowhere")
    assert "refund" in words.search("退款")


def test_a_word_with_an_apostrophe_is_found_like_any_other(database: Database, words: WordIndex) -> None:
    assert question_terms("don't panic") == {"dont", "panic"}
    with database.transaction():
        put(database, words, {"calm": "You don't need a towel."})
    assert "calm" in words.search("don't")


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert question_terms("What is the price of the panda?") == {"pric", "panda"}
    assert question_terms("what is it") == {"what", "is", "it"}
    assert all(word == word.lower() for word in STOP_WORDS)


def test_a_question_in_simplified_characters_finds_a_page_in_traditional_ones(database: Database) -> None:
    index = WordIndex(database.connection)
    put(database, index, {"b1": "停水期間於下列三處設置臨時取水站", "b2": "本日照常供電"})
    assert list(index.search("临时取水站设在哪里")) == ["b1"]
