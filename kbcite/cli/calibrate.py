from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.context import context_of
from kbcite.errors import Finding, NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbcite.records import RetrievedBlock
    from kbcite.retrieval.calibration import Asked, Row

MOST_FAULTS = 0.6
"""Share of the answerable refused and of the unanswerable answered, together, up to which a threshold is worth setting.

In the manuals of many versions, where most blocks have others that say the same, the best comes to .88."""


def register(app: typer.Typer) -> None:
    app.command()(calibrate)


def calibrate(
    ctx: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE.jsonl]",
            help='Questions, a line each: {"question": ..., "answerable": true|false}, and "url" of the page that answers it if you like. '
            "Without one they are made from the store's own blocks.",
        ),
    ] = None,
    questions: Annotated[int, typer.Option(min=10, max=5000, help="Questions made from the blocks at most.")] = 200,
    write: Annotated[bool, typer.Option("--write", help="Set the threshold in kbcite.toml.")] = False,
) -> None:
    """Measure which threshold fits this store."""
    from kbcite.cli.search import open_find, open_store_encoder, ranking_options
    from kbcite.retrieval.calibration import best_row, table
    from kbcite.settings import SETTINGS_NAME
    from kbcite.stages.calibrate import ask_file, ask_own
    from kbcite.store.settings_file import set_value

    context = context_of(ctx)
    with context.reading() as store:
        find = open_find(store, open_store_encoder(context, store), ranking_options(context, store, 50, 0.0), None, ())

        def candidates(text: str) -> tuple[RetrievedBlock, ...]:
            return find(text).blocks

        asked = list(ask_file(file, candidates) if file else ask_own(store.database, candidates, questions))
        now = store.settings.ask.threshold
        path = store.folder / SETTINGS_NAME
    try:
        rows = table(asked)
        (current,) = table(asked, [now])
    except ValueError as error:
        if file:
            raise UsageError(f"{file}: {error}; add some of the other kind") from error
        raise NotFound(
            "no block has a sentence or a heading to make a question from; give a file of questions"
        ) from error
    best = best_row([*rows, current])
    is_told = best.refused + best.answered <= MOST_FAULTS
    if write and is_told:
        set_value(path, "ask", "threshold", best.threshold)
    record = {
        "questions": len(asked),
        "answerable": sum(case.answerable for case in asked),
        "rows": [asdict(row) for row in rows],
        "threshold": now,
        "best": best.threshold,
        "told_apart": is_told,
        "written": write and is_told,
    }
    context.show("\n".join(_lines(asked, rows, current, best, str(path) if write else "")), record)
    if write and not is_told:
        raise Finding(f"{path} is left as it is; no threshold tells these questions apart")


def _lines(asked: Sequence[Asked], rows: Sequence[Row], current: Row, best: Row, written_to: str) -> list[str]:
    answerable = sum(case.answerable for case in asked)
    right = [case.is_right for case in asked if case.is_right is not None and case.answerable]
    lines = [f"{answerable} questions that the store answers, {len(asked) - answerable} that it does not", ""]
    lines.append("threshold   answerable refused   unanswerable answered")
    for row in sorted({*rows, current}, key=lambda row: row.threshold):
        marks = [name for name, marked in (("in use", current), ("best", best)) if row.threshold == marked.threshold]
        lines.append(f"{row.threshold:9.2f}   {row.refused:18.1%}   {row.answered:21.1%}   {', '.join(marks)}".rstrip())
    lines.append("")
    if right:
        lines.append(f"best block on the page named: {sum(right)} of {len(right)}")
    if best.refused + best.answered > MOST_FAULTS:
        lines.append(
            "no threshold tells these questions apart: the blocks say much the same as one another;\n"
            "give a file of questions that people ask"
        )
    elif written_to:
        lines.append(f"{written_to}: [ask] threshold = {best.threshold:g}")
    elif best.threshold != current.threshold:
        lines.append(f'"kbcite calibrate --write" sets the threshold to {best.threshold:g}')
    else:
        lines.append("the threshold in use is the best")
    return lines
