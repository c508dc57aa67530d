"""Runs kbcite over question sets and writes what the score script reads; each mode is a function of a module beside this one.

    python -m tests.bench.qa_run MODE DATA OUT [SET ...]

DATA is the folder with the sets, OUT the file to write; naming sets runs only those. MODE is one of the keys of MODES.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

MODES = {
    "retrieval": "tests.bench.qa_retrieval:run",
    "answers": "tests.bench.qa_answers:answers",
    "support": "tests.bench.qa_answers:support",
    "dedup": "tests.bench.qa_answers:dedup",
    "timeclass": "tests.bench.qa_answers:timeclass",
}
"""Mode to module and function."""


def main(arguments: list[str]) -> None:
    if len(arguments) < 3 or arguments[0] not in MODES:
        raise SystemExit(f"usage: python -m tests.bench.qa_run {'|'.join(MODES)} DATA OUT [SET ...]")
    mode, data, out, *sets = arguments
    module, function = MODES[mode].split(":")
    getattr(import_module(module), function)(Path(data), Path(out), set(sets))


if __name__ == "__main__":
    main(sys.argv[1:])
