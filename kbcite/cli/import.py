from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from kbcite.cli.context import Wait, context_of
from kbcite.cli.record_files import records_of, text_of
from kbcite.errors import ExitCode, Finding
from kbcite.render import counted, printable, summary


def register(app: typer.Typer) -> None:
    app.command("import", short_help="Take saved answers in that were exported as JSON lines.")(import_)


def import_(
    ctx: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Records as `kbcite export` writes them; - is standard input."),
    ],
    wait: Wait = 0.0,
) -> None:
    """Take saved answers in that were exported as JSON lines, into a store that holds the pages they quote.

    An answer that quotes bytes which are not stored is left out. Whole crawls come in with "kbcite warc import".
    """
    from kbcite.stages.import_answers import import_answers

    context = context_of(ctx)
    records = [record for name in files for record in records_of(name, text_of(name))]
    counts = Counter({"new": 0, "known": 0, "skipped": 0})
    done = []
    with context.writing("import", wait) as store:
        for one in import_answers(records, store.database):
            counts[one.outcome] += 1
            done.append(one)
            if one.detail:
                context.say(f"skipped {printable(one.id)}: {printable(one.detail)}")
    context.show(summary(counts), {**counts, "answers": [asdict(one) for one in done]}, is_news=counts["new"] > 0)
    if counts["skipped"]:
        raise Finding(f"{counted(counts['skipped'], 'answer')} left out; why stands above", ExitCode.FINDINGS)
