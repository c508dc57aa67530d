from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.change_report import is_news, report_record, report_text
from kbcite.cli.context import Context, OpenStore, Wait, context_of, find_page
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.cli.rendering import fetching
from kbcite.errors import ExitCode, Finding, NotFound, UsageError
from kbcite.records import Skipped
from kbcite.render import counted, one_line, printable, summary

if TYPE_CHECKING:
    from kbcite.stages.recheck_verdict import Rechecked


def register(app: typer.Typer) -> None:
    app.command()(recheck)


def recheck(
    ctx: typer.Context,
    due: Annotated[bool, typer.Option("--due", help="Only the pages that are due; this is the default.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every page, not only those that are due.")] = False,
    url: Annotated[list[str] | None, typer.Option(help="Only this page; may be repeated.")] = None,
    mark: Annotated[
        list[str] | None,
        typer.Option(help="Fetch nothing now, but visit this page first the next time, due or not; may be repeated."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Pages visited at most, those first whose visit is worth most.")
    ] = None,
    max_time: Annotated[float | None, typer.Option(min=0.0, help="Seconds this run may take.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 10 where a page is not as it was.")] = False,
    wait: Wait = 0.0,
) -> None:
    """Visit the pages that are due again. What changed is stored; "kbcite build" then cleans, chunks and embeds only that."""
    context = context_of(ctx)
    if sum((due, everything, bool(url), bool(mark))) > 1:
        raise UsageError("--due, --all, --url and --mark exclude one another; give one of them")
    if (url or mark) and limit:
        raise UsageError("--url and --mark name the pages; leave out --limit")
    if context.offline and not mark:
        raise UsageError("--offline forbids fetching; run it without")
    if mark:
        _mark(context, mark, wait)
        return
    stop = Stop()
    with context.writing("recheck", wait) as store, stop.listening():
        if not store.database.pages.count():
            raise NotFound('nothing to recheck, no page was fetched yet; run "kbcite crawl" first')
        records, skipped = _run(context, store, stop, url or [], everything, limit, max_time)
    news = sum(map(is_news, records))
    _show(context, records, skipped)
    if exit_code and news:
        raise Finding(f'{counted(news, "page")} not as before; "kbcite build" takes up the changes', ExitCode.CHANGES)
    if unreachable := sum(record.outcome == "unreachable" for record in records):
        raise Finding(f"{counted(unreachable, 'page')} could not be read; visited again when due")


def _mark(context: Context, urls: list[str], wait_s: float) -> None:
    with context.writing("recheck", wait_s) as store:
        pages = [find_page(store, url) for url in urls]
        with store.database.transaction():
            for page in pages:
                store.database.pages.mark(page.id, context.clock())
    context.show(
        f'{counted(len(pages), "page")} marked: the next "kbcite recheck" visits what is marked first',
        {"marked": [page.url for page in pages]},
    )


def _run(
    context: Context,
    store: OpenStore,
    stop: Stop,
    urls: list[str],
    everything: bool,
    limit: int | None,
    max_time_s: float | None,
) -> tuple[list[Rechecked], list[Skipped]]:
    """What became of each page that was visited, and the pages that were not."""
    from kbcite.page.cleaning import clean_page
    from kbcite.stages.recheck import recheck_pages

    settings = store.settings
    records: list[Rechecked] = []
    skipped: list[Skipped] = []
    with fetching(context, store) as render, progress(context, "recheck") as advance:
        for record in recheck_pages(
            store.database,
            store.archive,
            render.fetch,
            settings.sources,
            clean_page,
            urls=urls,
            everything=everything,
            settings=settings.crawl,
            recheck=settings.recheck,
            clock=context.clock,
            should_stop=stop,
            limit=limit,
            max_time_s=max_time_s,
        ):
            if isinstance(record, Skipped):
                skipped.append(record)
                context.say(f"skipped {printable(record.url)}: {record.reason} {one_line(record.detail, 160)}")
            else:
                records.append(record)
            advance(record.url)
    return records, skipped


def _show(context: Context, records: list[Rechecked], skipped: list[Skipped]) -> None:
    """The report and the counts; with --quiet nothing where there is nothing to tell."""
    counts = Counter(dict.fromkeys(("unchanged", "changed", "moved", "unreachable", "dead", "skipped"), 0))
    counts.update(record.outcome for record in records)
    counts["skipped"] = len(skipped)
    report = report_text(records)
    if context.as_json or report or not context.quiet:
        text = f"{report}\n\n{summary(counts)}" if report else summary(counts)
        context.show(text, {**counts, **report_record(records, skipped)})
