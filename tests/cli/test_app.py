"""The frame of the command line: help, global options, every command's name and help."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kbcite import __version__
from kbcite.cli.app import COMMANDS, global_options_first, make_app
from tests.cli.run import Shell, kbcite


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_as_the_list_says(name: str) -> None:
    app = typer.Typer(rich_markup_mode=None)
    app.callback()(lambda: None)
    import_module(f"kbcite.cli.{name}").register(app)
    shown = " ".join(CliRunner().invoke(app, [name, "--help"]).stdout.split())
    assert COMMANDS[name].rstrip(".") in shown


def test_help_lists_every_command_uncut() -> None:
    out = kbcite("--help").out
    assert all(f"  {name}" in out and help_ in out for name, help_ in COMMANDS.items())


def test_every_command_has_a_module_of_its_own() -> None:
    assert set(COMMANDS) <= {path.stem for path in Path(import_module("kbcite.cli").__path__[0]).glob("*.py")}


def test_an_unknown_command_is_named() -> None:
    outcome = kbcite("asc")
    assert outcome.code == 2
    assert "asc" in outcome.err


def test_the_version_is_shown() -> None:
    assert kbcite("--version").out == f"kbcite {__version__}\n"


@pytest.mark.parametrize(
    ("given", "sorted_"),
    [
        (["ask", "x", "--json"], ["--json", "ask", "x"]),
        (["ask", "x", "--store", "s", "-q"], ["--store", "s", "-q", "ask", "x"]),
        (["ask", "x", "--store=s"], ["--store=s", "ask", "x"]),
        (["--now", "2026-01-01", "crawl"], ["--now", "2026-01-01", "crawl"]),
        (["ask", "--", "--json"], ["ask", "--", "--json"]),
    ],
)
def test_global_options_may_stand_anywhere(given: list[str], sorted_: list[str]) -> None:
    assert global_options_first(given) == sorted_


def test_the_store_may_be_named_after_the_command(shell: Shell) -> None:
    assert kbcite("status", "--store", str(shell.store), "--json").json["pages"] == 0


def test_completion_knows_every_command() -> None:
    app = make_app("*")
    assert len(app.registered_commands) + len(app.registered_groups) == len(COMMANDS)
