from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbcite.cli.context import Context, context_of
from kbcite.cli.record_files import records_of, text_of
from kbcite.cli.rows import Row, row, show_rows
from kbcite.cli.saved_answers import find_answers
from kbcite.cli.verify_live import Checked, Today, look_at_today
from kbcite.clock import to_minute
from kbcite.errors import ExitCode, Finding, UsageError
from kbcite.render import counted, one_line, where

if TYPE_CHECKING:
    from kbcite.stages.verify import Verifier
    from kbcite.stages.verify_report import CitationReport, Report, SentenceReport

_FILES = (".md", ".markdown", ".txt", ".json", ".jsonl")


def register(app: typer.Typer) -> None:
    app.command()(verify)


def verify(
    ctx: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ANSWER|FILE]...",
            help="Saved answers, or files: Markdown with [n] and a list of sources, or records as JSON. - reads standard input; "
            "nothing is the last answer.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every saved answer.")] = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Also ask for the cited pages, and say of each citation whether it still stands there; nothing is stored.",
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 4 where too few sentences of a text have a citation.")
    ] = False,
) -> None:
    """Check answers and texts against the archive: quotes byte by byte, sentences of any text with [n] by the stored pages.

    No model, and without --live no network, whatever became of the pages since. Exit code 1 if anything fails, or does not stand there.
    """
    from kbcite.stages.verify import Verifier, rests_on_forgotten

    context = context_of(ctx)
    if live and context.offline:
        raise UsageError("--offline forbids --live; leave one of them out")
    names = what or []
    if everything and names:
        raise UsageError("--all checks every saved answer; name none beside it")
    with context.reading() as store:
        verifier = Verifier(store.database, store.archive)
        checked = [one for name in names if _is_file(name) for one in _file(verifier, name)]
        if ids := [name for name in names if not _is_file(name)]:
            checked += [Checked(verifier.answer(record), record) for record in find_answers(store, ids, False)]
        apart = 0
        if not names:
            records = find_answers(store, (), everything)
            kept = [r for r in records if not (everything and rests_on_forgotten(r, store.database))]
            apart = len(records) - len(kept)
            checked += [Checked(verifier.answer(record), record) for record in kept]
        bar = store.settings.ask.min_coverage
        today = look_at_today(context, store, verifier, checked) if live else None
    reports = [one.report for one in checked]
    _show(context, reports, today, brief=everything)
    if apart:
        context.say(f"{counted(apart, 'answer')} on pages that were forgotten left out: what they quoted is erased")
    failed = [report.name for report in reports if not report.is_ok]
    if failed:
        raise Finding(
            f"{len(failed)} of {len(reports)} did not verify: {', '.join(failed[:5])}; what failed stands above"
        )
    thin = [report for report in reports if report.coverage < bar]
    if strict and thin:
        raise Finding(
            f"{thin[0].name}: {thin[0].coverage:.0%} of its sentences have a citation, under the bar of {bar:.0%}",
            ExitCode.BELOW_BAR,
        )
    if today is not None:
        today.require_all_there()


def _is_file(name: str) -> bool:
    """Whether a person who types this means a file; an answer's ID has no slash in it."""
    return name == "-" or name.lower().endswith(_FILES) or "/" in name or Path(name).exists()


def _file(verifier: Verifier, name: str) -> list[Checked]:
    """The reports of a file: one for a text, one for each record of a JSON file."""
    text = text_of(name)
    if text.lstrip()[:1] not in ("{", "[") or name.lower().endswith((".md", ".markdown", ".txt")):
        return [Checked(verifier.text("standard input" if name == "-" else name, text), text=text)]
    return [Checked(verifier.answer(record), record) for record in records_of(name, text)]


def _show(context: Context, reports: list[Report], today: Today | None, *, brief: bool) -> None:
    shown = [report for report in reports if not (brief and report.is_ok and not context.verbose)]
    rows, record = report_rows(shown, reports), report_record(reports)
    if today is not None:
        rows += today.rows(brief and not context.verbose)
        record["live"] = today.record()
    show_rows(context, rows, record)


def report_rows(shown: Sequence[Report], reports: Sequence[Report]) -> list[Row]:
    """The lines of the reports that are shown, and what all of them come to."""
    return [*(line for report in shown for line in _rows(report)), row("", _summary(reports))]


def report_record(reports: Sequence[Report]) -> dict[str, Any]:
    return {"ok": all(report.is_ok for report in reports), "reports": [_record(report) for report in reports]}


def _rows(report: Report) -> list[Row]:
    title = report.name
    if report.created_at:
        title += f"  {to_minute(report.created_at)}  {' '.join(report.question.split())}"
    rows = [_marked("", report.is_ok, title, "bold"), *(row("        ", problem) for problem in report.problems)]
    for citation in report.citations:
        rows += _citation_rows(citation)
    for sentence in report.sentences:
        rows += _sentence_rows(sentence)
    return rows


def _marked(indent: str, is_ok: bool, text: str, style: str = "") -> Row:
    return row(f"{indent}{'ok      ' if is_ok else 'FAILED  '}", text, style, "green" if is_ok else "bold red")


def _citation_rows(citation: CitationReport) -> list[Row]:
    place = where(citation.title, citation.heading_chain, citation.url)
    rows = [_marked("  ", citation.is_ok, f"[{citation.n}] {place}")]
    if citation.is_ok:
        span = citation.byte_span
        bytes_ = f"bytes {span[0]} to {span[1]}" if span else "the quote"
        at = f"{bytes_} of {citation.digest[:16]}, fetched {citation.fetched_at[:10]}"
        return [*rows, row("          ", at, "dim")]
    return [*rows, *(row("          ", f"{c.name}: {c.outcome}") for c in citation.checks if not c.is_ok)]


def _sentence_rows(sentence: SentenceReport) -> list[Row]:
    marks = "".join(f"[{n}]" for n in sentence.numbers)
    rows = [_marked("  ", sentence.is_ok, f"{sentence.verdict}  {one_line(sentence.text, 300)} {marks}".rstrip())]
    return [*rows, row("          ", one_line(sentence.detail, 300), "dim")] if sentence.detail else rows


def _summary(reports: Sequence[Report]) -> str:
    citations = sum(len(report.citations) for report in reports)
    sentences = sum(len(report.sentences) for report in reports)
    failed = sum(not report.is_ok for report in reports)
    texts = sum(not report.created_at for report in reports)
    counts = (
        (len(reports), "text" if texts == len(reports) else "answer"),
        (citations, "quote"),
        (sentences, "sentence"),
    )
    what = ", ".join(counted(number, noun) for number, noun in counts if number)
    return f"{what}: {f'{failed} failed' if failed else 'all verified'}"


def _record(report: Report) -> dict[str, Any]:
    return {
        **asdict(report),
        "ok": report.is_ok,
        "coverage": round(report.coverage, 4),
        "citations": [{**asdict(citation), "ok": citation.is_ok} for citation in report.citations],
    }
