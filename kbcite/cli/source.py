from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from kbcite.cli.context import StoredType, context_of
from kbcite.errors import UsageError
from kbcite.records import RenderMode, SourceType
from kbcite.render import printable
from kbcite.settings import SETTINGS_NAME, SourceSettings
from kbcite.store.settings_file import add_source, remove_source
from kbcite.urls import folder_of, given_url, is_within
from kbcite.web.scope import Scope

_DEFAULTS = SourceSettings(url="")

source = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.add_typer(source, name="source", help="Add, remove and list the trusted sources. Nothing else is ever fetched.")


@source.command("add")
def add(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(help="The seed: the first page, from which links are followed.")],
    type_: Annotated[
        StoredType, typer.Option("--type", help="internal: your own documents, which win over the web.")
    ] = StoredType.WEB,
    depth: Annotated[int, typer.Option(min=0, help="Links followed from the seed.")] = _DEFAULTS.depth,
    max_pages: Annotated[int, typer.Option(min=1, help="Pages kept of this source.")] = _DEFAULTS.max_pages,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="URL prefix that belongs to it; may be repeated. Default: the URL's folder."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Regular expression of URLs to leave out; may be repeated.")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help="Label for filtering; may be repeated.")] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Loopback and intranet addresses may be fetched.")
    ] = False,
    render: Annotated[
        RenderMode, typer.Option(help="Whether a browser reads its pages; auto: those that scripts write.")
    ] = RenderMode.AUTO,
    wait_selector: Annotated[
        str, typer.Option(metavar="CSS", help="What a rendered page has to show before it is read.")
    ] = "",
    live: Annotated[
        list[str] | None,
        typer.Option(help="Page to look at while answering, such as a price list or announcements; may be repeated."),
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="Word of the questions that the --live pages are for; may be repeated.")
    ] = None,
) -> None:
    """Trust a site, or a part of one."""
    context = context_of(ctx)
    with context.writing("source add") as store:
        new = SourceSettings(
            url=given_url(url),
            scope=tuple(given_url(prefix) for prefix in scope or ()),
            exclude=tuple(exclude or ()),
            type=SourceType(type_),
            depth=depth,
            max_pages=max_pages,
            allow_private=allow_private,
            labels=tuple(label or ()),
            render=render,
            wait_selector=wait_selector,
            live=tuple(given_url(page) for page in live or ()),
            topics=tuple(topic or ()),
        )
        if new.scope and not is_within(new.url, new.scope):
            raise UsageError(f"no --scope covers {new.url}, so it would never be fetched; repeat --scope for it")
        Scope(
            (*store.settings.sources, new)
        )  # an exclude pattern that cannot be read is refused here, not by every crawl
        add_source(store.folder / SETTINGS_NAME, new)
    reach = ", ".join(new.scope or (folder_of(new.url),))
    context.show(
        f'added {printable(new.url)} (scope {printable(reach)}, depth {depth}); fetch it with "kbcite build"',
        asdict(new),
    )


@source.command("remove")
def remove(ctx: typer.Context, url: Annotated[str, typer.Argument(help="The source's seed.")]) -> None:
    """Trust a site no longer; what is stored of it stays."""
    context = context_of(ctx)
    with context.writing("source remove") as store:
        known = {row.url for row in store.settings.sources}
        remove_source(store.folder / SETTINGS_NAME, url if url in known else given_url(url))
    context.show(f"removed {printable(url)}; its pages stay in the store", {"removed": url})


@source.command("list")
def list_(ctx: typer.Context) -> None:
    """Show the whitelist."""
    context = context_of(ctx)
    with context.reading() as store:
        rows = [(row, store.database.pages.count_of_source(row.url)) for row in store.settings.sources]
    text = "\n".join(
        f"{printable(row.url)}  {row.type}  depth {row.depth}  pages {count} of {row.max_pages}{'  private' if row.allow_private else ''}"
        for row, count in rows
    )
    context.show(
        text or 'no sources yet; add one with "kbcite source add URL"',
        [{**asdict(row), "pages": count} for row, count in rows],
    )
