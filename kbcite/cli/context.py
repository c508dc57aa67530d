"""What every command works with: the global options, the store it opens, and where its output goes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kbcite.clock import Clock, system_clock
from kbcite.errors import NotFound, StoreError, UsageError

if TYPE_CHECKING:
    from kbcite.settings import Settings
    from kbcite.store.archive import Archive
    from kbcite.store.database import Database
    from kbcite.store.pages import PageRow

VECTORS_NAME = "vectors"


@dataclass(frozen=True, slots=True)
class OpenStore:
    """The doors of one store."""

    folder: Path
    settings: Settings
    database: Database
    archive: Archive

    @property
    def vectors(self) -> Path:
        return self.folder / VECTORS_NAME


@dataclass(frozen=True, slots=True)
class Context:
    """The global options; each command takes it from `ctx.obj`."""

    store: Path = Path("kb")
    offline: bool = False
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    clock: Clock = field(default=system_clock)

    @contextmanager
    def reading(self) -> Iterator[OpenStore]:
        """The store, without its write lock. Raises NotFound where there is none."""
        from kbcite.settings import SETTINGS_NAME, load_settings
        from kbcite.store.archive import ARCHIVE_NAME, Archive
        from kbcite.store.database import DATABASE_NAME, Database

        self._require_store()
        settings = load_settings(self.store / SETTINGS_NAME)
        if not (self.store / ARCHIVE_NAME).is_file():
            raise StoreError(f"{self.store / ARCHIVE_NAME} is missing; put it back from a copy, or build a new store")
        with Database(self.store / DATABASE_NAME) as database, Archive(self.store / ARCHIVE_NAME) as archive:
            for source in settings.sources:
                database.pages.apply_source(source.url, source.type, source.labels)
            yield OpenStore(self.store, settings, database, archive)

    @contextmanager
    def writing(self, command: str, wait_s: float = 0.0) -> Iterator[OpenStore]:
        """The store under its write lock. Raises StoreError naming who holds it."""
        from kbcite.store.lock import writer_lock

        self._require_store()
        with writer_lock(self.store, command, self.clock(), wait_s), self.reading() as store:
            yield store

    def _require_store(self) -> None:
        from kbcite.store.database import DATABASE_NAME

        if not (self.store / DATABASE_NAME).is_file():
            raise NotFound(f'no store at {self.store}; run "kbcite --store {self.store} init" first')

    def say(self, text: str) -> None:
        """A line for people on standard error, kept back by --quiet."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def show(self, text: str, record: Any) -> None:
        """The command's result on standard output: its text, or with --json its record."""
        print(json.dumps(record, ensure_ascii=False) if self.as_json else text)


def context_of(ctx: typer.Context) -> Context:
    context: Context = ctx.obj
    return context


def find_page(store: OpenStore, url: str) -> PageRow:
    """The stored page at an address. Raises UsageError for no address, NotFound for one that is not stored."""
    from kbcite.urls import resolve, url_key

    resolved = resolve(url, url)
    if resolved is None:
        raise UsageError(f"{url!r} is not an http or https URL")
    page = store.database.pages.get(resolved, url_key(resolved))
    if page is None:
        raise NotFound(f'{url} is not in the store; "kbcite crawl --explain {url}" says why')
    return page
