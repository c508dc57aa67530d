import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbcite.words import count_words, language_of, normalise, simplify, stem, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("立法会", ["立", "法", "会", "立法", "法会"]),
        ("臨時取水", ["临", "时", "取", "水", "临时", "时取", "取水"]),
        ("Python 3.11", ["python", "3.11"]),
        ("Ｐｙｔｈｏｎ　３．１１", ["python", "3.11"]),
        ("1,234 元", ["1234", "元"]),
        ("３，４月", ["3", "4", "月"]),
        ("don’t", ["don't"]),
        ("the company’s", ["the", "company"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("It ends.Then", ["it", "ends.then", "ends", "then"]),
        ("...and on", ["and", "on"]),
        ("", []),
        ("，。！ -- | #", []),
    ],
)
def test_terms_are(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("see /etc/apt/sources.list", "etc/apt/sources.list"),
        ("apt-get", "apt-get"),
        ("用 apt-get 安装", "apt-get"),
        ("v1.2", "v1.2"),
        (".NET 8", ".net"),
        ("ASP.NET", "asp.net"),
        ("Node.js", "node.js"),
        ("alice@example.org", "alice@example.org"),
        ("os.path.join()", "os.path.join"),
        ("std::vector<int>", "std::vector"),
        ("R&D", "r&d"),
        ("2026-11-30", "2026-11-30"),
        ("C:\\Windows\\system.ini", "windows\\system.ini"),
    ],
)
def test_a_name_is_found_as_a_whole(text: str, whole: str) -> None:
    assert whole in terms(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("/etc/apt/sources.list", "sources.list"),
        ("/etc/apt/sources.list", "apt"),
        ("/etc/apt/sources.list", "/etc/apt/sources.list"),
        ("apt-get", "apt"),
        ("Python3教程", "python 教程"),
        ("python3.11-doc", "python 3.11"),
        ("v1.2", "1.2"),
        ("10GB 内存", "10 GB"),
        ("https://wiki.debian.org/Foo", "wiki.debian.org"),
        ("foo_bar", "bar"),
        ("2026-11-30", "2026"),
        (".NET", "net"),
    ],
)
def test_a_compound_is_found_by_its_parts(text: str, query: str) -> None:
    assert set(terms(query)) <= set(terms(text))


@pytest.mark.parametrize(
    ("text", "absent"), [("3.11", "11"), ("C++", "c"), ("1,234", "234"), ("AT&T", "t"), ("x-ray", "x")]
)
def test_what_means_nothing_alone_is_no_term(text: str, absent: str) -> None:
    assert absent not in terms(text)


@given(st.text("aZ09Ａｚ３中文é’' .,:/\\@_+#&-，。\n"))
def test_terms_do_not_depend_on_case_or_width_and_hold_no_blanks(text: str) -> None:
    found = terms(text)
    assert found == terms(normalise(text))
    assert all(term and not any(c.isspace() for c in term) for term in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("three English words.", 3),
        ("Version 3.11 of /usr/bin/python3", 4),
        ("字", 1),
        ("一二三四五六七八", 5),
        ("运行 apt-get 更新", 4),
        ("—— ……", 0),
    ],
)
def test_words_are_counted(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The Debian project.", "en"),
        ("德班项目", "zh"),
        ("运行 apt-get install 安装软件包", "zh"),
        ("The word 道 means way, and it is used by many schools of thought.", "en"),
        ("12:30 %", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_told_by_the_letters(text: str, language: str) -> None:
    assert language_of(text) == language


def test_simplifying_keeps_every_offset() -> None:
    text = "「臺灣」的Quillstore 資料庫"
    assert simplify(text) == "「台湾」的Quillstore 资料库"
    assert len(simplify(text)) == len(text)


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("refunds", "refund"),
        ("studies", "study"),
        ("boxes", "box"),
        ("running", "run"),
        ("falling", "fall"),
        ("quickly", "quick"),
        ("prices", "pric"),
        ("price", "pric"),
        ("class", "class"),
        ("classes", "class"),
        ("strings", "string"),
        ("string", "string"),
        ("need", "need"),
        ("needed", "need"),
        ("found", "find"),
        ("3.11", "3.11"),
        ("bus", "bus"),
        ("退款", "退款"),
    ],
)
def test_english_words_are_cut_to_a_common_root(word: str, root: str) -> None:
    assert stem(word) == root
