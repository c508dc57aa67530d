from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbcite.cli.context import context_of
from kbcite.cli.differences import marked
from kbcite.cli.folding import columns_of, folded
from kbcite.errors import Finding
from kbcite.render import printable

if TYPE_CHECKING:
    from kbcite.page.text_difference import DifferingLine
    from kbcite.stages.regress import GoldenResult

_STYLE = (
    "body{font:15px/1.6 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "pre{white-space:pre-wrap;background:#f6f6f6;padding:.6rem;border-left:3px solid #ccc}"
    "del{background:#fdd;text-decoration:none}ins{background:#dfd;text-decoration:none}.bad{color:#b00}"
)


def register(app: typer.Typer) -> None:
    app.command()(regress)


def regress(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these golden pages.")] = None,
    pages: Annotated[Path, typer.Option(help="Folder of golden pages, also your own.")] = Path("golden_pages"),
    update: Annotated[
        bool, typer.Option("--update", help="Write today's texts over the expected ones; read the diff before.")
    ] = False,
    lower_floors: Annotated[
        bool, typer.Option("--lower-floors", help="Allow what the pages lose today, no less and no more.")
    ] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report with the differences.")] = None,
) -> None:
    """Clean the golden pages and show what was lost; exit code 1 on any loss over the floor."""
    from kbcite.page.cleaning import clean_page
    from kbcite.stages import regress as stage

    context = context_of(ctx)
    results = []
    for result in stage.regress(pages, clean_page, names or ()):
        results.append(result)
        if not context.as_json:
            print(folded(page_line(result), columns_of(sys.stdout)))
            if not result.passed:
                print(folded(details(result), columns_of(sys.stdout)))
    if html is not None:
        html.write_text(html_report(results), encoding="utf-8")
        context.say(f"report written to {html}")
    if update:
        context.say(
            f"expected text written for: {', '.join(stage.update_expected(results)) or 'no page, all as they were'}"
        )
    if lower_floors:
        floors = stage.write_floors(pages, results)
        context.say(f"{pages / stage.FLOORS_NAME} written, {len(floors)} pages may lose something")
    if context.as_json:
        context.show("", [_record(result) for result in results])
    failed = [result.page.name for result in results if not result.passed]
    if failed and not (update or lower_floors):
        raise Finding(
            f"{len(failed)} of {len(results)} golden pages lost something: {', '.join(failed)}; mend the rule, "
            'or take the change over with "--update" after reading the differences'
        )


def page_line(result: GoldenResult) -> str:
    """`ok    forum-thread  missing 0, superfluous 2, marks 0  (F1 0.998)`."""
    verdict = "ok  " if result.passed else "LOST"
    if result.difference is None:
        return f"{verdict}  {result.page.name:<40} {'skipped as it must be' if result.passed else ''}".rstrip()
    loss = result.loss
    counts = f"missing {loss.missing:>3}, superfluous {loss.superfluous:>3}, marks {loss.marks:>3}"
    wrong = f"  wrong: {', '.join(loss.wrong)}" if loss.wrong else ""
    slack = "  better than its floor" if result.passed and result.floor.exceeds(loss) else ""
    return f"{verdict}  {result.page.name:<40} {counts}  F1 {result.difference.f1:.3f}{wrong}{slack}"


def details(result: GoldenResult) -> str:
    """The wrong facts and the differing lines of a page: `[-missing-]`, `{+superfluous+}`."""
    lines = [f"      {w.fact}: expected {w.expected!r}, found {w.found!r}" for w in result.wrong]
    if result.difference:
        for hunk in result.difference.hunks:
            lines.append("      @@")
            lines.extend(f"      {line.side} {marked(line)}" for line in hunk)
    return "\n".join(map(printable, lines))


def html_report(results: Sequence[GoldenResult]) -> str:
    """One self-contained page: a line a golden page, and for those that differ their lines with the changes marked."""
    body = []
    for result in results:
        state = "" if result.passed else ' class="bad"'
        body.append(f"<h2{state}>{escape(result.page.name)}</h2><p>{escape(page_line(result))}</p>")
        if result.wrong:
            rows = "".join(
                f"<li>{escape(w.fact)}: expected {escape(repr(w.expected))}, found {escape(repr(w.found))}</li>"
                for w in result.wrong
            )
            body.append(f"<ul>{rows}</ul>")
        for hunk in result.difference.hunks if result.difference else ():
            body.append("<pre>" + "\n".join(map(_html_line, hunk)) + "</pre>")
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>Golden pages</title><style>{_STYLE}</style></head>'
        f"<body><h1>Golden pages</h1>{''.join(body)}</body></html>\n"
    )


def _html_line(line: DifferingLine) -> str:
    tag = {"-": "del", "+": "ins"}.get(line.side, "span")
    parts = (f"<{tag}>{escape(part.text)}</{tag}>" if part.changed else escape(part.text) for part in line.parts)
    return f"{escape(line.side)} {''.join(parts)}"


def _record(result: GoldenResult) -> dict[str, Any]:
    return {
        "page": result.page.name,
        "passed": result.passed,
        "f1": round(result.difference.f1, 4) if result.difference else None,
        "loss": asdict(result.loss),
        "floor": asdict(result.floor),
        "wrong": [asdict(w) for w in result.wrong],
        "hunks": [[line.side + line.text for line in hunk] for hunk in result.difference.hunks]
        if result.difference
        else [],
    }
