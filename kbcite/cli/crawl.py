from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from kbcite.cli.context import Context, OpenStore, Wait, context_of
from kbcite.cli.folding import columns_of, folded
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.cli.rendering import fetching
from kbcite.errors import ExitCode, Finding, UsageError
from kbcite.fetch_records import FetchFailure
from kbcite.records import Skipped
from kbcite.render import one_line, printable, summary

_GONE = ("http_404", "http_410")
_NEWS = ("fetched", "changed", "failed")


def register(app: typer.Typer) -> None:
    app.command()(crawl)


def crawl(
    ctx: typer.Context,
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[URL]...", help="Pages to fetch and start from, due or not; without any, every source."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", "--force", help="Fetch everything known again, due or not.")
    ] = False,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Pages fetched in this run at most.")] = None,
    max_bytes: Annotated[int | None, typer.Option(min=1, help="Bytes on the wire in this run at most.")] = None,
    max_time: Annotated[float | None, typer.Option(min=0.0, help="Seconds this run may take.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be fetched and why; request nothing, not even robots.txt.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Say why a URL is or is not fetched, and when next."),
    ] = None,
    wait: Wait = 0.0,
) -> None:
    """Fetch the pages of the sources that are new or due. A run that was stopped is taken up where it was."""
    context = context_of(ctx)
    if explain is not None:
        _explain(context, explain)
        return
    if dry_run:
        with context.writing("crawl --dry-run", wait) as store:
            _plan(context, store, urls or [], everything, max_pages)
        return
    stop = Stop()
    limits = Limits(max_pages, max_bytes, max_time)
    with context.writing("crawl", wait) as store, stop.listening():
        counts = run_crawl(context, store, urls or [], stop, limits, everything)
        context.show(summary(counts), counts, is_news=any(counts[name] for name in _NEWS))
    report_failures(counts)


@dataclass(frozen=True, slots=True)
class Limits:
    """What this run may take; None leaves it to the settings."""

    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None


def run_crawl(
    context: Context,
    store: OpenStore,
    urls: Sequence[str],
    stop: Stop,
    limits: Limits,
    everything: bool = False,
) -> dict[str, int]:
    """Crawl; counts of pages fetched for the first time, changed and unchanged, of what was skipped and what failed."""
    from kbcite.stages.crawl import crawl_site
    from kbcite.stages.crawl_queue import LeftOut

    settings = store.settings
    if context.offline:
        raise UsageError("--offline forbids fetching; run it without")
    counts = Counter({"fetched": 0, "changed": 0, "unchanged": 0, "skipped": 0, "failed": 0})
    named = {*urls, *(source.url for source in settings.sources)}
    seen: set[int] = set()
    with fetching(context, store) as render, progress(context, "crawl") as advance:
        for event in crawl_site(
            store.database,
            store.archive,
            render.fetch,
            settings.sources,
            urls=urls,
            everything=everything,
            settings=settings.crawl,
            recheck=settings.recheck,
            clock=context.clock,
            should_stop=stop,
            max_pages=limits.pages,
            max_bytes=limits.bytes,
            max_time_s=limits.seconds,
        ):
            if isinstance(event, LeftOut):
                counts["skipped"] += event.count if event.reason == "max_pages" else 0
                if event.is_cut_off or context.verbose:
                    text = f"left out {event.count} of {printable(event.where)}: {event.reason}, {one_line(event.detail, 160)}"
                    context.say(text, url=event.where, reason=event.reason, count=event.count, detail=event.detail)
                continue
            if isinstance(event, FetchFailure | Skipped):
                # A link that is left out, or leads nowhere, is nothing to report; a page that the user named is.
                is_loss = isinstance(event, FetchFailure) and event.reason not in _GONE
                kind = "failed" if is_loss or (event.url in named and event.reason != "list") else "skipped"
                counts[kind] += 1
                if kind == "failed" or context.verbose:
                    text = f"{kind} {printable(event.url)}: {event.reason} {one_line(event.detail, 160)}"
                    context.say(text, outcome=kind, url=event.url, reason=event.reason, detail=event.detail)
            elif hash(event.url) not in seen:  # two addresses may lead to one page
                seen.add(hash(event.url))
                outcome = "fetched" if event.outcome == "new" else event.outcome
                counts[outcome] += 1
                if context.logs_json:
                    context.say(f"{outcome} {event.url}", outcome=outcome, url=event.url, status=event.status)
            advance(event.url)
        if render.rendered:
            counts["rendered"] = render.rendered
    return dict(counts)


def report_failures(counts: Mapping[str, int]) -> None:
    """Raises Finding if something that should have been fetched was not; exit code 7 if nothing was."""
    if failed := counts["failed"]:
        reached = counts["fetched"] + counts["changed"] + counts["unchanged"]
        code = ExitCode.FINDINGS if reached else ExitCode.NETWORK
        raise Finding(
            f"{failed} of {failed + reached} pages could not be fetched; the next crawl tries them again", code
        )


def _plan(context: Context, store: OpenStore, urls: Sequence[str], everything: bool, max_pages: int | None) -> None:
    from kbcite.stages.crawl_plan import plan_crawl

    plan = plan_crawl(
        store.database,
        store.settings.sources,
        urls=urls,
        everything=everything,
        clock=context.clock,
        max_pages=max_pages,
    )
    counts = Counter({"fetch": 0, "leave": 0})
    rows = []
    for row in plan.rows:
        kind = "leave" if row.refusal else "fetch"
        counts[kind] += 1
        rows.append({"url": row.url, "verdict": kind, "why": row.refusal or row.why})
        if not context.as_json:
            line = f"{kind}  {printable(row.url)}  {one_line(row.refusal or row.why, 160)}"
            print(folded(line, columns_of(sys.stdout)))
    record = {**counts, "not_due": plan.not_due, "requested": 0}
    told = {name.replace("_", " "): number for name, number in record.items()}
    context.show(summary(told), {**record, "urls": rows})


def _explain(context: Context, url: str) -> None:
    from kbcite.stages.crawl_plan import explain_url

    with context.reading() as store:
        explanation = explain_url(store.database, store.settings.sources, url, context.clock)
    lines = [explanation.verdict, *(f"  {name:<10} {value}" for name, value in explanation.steps)]
    context.show(printable("\n".join(lines)), asdict(explanation) | {"steps": dict(explanation.steps)})
