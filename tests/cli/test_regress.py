"""`kbcite regress`: what it prints, writes and ends with. Pages are really cleaned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import Outcome, kbcite

BODY = "The hut is open from June to September and has forty-six bunks, a kitchen and a winter room for eight people."
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The hut</title></head><body>
<nav><a href="/a">Home</a> <a href="/b">Tours</a></nav><article><h1>The hut</h1><p>{BODY}</p>
<p>A night costs 48 crowns for guests and 34 crowns for members; a hot shower costs 5 crowns more.</p></article>
<footer><a href="/c">Imprint</a></footer></body></html>"""
TEXT = f"""# The hut

{BODY}

A night costs 48 crowns for guests and 34 crowns for members; a hot shower costs 5 crowns more.
"""


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    page = folder / "hut"
    page.mkdir(parents=True)
    (page / "page.html").write_text(PAGE, encoding="utf-8")
    (page / "source.toml").write_text('url = "https://hut.example/"\ntitle = "The hut"\n', encoding="utf-8")
    (page / "expected.md").write_text(TEXT, encoding="utf-8")
    return folder


def run(pages: Path, *arguments: str, as_json: bool = False) -> Outcome:
    return kbcite(*["--json"] * as_json, "regress", "--pages", str(pages), *arguments)


def expect(pages: Path, text: str) -> None:
    (pages / "hut" / "expected.md").write_text(text, encoding="utf-8")


def test_a_page_that_is_whole_is_one_line_and_ends_with_0(pages: Path) -> None:
    result = run(pages)
    assert result.code == 0
    assert result.out.startswith("ok ")
    assert len(result.out.splitlines()) == 1


def test_a_loss_ends_with_1_and_shows_the_words(pages: Path) -> None:
    expect(pages, TEXT.replace("48 crowns", "52 crowns"))
    result = run(pages)
    assert result.code == 1
    assert result.out.startswith("LOST")
    assert "[-52-]" in result.out
    assert "{+48+}" in result.out
    assert "hut" in result.err
    assert "--update" in result.err


def test_nothing_is_written_without_a_flag(pages: Path) -> None:
    expect(pages, "another text\n")
    before = sorted((path, path.read_bytes()) for path in pages.rglob("*") if path.is_file())
    run(pages)
    assert sorted((path, path.read_bytes()) for path in pages.rglob("*") if path.is_file()) == before


def test_update_takes_todays_text_over(pages: Path) -> None:
    expect(pages, "another text\n")
    assert run(pages, "--update").code == 0
    assert "48 crowns" in (pages / "hut" / "expected.md").read_text(encoding="utf-8")
    assert run(pages).code == 0


def test_lowered_floors_let_the_same_loss_pass_and_no_more(pages: Path) -> None:
    expect(pages, TEXT + "\nlost words\n")
    assert run(pages, "--lower-floors").code == 0
    assert run(pages).code == 0
    expect(pages, TEXT + "\nthree lost words\n")
    assert run(pages).code == 1


def test_a_page_that_got_better_says_that_its_floor_is_slack(pages: Path) -> None:
    expect(pages, TEXT + "\nlost words\n")
    assert "floor" not in run(pages, "--lower-floors").out
    expect(pages, TEXT)
    assert "better than its floor" in run(pages).out


def test_json_is_one_document_with_the_losses(pages: Path) -> None:
    expect(pages, TEXT + "\nlost words\n")
    result = run(pages, as_json=True)
    assert result.code == 1
    [record] = json.loads(result.out)
    assert (record["page"], record["passed"], record["loss"]["missing"]) == ("hut", False, 2)


def test_the_report_marks_the_words_and_escapes_the_page(pages: Path, tmp_path: Path) -> None:
    expect(pages, TEXT.replace("48 crowns", "<script>52</script> crowns"))
    report = tmp_path / "report.html"
    run(pages, "--html", str(report))
    written = report.read_text(encoding="utf-8")
    assert "<script>" not in written
    assert "<ins>48</ins>" in written


def test_a_name_that_is_no_page_is_refused(pages: Path) -> None:
    outcome = run(pages, "castle")
    assert outcome.code == 5
    assert "no golden page 'castle'" in outcome.err
