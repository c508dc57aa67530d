from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.context import Context, OpenStore, StoredType, context_of
from kbcite.errors import ExitCode, Finding, UsageError
from kbcite.records import SourceType
from kbcite.render import hit_lines, one_line

if TYPE_CHECKING:
    from kbcite.retrieval.encoder import Encoder
    from kbcite.retrieval.ranking import RankingOptions
    from kbcite.retrieval.reranker import Rerank
    from kbcite.retrieval.search import Found
    from kbcite.retrieval.vector_index import VectorIndex


HalfLife = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=36_500.0,
        metavar="DAYS",
        help="Newer pages stand before older ones that are as near: after so many days a page has lost half of what age can cost it. "
        "0 is never; pages without a date lose nothing.",
    ),
]
"""The option of the commands that search."""


def register(app: typer.Typer) -> None:
    app.command()(search)


def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    top_k: Annotated[int, typer.Option(min=1, max=100, help="Blocks shown.")] = 10,
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Relevance under which a block is left out.")
    ] = 0.05,
    source_type: Annotated[StoredType | None, typer.Option(help="Only internal documents, or only web pages.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only pages with this label; may be repeated.")] = None,
    rerank: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Cross-encoder, folder or name, that orders the relevant blocks."),
    ] = None,
    half_life: HalfLife = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each score, and why a candidate was left out.")
    ] = False,
) -> None:
    """Find blocks, without an answer."""
    context = context_of(ctx)
    if not query.strip():
        raise UsageError('the query is empty; give some words, like kbcite search "reset password"')
    with context.reading() as store:
        encoder = open_store_encoder(context, store, query)
        order = open_rerank(context, store, rerank)
        labels = known_labels(store, label or ())
        ranking = ranking_options(context, store, top_k, threshold, half_life)
        found = open_find(
            store, encoder, ranking, SourceType(source_type) if source_type else None, labels, rerank=order
        )(query)
    shown = found.blocks if explain else found.used
    if shown or context.as_json:
        context.show(hit_lines(shown, explain), [asdict(hit) for hit in shown])
    if not found.used:
        advice = "each candidate stands above with its reason" if shown else "try other words, or a lower --threshold"
        raise Finding(f"nothing found for {one_line(query, 80)!r}; {advice}", ExitCode.NOTHING)


def known_labels(store: OpenStore, labels: Sequence[str]) -> tuple[str, ...]:
    """The labels as they were given. Raises UsageError for one that no source and no page has."""
    known = sorted(
        {label for source in store.settings.sources for label in source.labels} | store.database.pages.labels()
    )
    if unknown := [label for label in labels if label not in known]:
        there = (
            f"there are {', '.join(known)}"
            if known
            else 'none is in use; "kbcite source add URL --label NAME" gives one'
        )
        raise UsageError(f"--label {unknown[0]!r} is on no page; {there}")
    return tuple(labels)


def open_store_encoder(context: Context, store: OpenStore, question: str | None = None) -> Encoder:
    """The encoder that the store's settings name; it may begin on the question that it will be asked for."""
    from kbcite.retrieval.encoder import EncodesAhead, open_encoder

    options = store.settings.index
    encoder = open_encoder(options.encoder, options.threads, context.offline)
    if question is not None and isinstance(encoder, EncodesAhead):
        encoder.begin(question)
    return encoder


def open_rerank(context: Context, store: OpenStore, model: str | None) -> Rerank | None:
    """The cross-encoder of a name, or that of the settings; None where neither names one."""
    name = store.settings.ask.rerank if model is None else model
    if not name:
        return None
    from kbcite.retrieval.reranker import open_reranker

    return open_reranker(name, store.settings.index.threads, context.offline)


def ranking_options(
    context: Context, store: OpenStore, top_k: int, threshold: float, half_life_days: float | None = None
) -> RankingOptions:
    """How blocks are ordered now; the half-life is that of the settings where none is given. Raises UsageError for `nan`."""
    from kbcite.retrieval.ranking import Decay, RankingOptions

    for option, value in (("--threshold", threshold), ("--half-life", half_life_days)):
        if value != value:  # true of nan alone, which stands in every range
            raise UsageError(f"{option} nan is not a number")
    days = store.settings.ask.half_life_days if half_life_days is None else half_life_days
    return RankingOptions(top_k=top_k, threshold=threshold, decay=Decay(days, context.clock()) if days else None)


def open_find(
    store: OpenStore,
    encoder: Encoder,
    ranking: RankingOptions,
    source_type: SourceType | None,
    labels: tuple[str, ...],
    index: VectorIndex | None = None,
    rerank: Rerank | None = None,
) -> Callable[[str], Found]:
    """A function that finds the blocks for a question with the encoder and the store's index, opened where it is not given."""
    from kbcite.stages.search import open_index, search_blocks

    opened = open_index(store.database, encoder, store.vectors) if index is None else index
    return lambda question: search_blocks(
        question, store.database, encoder, opened, ranking, source_type, labels, rerank
    )
