"""Import: answer records as `export` wrote them → saved answers of a store that holds the bytes they quote.

An answer is worth keeping where each of its quotes stands in a document of the store; one that cites anything else is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kbcite.answer.record import from_record, to_record
from kbcite.store.database import Database


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    id: str
    outcome: str
    """`new`, `known`, or `skipped`."""
    detail: str = ""


def import_answers(records: Iterable[Mapping[str, Any]], database: Database) -> Iterator[ImportedAnswer]:
    """One outcome a record, after it was saved. Raises UsageError for what is no answer record."""
    answers = [from_record(record) for record in records]
    for answer in answers:
        record = to_record(answer)
        if (known := database.answers.get(answer.id)) is not None:
            is_same = known == record
            yield ImportedAnswer(answer.id, *(("known",) if is_same else ("skipped", "another answer has its ID")))
            continue
        places = [
            (source, database.documents.quoted(source.snapshot.digest, source.quote)) for source in answer.sources
        ]
        if lost := [source for source, document in places if document is None]:
            detail = (
                f"[{lost[0].n}] quotes {lost[0].url} as of bytes {lost[0].snapshot.digest[:12]}, which are not stored"
            )
            yield ImportedAnswer(answer.id, "skipped", detail)
            continue
        cited = [(s.n, s.block_id, document.id, s.snapshot.digest) for s, document in places if document is not None]
        database.answers.save(record, cited)
        yield ImportedAnswer(answer.id, "new")
