from __future__ import annotations

from typing import Annotated

import typer

from kbcite.cli.chunk import run_chunk
from kbcite.cli.clean import run_clean
from kbcite.cli.context import Context, Wait, context_of
from kbcite.cli.crawl import Limits, report_failures, run_crawl
from kbcite.cli.index import run_index
from kbcite.cli.interrupt import Stop
from kbcite.errors import ExitCode, Finding
from kbcite.render import summary


def register(app: typer.Typer) -> None:
    app.command()(build)


def build(
    ctx: typer.Context,
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="[URL]...", help="Pages to fetch, due or not; without any, every source."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", "--force", help="Fetch everything known again, due or not.")
    ] = False,
    max_time: Annotated[
        float | None, typer.Option(min=0.0, help="Seconds that fetching may take; what was fetched is indexed.")
    ] = None,
    wait: Wait = 0.0,
) -> None:
    """Crawl, clean, chunk and index what is stale: pages that are new, due, or not yet read under the current rules."""
    context = context_of(ctx)
    stop = Stop()
    record: dict[str, dict[str, int]] = {}
    with context.writing("build", wait) as store, stop.listening():
        if not context.offline:
            record["crawl"] = run_crawl(context, store, urls or [], stop, Limits(seconds=max_time), everything)
        record["clean"] = run_clean(context, store, stop)
        record["chunk"] = run_chunk(context, store, stop)
        if record["chunk"]["blocks"] and not stop():
            record["index"] = run_index(context, store, stop)
        _show(context, record)
    report_failures(record.get("crawl", {"failed": 0}))
    if not record["chunk"]["blocks"]:
        raise Finding('no page had any text to index; "kbcite clean --skipped" says why', ExitCode.NOTHING)


def _show(context: Context, record: dict[str, dict[str, int]]) -> None:
    lines = [f"{stage:<6} {summary(counts)}" for stage, counts in record.items()]
    made = record["clean"]["cleaned"] + record["chunk"]["new"] + record["chunk"]["retired"]
    if "index" in record and not made + record["index"]["embedded"]:
        lines.append("nothing new: every page, block and vector was there already")
    crawled = record.get("crawl", {})
    is_news = bool(made or crawled.get("failed") or crawled.get("changed") or crawled.get("fetched"))
    context.show("\n".join(lines), record, is_news=is_news)
