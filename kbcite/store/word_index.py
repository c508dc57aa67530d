"""Word search over blocks in SQLite's FTS5, over terms that kbcite makes itself.

FTS5 sees ready-made terms with a blank between them, so Chinese is found by characters and bigrams and `c++` or `3.11`
stay whole; its `ascii` tokenizer with the inner punctuation of terms declared as letters leaves them as they are. The
table is contentless and without positions: it says which block holds which term, and keeps no second copy of the text.

What is asked of it is coverage: the sum of the inverse document frequencies of the question's terms that a block holds,
over that of all its terms, ln(1 + (N - n + 0.5) / (n + 0.5)) each. How often a block repeats a term does not count. Beside
the vectors that ranks as well as BM25 or better, is comparable between questions, and needs one pass over the postings.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from kbcite.records import Block
from kbcite.words import stem, terms

CONTEXT_WEIGHT = 0.5
"""A term that stands in titles and headings only, against one in the text."""
MAX_TERMS = 96
"""Distinct terms of a question that are looked up, the rarest first."""

STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its"
    " may me might more most my no not of on or our shall she should so some such than that the their them then there"
    " these they this those to too us was we were what when where which who whom whose why will with would you your"
    " 的 了 是 在 和 与 及 或 有 吗 呢 么 什 哪 些 个 这 那 么 多少 什么 哪些 哪个 怎么 如何 为什 是什 请问".split()
)

_PROBE = "Running 3.11 c++ studies' plan-b: 知识库 臺灣 a@b.org café boxes, 1,234 /etc/apt/sources.list"


@dataclass(frozen=True, slots=True)
class SyncCounts:
    added: int
    removed: int


class WordIndex:
    """The word index of a database that holds the blocks; writing happens inside the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def sync(self, live: Iterable[tuple[Block, str]]) -> SyncCounts:
        """Makes the index hold exactly these blocks with these contexts; what is right already is not touched.

        Where the rules of terms have changed since the index was made, it is made anew.
        """
        if self._rules() != RULES:
            self.clear()
        known = dict(self._sql.execute("SELECT b.id, w.context FROM word_rows w JOIN blocks b ON b.num = w.block_num"))
        added, stale = [], []
        for block, context in live:
            before = known.pop(block.id, None)
            if before is None or before != context:
                added.append((block.id, block.text, context))
                stale.extend([block.id] if before is not None else [])
        self.remove([*stale, *known])
        self.add(added)
        return SyncCounts(added=len(added), removed=len(known) + len(stale))

    def optimize(self) -> None:
        """Merges the postings, which drops those of blocks that were removed."""
        self._sql.execute("INSERT INTO word_index(word_index) VALUES('optimize')")

    def clear(self) -> None:
        self._sql.execute("INSERT INTO word_index(word_index) VALUES('delete-all')")
        self._sql.execute("DELETE FROM word_rows")
        self._sql.execute("INSERT OR REPLACE INTO meta VALUES('word_rules', ?)", (RULES,))

    def add(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Takes up blocks of the database that are not in the index yet, as (block ID, text, context)."""
        for block_id, text, context in rows:
            (num,) = self._sql.execute("SELECT num FROM blocks WHERE id = ?", (block_id,)).fetchone()
            self._sql.execute("INSERT INTO word_rows VALUES(?, ?)", (num, context))
            self._sql.execute(
                "INSERT INTO word_index(rowid, body, context) VALUES(?, ?, ?)",
                (num, _as_indexed(text), _as_indexed(context)),
            )

    def remove(self, block_ids: Iterable[str]) -> None:
        for block_id in block_ids:
            row = self._sql.execute(
                "SELECT w.block_num, b.text, w.context FROM word_rows w JOIN blocks b ON b.num = w.block_num"
                " WHERE b.id = ?",
                (block_id,),
            ).fetchone()
            if row:
                num, text, context = row
                # A contentless table is told what it held; texts never change under an ID, contexts are kept for this.
                self._sql.execute(
                    "INSERT INTO word_index(word_index, rowid, body, context) VALUES('delete', ?, ?, ?)",
                    (num, _as_indexed(text), _as_indexed(context)),
                )
                self._sql.execute("DELETE FROM word_rows WHERE block_num = ?", (num,))

    def search(self, question: str, allowed: Collection[str] | None = None, limit: int = 500) -> dict[str, float]:
        """Coverage by block ID, best first, 0 to 1; with `allowed` no other block is looked at.

        No syntax: every character of the question is only text.
        """
        (total,) = self._sql.execute("SELECT count(*) FROM word_rows").fetchone()
        wanted = sorted(question_terms(question))
        if not total or not wanted:
            return {}
        spread = self._document_counts(wanted)
        idf = {term: _idf(total, spread.get(term, 0)) for term in wanted}
        chosen = sorted((term for term in wanted if term in spread), key=lambda term: -idf[term])[:MAX_TERMS]
        if not chosen:
            return {}
        part = "SELECT rowid, ? FROM word_index WHERE word_index MATCH ?"
        possible = sum(idf.values())
        parameters: list[object] = []
        for term in chosen:
            share = idf[term] / possible
            parameters += [share, f'body : "{term}"', CONTEXT_WEIGHT * share, f'context : "{term}" NOT body : "{term}"']
        rows = self._sql.execute(
            f"WITH held(num, share) AS ({' UNION ALL '.join([part] * 2 * len(chosen))}),"
            " best AS (SELECT num, sum(share) AS coverage FROM held GROUP BY num ORDER BY 2 DESC, 1 LIMIT ?)"
            " SELECT b.id, coverage FROM best JOIN blocks b USING(num) ORDER BY 2 DESC, 1",
            [*parameters, limit if allowed is None else -1],
        )
        if allowed is None:
            return dict(rows)
        return dict(islice(((block_id, coverage) for block_id, coverage in rows if block_id in allowed), limit))

    def coverage(self, question: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        """Coverage of texts that are not in the index, (text, context) each, by what the index says of the terms."""
        (total,) = self._sql.execute("SELECT count(*) FROM word_rows").fetchone()
        wanted = sorted(question_terms(question))
        spread = self._document_counts(wanted)
        idf = {term: _idf(total, spread.get(term, 0)) for term in wanted}
        possible = sum(idf.values())
        found = []
        for text, context in passages:
            body, above = set(_as_indexed(text).split()), set(_as_indexed(context).split())
            held = sum(idf[t] * (1.0 if t in body else CONTEXT_WEIGHT if t in above else 0.0) for t in wanted)
            found.append(held / possible if possible else 0.0)
        return found

    def _document_counts(self, wanted: Sequence[str]) -> dict[str, int]:
        marks = ",".join("?" * len(wanted))
        return dict(self._sql.execute(f"SELECT term, doc FROM word_terms WHERE term IN ({marks})", wanted))

    def is_old(self) -> bool:
        """Whether it was made by other rules of terms than those that questions are read by."""
        return self._rules() not in (None, RULES)

    def _rules(self) -> str | None:
        row = self._sql.execute("SELECT value FROM meta WHERE key = 'word_rules'").fetchone()
        return row[0] if row else None


def _idf(total: int, spread: int) -> float:
    """Inverse document frequency of a term that stands in `spread` of `total` blocks."""
    return math.log(1 + (total - spread + 0.5) / (spread + 0.5))


def question_terms(question: str) -> set[str]:
    """What a question is looked up by: its terms, stemmed, without stop words; with them where nothing else is left."""
    found = terms(question)
    return set(map(_plain_stem, [term for term in found if term not in STOP_WORDS] or found))


def _plain_stem(term: str) -> str:
    """The term's stem as FTS5 takes it: an apostrophe would end a quoted term."""
    return stem(term).replace("'", "")


def _as_indexed(text: str) -> str:
    return " ".join(map(_plain_stem, terms(text)))


RULES = hashlib.sha256(_as_indexed(_PROBE).encode()).hexdigest()[:12]
"""Changes with the rules of terms, so that an index of other rules is seen."""
