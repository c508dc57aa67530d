from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbcite.cli.context import Context, OpenStore, context_of
from kbcite.cli.differences import change_pieces
from kbcite.cli.rows import Row, row, show_rows
from kbcite.cli.saved_answers import find_answers
from kbcite.clock import to_minute
from kbcite.errors import Finding, UsageError
from kbcite.render import counted, one_line, where

if TYPE_CHECKING:
    from kbcite.records import Answer
    from kbcite.stages.audit import AuditedAnswer, CitedNow

_NOTHING_NOW = {"gone": "the page is gone", "removed": "nothing like it is left on the page"}


def register(app: typer.Typer) -> None:
    app.command()(audit)


def audit(
    ctx: typer.Context,
    answers: Annotated[
        list[str] | None, typer.Argument(metavar="[ANSWER]...", help="Only these answers; without any all saved ones.")
    ] = None,
    re_ask: Annotated[
        bool, typer.Option("--re-ask", help="Ask the stale ones again, and show the old and the new answer.")
    ] = False,
) -> None:
    """Find saved answers whose passages changed or whose pages are gone, by what the last recheck or crawl brought.

    Shows what was quoted, what is archived and what the page says now. Exit code 1 if there are any.
    """
    from kbcite.page.cleaning import clean_page
    from kbcite.stages.audit import Auditor

    context = context_of(ctx)
    with context.reading() as store:
        records = find_answers(store, answers or (), everything=not answers)
        auditor = Auditor(store.database, store.archive, clean_page)
        audited = list(auditor.audit(records))
        stale = [answer for answer in audited if answer.status != "current"]
        moved = [
            answer for answer in audited if answer not in stale and any(c.outcome == "moved" for c in answer.citations)
        ]
        asked = {}
        if re_ask and stale:
            if auditor.unbuilt:
                raise UsageError(
                    f"{counted(len(auditor.unbuilt), 'page')} changed and not built yet; "
                    'run "kbcite build" first, so that asking again sees the change'
                )
            asked = {answer.id: _ask_again(context, store, answer.question) for answer in stale}
    rows = [line for answer in stale + moved for line in _rows(answer, asked.get(answer.id))]
    show_rows(context, [*rows, row("", _summary(audited))], _record(audited, asked))
    if stale:
        raise Finding(
            f"{len(stale)} of {counted(len(audited), 'answer')} stale: {', '.join(answer.id for answer in stale[:5])}"
            f"{' …' if len(stale) > 5 else ''}"
        )


def _ask_again(context: Context, store: OpenStore, question: str) -> Answer:
    """A new answer to an old question under today's settings, saved like any other."""
    from kbcite.cli.ask import answer_anew
    from kbcite.stages.ask import save_answer

    answered = answer_anew(context, store, question)
    save_answer(store.database, answered)
    return answered.answer


def _rows(answer: AuditedAnswer, anew: Answer | None) -> list[Row]:
    mark = answer.status if answer.status != "current" else "moved"
    rows = [
        row(f"{mark:<8}", f"{answer.id}  {to_minute(answer.created_at)}", "bold", "bold yellow"),
        row("    asked     ", " ".join(answer.question.split()), "bold"),
    ]
    for citation in answer.citations:
        if citation.outcome != "same":
            rows += _citation(citation)
    if anew is not None:
        rows += [
            row("  asked again  ", f"saved as {anew.id}", "dim"),
            row("    then      ", answer.text),
            row("    now       ", anew.text),
        ]
    return [*rows, row("", "")]


def _citation(citation: CitedNow) -> list[Row]:
    seen = f"  last seen {citation.seen_at[:10]}" if citation.seen_at else ""
    detail = f"  {one_line(citation.detail, 200)}" if citation.detail else ""
    rows = [
        row(
            f"  {citation.outcome:<9} ", f"[{citation.n}] {where(citation.title, citation.heading_chain, citation.url)}"
        ),
        row("            ", f"{citation.url}{seen}{detail}", "dim"),
    ]
    if citation.outcome == "moved":
        return rows
    archived = "as quoted" if citation.archived == citation.quoted else citation.archived or "no longer stored"
    rows += [row("    quoted    ", citation.quoted), row("    archived  ", archived)]
    if citation.difference:
        return [*rows, Row("    now       ", change_pieces(citation.difference))]
    return [*rows, row("    now       ", _NOTHING_NOW[citation.outcome], "yellow")]


def _summary(audited: list[AuditedAnswer]) -> str:
    counts = {status: sum(answer.status == status for answer in audited) for status in ("current", "stale", "gone")}
    return f"audited {counted(len(audited), 'answer')}: " + ", ".join(f"{name} {n}" for name, n in counts.items())


def _record(audited: list[AuditedAnswer], asked: dict[str, Answer]) -> dict[str, Any]:
    from kbcite.answer.record import to_record

    return {
        "audited": len(audited),
        "stale": [answer.id for answer in audited if answer.status != "current"],
        "answers": [
            {
                "id": answer.id,
                "created_at": answer.created_at,
                "question": answer.question,
                "status": answer.status,
                "citations": [
                    {**asdict(citation), "difference": [[change.kind, change.text] for change in citation.difference]}
                    for citation in answer.citations
                ],
                "asked_again": to_record(asked[answer.id]) if answer.id in asked else None,
            }
            for answer in audited
        ],
    }
