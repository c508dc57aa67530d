from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tests.cli.run import Shell, kbcite

GOLDEN_PAGES = sorted((Path(__file__).parents[2] / "golden_pages").glob("*/page.html"))


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


@pytest.mark.parametrize("page", GOLDEN_PAGES, ids=lambda page: page.parent.name)
def test_every_line_fits_a_terminal_of_80_columns(page: Path) -> None:
    outcome = kbcite("clean", "--explain", str(page))
    assert outcome.code == 0
    assert outcome.out.startswith("encoding    ")
    assert max(map(columns, outcome.out.splitlines())) <= 80


def test_a_stored_page_is_explained_by_its_address(town: Shell, town_site) -> None:
    url = f"{town_site.url}/water.html"
    shown = town("clean", "--explain", url).out
    assert f"page        {url}" in shown
    assert "gb18030" in shown
    assert "meta says gb2312" in shown
    assert "tag nav: 12 characters, 92% links\n    Home Library" in shown
    record = town.json("clean", "--explain", url)
    assert record["kept"][0]["path"] == "body > main"
    assert {"field": "language", "value": "zh", "place": "script of the text"} in record["facts"]


def test_a_page_comes_from_a_file_or_standard_input(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>Lamp</title><p>It is a lamp that stands on the floor, and it is made of steel.</p>")
    assert kbcite("--json", "clean", "--explain", str(page)).json["facts"][0]["value"] == "Lamp"


def test_what_a_page_says_cannot_steer_the_terminal(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<title>\x1b]0;owned\x07 Lamp</title><p id='\x1b[2J'>It is a lamp, \x1b[31m it stands on the floor.</p>"
    )
    assert "\x1b" not in kbcite("clean", "--explain", str(page)).out


@pytest.mark.parametrize("page", ["nonsense", "http://127.0.0.1/not-stored"])
def test_what_is_not_there_is_said(town: Shell, page: str) -> None:
    outcome = town("clean", "--explain", page)
    assert outcome.code == 5
    assert page in outcome.err
