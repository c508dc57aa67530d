from __future__ import annotations

import typer

from kbcite.cli.context import context_of
from kbcite.settings import SETTINGS_NAME
from kbcite.store.layout import make_store


def register(app: typer.Typer) -> None:
    app.command()(init)


def init(ctx: typer.Context) -> None:
    """Make a store with a commented kbcite.toml."""
    context = context_of(ctx)
    is_new = make_store(context.store)
    text = f"{'made' if is_new else 'nothing to do, there is already'} a store at {context.store}"
    if is_new:
        text += f'; name the sites you trust with "kbcite source add URL" (kept in {context.store / SETTINGS_NAME})'
    context.show(text, {"store": str(context.store), "created": is_new})
