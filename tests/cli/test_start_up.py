"""What a command may load: heavy packages only where an option asks for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.run import Shell

HEAVY = {"torch", "transformers", "litellm", "sentence_transformers", "openai", "boto3", "mcp"}


def loaded_by(shell: Shell, *arguments: str) -> set[str]:
    code = (
        "import sys\n"
        f"sys.argv = {['kbcite', '--store', str(shell.store), *arguments]!r}\n"
        "from kbcite.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('loaded:', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("loaded:")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "Who is the mayor?"],
        ["search", "pool"],
        ["clean"],
        ["chunk"],
        ["index", "--rebuild"],
        ["recheck"],
        ["status"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_model_package_is_loaded_unless_it_is_chosen(town: Shell, arguments: list[str]) -> None:
    assert not loaded_by(town, *arguments) & HEAVY


def test_a_question_needs_neither_a_parser_nor_the_network(town: Shell) -> None:
    assert not loaded_by(town, "ask", "Who is the mayor?") & {"lxml", "bs4", "requests", "onnxruntime", "tokenizers"}
