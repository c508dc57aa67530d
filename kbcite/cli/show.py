from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from kbcite.answer.record import from_record
from kbcite.block_id import typed_prefix
from kbcite.cli.answer_output import AnswerFormat, write_answer
from kbcite.cli.context import OpenStore, context_of, find_page
from kbcite.cli.saved_answers import find_answer, sources_of
from kbcite.clock import to_minute
from kbcite.errors import NotFound, UsageError
from kbcite.records import Block, Occurrence, PageState, Place
from kbcite.render import counted, one_line, printable, where
from kbcite.store.pages import PageRow

_ANSWER = re.compile(r"a[0-9a-f]*")
"""An answer's ID or the start of one; a block's begins with `b1`."""
_NUMBER = re.compile(r"(?:(?P<answer>[0-9a-z-]+):)?(?P<n>\d{1,3})")

SHOWN_VISITS = 5


def register(app: typer.Typer) -> None:
    app.command()(show)


def show(
    ctx: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="A source number of the last answer, an answer's ID, ANSWER:NUMBER, a block ID (the start of an ID will do), or a "
            "page's URL. Nothing is the last answer.",
        ),
    ] = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Write the archived bytes of the page to standard output.")
    ] = False,
    received: Annotated[
        bool,
        typer.Option(
            "--received", help="With --snapshot, of a page that a browser rendered: the bytes that the server sent."
        ),
    ] = False,
    open_: Annotated[
        bool, typer.Option("--open", help="Open the archived page in the browser, its scripts switched off.")
    ] = False,
    format_: Annotated[
        AnswerFormat,
        typer.Option("--format", "-f", help="How an answer is written; html is one file that needs nothing else."),
    ] = AnswerFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write an answer, if not to standard output."),
    ] = None,
) -> None:
    """Show a block, a page, an answer or a cited source. All come from the store, whatever became of the page since."""
    context = context_of(ctx)
    if not is_answer(what) and (output is not None or format_ is not AnswerFormat.TEXT):
        raise UsageError(
            f'--format and --output are for answers, and {what} is none; name one, or none for the last: "kbcite show -f html"'
        )
    if is_answer(what) and (snapshot or open_):
        raise UsageError(f"--snapshot and --open are for one page; name a source, like {f'{what}:1' if what else '1'}")
    if received and not snapshot:
        raise UsageError("--received is said of --snapshot: which of a page's bytes are written")
    with context.reading() as store:
        if is_answer(what):
            write_answer(context, store, from_record(find_answer(store, what)), format_, output)
            return
        assert what is not None  # nothing is the last answer
        found = shown(store, what)
        if not (snapshot or open_):
            context.show(found.text, found.record)
        if found.digest is None:
            raise NotFound(f"{what} stands on no stored document")
        if snapshot:
            # What a page is made of that no browser rendered is what the server sent.
            sent = store.archive.received_of(found.digest) if received else None
            sys.stdout.buffer.write(store.archive.get(sent or found.digest))
        if open_:
            _open_archived(store, found.digest, found.fragment)


@dataclass(frozen=True, slots=True)
class Shown:
    """A source, a page or a block as it is shown."""

    kind: str
    """`source`, `page` or `block`."""
    text: str
    record: dict[str, Any]
    urls: tuple[str, ...]
    """The pages that it is of."""
    digest: str | None
    """Of the archived bytes."""
    fragment: str = ""
    """The text fragment of a quote."""


def is_answer(what: str | None) -> bool:
    """Whether a person who types this means an answer: nothing is the last one."""
    return what is None or bool(_ANSWER.fullmatch(what))


def shown(store: OpenStore, what: str, allows: Callable[[str], bool] = lambda _url: True) -> Shown:
    """What a person means who types a source number, a URL, or the start of a block ID. Raises NotFound, UsageError.

    allows: whether a page may be told of as a place of a block.
    """
    if match := _NUMBER.fullmatch(what):
        return _source(store, match["answer"], int(match["n"]))
    return _page(store, what) if "://" in what else _block(store, what, allows)


def _source(store: OpenStore, answer_id: str | None, n: int) -> Shown:
    """A numbered source of an answer: the passage as it was cited, whatever became of its page since."""
    record = find_answer(store, answer_id)
    cited = store.database.answers.cited(record["id"], n)
    if cited is None:
        has = len(sources_of(record))
        what = f"cites {counted(has, 'source')}" if has else "was refused and cites nothing"
        raise NotFound(f'answer {record["id"]} {what}, there is no [{n}]; "kbcite log" lists the others')
    _, document_id, digest = cited
    source = next(row for row in sources_of(record) if row["n"] == n)
    document = store.database.documents.get(document_id)
    if document is None:
        raise NotFound(f"the document behind [{n}] is no longer stored; it was forgotten")
    quote = source["quote"]
    passage = document.text[quote["start"] : quote["end"]]
    link = source["deep_link"] or ""
    return Shown(
        "source",
        "\n".join([*_source_lines(record, source), "", printable(passage)]),
        {**source, "passage": passage, "answer": record["id"]},
        (source["url"],),
        digest,
        link[link.index("#") :] if "#:~:" in link else "",
    )


def _source_lines(record: dict[str, Any], source: dict[str, Any]) -> list[str]:
    """Where a cited passage stands, from when it is, and which sentences rest on it."""
    at = source["snapshot"]
    span = f"bytes {at['byte_start']} to {at['byte_end']} of " if at["byte_start"] is not None else ""
    dates = f"published {source['published_at'][:10]}, " if source["published_at"] else ""
    lines = [
        f"[{source['n']}] {where(source['title'], source['heading_chain'], source['url'])}",
        printable(source["deep_link"] or source["url"]),
        f"{dates}fetched {to_minute(source['fetched_at'])}, {source['source_type']}",
        f"{span}{at['sha256'][:16]}, block {source['block_id']}",
    ]
    for claim in record["answer"]["claims"]:
        if any(marker["n"] == source["n"] for marker in claim["markers"]):
            sentence = record["answer"]["text"][claim["start"] : claim["end"]]
            lines.append(f"{claim['verdict']} {claim['score']:.2f}: {one_line(sentence, 200)}")
    return lines


def _page(store: OpenStore, url: str) -> Shown:
    database = store.database
    page = find_page(store, url)
    if page.digest is None:
        raise NotFound(f'{url} has no stored bytes; run "kbcite crawl" to fetch it')
    document = database.documents.of_page(page.id)
    blocks = database.blocks.of_document(document.id) if document else []
    snapshots = database.pages.snapshots(page.id)
    record = {
        "url": page.url,
        "state": page.state,
        "fetched_at": page.fetched_at,
        "changed_at": page.changed_at,
        "due_at": page.due_at,
        "metadata": asdict(document.metadata) if document else None,
        "encoding": document.encoding if document else None,
        "text": document.text if document else None,
        "blocks": [{**asdict(occurrence), "words": block.words} for block, occurrence in blocks],
        "snapshots": [{"digest": s.digest, "fetched_at": s.fetched_at, "status": s.status} for s in snapshots],
        "visits": _visits(database.pages.visits(page.id)),
    }
    return Shown("page", _page_text(page, record, blocks), record, (page.url,), page.digest)


def _visits(rows: Sequence[tuple[str, str, int | None, str]]) -> list[dict[str, Any]]:
    """The visits of a page; to the first one everything was new, which is no change."""
    visits = [dict(zip(("at", "outcome", "status", "detail"), row, strict=True)) for row in rows]
    if visits and visits[0]["outcome"] == "changed":
        visits[0]["outcome"] = "new"
    return visits


def _page_text(page: PageRow, record: dict[str, Any], blocks: list[tuple[Block, Occurrence]]) -> str:
    visits = record["visits"]
    since = "first" if visits and visits[0]["at"] == page.changed_at else "changed"
    lines = [
        printable(page.url),
        _state(page, visits[-1]["detail"] if visits else ""),
        f"fetched {to_minute(page.fetched_at)}, {since} {to_minute(page.changed_at)}, next visit {to_minute(page.due_at)}",
    ]
    if record["metadata"]:
        lines += [
            f"{key.removesuffix('_at').replace('_', ' '):<14} {one_line(str(value), 160)}"
            for key, value in record["metadata"].items()
            if value
        ]
    else:
        lines.append(
            'no main text yet, or none at all; "kbcite build" reads it, "kbcite clean --skipped" says why there is none'
        )
    lines += [f"snapshot       {row['digest'][:16]}  {to_minute(row['fetched_at'])}" for row in record["snapshots"]]
    lines += [
        f"visit          {to_minute(row['at'])}  {row['status'] or '---'}  {row['outcome']}  {one_line(row['detail'], 100)}".rstrip()
        for row in visits[-SHOWN_VISITS:]
    ]
    lines += [
        f"{block.id}  {block.words:4} words  {one_line(' › '.join(at.heading_chain) or block.text, 90)}"
        for block, at in blocks
    ]
    return "\n".join([*lines, "", printable(record["text"] or "")]).rstrip()


def _state(page: PageRow, last_detail: str) -> str:
    """A page's state in words, with what it means for its text."""
    detail = f": {one_line(last_detail, 160)}" if last_detail else ""
    return {
        PageState.ALIVE: "alive",
        PageState.CHANGED: 'changed: the text below is the former one until "kbcite build" takes up the new one',
        PageState.MOVED: f"moved to {printable(page.moved_to or '')}; searched there, no longer here",
        PageState.UNREACHABLE: f"unreachable{detail}; its last text is still searched",
        PageState.DEAD: f"dead{detail}; no longer searched, what cites it can still be opened",
    }[page.state]


def _block(store: OpenStore, prefix: str, allows: Callable[[str], bool]) -> Shown:
    blocks = store.database.blocks
    block_id = _only(blocks.ids_with_prefix(typed_prefix(prefix)), prefix, "block")
    block = blocks.get(block_id)
    assert block is not None  # the ID was just found
    places = tuple(place for place in blocks.places(block_id, live_only=False) if allows(place.url))
    live = tuple(place for place in blocks.places(block_id, live_only=True) if allows(place.url))
    current = live or places
    before, after = _neighbours(store, current[0]) if current else (None, None)
    record = {
        **asdict(block),
        "live": bool(live),
        "places": [asdict(place) for place in current],
        "former_places": len(places) - len(live),
        "previous": before,
        "next": after,
    }
    lines = [f"{block.id}  {block.words} words, {block.language}{'' if live else ', on no current page'}"]
    lines += [
        f"{where(place.title, place.heading_chain, place.url)}\n  {printable(place.url)}  fetched {to_minute(place.fetched_at)}"
        for place in current
    ]
    lines += [f"before: {before}"] * bool(before) + [f"after: {after}"] * bool(after)
    text = "\n".join([*lines, "", printable(block.text)])
    urls = tuple(place.url for place in current)
    return Shown("block", text, record, urls, current[0].digest if current else None)


def _neighbours(store: OpenStore, place: Place) -> tuple[str | None, str | None]:
    """IDs of the blocks before and after this place."""
    ids = {occurrence.ordinal: block.id for block, occurrence in store.database.blocks.of_document(place.document_id)}
    return ids.get(place.ordinal - 1), ids.get(place.ordinal + 1)


def _only(ids: list[str], prefix: str, kind: str) -> str:
    if not ids:
        raise NotFound(f"no {kind} begins with {prefix!r}; give a block ID, a URL, or a source number")
    if len(ids) > 1:
        raise UsageError(f"{prefix!r} begins several {kind}s, {ids[0]} and {ids[1]} among them; give more of it")
    return ids[0]


def _open_archived(store: OpenStore, digest: str, fragment: str) -> None:
    """Open a copy of the archived page at the quote; its policy lets no script run and nothing be loaded."""
    import webbrowser

    from kbcite.stages.answer_page import write_archived_page

    copy = write_archived_page(store.folder, digest, store.database, store.archive).resolve()
    if not webbrowser.open(copy.as_uri() + fragment):
        raise UsageError(f"no browser could be started; the page is in {copy}")
