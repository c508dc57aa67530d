"""Live fetching for the commands that answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kbcite.cli.context import Context, OpenStore
from kbcite.cli.rendering import rendering
from kbcite.errors import UsageError

if TYPE_CHECKING:
    from kbcite.stages.live import LiveBranch


@contextmanager
def open_live(context: Context, store: OpenStore) -> Iterator[LiveBranch]:
    """The live branch of a store, with its doors to the web; at the end what is under way is let go. Raises UsageError when offline."""
    from kbcite.stages.live import LiveBranch, live_crawl_settings
    from kbcite.web.fetch import Fetcher
    from kbcite.web.scope import Scope

    if context.offline:
        raise UsageError("--offline forbids fetching; run it without")
    settings = store.settings
    scope = Scope(settings.sources)
    with (
        Fetcher(live_crawl_settings(settings), allow_private=scope.allows_private, clock=context.clock) as fetcher,
        rendering(context, store, fetcher) as render,
        LiveBranch(store.database, store.archive, render.fetch, settings, context.clock) as branch,
    ):
        yield branch
