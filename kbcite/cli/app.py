"""The command line: joins the commands, reads the global options, and turns every error into one line and an exit code.

A command's module is imported only when that command is run, so that `kbcite --help` costs little more than typer itself.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import sqlite3
import sys
from enum import StrEnum
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NoReturn, cast

import typer

from kbcite import __version__
from kbcite.cli.context import Context, log_line
from kbcite.cli.folding import columns_of, folded
from kbcite.clock import pinned_clock, system_clock
from kbcite.errors import ExitCode, Finding, KbciteError, UsageError
from kbcite.records import LiveMode

COMMANDS = {
    "init": "Make a store with a commented kbcite.toml.",
    "source": "Add, remove and list the trusted sources.",
    "crawl": "Fetch the pages of the sources.",
    "clean": "Read main text, title and dates of the pages.",
    "chunk": "Cut the documents into blocks.",
    "index": "Embed new blocks and update the indexes.",
    "build": "Crawl, clean, chunk and index what is stale.",
    "ask": "Ask a question: a cited answer or a refusal.",
    "search": "Find blocks, without an answer.",
    "recheck": "Visit the pages that are due again.",
    "show": "Show a block, a page, an answer or a cited source.",
    "verify": "Check answers and texts against the archive.",
    "audit": "Find saved answers whose passages changed.",
    "log": "List past answers.",
    "trace": "Show the whole way of one answer.",
    "export": "Write answers out for other programs.",
    "import": "Take saved answers in that were exported as JSON lines.",
    "status": "Show what the store holds.",
    "warc": "Take in crawls of other programs, give the archive out.",
    "forget": "Take a page or a host out of the store for good.",
    "doctor": "Look for damage in the store, and repair it.",
    "mcp": "Serve the store as tools to MCP clients.",
    "calibrate": "Measure which threshold fits this store.",
    "regress": "Clean the golden pages and show what was lost.",
}
"""Name and help of each command; `cli/NAME.py` registers it."""

EVERY = "*"
"""Wanted by shell completion: every command with its options."""

_ClickError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""click's UsageError, whichever click typer was built on."""
_GLOBAL_FLAGS = {"--offline", "--json", "--quiet", "-q", "--verbose", "-v"}
_GLOBAL_VALUES = {"--store", "--now", "--log-format"}
_TAKES_WORDS = ("ask", "search")
_TOO_MANY = "too many arguments:"
_PARSER_WORDS = {
    "a valid integer range": "a whole number",
    "a valid int range": "a whole number",
    "a valid integer": "a whole number",
    "a valid int": "a whole number",
    "a valid float range": "a number",
    "a valid float": "a number",
    "Got unexpected extra argument(s)": _TOO_MANY,
    "(Possible options:": "(there is",
    "No such command": "no such command",
    "No such option:": "no such option:",
    "Invalid value for": "invalid value for",
    "Missing argument": "missing argument",
    ". Did you mean": ", did you mean",
}
_LOGS_JSON = "--log-format json"
_OPTIONAL_VALUES = {"--wait=inf": "a number of seconds", "--live=always": ", ".join(LiveMode)}
"""Options that typer is given a value for where none was typed, and what they take."""


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kbcite {__version__}")
        raise typer.Exit


def make_app(wanted: str | None) -> typer.Typer:
    """The application with the one command that will be run, or with every command's name and help."""
    app = typer.Typer(
        name="kbcite",
        help="A knowledge base whose answers can be checked: every sentence cites a passage of an archived page, or it refuses.",
        no_args_is_help=True,
        rich_markup_mode=None,  # the plain help starts in half the time
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(global_options)
    for name, help_ in COMMANDS.items():
        if wanted in (name, EVERY):
            import_module(f"kbcite.cli.{name}").register(app)
        elif wanted is None:
            app.command(name, help=help_)(_never_run)
    return app


def _never_run() -> None:
    """Stands in the list of commands; the one that is run is registered for real."""


def global_options(
    ctx: typer.Context,
    store: Annotated[Path, typer.Option(envvar="KBCITE_STORE", help="Folder of the store.", show_default=True)] = Path(
        "kb"
    ),
    offline: Annotated[bool, typer.Option("--offline", envvar="KBCITE_OFFLINE", help="Open no socket at all.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Results as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more on standard error.")] = False,
    now: Annotated[str | None, typer.Option(envvar="KBCITE_NOW", help="Pin the clock to this time.")] = None,
    log_format: Annotated[
        LogFormat, typer.Option(envvar="KBCITE_LOG_FORMAT", help="How lines on standard error are written.")
    ] = LogFormat.TEXT,
    _show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    ctx.obj = Context(
        store=store,
        offline=offline,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
        clock=pinned_clock(now) if now else system_clock,
        logs_json=log_format is LogFormat.JSON,
    )


def global_options_first(arguments: list[str]) -> list[str]:
    """The arguments with the global options moved in front, so that `kbcite ask … --json` works too."""
    front: list[str] = []
    rest: list[str] = []
    queue = list(arguments)
    takes_mode = _wanted(arguments) == "ask"
    while queue:
        argument = queue.pop(0)
        if argument == "--wait" and not (queue and _is_number(queue[0])):
            argument = "--wait=inf"  # an option with an optional value, which typer does not know
        if argument == "--live" and takes_mode and not (queue and queue[0] in list(LiveMode)):
            argument = "--live=always"
        if argument == "--":
            return [*front, *rest, argument, *queue]
        if argument in _GLOBAL_FLAGS or argument.partition("=")[0] in _GLOBAL_VALUES:
            front.append(argument)
            if argument in _GLOBAL_VALUES and queue:
                front.append(queue.pop(0))
        else:
            rest.append(argument)
    return [*front, *rest]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wanted(arguments: list[str]) -> str | None:
    """The command that the arguments name, with the global options in front."""
    if "_KBCITE_COMPLETE" in os.environ:
        return EVERY
    skip = False
    for argument in arguments:
        if skip or argument in _GLOBAL_FLAGS or argument.partition("=")[0] in _GLOBAL_VALUES:
            skip = argument in _GLOBAL_VALUES and not skip
        else:
            return argument if argument in COMMANDS else None
    return None


def main() -> None:
    """The console script."""
    # A command allocates little that is not needed to its end: half of a second's collections, and the last one, walk imported modules.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)
    arguments = global_options_first(sys.argv[1:]) or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its escape
    try:
        _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _fail("interrupted; what was reported is stored, run the same command again to go on", ExitCode.INTERRUPTED, [])
    except Finding as finding:
        _fail(str(finding), finding.exit_code, [])
    except KbciteError as error:
        _fail(str(error), error.exit_code, arguments)
    except sqlite3.Error as error:
        from kbcite.store.sqlite import explain_sqlite

        explained = explain_sqlite(error, _store_folder(arguments))
        _fail(str(explained), explained.exit_code, arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the exit does not fail once more
        sys.exit(ExitCode.FINDINGS)
    except OSError as error:
        _fail_to_open(error, arguments)


def _fail_to_open(error: OSError, arguments: list[str]) -> NoReturn:
    """A file of the store, or the disk, ends with the code of the store; a path that was mistyped is a matter of usage."""
    is_mistyped = isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError | PermissionError)
    store = _store_folder(arguments).absolute()
    is_ours = error.filename is None or Path(os.fsdecode(error.filename)).absolute().is_relative_to(store)
    where = error.filename or "the output"
    _fail(
        f"{where}: {error.strerror or error}; check the path, its permissions and the free space",
        ExitCode.USAGE if is_mistyped and not is_ours else ExitCode.STORE,
        arguments if error.filename else [],
    )


def _run(arguments: list[str]) -> None:
    """Run the command; its usage errors become ours, an exit code that it asks for ends the program."""
    command = typer.main.get_command(make_app(_wanted(arguments)))
    if not {"-h", "--help"}.isdisjoint(arguments):
        from kbcite.cli.help_pages import explain

        explain(command)
    try:
        code = command.main(arguments, prog_name="kbcite", standalone_mode=False)
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except _ClickError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            sys.exit(ExitCode.USAGE)
        name = error.ctx.command_path if error.ctx else "kbcite"
        said = _plain(error.format_message())
        if said.startswith(_TOO_MANY):
            said = _wrong_value(arguments) or said + "; put the words in quotes" * (_wanted(arguments) in _TAKES_WORDS)
        raise UsageError(f'{said}; see "{name} --help"') from error
    if code == ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if isinstance(code, int) and code:
        sys.exit(code)


def _wrong_value(arguments: list[str]) -> str:
    """What is wrong with an argument too many that stands where an option's value might; empty where none does."""
    for option, word in pairwise(arguments):
        if option in _OPTIONAL_VALUES and not word.startswith("-"):
            return f"{option.partition('=')[0]} takes {_OPTIONAL_VALUES[option]} or nothing, not {word!r}"
    return ""


def _plain(message: str) -> str:
    """The option parser's message in the shape of all others: no jargon of its types, no full stop."""
    for theirs, ours in _PARSER_WORDS.items():
        message = message.replace(theirs, ours)
    return message.rstrip(".?")


def _store_folder(arguments: list[str]) -> Path:
    for i, argument in enumerate(arguments):
        if argument.startswith("--store="):
            return Path(argument.partition("=")[2])
        if argument == "--store" and i + 1 < len(arguments):
            return Path(arguments[i + 1])
    return Path(os.environ.get("KBCITE_STORE", "kb"))


def _fail(message: str, code: ExitCode, arguments: list[str]) -> NoReturn:
    line = " ".join(message.split())
    if "--json" in arguments:
        print(json.dumps({"error": line, "exit_code": int(code)}, ensure_ascii=False))
    is_logged_json = _LOGS_JSON in " ".join(sys.argv).replace("=", " ") or os.environ.get("KBCITE_LOG_FORMAT") == "json"
    told = folded(f"kbcite: {line}", columns_of(sys.stderr))
    print(log_line(system_clock(), line, {"exit_code": int(code)}) if is_logged_json else told, file=sys.stderr)
    sys.exit(code)
