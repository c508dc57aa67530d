"""Calibrate: questions, of a file or made from the store's own blocks → what retrieval thinks of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbcite.errors import UsageError
from kbcite.records import RetrievedBlock
from kbcite.retrieval.calibration import Asked, best_of, own_questions
from kbcite.store.database import Database

Find = Callable[[str], tuple[RetrievedBlock, ...]]
"""A question → its candidates, best first."""


@dataclass(frozen=True, slots=True)
class Case:
    """A line of a file of questions."""

    question: str
    answerable: bool
    url: str | None


def ask_own(database: Database, find: Find, most: int) -> Iterator[Asked]:
    """Questions of the store's own blocks, each as answerable, and once more with its block held out.

    The blocks are the first by their IDs, which are digests: a sample that is the same in each run.
    """
    questions = 0
    for block, context in sorted(database.blocks.live(), key=lambda pair: pair[0].id):
        for own in own_questions(block, context):
            if questions == most:
                return
            found = find(own.question)
            yield Asked(own.question, True, best_of(found))
            yield Asked(own.question, False, best_of(found, own.made_from))
            questions += 1


def ask_file(path: Path, find: Find) -> Iterator[Asked]:
    """The questions of a file. Raises UsageError naming the first line that is not one."""
    for case in read_cases(path):
        found = find(case.question)
        is_right = None
        if case.url is not None:
            is_right = bool(found) and case.url in {place.url for place in (found[0].place, *found[0].also)}
        yield Asked(case.question, case.answerable, best_of(found), is_right)


def read_cases(path: Path) -> list[Case]:
    """The lines `{"question": ..., "answerable": true|false, "url": ...}` of a file; url may be left out."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot read {path}: {reason}; give a file of JSON lines") from error
    return [_case(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def _case(line: str, where: str) -> Case:
    try:
        row: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(
            f'{where}: not JSON ({error.msg}); write each line like {{"question": "...", "answerable": true}}'
        ) from error
    if not isinstance(row, dict) or not isinstance(row.get("question"), str) or not row["question"].strip():
        raise UsageError(f'{where}: no "question"; write {{"question": "...", "answerable": true}}')
    if not isinstance(row.get("answerable"), bool):
        raise UsageError(f'{where}: "answerable" is neither true nor false; say which')
    if not isinstance(row.get("url"), str | None):
        raise UsageError(f'{where}: "url" is not a text; write an address, or leave it out')
    return Case(row["question"], row["answerable"], row.get("url"))
