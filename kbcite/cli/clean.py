from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.context import Context, OpenStore, Wait, context_of, find_page
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.errors import NotFound
from kbcite.records import Skipped
from kbcite.render import one_line, printable, summary

if TYPE_CHECKING:
    from kbcite.page.explanation import Explanation


def register(app: typer.Typer) -> None:
    app.command()(clean)


def clean(
    ctx: typer.Context,
    show_cuts: Annotated[
        str | None, typer.Option(metavar="URL", help="Show what was removed from a stored page, and by which rule.")
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="PAGE",
            help="Show how a page was read: encoding, metadata, what was kept and removed. A stored page's URL, a file, or -.",
        ),
    ] = None,
    skipped: Annotated[
        bool, typer.Option("--skipped", help="List the pages that have no main text, with the reason.")
    ] = False,
    wait: Wait = 0.0,
) -> None:
    """Read main text, title and dates of the pages. Only what is new or stale is done."""
    context = context_of(ctx)
    if show_cuts is not None:
        _show_cuts(context, show_cuts)
        return
    if explain is not None:
        _explain(context, explain)
        return
    if skipped:
        with context.reading() as store:
            rows = store.database.documents.skipped()
        context.show(
            "\n".join(f"{printable(row.url)}  {row.reason}  {one_line(row.detail, 120)}" for row in rows)
            or "no page was skipped",
            [asdict(row) for row in rows],
        )
        return
    stop = Stop()
    with context.writing("clean", wait) as store, stop.listening():
        if not store.database.pages.count():
            raise NotFound('nothing to clean, no page was fetched yet; run "kbcite crawl" first')
        counts = run_clean(context, store, stop)
        context.show(summary(counts), counts)


def run_clean(context: Context, store: OpenStore, stop: Stop) -> dict[str, int]:
    """Clean what is stale; counts of what was done."""
    from kbcite.page.cleaning import CLEAN_RULES, clean_page
    from kbcite.page.first_look import INTERNAL_ERROR
    from kbcite.stages.clean import ARCHIVE_DAMAGED, clean_pages

    counts = Counter({"cleaned": 0, "skipped": 0})
    total = len(store.database.pages.stale_snapshots(CLEAN_RULES))
    with progress(context, "clean", total) as advance:
        for outcome in clean_pages(store.database, store.archive, clean_page, CLEAN_RULES, context.clock, stop):
            if isinstance(outcome, Skipped):
                counts["skipped"] += 1
                if context.verbose or outcome.reason in (ARCHIVE_DAMAGED, INTERNAL_ERROR):
                    context.say(f"skipped {printable(outcome.url)}: {outcome.reason} {one_line(outcome.detail, 120)}")
            else:
                counts["cleaned"] += 1
            advance(outcome.url)
    return {**counts, "current": store.database.documents.count()}


def _show_cuts(context: Context, url: str) -> None:
    cuts = _explanation(context, url).cuts
    lines = [
        f"{cut.rule:<24} {cut.length:>6} characters, {cut.link_density:4.0%} links  {one_line(cut.text, 90)}"
        for cut in cuts
    ]
    context.show("\n".join(lines) or "nothing was cut", [asdict(cut) for cut in cuts])


def _explain(context: Context, page: str) -> None:
    from kbcite.cli.explained import explanation_lines
    from kbcite.page.explanation import explain_page

    if page == "-":
        explained = explain_page(sys.stdin.buffer.read(), "", None)
    elif Path(page).is_file():
        explained = explain_page(Path(page).read_bytes(), "", None)
    elif "://" not in page:
        raise NotFound(
            f"{page} is neither a file nor the address of a stored page; give one of them, or - for standard input"
        )
    else:
        explained = _explanation(context, page)
    context.show("\n".join(explanation_lines(explained)), asdict(explained))


def _explanation(context: Context, url: str) -> Explanation:
    """How the last snapshot of a stored page is read."""
    from kbcite.page.explanation import explain_page

    with context.reading() as store:
        page = find_page(store, url)
        snapshot = store.database.pages.snapshots(page.id)[-1]
        return explain_page(store.archive.get(snapshot.digest), snapshot.final_url, snapshot.content_type)
