"""Help pages: every command shows examples that it takes, fits 80 columns, and names values in plain words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from kbcite.cli.app import EVERY, global_options_first, make_app
from kbcite.cli.help_pages import EXAMPLES
from tests.cli.run import kbcite


def _below(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for child_name, child in getattr(command, "commands", {}).items():
        full = f"{name} {child_name}".strip()
        yield full, child
        yield from _below(child, full)


COMMANDS = dict(_below(typer.main.get_command(make_app(EVERY))))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_page_shows_examples_and_fits_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = kbcite(*name.split(), "--help").out
    assert all(f"    {example}\n" in page for example in EXAMPLES[name])
    assert max(map(len, page.splitlines())) <= 80
    assert " range>" not in page
    assert "<str>" not in page
    assert ("--wait " in page) == ("--wait [SECONDS]" in page)


@pytest.mark.parametrize(("name", "example"), [(name, example) for name in EXAMPLES for example in EXAMPLES[name]])
def test_an_example_is_a_line_that_its_command_takes(name: str, example: str) -> None:
    arguments = shlex.split(example.partition(" > ")[0])
    assert arguments.pop(0) == "kbcite"
    arguments = global_options_first(arguments)
    words = name.split()
    at = arguments.index(words[0])
    assert arguments[at : at + len(words)] == words
    COMMANDS[name].make_context(name, arguments[at + len(words) :])
