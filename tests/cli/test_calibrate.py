from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.cli.run import Shell


def questions(path: Path, *rows: object) -> str:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


ROWS = (
    {"question": "When does the swimming pool open?", "answerable": True},
    {"question": "How many items does the library lend?", "answerable": True},
    {"question": "停水是什么时候？", "answerable": True},
    {"question": "Who won the chess championship?", "answerable": False},
    {"question": "How do I cook rice?", "answerable": False},
)


def test_questions_of_the_stores_own_blocks_are_told_from_those_without_their_block(town: Shell) -> None:
    done = town("--json", "calibrate")
    assert done.code == 0, done.err
    told = done.json
    assert told["questions"] == 2 * told["answerable"] >= 10
    shares = [(row["refused"], row["answered"]) for row in told["rows"]]
    assert shares == sorted(shares, key=lambda pair: (pair[0], -pair[1]))
    best = next(row for row in told["rows"] if row["threshold"] == told["best"])
    assert best["refused"] + best["answered"] < 0.6
    assert town("--json", "calibrate").json == told


def test_a_file_of_questions_is_measured_and_only_write_changes_the_settings(town: Shell, tmp_path: Path) -> None:
    file = questions(tmp_path / "q.jsonl", *ROWS)
    settings = town.store / "kbcite.toml"
    before = settings.read_text("utf-8")
    told = town("--json", "calibrate", file).json
    assert settings.read_text("utf-8") == before
    shown = town("calibrate", file, "--write")
    assert "[ask] threshold = " in shown.out
    after = settings.read_text("utf-8")
    assert tomllib.loads(after)["ask"]["threshold"] == told["best"]
    changed = set(before.splitlines()) ^ set(after.splitlines())
    assert len(changed) == 2 and all("threshold = " in line and "# relevance under which" in line for line in changed)
    assert town("--json", "calibrate", file).json["threshold"] == told["best"]


def test_the_page_named_is_compared_with_the_best_block(town: Shell, tmp_path: Path) -> None:
    rows = [{**row, "url": "http://elsewhere.example/"} if row["answerable"] else row for row in ROWS]
    assert "best block on the page named: 0 of 3" in town("calibrate", questions(tmp_path / "q", *rows)).out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line 1"),
        ('{"answerable": true}', 'no "question"'),
        ('{"question": "x"}', "neither true nor false"),
        ('{"question": "x", "answerable": true, "url": 5}', '"url"'),
        ('{"question": "Who?", "answerable": true}', "both kinds"),
    ],
)
def test_a_file_that_will_not_do_is_refused_in_one_line(town: Shell, tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(text, encoding="utf-8")
    done = town("calibrate", str(file))
    assert done.code == 2 and reason in done.err and len(done.err.splitlines()) == 1
