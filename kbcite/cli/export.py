from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbcite.cli.context import context_of
from kbcite.cli.saved_answers import find_answers

if TYPE_CHECKING:
    from kbcite.stages.export import Exporter


class Format(StrEnum):
    JSONL = "jsonl"
    BIBTEX = "bibtex"
    CSL_JSON = "csl-json"
    WEB_ANNOTATION = "web-annotation"
    MARKDOWN = "md"


def register(app: typer.Typer) -> None:
    app.command()(export)


def export(
    ctx: typer.Context,
    answers: Annotated[
        list[str] | None, typer.Argument(metavar="[ANSWER]...", help="Only these answers; without any all saved ones.")
    ] = None,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="Records as JSON lines; the cited pages as BibTeX or CSL-JSON; the citations as W3C Web Annotations; or Markdown.",
        ),
    ] = Format.JSONL,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it, if not to standard output."),
    ] = None,
) -> None:
    """Write answers out for other programs: records, a bibliography of the cited pages, annotations, or Markdown."""
    from kbcite.stages.export import Exporter

    context = context_of(ctx)
    with context.reading() as store:
        records = find_answers(store, answers or (), everything=not answers)
        text = _text(format_, records, Exporter(store.database, store.archive))
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")
        context.say(f"written to {output}")


def _text(format_: Format, records: list[dict[str, Any]], exporter: Exporter) -> str:
    """The export; ends with a line break where there is anything."""
    from kbcite.answer.annotations import to_collection
    from kbcite.answer.bibliography import to_bibtex, to_csl
    from kbcite.answer.markdown_answer import to_markdown
    from kbcite.answer.record import from_record

    if format_ is Format.JSONL:
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if format_ is Format.WEB_ANNOTATION:
        collection = to_collection(list(exporter.annotations(records)))
        return json.dumps(collection, ensure_ascii=False, indent=2) + "\n"
    if format_ is Format.MARKDOWN:
        return "\n".join(to_markdown(from_record(record)) for record in records)
    pages = exporter.cited_pages(records)
    if format_ is Format.BIBTEX:
        return to_bibtex(pages) + "\n" * bool(pages)
    return json.dumps(to_csl(pages), ensure_ascii=False, indent=2) + "\n"
