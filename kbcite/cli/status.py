from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from kbcite.cli.context import context_of
from kbcite.clock import to_minute
from kbcite.errors import NotFound, StoreError
from kbcite.render import counted, printable


def register(app: typer.Typer) -> None:
    app.command()(status)


def status(
    ctx: typer.Context, pages: Annotated[bool, typer.Option("--pages", help="List every page with its state.")] = False
) -> None:
    """Show what the store holds."""
    context = context_of(ctx)
    with context.reading() as store:
        database = store.database
        blobs, fetched, kept = store.archive.sizes()
        record: dict[str, Any] = {
            "store": str(store.folder),
            "sources": [
                {"url": source.url, "type": source.type, "pages": database.pages.count_of_source(source.url)}
                for source in store.settings.sources
            ],
            "pages": database.pages.count(),
            "states": database.pages.states(),
            "documents": database.documents.count(),
            "skipped": len(database.documents.skipped()),
            "blocks": database.blocks.live_count(),
            "encoders": [{"fingerprint": name, "vectors": count} for name, count in database.vectors.fingerprints()],
            "encoder": store.settings.index.encoder,
            "answers": database.answers.count(),
            "archive": {"bodies": blobs, "bytes": fetched, "bytes_kept": kept},
            "due": len(database.pages.due(context.clock())),
            "next_due_at": database.pages.next_due_at(),
        }
        if pages:
            record["page_list"] = [
                {"url": row.url, "state": row.state, "fetched_at": row.fetched_at, "changed_at": row.changed_at}
                for row in database.pages.all()
            ]
        record["index"] = _index(store.vectors)
    context.show(_text(record), record)


def _index(folder: Path) -> dict[str, Any] | None:
    """What the vector index holds; None where there is none that can be read."""
    from kbcite.retrieval.vector_index import read_metadata

    try:
        metadata = read_metadata(folder)
    except (NotFound, StoreError):
        return None
    return {"blocks": metadata["count"], "exact": metadata["recall"] == 1, "recall": metadata["recall"]}


def _text(record: dict[str, Any]) -> str:
    lines = [f"store      {record['store']}"]
    lines += [
        f"source     {printable(row['url'])}  {row['type']}, {counted(row['pages'], 'page')}"
        for row in record["sources"]
    ] or ["source     none yet"]
    states = ", ".join(f"{count} {state}" for state, count in sorted(record["states"].items())) or "none"
    archive = record["archive"]
    lines += [
        f"pages      {record['pages']} ({states}), {_due(record)}",
        f"documents  {record['documents']}, {counted(record['skipped'], 'page')} skipped",
        f"blocks     {record['blocks']}",
        *(f"vectors    {row['vectors']} by {_model(row['fingerprint'])}" for row in record["encoders"]),
        *([f"index      {_index_text(record['index'])}"] if record["index"] else []),
        f"answers    {record['answers']}",
        f"archive    {archive['bodies']} bodies, {_size(archive['bytes'])} kept in {_size(archive['bytes_kept'])}",
    ]
    lines += [
        f"{row['state']:<12} {to_minute(row['fetched_at'])}  {printable(row['url'])}"
        for row in record.get("page_list", [])
    ]
    return "\n".join(lines)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _model(fingerprint: str) -> str:
    """Backend and model of an encoder; what else must be equal is in the record."""
    return re.split(r"/[0-9a-f]{8,}/", fingerprint, maxsplit=1)[0]


def _index_text(index: dict[str, Any]) -> str:
    if index["exact"]:
        return f"{index['blocks']} blocks, exact"
    return f"{index['blocks']} blocks in lists, which find {index['recall']:.1%} of the ten nearest"


def _due(record: dict[str, Any]) -> str:
    """How many pages are due, or when the next one is."""
    if record["due"] or not record["next_due_at"]:
        return f"{record['due']} due for a recheck"
    return f"none due for a recheck before {to_minute(record['next_due_at'])}"
