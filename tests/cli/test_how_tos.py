"""The README's how-tos for live pages, run as they are written: each line below a command is a line of its output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.run import Shell
from tests.golden_site import serve_golden_pages

README = Path(__file__).parents[2] / "README.md"


def commands() -> list[tuple[list[str], list[str]]]:
    """(arguments, lines of output that are shown) of each command of the section."""
    section = README.read_text(encoding="utf-8").partition("### Live pages\n")[2].partition("\n### ")[0]
    found: list[tuple[list[str], list[str]]] = []
    for block in re.findall(r"```text\n(.*?)```", section, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ kbcite "):
                found.append((shlex.split(line.removeprefix("$ kbcite ")), []))
            else:
                found[-1][1].append(line)
    return found


@pytest.mark.slow
def test_the_how_tos_run_as_they_are_written(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "kb")
    asked = 0
    with serve_golden_pages() as site:
        for arguments, expected in commands():
            outcome = shell(*(argument.replace("$S/", site) for argument in arguments))
            assert outcome.code == 0, outcome.err
            for line in expected:
                assert line.replace("http://127.0.0.1:8790/", site) in outcome.out
            asked += arguments[0] == "ask"
    assert asked == 4
