"""The fetch that renders, for the commands that fetch; and what they say of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kbcite.cli.context import Context, OpenStore
from kbcite.render import printable

if TYPE_CHECKING:
    from kbcite.stages.render import RenderingFetch
    from kbcite.web.fetch import Fetcher

_NAMED = 3


@contextmanager
def fetching(context: Context, store: OpenStore, *, is_kept: bool = True) -> Iterator[RenderingFetch]:
    """The fetch of a crawl or a recheck: guarded by the sources, in a browser where a page needs one. is_kept: as in `rendering`."""
    from kbcite.web.fetch import Fetcher
    from kbcite.web.scope import Scope

    settings = store.settings
    allows_private = Scope(settings.sources).allows_private
    with (
        Fetcher(settings.crawl, allow_private=allows_private, clock=context.clock) as fetcher,
        rendering(context, store, fetcher, is_kept=is_kept) as render,
    ):
        yield render


@contextmanager
def rendering(
    context: Context, store: OpenStore, fetcher: Fetcher, *, is_kept: bool = True
) -> Iterator[RenderingFetch]:
    """A fetch that hands pages to a browser where they need one. At the end it is closed, and pages that went without are named.

    is_kept: what is learned of which pages need one is stored.
    """
    from kbcite.stages.render import RenderingFetch

    settings = store.settings
    with RenderingFetch(
        store.database, fetcher.fetch, settings.sources, settings.crawl, fetcher.user_agent, context.clock
    ) as render:
        try:
            yield render
        finally:
            if is_kept:
                render.save()
    if render.unread:
        named = ", ".join(printable(url) for url in sorted(render.unread)[:_NAMED])
        more = f" and {len(render.unread) - _NAMED} more" if len(render.unread) > _NAMED else ""
        number = len(render.unread)
        what = (
            "1 page is written by scripts and was" if number == 1 else f"{number} pages are written by scripts and were"
        )
        context.say(f"{what} not read: {named}{more}")
        context.say(f"{render.unavailable}; then run it again")
