"""Live fetching for the commands that answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from kbcite.cli.context import Context, OpenStore
from kbcite.cli.rendering import rendering
from kbcite.errors import UsageError

if TYPE_CHECKING:
    from kbcite.stages.ask_live import Search
    from kbcite.stages.live import LiveBranch
    from kbcite.web.fetch import Fetcher
    from kbcite.web.scope import Scope
    from kbcite.web.visitor import Fetch


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
        _page_fetch(context, store, fetcher, scope) as fetch,
        LiveBranch(store.database, store.archive, fetch, settings, context.clock) as branch,
    ):
        yield branch


@contextmanager
def _page_fetch(context: Context, store: OpenStore, fetcher: Fetcher, scope: Scope) -> Iterator[Fetch]:
    """What fetches pages: kbcite itself, with a browser where one is needed, or the tool that `live.fetcher` names."""
    settings = store.settings
    if settings.live.fetcher == "builtin":
        with rendering(context, store, fetcher) as render:
            yield render.fetch
        return
    from kbcite.web.tool_fetch import ToolFetch
    from kbcite.web.tool_server import named_server, open_tool_server

    with open_tool_server(*named_server(settings.live.fetcher, settings.mcp, "live.fetcher")) as server:
        yield ToolFetch(
            server,
            fetcher.fetch,
            scope.allows_private,
            max_bytes=settings.crawl.max_bytes,
            within_s=settings.live.fetch_within_s,
            clock=context.clock,
        ).fetch


def open_search(store: OpenStore, doors: ExitStack) -> Search | None:
    """The search tool that `live.search` names, connected when it is first asked and closed with the doors; None where there is none."""
    settings = store.settings
    if not settings.live.search:
        return None

    def search(question: str, within_s: float) -> tuple[str, ...]:
        from kbcite.web.tool_server import named_server, open_tool_server

        named = named_server(settings.live.search, settings.mcp, "live.search")
        return doors.enter_context(open_tool_server(*named)).search(question, within_s)

    return search
