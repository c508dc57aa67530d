from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from kbcite.cli.context import context_of
from kbcite.cli.folding import columns_of
from kbcite.cli.saved_answers import sources_of, verdict_of
from kbcite.clock import to_minute
from kbcite.errors import NotFound
from kbcite.render import fitted, one_line


def register(app: typer.Typer) -> None:
    app.command()(log)


def log(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Answers shown; 0 shows all.")] = 20,
    containing: Annotated[
        str | None, typer.Option("--grep", help="Only questions and answers with these words.")
    ] = None,
) -> None:
    """List past answers, the newest first; with --json one JSON line each."""
    context = context_of(ctx)
    with context.reading() as store:
        wanted = containing.casefold() if containing else ""
        # With words to look for, the limit is on what is found.
        records = [
            record
            for record in store.database.answers.newest(-1 if wanted or not limit else limit)
            if wanted in f"{record['question']}\n{record['answer']['text']}".casefold()
        ]
    rows = [_row(record) for record in (records[:limit] if limit else records)]
    if context.as_json:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    elif rows:
        # A line a terminal would break is cut; a file keeps the whole question.
        width = columns_of(sys.stdout)
        print("\n".join(fitted(line, width) if width else line for line in map(_line, rows)))
    if not rows:
        if containing:
            raise NotFound(f'no answer contains {containing!r}; "kbcite log -n 0" lists all of them')
        raise NotFound('no answer is stored yet; ask something with "kbcite ask"')


def _row(record: dict[str, Any]) -> dict[str, Any]:
    sources = sources_of(record)
    return {
        "id": record["id"],
        "trace_id": record["trace_id"],
        "created_at": record["created_at"],
        "question": record["question"],
        "status": record["status"],
        "verdict": verdict_of(record),
        "reason": record["refusal"]["reason"] if record["refusal"] else None,
        "method": record["method"],
        "coverage": record["grounding"]["coverage"],
        "support": record["grounding"]["support"],
        "citations": [{"n": source["n"], "url": source["url"], "title": source["title"]} for source in sources],
    }


def _line(row: dict[str, Any]) -> str:
    count = f"[{len(row['citations'])}]" if row["citations"] else ""
    return (
        f"{row['id']}  {to_minute(row['created_at'])}  {row['verdict']:<9} {count:<4}{one_line(row['question'], 500)}"
    )
