"""Answers that were exported come back into a store of the same pages, and into no other."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import Shell


@pytest.fixture
def exported(town: Shell, tmp_path: Path) -> Path:
    """A file of an answer and a refusal, which the store then loses."""
    town("ask", "How much is a day ticket for the swimming pool?")
    town("ask", "谁获得了2035年的诺贝尔文学奖？")
    file = tmp_path / "answers.jsonl"
    assert town("export", "-o", str(file)).code == 0
    with sqlite3.connect(town.store / "kb.sqlite3") as sql:
        sql.execute("DELETE FROM answer_sources")
        sql.execute("DELETE FROM answers")
    return file


def first(file: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    return record


def test_exported_answers_come_back_whole(town: Shell, exported: Path, tmp_path: Path) -> None:
    done = town("import", str(exported))
    assert (done.code, done.out) == (0, "new 2, known 0, skipped 0\n")
    again = tmp_path / "again.jsonl"
    town("export", "-o", str(again))
    assert again.read_bytes() == exported.read_bytes()
    assert town("verify", "--all").code == 0
    assert town("show", f"{first(exported)['id']}:1").code == 0
    assert town("audit").out.startswith("audited 1 answer: current 1")


def test_what_is_there_already_is_known(town: Shell, exported: Path) -> None:
    town("import", str(exported))
    assert town("import", str(exported)).out == "new 0, known 2, skipped 0\n"


def test_another_answer_under_a_known_id_is_left_out(town: Shell, exported: Path) -> None:
    town("import", str(exported))
    done = town("import", "-", stdin=json.dumps(first(exported) | {"question": "Something else?"}))
    assert done.code == 1 and "another answer has its ID" in done.err


def test_an_answer_of_pages_that_are_not_stored_is_left_out(shell: Shell, exported: Path) -> None:
    done = shell("import", str(exported))
    assert (done.code, done.out) == (1, "new 1, known 0, skipped 1\n")  # the refusal quotes nothing
    assert "[1] quotes http" in done.err and "which are not stored" in done.err


def test_a_quote_that_the_page_does_not_have_is_left_out(town: Shell, exported: Path) -> None:
    record = first(exported)
    record["sources"]["web"][0]["quote"]["text"] = "A day ticket costs 9.50 euros."
    assert town("import", "-", stdin=json.dumps(record)).code == 1
    assert town.json("status")["answers"] == 0


@pytest.mark.parametrize(("text", "told"), [("[1, 2]", "holds no answer records"), ('{"schema": "x"}', "schema 'x'")])
def test_what_is_no_record_is_told(town: Shell, text: str, told: str) -> None:
    done = town("import", "-", stdin=text)
    assert done.code == 2 and told in done.err
