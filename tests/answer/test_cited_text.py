import pytest

from kbcite.answer.cited_text import parse_cited_text

BODY = "A ticket costs 6.50 euros. [1] The pool opens at seven.[2]\n"


def parsed(text: str) -> tuple[list[tuple[str, tuple[int, ...]]], dict[int, str]]:
    (cited,) = parse_cited_text(text)
    return [(s.text, s.numbers) for s in cited.sentences], dict(cited.addresses)


@pytest.mark.parametrize(
    "sources",
    [
        "Sources\n[1] Pool › Prices\n    https://a.example/pool  published 2026-03-01\n[2] Pool\n    https://a.example/hours\n",
        "## 参考资料\n\n1. [Pool](https://a.example/pool)\n2. [Hours](https://a.example/hours).\n",
        "[1]: https://a.example/pool\n[2]: https://a.example/hours\n",
        "[^1]: Pool, https://a.example/pool#:~:text=A%20ticket\n[^2]: <https://a.example/hours>\n",
        "**References:**\n- [1] Pool — https://a.example/pool,\n- [2] Hours (https://a.example/hours)\n",
        "内部资料\n[1] Pool\nhttps://a.example/pool\n\n来源\n【2】https://a.example/hours。\n",
        "Sources:\n\n[1] https://a.example/pool\n\n[2] https://a.example/hours\n\n    > The pool opens at seven.\n",
        "Sources\n[1] https://a.example/pool\n[2] https://a.example/hours\n\n",
    ],
)
def test_lists_of_sources_are_read_as_people_write_them(sources: str) -> None:
    assert parsed(f"{BODY}\n{sources}") == (
        [("A ticket costs 6.50 euros.", (1,)), ("The pool opens at seven.", (2,))],
        {1: "https://a.example/pool", 2: "https://a.example/hours"},
    )


def test_a_numbered_list_with_addresses_in_the_body_is_no_list_of_sources() -> None:
    text = "1. Register at https://a.example/register first. [1]\n2. Pay the fee at the desk. [1]\n\nSources\n[1] https://a.example/pool\n"
    sentences, addresses = parsed(text)
    assert [numbers for _, numbers in sentences if numbers] == [(1,), (1,)]
    assert addresses == {1: "https://a.example/pool"}


def test_what_stands_below_the_list_is_text_again() -> None:
    sentences, addresses = parsed(f"{BODY}\nSources\n[1] https://a.example/pool\n\nChildren swim free of charge. [1]\n")
    assert ("Children swim free of charge.", (1,)) in sentences
    assert addresses == {1: "https://a.example/pool"}


def test_an_address_keeps_its_own_brackets() -> None:
    assert parsed("x [1]\n\n[1] (https://a.example/pool_(town))\n")[1] == {1: "https://a.example/pool_(town)"}


def test_a_text_without_a_list_has_no_addresses() -> None:
    assert parsed(BODY)[1] == {}


def test_each_part_of_a_text_has_its_own_list() -> None:
    parts = parse_cited_text(
        "# A\n\nOpen at seven. [1]\n\n## Sources\n\n[1] https://a.example/1\n\n<!-- x -->\n\n# B\n\nClosed on Monday. [1]\n\n"
        "## Sources\n\n[1] https://a.example/2\n"
    )
    assert [dict(part.addresses)[1] for part in parts] == ["https://a.example/1", "https://a.example/2"]
    assert [[s.text for s in part.sentences if s.numbers] for part in parts] == [
        ["Open at seven."],
        ["Closed on Monday."],
    ]


def test_marks_that_are_links_need_no_list() -> None:
    text = "Open at seven. [1](https://a.example/pool#:~:text=seven) Closed on Monday. [[2]](https://a.example/hours)\n"
    assert parsed(text) == (
        [("Open at seven.", (1,)), ("Closed on Monday.", (2,))],
        {1: "https://a.example/pool", 2: "https://a.example/hours"},
    )
