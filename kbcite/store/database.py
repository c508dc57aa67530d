"""Door: the records of a store in SQLite.

One connection a process, in WAL mode: readers never wait for a writer. Writers hold the store's lock (`store/lock.py`)
and group their work with `transaction()`. The tables' SQL lives in the modules beside this one, one class a family of tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kbcite.store.answers import Answers
from kbcite.store.blocks import Blocks
from kbcite.store.documents import Documents
from kbcite.store.frontier import Frontier
from kbcite.store.migrations import migrate
from kbcite.store.pages import Pages
from kbcite.store.pool import Pool
from kbcite.store.rendering import Rendering
from kbcite.store.sqlite import open_sqlite
from kbcite.store.vectors import Vectors
from kbcite.store.word_index import WordIndex

DATABASE_NAME = "kb.sqlite3"


class Database:
    """The open database of a store; `connection` is shared by the table classes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = open_sqlite(path)
        try:
            migrate(self.connection, str(path))
        except BaseException:
            self.connection.close()
            raise
        self.pages = Pages(self.connection)
        self.documents = Documents(self.connection)
        self.blocks = Blocks(self.connection)
        self.vectors = Vectors(self.connection)
        self.words = WordIndex(self.connection)
        self.answers = Answers(self.connection)
        self.frontier = Frontier(self.connection)
        self.rendering = Rendering(self.connection)
        self.pool = Pool(self.connection)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block's writes or none."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:
                self.connection.rollback()
            raise
        self.connection.commit()
