"""On a terminal no word is broken in its middle, whatever its width; a file gets whole lines."""

from __future__ import annotations

import pytest

from kbcite.cli.folding import folded
from kbcite.render import width_of
from tests.cli.run import Shell, on_terminal

CHINESE = "（目前，该命令等价于在 `/var/lib/dpkg/info/` 目录中所有扩展名为 `.list` 的文件里进行搜索。）[1][2]"


@pytest.mark.parametrize(
    ("line", "columns", "shown"),
    [
        ("one two three four five six", 20, "one two three four\nfive six"),
        ("[1] Title of a page › Its heading", 24, "[1] Title of a page ›\n    Its heading"),
        ("source     the first page and the second", 30, "source     the first page and\n          the second"),
        ("see http://a.example/a/long/path/of/a/page now", 20, "see http://a.example/a/long/path/of/a/page\nnow"),
        ("```\na line of code that is long\n```", 20, "```\na line of code that is long\n```"),
        ("short", 20, "short"),
    ],
)
def test_a_line_is_folded_between_words_and_under_its_label(line: str, columns: int, shown: str) -> None:
    assert folded(line, columns) == shown


@pytest.mark.parametrize("columns", range(24, 60, 5))
def test_chinese_is_folded_without_a_mark_that_stands_alone(columns: int) -> None:
    lines = folded(CHINESE, columns).split("\n")
    assert max(map(width_of, lines)) <= columns
    assert not any(line[0] in "，。）[" for line in lines)
    assert not any(line[-1] in "（" for line in lines)
    assert "".join("".join(lines).split()) == "".join(CHINESE.split())


def test_without_a_terminal_lines_stay_whole(town: Shell) -> None:
    assert folded("word " * 100, None) == "word " * 100
    assert max(map(len, town("show", f"{town.json('status')['sources'][0]['url']}pool.html").out.splitlines())) > 100


@pytest.mark.parametrize("columns", [60, 80])
def test_what_commands_show_fits_the_terminal(town: Shell, columns: int) -> None:
    commands = (
        ["ask", "How much is a day ticket for the swimming pool?"],
        ["ask", "Where is the Eiffel Tower, and how many people climb it in a year?"],
        ["show", "1"],
        ["status"],
        ["verify"],
        ["search", "day ticket swimming pool opening hours", "--top-k", "2"],
        ["show", "b1"],
        ["clean", "--wait", "soon"],
    )
    shown = [on_terminal(columns, "--store", str(town.store), *command).splitlines() for command in commands]
    assert all(shown)
    # What is wider ends with an address or a path, which the terminal breaks and copies as one.
    wide = [line for lines in shown for line in lines if width_of(line) > columns]
    assert [line for line in wide if not line.split()[-1].startswith(("http", "/"))] == []


def test_a_label_is_not_given_to_code_or_excerpts(town: Shell) -> None:
    assert folded("3. A\n   ``` #!/bin/sh it goes on ```\none two three four five six", 20).endswith("four\nfive six")
