"""BibTeX and CSL-JSON of cited pages; the BibTeX is read back by a small strict parser."""

from __future__ import annotations

import re

import pytest

from kbcite.answer.bibliography import CitedPage, to_bibtex, to_csl

PLAIN = CitedPage("https://docs.example.com/a.html", "Fees", "2026-03-01", "2026-11-30T08:00:00Z", "1f3a9c" + "0" * 58)
HARD = CitedPage(
    "https://例子.example/条款?a=1&b={2}#x",
    r"50% off & $5 {sic} \latex ~ ^ #1 _x_" + "\n“费用”\x07",
    "2026-03",
    "2026-11-30T08:00:00Z",
    "abcdef" + "1" * 58,
    author="Field & Sons and Company",
    site_name="砚溪_镇",
    language="zh",
)


def parse_bibtex(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """(type, key, fields) of each entry. Raises ValueError for what BibTeX would choke on: unbalanced braces, odd keys, missing commas."""
    entries = []
    position = 0
    while match := re.compile(r"\s*@(\w+)\{([^\s,{}()=#%\\\"'~]+),").match(text, position):
        position = match.end()
        fields: dict[str, str] = {}
        while field := re.compile(r"\s*([a-z]+) = ").match(text, position):
            value, position = _value(text, field.end())
            if field[1] in fields:
                raise ValueError(f"{field[1]} stands twice")
            fields[field[1]] = value
            if text[position : position + 1] == ",":
                position += 1
        if not (end := re.compile(r"\s*\}").match(text, position)):
            raise ValueError(f"entry {match[2]} does not end at {text[position : position + 20]!r}")
        position = end.end()
        entries.append((match[1], match[2], fields))
    if text[position:].strip():
        raise ValueError(f"not an entry: {text[position : position + 20]!r}")
    return entries


def _value(text: str, start: int) -> tuple[str, int]:
    if text[start] != "{":
        macro = re.compile(r"[a-z]{3}").match(text, start)
        if not macro:
            raise ValueError("neither braces nor a macro")
        return macro[0], macro.end()
    depth = 0
    for i in range(start, len(text)):
        escaped = text[i - 1] == "\\"
        if text[i] == "{" and not escaped:
            depth += 1
        elif text[i] == "}" and not escaped:
            depth -= 1
            if not depth:
                return text[start + 1 : i], i + 1
    raise ValueError("braces are not closed")


def test_a_page_is_an_entry_with_its_dates_and_digest() -> None:
    ((kind, key, fields),) = parse_bibtex(to_bibtex([PLAIN]))
    assert (kind, key) == ("misc", "docs.example.com-2026-1f3a9c")
    assert fields["title"] == "{Fees}"
    assert (fields["year"], fields["month"], fields["urldate"]) == ("2026", "mar", "2026-11-30")
    assert fields["url"] == PLAIN.url
    assert PLAIN.digest in fields["note"]


def test_text_that_means_something_to_latex_is_escaped() -> None:
    ((_, _, fields),) = parse_bibtex(to_bibtex([HARD]))
    assert fields["title"] == (
        r"{50\% off \& \$5 \{sic\} \textbackslash{}latex \textasciitilde{} \textasciicircum{} \#1 \_x\_ “费用”}"
    )
    assert fields["author"] == r"{Field \& Sons and Company}"
    assert fields["organization"] == r"{砚溪\_镇}"
    assert fields["url"].isascii()
    assert not set("{} \\") & set(fields["url"])


def test_several_entries_are_read_back() -> None:
    assert [key for _, key, _ in parse_bibtex(to_bibtex([PLAIN, HARD]))] == [PLAIN.key, HARD.key]


@pytest.mark.parametrize("broken", ["@misc{a,\n title = {x}", "@misc{a b,\n}", "@misc{a,\n title = x}", "words"])
def test_the_parser_of_these_tests_is_strict(broken: str) -> None:
    with pytest.raises(ValueError):
        parse_bibtex(broken)


CSL_STRINGS = {"id", "type", "title", "URL", "language", "container-title", "archive", "archive_location"}
"""Variables of the CSL schema that are strings; `accessed` and `issued` are dates, `author` names."""


@pytest.mark.parametrize("page", [PLAIN, HARD])
def test_a_csl_item_holds_only_what_the_schema_knows(page: CitedPage) -> None:
    (item,) = to_csl([page])
    assert {"id", "type", "title", "URL", "accessed"} <= set(item)
    assert item["type"] == "webpage"
    for name, value in item.items():
        if name in CSL_STRINGS:
            assert isinstance(value, str)
        elif name == "author":
            assert value == [{"literal": page.author}]
        else:
            assert name in ("accessed", "issued")
            ((first, *rest),) = value["date-parts"]
            assert first == 2026
            assert all(isinstance(part, int) for part in rest)


def test_a_date_is_as_exact_as_the_page_was() -> None:
    assert to_csl([HARD])[0]["issued"] == {"date-parts": [[2026, 3]]}
    assert "issued" not in to_csl([CitedPage("https://a.example", "x", None, "2026-11-30T08:00:00Z", "0" * 64)])[0]
