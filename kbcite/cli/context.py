"""What every command works with: the global options, the store it opens, and where its output goes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbcite.cli.folding import columns_of, folded
from kbcite.clock import Clock, system_clock
from kbcite.errors import NotFound, StoreError

if TYPE_CHECKING:
    from kbcite.settings import Settings
    from kbcite.store.archive import Archive
    from kbcite.store.database import Database
    from kbcite.store.pages import PageRow

VECTORS_NAME = "vectors"


class StoredType(StrEnum):
    """What a source can be; `live` is what kbcite calls a page that it fetched while answering."""

    INTERNAL = "internal"
    WEB = "web"


Wait = Annotated[
    float,
    typer.Option(min=0.0, metavar="[SECONDS]", help="Wait for another writer: so long, or as long as it takes."),
]
"""The option of every writing command; `--wait` alone is made `--wait inf` before it is parsed."""


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
    logs_json: bool = False
    """Lines on standard error are JSON objects."""
    _warned: set[str] = field(default_factory=set, compare=False, repr=False)
    """What was said of the settings already: a server opens the store many times."""

    @contextmanager
    def reading(self) -> Iterator[OpenStore]:
        """The store, without its write lock. Raises NotFound where there is none."""
        from kbcite.settings import SETTINGS_NAME
        from kbcite.settings_reading import load_settings
        from kbcite.store.archive import ARCHIVE_NAME, Archive
        from kbcite.store.database import DATABASE_NAME, Database

        self._require_store()
        settings = load_settings(self.store / SETTINGS_NAME)
        self._warn_of_settings(settings)
        if not (self.store / ARCHIVE_NAME).is_file():
            raise StoreError(f"{self.store / ARCHIVE_NAME} is missing; put it back from a copy, or build a new store")
        with Database(self.store / DATABASE_NAME) as database, Archive(self.store / ARCHIVE_NAME) as archive:
            for source in settings.sources:
                database.pages.apply_source(source.url, source.type, source.labels)
            yield OpenStore(self.store, settings, database, archive)

    @contextmanager
    def writing(self, command: str, wait_s: float = 0.0) -> Iterator[OpenStore]:
        """The store under its write lock. Raises StoreError naming who holds it."""
        from kbcite.store.forgetting import has_erasures
        from kbcite.store.lock import writer_lock

        self._require_store()
        with writer_lock(self.store, command, self.clock(), wait_s), self.reading() as store:
            if has_erasures(store.database.connection):
                from kbcite.stages.forget import finish_forgetting

                finish_forgetting(store.database, store.archive, store.vectors)
            yield store

    def _require_store(self) -> None:
        from kbcite.store.archive import ARCHIVE_NAME
        from kbcite.store.database import DATABASE_NAME

        if not (self.store / DATABASE_NAME).is_file():
            if (self.store / ARCHIVE_NAME).is_file():
                raise StoreError(
                    f"{self.store / DATABASE_NAME} is missing; put it back from a copy, or run"
                    f' "kbcite --store {self.store} doctor --repair" to make it again from the archive'
                )
            raise NotFound(f'no store at {self.store}; run "kbcite --store {self.store} init" first')

    def _warn_of_settings(self, settings: Settings) -> None:
        """Say, once, that the settings are not what a person takes them to be."""
        from kbcite.cli.variables import misspelt_variables
        from kbcite.settings import SETTINGS_NAME

        warnings = [
            f"{name} in the environment is no setting; did you mean {meant}?"
            for name, meant in misspelt_variables(os.environ, settings)
        ]
        if not (self.store / SETTINGS_NAME).exists():
            warnings.append(
                f"{self.store / SETTINGS_NAME} is missing, so there are no sources and every setting has its default;"
                f' put it back from a copy, or write a new one with "kbcite --store {self.store} init"'
            )
        for warning in warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self.say(warning)

    def say(self, text: str, **fields: Any) -> None:
        """A line on standard error, kept back by --quiet: for people, or with --log-format json the fields with the text as `message`."""
        if not self.quiet:
            line = log_line(self.clock(), text, fields) if self.logs_json else folded(text, columns_of(sys.stderr))
            print(line, file=sys.stderr)

    def show(self, text: str, record: Any, *, is_news: bool = True) -> None:
        """The command's result on standard output: its text, or with --json its record.

        is_news: False where nothing happened, which --quiet keeps to itself unless someone is watching: cron mails what is printed.
        """
        if is_news or self.as_json or not self.quiet or sys.stdout.isatty():
            print(json.dumps(record, ensure_ascii=False) if self.as_json else folded(text, columns_of(sys.stdout)))


def log_line(at: str, message: str, fields: Mapping[str, Any]) -> str:
    """One line of a log in JSON: time, message, and what else is known."""
    return json.dumps({"time": at, "message": message, **fields}, ensure_ascii=False)


def context_of(ctx: typer.Context) -> Context:
    context: Context = ctx.obj
    return context


def find_page(store: OpenStore, url: str) -> PageRow:
    """The stored page at an address. Raises UsageError for no address, NotFound for one that is not stored."""
    from kbcite.urls import given_url, url_key

    resolved = given_url(url)
    page = store.database.pages.get(resolved, url_key(resolved))
    if page is None:
        raise NotFound(f'{url} is not in the store; "kbcite crawl --explain {url}" says why')
    return page
