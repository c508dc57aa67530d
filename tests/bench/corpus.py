"""A knowledge base in memory, from bare texts, through the code that `index` and `search` use."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kbcite.block_id import block_id
from kbcite.records import Block, PageState, Place, SourceType
from kbcite.retrieval.encoder import Encoder
from kbcite.retrieval.ranking import RankingOptions
from kbcite.retrieval.search import Found, retrieve
from kbcite.retrieval.vector_index import VectorIndex
from kbcite.retrieval.vectors import Vectors
from kbcite.store.migrations import migrate
from kbcite.store.word_index import WordIndex
from kbcite.words import count_words, language_of

ALL = RankingOptions(top_k=50, threshold=0.0)
"""Every candidate stays, in order."""


@dataclass(frozen=True, slots=True)
class Text:
    """One document of a corpus; documents with the same text become one block with several places."""

    id: str
    text: str
    title: str = ""
    published_at: str | None = None


class CachedEncoder:
    """An encoder that keeps what it encoded in a file of the temporary folder."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.fingerprint, self.dim, self.max_tokens = encoder.fingerprint, encoder.dim, encoder.max_tokens
        name = f"kbcite-bench-{hashlib.sha256(encoder.fingerprint.encode()).hexdigest()[:12]}.sqlite3"
        self._sql = sqlite3.connect(Path(tempfile.gettempdir()) / name, isolation_level=None)
        self._sql.execute("CREATE TABLE IF NOT EXISTS vectors(key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def encode_queries(self, texts: list[str]) -> Vectors:
        return self._through(texts, "q", self._encoder.encode_queries)

    def encode_passages(self, texts: list[str]) -> Vectors:
        return self._through(texts, "p", self._encoder.encode_passages)

    def _through(self, texts: list[str], kind: str, encode: Callable[[list[str]], Vectors]) -> Vectors:
        keys = [hashlib.sha256(f"{kind}{text}".encode()).digest() for text in texts]
        known = {key for key in keys if self._get(key) is not None}
        new = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
        for start in range(0, len(new), 64):
            batch = new[start : start + 64]
            vectors = encode([text for _, text in batch])
            rows = [(key, vector.tobytes()) for (key, _), vector in zip(batch, vectors, strict=True)]
            self._sql.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?)", rows)
        found = b"".join(self._get(key) or b"" for key in keys)
        return np.frombuffer(found, np.float32).reshape(len(texts), self.dim)

    def _get(self, key: bytes) -> bytes | None:
        row = self._sql.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None


@dataclass(slots=True)
class Corpus:
    """Texts, indexed; `find` ranks them for a question, `documents` names the documents behind a block."""

    texts: Sequence[Text]
    encoder: Encoder
    _places: dict[str, tuple[Block, tuple[Place, ...]]] = field(default_factory=dict)
    _index: VectorIndex = field(init=False)
    _words: WordIndex = field(init=False)

    def __post_init__(self) -> None:
        for number, text in enumerate(self.texts):
            key = block_id(text.text)
            block = Block(key, text.text, count_words(text.text), language_of(text.text))
            _, before = self._places.get(key, (block, ()))
            self._places[key] = (block, (*before, _place(text, number)))
        blocks = [block for block, _ in self._places.values()]
        sql = sqlite3.connect(":memory:", isolation_level=None)
        migrate(sql, ":memory:")
        sql.execute("BEGIN")
        rows = [(block.id, block.text, block.words, block.language) for block in blocks]
        sql.executemany("INSERT INTO blocks(id, text, words, language, first_seen_at) VALUES(?, ?, ?, ?, '')", rows)
        self._words = WordIndex(sql)
        self._words.sync((block, places[0].title) for block, places in self._places.values())
        sql.execute("COMMIT")
        vectors = self.encoder.encode_passages([block.text for block in blocks])
        languages = [block.language for block in blocks]
        fingerprint = self.encoder.fingerprint
        self._index = VectorIndex.build([block.id for block in blocks], vectors, languages, fingerprint)

    def find(self, question: str, options: RankingOptions = ALL) -> Found:
        return retrieve(question, self.encoder, self._index, self._words.search, self._load, options)

    def ranked(self, question: str) -> tuple[list[str], Found]:
        """Ids of documents, best first, and what was found."""
        found = self.find(question)
        return [place.url for hit in found.blocks for place in (hit.place, *hit.also)], found

    def _load(self, ids: Iterable[str]) -> dict[str, tuple[Block, tuple[Place, ...]]]:
        return {key: self._places[key] for key in ids}


def _place(text: Text, number: int) -> Place:
    return Place(
        document_id=number,
        start=0,
        end=len(text.text),
        heading_chain=(),
        url=text.id,
        title=text.title,
        published_at=text.published_at,
        fetched_at="2026-01-01T00:00:00Z",
        source_type=SourceType.WEB,
        state=PageState.ALIVE,
        digest="",
        text=text.text,
    )
