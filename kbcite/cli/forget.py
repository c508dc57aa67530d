from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kbcite.cli.context import Context, OpenStore, Wait, context_of
from kbcite.cli.folding import columns_of, folded
from kbcite.clock import to_minute
from kbcite.errors import NotFound, UsageError
from kbcite.render import counted, printable, summary
from kbcite.urls import given_url, host_of, resolve, url_key

if TYPE_CHECKING:
    from kbcite.store.forgetting import Doomed


def register(app: typer.Typer) -> None:
    app.command()(forget)


def forget(
    ctx: typer.Context,
    place: Annotated[
        str | None, typer.Argument(metavar="URL|HOST", help="A page's address, or a host such as docs.example.com.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    undo: Annotated[
        bool,
        typer.Option(
            "--undo", help="Let crawls and imports take it in again; what was forgotten does not come back by itself."
        ),
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List what was forgotten.")] = False,
    wait: Wait = 0.0,
) -> None:
    """Take a page or a host out of the store for good: archived bytes, text, blocks, vectors, and what answers quoted of it.

    Crawls and imports leave it alone from then on, unless "kbcite crawl URL" names it or --undo lets it in again. Saved answers stay,
    with what the page said masked.
    """
    context = context_of(ctx)
    if list_:
        _list(context)
        return
    if place is None:
        raise UsageError("name a URL or a host to forget; --list shows what was forgotten")
    url, hosts = _read_place(place)
    if not (yes or undo or sys.stdin.isatty()):
        raise UsageError(f"forgetting {place} cannot be undone; give --yes where nobody can be asked")
    from kbcite.stages.forget import find_doomed, forget_pages
    from kbcite.store.forgetting import Forgetting

    with context.writing("forget", wait) as store:
        if undo:
            _recall(context, store, place, [url_key(url)] if url else hosts)
            return
        doomed = find_doomed(store.database, url, hosts)
        if not doomed.page_ids and not Forgetting(store.database.connection).knows([url_key(url)] if url else hosts):
            raise NotFound(f'nothing of {place} is in the store; "kbcite status --pages" lists what is')
        if not yes:
            typer.confirm(folded(_question(place, doomed), columns_of(sys.stderr)), abort=True, err=True)
        done = forget_pages(store.database, store.archive, store.vectors, doomed, context.clock, url=url, hosts=hosts)
    text = f"forgot {summary(asdict(done))}"
    for aside in sorted(context.store.glob("*.lost-*")):
        text += f"\n{aside} is a copy from before a repair and may still hold it; delete it"
    covered = any(host_of(source.url) in hosts for source in store.settings.sources)
    if covered:
        text += f'\n{place} is still a source; "kbcite source remove" takes it off the whitelist'
    context.show(text, {"place": place, **asdict(done)})


def _read_place(place: str) -> tuple[str | None, list[str]]:
    """The URL, or the hosts under both schemes. Raises UsageError for what is neither."""
    if "://" in place:
        return given_url(place), []
    bare = [resolve(base, "/") for base in (f"http://{place}/", f"https://{place}/")]
    hosts = [host_of(url) for url in bare if url is not None]
    if not hosts or "/" in place:
        raise UsageError(f"{place!r} is neither a URL nor a host; give https://example.com/page or example.com")
    return None, hosts


def _question(place: str, doomed: Doomed) -> str:
    cited = f", cited by {counted(len(doomed.answers), 'saved answer')}" if doomed.answers else ""
    shown = "\n".join(f"  {printable(url)}" for url in doomed.urls[:5])
    more = f"\n  and {len(doomed.urls) - 5} more addresses" if len(doomed.urls) > 5 else ""
    pages = counted(len(doomed.page_ids), "page")
    return f"{shown}{more}\nForget {place}: {pages}{cited}. What is archived of it is lost for good. Go on?"


def _recall(context: Context, store: OpenStore, place: str, places: list[str]) -> None:
    from kbcite.store.forgetting import Forgetting

    with store.database.transaction():
        recalled = Forgetting(store.database.connection).recall(places)
    if not recalled:
        raise NotFound(f"{place} was not forgotten; --list shows what was")
    context.show(f"{place} is taken in again by the next crawl or import", {"recalled": recalled})


def _list(context: Context) -> None:
    from kbcite.store.forgetting import Forgetting

    with context.reading() as store:
        rows = Forgetting(store.database.connection).places()
    context.show(
        "\n".join(f"{to_minute(at)}  {printable(place)}" for place, at in rows) or "nothing was forgotten",
        [{"place": place, "at": at} for place, at in rows],
    )
