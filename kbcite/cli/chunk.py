from __future__ import annotations

from collections import Counter

import typer

from kbcite.cli.context import Context, OpenStore, Wait, context_of
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.errors import NotFound
from kbcite.records import Block, Occurrence
from kbcite.render import summary


def register(app: typer.Typer) -> None:
    app.command()(chunk)


def chunk(ctx: typer.Context, wait: Wait = 0.0) -> None:
    """Cut the documents into blocks. Only what is new or stale is done; block IDs depend on the text alone."""
    context = context_of(ctx)
    stop = Stop()
    with context.writing("chunk", wait) as store, stop.listening():
        if not store.database.documents.count():
            raise NotFound('nothing to chunk, no page was cleaned yet; run "kbcite clean" first')
        counts = run_chunk(context, store, stop)
        context.show(summary(counts), counts)


def run_chunk(context: Context, store: OpenStore, stop: Stop) -> dict[str, int]:
    """Chunk what is stale; counts of documents and of blocks kept, new and retired, then the blocks that are live now."""
    from kbcite.page.chunking import CHUNK_RULES, chunk_document
    from kbcite.stages.chunk import chunk_documents

    options = store.settings.chunk

    def cut(text: str, title: str) -> list[tuple[Block, Occurrence]]:
        return chunk_document(text, options.min_words, options.max_words, options.overlap_words, title)

    rules = f"{CHUNK_RULES} {options.min_words}-{options.max_words}-{options.overlap_words}"
    counts = Counter({"documents": 0, "kept": 0, "new": 0, "retired": 0})
    with progress(context, "chunk", len(store.database.documents.stale(rules))) as advance:
        for outcome in chunk_documents(store.database, cut, rules, context.clock, stop):
            counts.update(documents=1, kept=outcome.kept, new=outcome.new, retired=outcome.retired)
            advance(outcome.url)
    return {**counts, "blocks": store.database.blocks.live_count()}
