from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from kbcite.cli.context import Context, OpenStore, context_of
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.cli.rendering import rendering
from kbcite.errors import ExitCode, Finding, NotFound, UsageError
from kbcite.records import Skipped
from kbcite.render import one_line, printable, summary


def register(app: typer.Typer) -> None:
    app.command()(recheck)


def recheck(
    ctx: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Every page, not only those that are due.")] = False,
    url: Annotated[list[str] | None, typer.Option(help="Only this page; may be repeated.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Pages visited at most.")] = None,
    max_time: Annotated[float | None, typer.Option(min=0.0, help="Seconds this run may take.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 10 where something changed.")] = False,
    wait: Annotated[float, typer.Option(min=0.0, help="Seconds to wait for another writer.")] = 0.0,
) -> None:
    """Visit the pages that are due again. What changed is stored; "kbcite build" then cleans, chunks and embeds only that."""
    context = context_of(ctx)
    if context.offline:
        raise UsageError("--offline forbids fetching; run it without")
    if url and (everything or limit):
        raise UsageError("--url names the pages to visit; leave out --all and --limit")
    stop = Stop()
    with context.writing("recheck", wait) as store, stop.listening():
        if not store.database.pages.count():
            raise NotFound('nothing to recheck, no page was fetched yet; run "kbcite crawl" first')
        counts, changes = _run(context, store, stop, url or [], everything, limit, max_time)
        context.show("\n".join([*map(_line, changes), summary(counts)]), {**counts, "pages": changes})
    if exit_code and changes:
        raise Finding(
            f'{len(changes)} pages are not as they were; "kbcite build" takes up the changes', ExitCode.CHANGES
        )
    if counts["unreachable"]:
        raise Finding(f"{counts['unreachable']} pages could not be reached; they are visited again when they are due")


def _run(
    context: Context,
    store: OpenStore,
    stop: Stop,
    urls: list[str],
    everything: bool,
    limit: int | None,
    max_time_s: float | None,
) -> tuple[dict[str, int], list[dict[str, str]]]:
    """Counts of what the pages were found to be, and a row for each that is not as it was."""
    from kbcite.page.cleaning import clean_page
    from kbcite.stages.recheck import recheck_pages
    from kbcite.web.fetch import Fetcher
    from kbcite.web.scope import Scope

    settings = store.settings
    counts = Counter(dict.fromkeys(("unchanged", "changed", "moved", "unreachable", "dead", "skipped"), 0))
    changes = []
    scope = Scope(settings.sources)
    with (
        Fetcher(settings.crawl, allow_private=scope.allows_private, clock=context.clock) as fetcher,
        rendering(context, store, fetcher) as render,
        progress(context, "recheck") as advance,
    ):
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
                counts["skipped"] += 1
                context.say(f"skipped {printable(record.url)}: {record.reason} {one_line(record.detail, 160)}")
            else:
                counts[record.outcome] += 1
                if record.outcome != "unchanged" or record.is_revived:
                    shown = asdict(record)
                    changes.append(
                        {name: shown[name] for name in ("url", "outcome", "was", "detail", "moved_to", "due_at")}
                    )
            advance(record.url)
    return dict(counts), changes


def _line(change: dict[str, str]) -> str:
    return f"{change['outcome']:<12} {printable(change['url'])}  {one_line(change['detail'], 160)}"
