from __future__ import annotations

from pathlib import Path

import pytest

from kbcite.errors import NotFound, UsageError
from kbcite.records import SourceType
from kbcite.settings import SourceSettings
from kbcite.settings_reading import load_settings
from kbcite.store.layout import make_store
from kbcite.store.settings_file import add_source, remove_source

FULL = SourceSettings(
    "https://a.example/docs/",
    scope=("https://a.example/docs/", "https://b.example/"),
    exclude=(r"[?&]page=\d+",),
    type=SourceType.INTERNAL,
    depth=2,
    max_pages=7,
    allow_private=True,
    labels=("人事",),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_store(tmp_path / "kb")
    return tmp_path / "kb" / "kbcite.toml"


def test_a_source_comes_back_as_it_was_added(path: Path) -> None:
    add_source(path, FULL)
    add_source(path, SourceSettings("https://c.example/"))
    assert load_settings(path, {}).sources == (FULL, SourceSettings("https://c.example/"))


def test_comments_and_other_settings_stay(path: Path) -> None:
    before = path.read_text(encoding="utf-8")
    add_source(path, FULL)
    remove_source(path, FULL.url)
    after = path.read_text(encoding="utf-8")
    assert [line for line in before.splitlines() if line] == [line for line in after.splitlines() if line]


def test_a_source_is_added_once(path: Path) -> None:
    add_source(path, FULL)
    with pytest.raises(UsageError, match="is a source already"):
        add_source(path, FULL)


def test_removing_an_unknown_source_says_so(path: Path) -> None:
    with pytest.raises(NotFound, match="is not a source"):
        remove_source(path, "https://x.example/")


def test_a_store_is_made_once_and_then_left_alone(path: Path) -> None:
    add_source(path, FULL)
    assert not make_store(path.parent)
    assert load_settings(path, {}).sources == (FULL,)


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"it holds notes\.txt"):
        make_store(tmp_path)


def test_a_store_that_was_not_finished_is_completed(tmp_path: Path) -> None:
    (tmp_path / "archive.sqlite3").touch()
    (tmp_path / "kbcite.toml.new").touch()
    assert make_store(tmp_path)
    assert (tmp_path / "kb.sqlite3").is_file()
