"""Saved answers by what a person types: the start of an ID, of a trace ID, or nothing for the last one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kbcite.cli.context import OpenStore
from kbcite.errors import NotFound, UsageError


def find_answer(store: OpenStore, prefix: str | None) -> dict[str, Any]:
    """The record of the answer. Raises NotFound where none matches, UsageError where several do."""
    answers = store.database.answers
    if prefix is None:
        record = answers.latest()
        if record is None:
            raise NotFound('no answer is stored yet; ask something with "kbcite ask"')
        return record
    ids = answers.ids_with_prefix(prefix)
    if len(ids) > 1:
        raise UsageError(f"{prefix!r} begins several answers, {ids[0]} and {ids[1]} among them; give more of it")
    found = answers.get(ids[0]) if ids else None
    if found is None:
        raise NotFound(f'no answer begins with {prefix!r}; "kbcite log" lists them')
    return found


def find_answers(store: OpenStore, prefixes: Sequence[str], everything: bool) -> list[dict[str, Any]]:
    """The records that are named, or all of them, oldest first, or the last one. Raises as `find_answer` does."""
    if everything:
        records = list(store.database.answers.newest())[::-1]
        if not records:
            raise NotFound('no answer is stored yet; ask something with "kbcite ask"')
        return records
    return [find_answer(store, prefix) for prefix in prefixes] or [find_answer(store, None)]


def sources_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The numbered sources of a record, internal and web, by number."""
    return sorted([*record["sources"]["internal"], *record["sources"]["web"]], key=lambda source: source["n"])


_WORST = ("contradicted", "unsupported", "partial", "supported")


def verdict_of(record: dict[str, Any]) -> str:
    """One word for an answer: the worst verdict among its sentences, or `refused`."""
    if record["refusal"]:
        return "refused"
    verdicts = {claim["verdict"] for claim in record["answer"]["claims"]}
    return next((verdict for verdict in _WORST if verdict in verdicts), "supported")
