from __future__ import annotations

from typing import Annotated

import typer

from kbcite.cli.chunk import run_chunk
from kbcite.cli.clean import run_clean
from kbcite.cli.context import context_of
from kbcite.cli.crawl import exit_code_of, run_crawl
from kbcite.cli.index import run_index
from kbcite.errors import NotFound
from kbcite.render import summary


def register(app: typer.Typer) -> None:
    app.command()(build)


def build(
    ctx: typer.Context,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Pages to fetch; without any, every source.")
    ] = None,
    wait: Annotated[float, typer.Option(help="Seconds to wait for another writer.")] = 0.0,
) -> None:
    """Crawl, clean, chunk and index what is stale."""
    context = context_of(ctx)
    with context.writing("build", wait) as store:
        crawled = run_crawl(context, store, urls or [])
        cleaned = run_clean(context, store)
        chunked = run_chunk(context, store)
        if not chunked["blocks"]:
            raise NotFound('no page had any text to index; "kbcite clean --skipped" says why')
        indexed = run_index(context, store)
    record = {"crawl": crawled, "clean": cleaned, "chunk": chunked, "index": indexed}
    lines = [f"{stage:<6} {summary(counts)}" for stage, counts in record.items()]
    if not (cleaned["cleaned"] or chunked["new"] or chunked["retired"] or indexed["embedded"]):
        lines.append("nothing new: every page, block and vector was there already")
    context.show("\n".join(lines), record)
    raise typer.Exit(exit_code_of(crawled))
