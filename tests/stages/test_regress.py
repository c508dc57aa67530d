"""Golden pages against floors: what passes, what fails and what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbcite.errors import NotFound, UsageError
from kbcite.records import CleanDocument, Metadata, Skipped, Stage
from kbcite.stages.regress import GoldenResult, Loss, read_floors, regress, update_expected, write_floors

SOURCE = 'url = "https://a.example/1"\ncontent_type = "text/html"\ntitle = "T"\npublished = "2026-03-01"\n'


def golden(folder: Path, name: str = "page", source: str = SOURCE, expected: str | None = "one two three") -> Path:
    page = folder / name
    page.mkdir(parents=True)
    (page / "page.html").write_bytes(b"<p>one two three</p>")
    (page / "source.toml").write_text(source, encoding="utf-8")
    if expected is not None:
        (page / "expected.md").write_text(expected, encoding="utf-8")
    return page


def document(
    text: str = "one two three", title: str = "T", published: str | None = "2026-03-01T08:00:00Z"
) -> CleanDocument:
    metadata = Metadata(title=title, published_at=published, language="en")
    return CleanDocument("https://a.example/1", "0" * 64, text, (), metadata, "utf-8", "1" * 64)


def results_of(folder: Path, outcome: CleanDocument | Skipped) -> list[GoldenResult]:
    return list(regress(folder, lambda data, url, content_type: outcome))


def test_a_page_whose_text_and_facts_are_as_expected_passes(tmp_path: Path) -> None:
    golden(tmp_path)
    [result] = results_of(tmp_path, document())
    assert result.passed
    assert result.loss == Loss()


def test_cleaning_gets_the_bytes_the_address_and_the_content_type(tmp_path: Path) -> None:
    golden(tmp_path)
    seen: list[object] = []

    def clean(data: bytes, url: str, content_type: str | None) -> CleanDocument:
        seen.extend((data, url, content_type))
        return document()

    list(regress(tmp_path, clean))
    assert seen == [b"<p>one two three</p>", "https://a.example/1", "text/html"]


def test_one_lost_word_fails_a_page_without_a_floor(tmp_path: Path) -> None:
    golden(tmp_path)
    [result] = results_of(tmp_path, document("one three"))
    assert not result.passed
    assert result.loss == Loss(missing=1)


@pytest.mark.parametrize(("text", "passed"), [("one three", True), ("three", False), ("one three four", False)])
def test_a_floor_allows_its_own_kind_of_loss_up_to_its_number(tmp_path: Path, text: str, passed: bool) -> None:
    golden(tmp_path)
    (tmp_path / "floors.json").write_text('{"page": {"missing": 1, "superfluous": 0, "marks": 0}}')
    [result] = results_of(tmp_path, document(text))
    assert result.passed is passed


@pytest.mark.parametrize(
    ("outcome", "fact"),
    [
        (document(title="T - Site"), "title"),
        (document(published=None), "published"),
        (document(published="2026-03-02"), "published"),
        (Skipped("https://a.example/1", Stage.CLEAN, "no_text"), "outcome"),
    ],
)
def test_a_wrong_fact_fails_the_page_and_is_named(tmp_path: Path, outcome: CleanDocument | Skipped, fact: str) -> None:
    golden(tmp_path)
    [result] = results_of(tmp_path, outcome)
    assert not result.passed
    assert [wrong.fact for wrong in result.wrong] == [fact]


@pytest.mark.parametrize(
    ("outcome", "passed"),
    [
        (Skipped("https://a.example/1", Stage.CLEAN, "needs_javascript"), True),
        (Skipped("https://a.example/1", Stage.CLEAN, "mojibake"), False),
        (document(), False),
    ],
)
def test_a_page_that_must_be_skipped_needs_its_reason(
    tmp_path: Path, outcome: CleanDocument | Skipped, passed: bool
) -> None:
    golden(
        tmp_path, source='url = "https://a.example/1"\nexpect = "skipped"\nreason = "needs_javascript"\n', expected=None
    )
    [result] = results_of(tmp_path, outcome)
    assert result.passed is passed


def test_a_page_without_expected_text_fails_until_it_is_written(tmp_path: Path) -> None:
    page = golden(tmp_path, expected=None)
    results = results_of(tmp_path, document())
    assert not results[0].passed
    assert update_expected(results) == ["page"]
    assert (page / "expected.md").read_text() == "one two three\n"
    assert results_of(tmp_path, document())[0].passed


def test_update_writes_only_pages_that_differ(tmp_path: Path) -> None:
    same, other = golden(tmp_path, "a"), golden(tmp_path, "b", expected="one two")
    before = (same / "expected.md").stat().st_mtime_ns
    assert update_expected(results_of(tmp_path, document())) == ["b"]
    assert (same / "expected.md").stat().st_mtime_ns == before
    assert (other / "expected.md").read_text() == "one two three\n"


def test_update_never_writes_over_a_page_that_was_skipped(tmp_path: Path) -> None:
    page = golden(tmp_path)
    assert update_expected(results_of(tmp_path, Skipped("https://a.example/1", Stage.CLEAN, "no_text"))) == []
    assert (page / "expected.md").read_text() == "one two three"


def test_written_floors_let_todays_loss_pass_and_keep_those_of_other_pages(tmp_path: Path) -> None:
    golden(tmp_path)
    (tmp_path / "floors.json").write_text('{"elsewhere": {"missing": 3, "superfluous": 0, "marks": 0}}')
    write_floors(tmp_path, results_of(tmp_path, document("one three")))
    assert read_floors(tmp_path) == {"elsewhere": Loss(3), "page": Loss(1)}
    assert results_of(tmp_path, document("one three"))[0].passed


def test_a_page_that_loses_nothing_any_more_loses_its_floor(tmp_path: Path) -> None:
    golden(tmp_path)
    (tmp_path / "floors.json").write_text('{"page": {"missing": 3, "superfluous": 0, "marks": 0}}')
    write_floors(tmp_path, results_of(tmp_path, document()))
    assert json.loads((tmp_path / "floors.json").read_text()) == {}


def test_names_choose_the_pages(tmp_path: Path) -> None:
    golden(tmp_path, "a")
    golden(tmp_path, "b")
    chosen = regress(tmp_path, lambda data, url, content_type: document(), ["b"])
    assert [result.page.name for result in chosen] == ["b"]


@pytest.mark.parametrize("source", ["", "url = 3", "url = 'x", 'url = "https://a.example/"\nexpect = "failed"\n'])
def test_a_source_that_cannot_be_used_is_named(tmp_path: Path, source: str) -> None:
    golden(tmp_path, source=source)
    with pytest.raises(UsageError, match=r"source\.toml"):
        results_of(tmp_path, document())


def test_floors_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    golden(tmp_path)
    (tmp_path / "floors.json").write_text('{"page": {"lost": 3}}')
    with pytest.raises(UsageError, match=r"floors\.json"):
        results_of(tmp_path, document())


def test_an_empty_folder_and_an_unknown_name_are_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        results_of(tmp_path, document())
    golden(tmp_path)
    with pytest.raises(NotFound, match="'nowhere'"):
        list(regress(tmp_path, lambda data, url, content_type: document(), ["nowhere"]))


@pytest.mark.parametrize(
    ("expected", "found", "lost"),
    [
        ("# T\n\none", "one", 0),
        ("one", "# T\n\none", 0),
        ("# [Help] T\n\none", "one", 0),
        ("## Limits\n\none", "one", 1),
        ("T\n\none", "one", 1),
    ],
)
def test_only_a_first_heading_that_is_the_title_may_stand_or_not(
    tmp_path: Path, expected: str, found: str, lost: int
) -> None:
    golden(tmp_path, expected=expected)
    [result] = results_of(tmp_path, document(found))
    assert result.loss.missing == lost


def test_a_floor_may_allow_a_wrong_fact_but_no_other(tmp_path: Path) -> None:
    golden(tmp_path)
    write_floors(tmp_path, results_of(tmp_path, document(published=None)))
    assert read_floors(tmp_path) == {"page": Loss(wrong=("published",))}
    assert results_of(tmp_path, document(published=None))[0].passed
    assert not results_of(tmp_path, document(title="other"))[0].passed


def test_no_floor_lets_a_skipped_page_pass(tmp_path: Path) -> None:
    golden(tmp_path)
    skipped = Skipped("https://a.example/1", Stage.CLEAN, "no_text")
    assert write_floors(tmp_path, results_of(tmp_path, skipped)) == {}
    assert not results_of(tmp_path, skipped)[0].passed
