from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from kbcite.cli.context import Context, OpenStore, Wait, context_of
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.errors import NotFound
from kbcite.render import summary

COUNTS = ("embedded", "reused", "blocks")


def register(app: typer.Typer) -> None:
    app.command()(index)


def index(
    ctx: typer.Context,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Make the indexes anew; also changes to another encoder. Stored vectors are reused."
        ),
    ] = False,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact",
            help="Also drop vectors and words of blocks on no current page and in no answer, and free the space.",
        ),
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="builtin, st:NAME_OR_FOLDER or litellm:PROVIDER/MODEL, in place of the settings'."),
    ] = None,
    wait: Wait = 0.0,
) -> None:
    """Embed new blocks and update the indexes. No text is ever embedded twice."""
    context = context_of(ctx)
    stop = Stop()
    with context.writing("index", wait) as store, stop.listening():
        if not store.database.blocks.live_count():
            raise NotFound('nothing to index, there are no blocks yet; run "kbcite chunk" first')
        counts = run_index(context, store, stop, encoder=encoder, rebuild=rebuild)
        found = counts.get("recall", 1.0)
        note = f"; finds {found:.1%} of the ten nearest that a look at every block would" if found < 1 else ""
        if compact:
            from kbcite.stages.index import compact as compact_store

            done = compact_store(store.database)
            counts["compacted"] = asdict(done)
            note += f"; dropped {done.vectors} vectors of retired blocks, freed {done.freed / 1e6:.1f} MB"
        context.show(summary({name: counts[name] for name in COUNTS}) + note, counts)


def run_index(
    context: Context, store: OpenStore, stop: Stop, *, encoder: str | None = None, rebuild: bool = False
) -> dict[str, Any]:
    """Index what is new; counts of blocks embedded, reused, and in the index, and the recall of a large one."""
    from kbcite.retrieval.encoder import open_encoder
    from kbcite.stages.index import Embedded, Indexed, index_blocks

    options = store.settings.index
    opened = open_encoder(encoder or options.encoder, options.threads, context.offline)
    encoder_id = store.database.vectors.encoder_id(opened.fingerprint, opened.dim)
    last = None
    with progress(context, "index", len(store.database.vectors.missing(encoder_id))) as advance:
        for outcome in index_blocks(store.database, opened, store.vectors, rebuild=rebuild, should_stop=stop):
            if isinstance(outcome, Embedded):
                advance("blocks", outcome.blocks)
            else:
                last = outcome
    assert isinstance(last, Indexed)
    done = asdict(last)
    return {name: done[name] for name in COUNTS} | ({"recall": last.recall} if last.recall < 1 else {})
