from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from kbcite.cli.context import Context, OpenStore, context_of
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.errors import ExitCode, Finding, UsageError
from kbcite.records import FetchFailure, Skipped
from kbcite.render import one_line, printable, summary
from kbcite.urls import resolve, url_key

_GONE = ("http_404", "http_410")


def register(app: typer.Typer) -> None:
    app.command()(crawl)


def crawl(
    ctx: typer.Context,
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL", help="Pages to start from; without any, the seeds of every source."),
    ] = None,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Pages fetched in this run at most.")] = None,
    max_time: Annotated[float | None, typer.Option(min=0.0, help="Seconds this run may take.")] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Say what is known of a URL: fetched, waiting, or left out and why."),
    ] = None,
    wait: Annotated[float, typer.Option(min=0.0, help="Seconds to wait for another writer.")] = 0.0,
) -> None:
    """Fetch the pages of the sources. A run that was stopped is taken up where it was."""
    context = context_of(ctx)
    if explain is not None:
        _explain(context, explain)
        return
    stop = Stop()
    with context.writing("crawl", wait) as store, stop.listening():
        counts = run_crawl(context, store, urls or [], stop, max_pages, max_time)
        context.show(summary(counts), counts)
    report_failures(counts)


def run_crawl(
    context: Context,
    store: OpenStore,
    urls: Sequence[str],
    stop: Stop,
    max_pages: int | None = None,
    max_time_s: float | None = None,
) -> dict[str, int]:
    """Crawl; counts of pages fetched for the first time, changed and unchanged, of what was skipped and what failed."""
    from kbcite.stages.crawl import crawl_site
    from kbcite.web.fetch import Fetcher
    from kbcite.web.scope import Scope

    settings = store.settings
    if context.offline:
        raise UsageError("--offline forbids fetching; run it without")
    counts = Counter({"fetched": 0, "changed": 0, "unchanged": 0, "skipped": 0, "failed": 0})
    scope = Scope(settings.sources)
    named = {*urls, *(source.url for source in settings.sources)}
    seen: set[str] = set()
    with (
        Fetcher(settings.crawl, allow_private=scope.allows_private, clock=context.clock) as fetcher,
        progress(context, "crawl") as advance,
    ):
        for event in crawl_site(
            store.database,
            store.archive,
            fetcher.fetch,
            settings.sources,
            urls=urls,
            settings=settings.crawl,
            recheck=settings.recheck,
            clock=context.clock,
            should_stop=stop,
            max_pages=max_pages,
            max_time_s=max_time_s,
        ):
            if isinstance(event, FetchFailure | Skipped):
                # A link that is left out, or leads nowhere, is nothing to report; a page that the user named is.
                is_loss = isinstance(event, FetchFailure) and event.reason not in _GONE
                kind = "failed" if is_loss or event.url in named else "skipped"
                counts[kind] += 1
                if kind == "failed" or context.verbose:
                    context.say(f"{kind} {printable(event.url)}: {event.reason} {one_line(event.detail, 160)}")
            elif event.url not in seen:  # two addresses may lead to one page
                seen.add(event.url)
                counts["fetched" if event.outcome == "new" else event.outcome] += 1
            advance(event.url)
    return dict(counts)


def report_failures(counts: Mapping[str, int]) -> None:
    """Raises Finding if something that should have been fetched was not; exit code 7 if nothing was."""
    if failed := counts["failed"]:
        reached = counts["fetched"] + counts["changed"] + counts["unchanged"]
        code = ExitCode.FINDINGS if reached else ExitCode.NETWORK
        raise Finding(
            f"{failed} of {failed + reached} pages could not be fetched; the next crawl tries them again", code
        )


def _explain(context: Context, url: str) -> None:
    from kbcite.web.scope import Scope

    resolved = resolve(url, url)
    if resolved is None:
        raise UsageError(f"{url!r} is not an http or https URL")
    with context.reading() as store:
        row = store.database.frontier.get(url_key(resolved))
        source = Scope(store.settings.sources).source_of(resolved)
    record = {
        "url": resolved,
        "source": source.url if source else None,
        "state": row.state if row else None,
        "reason": row.reason if row else "",
        "detail": row.detail if row else "",
        "depth": row.depth if row else None,
        "discovered_from": row.discovered_from if row else None,
    }
    if source is None:
        text = f'{resolved}: no source covers it; "kbcite source add {resolved}" would'
    elif row is None:
        text = f"{resolved}: covered by {source.url}, but no page links to it within its depth of {source.depth}"
    else:
        text = (
            f"{resolved}: {row.state} {row.reason} {row.detail}".rstrip()
            + f" (depth {row.depth}, found on {row.discovered_from or 'the whitelist'})"
        )
    context.show(printable(text), record)
