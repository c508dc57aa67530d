"""What lies in a store's folder, and how a new one is made."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from kbcite.errors import UsageError
from kbcite.settings import SETTINGS_NAME
from kbcite.store.archive import ARCHIVE_NAME, Archive
from kbcite.store.database import DATABASE_NAME, Database
from kbcite.store.lock import LOCK_NAME

PAGE_COPIES_NAME = "archived"
"""Folder of archived pages that were opened in a browser; derived, may be removed at any time."""
OWN_NAMES = (SETTINGS_NAME, DATABASE_NAME, ARCHIVE_NAME, LOCK_NAME)
"""What a store that was not finished may hold, each also with an ending."""


def make_store(folder: Path) -> bool:
    """Make a store, or complete one; True if it was new. Raises UsageError for a folder that holds something else."""
    is_new = not (folder / DATABASE_NAME).exists()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder for the store")
    if is_new and folder.is_dir():
        foreign = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(OWN_NAMES))
        if foreign:
            raise UsageError(
                f"{folder} is not empty and not a store (it holds {foreign[0]}); name an empty or a new folder"
            )
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / SETTINGS_NAME
    if not settings.exists():
        template = resources.files("kbcite.store").joinpath("kbcite.template.toml").read_text(encoding="utf-8")
        beside = settings.with_suffix(".toml.new")
        beside.write_text(template, encoding="utf-8")
        beside.replace(settings)
    Archive(folder / ARCHIVE_NAME).close()
    Database(folder / DATABASE_NAME).close()
    return is_new
