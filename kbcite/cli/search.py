from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.context import Context, OpenStore, context_of
from kbcite.errors import ExitCode, UsageError
from kbcite.records import SourceType
from kbcite.render import hit_lines

if TYPE_CHECKING:
    from kbcite.retrieval.encoder import Encoder
    from kbcite.retrieval.reranker import Rerank
    from kbcite.retrieval.search import Found
    from kbcite.retrieval.vector_index import VectorIndex


def register(app: typer.Typer) -> None:
    app.command()(search)


def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    top_k: Annotated[int, typer.Option(min=1, max=100, help="Blocks shown.")] = 10,
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Relevance under which a block is left out.")
    ] = 0.05,
    source_type: Annotated[SourceType | None, typer.Option(help="Only internal documents, or only web pages.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only pages with this label; may be repeated.")] = None,
    rerank: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Cross-encoder, folder or name, that orders the relevant blocks."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each score, and why a candidate was left out.")
    ] = False,
) -> None:
    """Find blocks, without an answer."""
    context = context_of(ctx)
    if not query.strip():
        raise UsageError('the query is empty; give some words, like kbcite search "reset password"')
    with context.reading() as store:
        encoder = open_store_encoder(context, store)
        order = open_rerank(context, store, rerank)
        labels = tuple(label or ())
        found = open_find(store, encoder, top_k, threshold, source_type, labels, rerank=order)(query)
    shown = found.blocks if explain else found.used
    context.show(hit_lines(shown, explain) or f"nothing found for {query!r}", [asdict(hit) for hit in shown])
    if not found.used:
        raise typer.Exit(ExitCode.NOTHING)


def open_store_encoder(context: Context, store: OpenStore) -> Encoder:
    """The encoder that the store's settings name."""
    from kbcite.retrieval.encoder import open_encoder

    options = store.settings.index
    return open_encoder(options.encoder, options.threads, context.offline)


def open_rerank(context: Context, store: OpenStore, model: str | None) -> Rerank | None:
    """The cross-encoder of a name, or that of the settings; None where neither names one."""
    name = store.settings.ask.rerank if model is None else model
    if not name:
        return None
    from kbcite.retrieval.reranker import open_reranker

    return open_reranker(name, store.settings.index.threads, context.offline)


def open_find(
    store: OpenStore,
    encoder: Encoder,
    top_k: int,
    threshold: float,
    source_type: SourceType | None,
    labels: tuple[str, ...],
    index: VectorIndex | None = None,
    rerank: Rerank | None = None,
) -> Callable[[str], Found]:
    """A function that finds the blocks for a question with the encoder and the store's index, opened where it is not given."""
    from kbcite.retrieval.ranking import RankingOptions
    from kbcite.stages.search import open_index, search_blocks

    opened = open_index(store.database, encoder, store.vectors) if index is None else index
    ranking = RankingOptions(top_k=top_k, threshold=threshold)
    return lambda question: search_blocks(
        question, store.database, encoder, opened, ranking, source_type, labels, rerank
    )
