from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from kbcite import __version__
from kbcite.cli.context import Context, OpenStore, Wait, context_of
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.errors import ExitCode, Finding, NotFound, UsageError
from kbcite.records import Skipped
from kbcite.render import one_line, printable, summary
from kbcite.urls import given_url

if TYPE_CHECKING:
    from kbcite.web.warc_writer import Written

_LET_IN = '"kbcite forget --list" names it, "kbcite forget URL --undo" lets it in'

warc = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.add_typer(
        warc,
        name="warc",
        help="Take in crawls of other programs, give the archive out. The files are WARC; WACZ comes in too.",
    )


@warc.command("import", short_help="Take the pages of WARC and WACZ files in.")
def import_(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="WARC (.warc, .warc.gz) or WACZ files.")],
    wait: Wait = 0.0,
) -> None:
    """Take the pages of WARC and WACZ files in, as if they had been crawled; wget, Browsertrix and Heritrix write such files.

    Only pages that a source covers are taken, and none that was forgotten. Each record is checked against its own digest; whether the file tells the truth
    about a site nobody can check, so take it from people you trust.
    """
    from kbcite.stages.warc import OUTSIDE, Imported, import_warc
    from kbcite.web.scope import FORGOTTEN

    context = context_of(ctx)
    if lost := [path for path in files if not path.is_file()]:
        raise UsageError(f"there is no file {lost[0]}; give a WARC or WACZ file")
    counts = Counter({"new": 0, "changed": 0, "unchanged": 0, "skipped": 0})
    reasons: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    broken: list[str] = []
    stop = Stop()
    with context.writing("warc import", wait) as store, stop.listening(), progress(context, "warc import") as advance:
        settings = store.settings
        for path in files:
            events = import_warc(
                store.database,
                store.archive,
                path,
                settings.sources,
                max_bytes=settings.crawl.max_bytes,
                recheck=settings.recheck,
                should_stop=stop,
            )
            for event in events:
                if isinstance(event, Imported):
                    counts[event.outcome] += 1
                    advance(event.url)
                elif isinstance(event, Skipped):
                    counts["skipped"] += 1
                    reasons[event.reason] += 1
                    outside.update([event.detail] if event.reason == OUTSIDE else [])
                    if context.verbose:
                        context.say(f"skipped {printable(event.url)}: {event.reason} {one_line(event.detail, 160)}")
                else:
                    broken.append(f"{event.file} cannot be read on: {event.detail}")
    record = {**counts, "reasons": dict(reasons), "broken": broken}
    lines = [summary(counts)] + [f"skipped    {count} {reason}" for reason, count in reasons.most_common()]
    lines += [f"{'':10} {count} of {host}" for host, count in outside.most_common(5)]
    if reasons[FORGOTTEN]:
        lines.append(f"what was forgotten stays out; {_LET_IN}")
    if counts["new"] + counts["changed"]:
        lines.append('read them with "kbcite --offline build"; "kbcite build" also visits the sites')
    context.show("\n".join(lines), record)
    _judge(counts, outside, broken, is_forgotten=reasons[FORGOTTEN] > 0)


def _judge(counts: Counter[str], outside: Counter[str], broken: list[str], *, is_forgotten: bool) -> None:
    """Raises Finding where a file was damaged, or nothing was taken."""
    if broken:
        raise Finding(f"{one_line(broken[0], 300)}; what came before it is stored")
    if counts["new"] + counts["changed"] + counts["unchanged"]:
        return
    if outside:
        host = outside.most_common(1)[0][0]
        raise Finding(
            f'no source covers these pages; "kbcite source add {host}/" does, then import again', ExitCode.NOTHING
        )
    if is_forgotten:
        raise Finding(f"its pages were forgotten; {_LET_IN}, then import again", ExitCode.NOTHING)
    raise Finding("there is no page in it that could be taken; -v names what was skipped", ExitCode.NOTHING)


@warc.command("export", short_help="Give the archived pages out as WARC 1.1.")
def export(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write, name.warc.gz; - is standard output.")
    ],
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="[URL]...", help="Only what lies under these; without any, everything."),
    ] = None,
) -> None:
    """Give the archived pages out as WARC 1.1, for replay and for other archives."""
    context = context_of(ctx)
    prefixes = [given_url(url) for url in urls or []]
    if str(file) != "-" and not file.parent.is_dir():
        raise UsageError(f"there is no folder {file.parent} to write {file.name} to; make it first")
    with context.reading() as store:
        if str(file) == "-":
            written = _write(store, sys.stdout.buffer, prefixes)
        else:
            beside = file.with_name(f"{file.name}.new")
            try:
                with beside.open("wb") as out:
                    written = _write(store, out, prefixes)
                    out.flush()
                    os.fsync(out.fileno())
                beside.replace(file)
            finally:
                beside.unlink(missing_ok=True)
    record = asdict(written)
    _tell(context, file, record)


def _tell(context: Context, file: Path, record: dict[str, int]) -> None:
    if str(file) == "-":
        context.say(summary(record))
    else:
        context.show(f"{summary(record)} in {file}", {**record, "file": str(file)})


def _write(store: OpenStore, out: IO[bytes], prefixes: list[str]) -> Written:
    from kbcite.stages.warc import archived_answers
    from kbcite.web.warc_writer import Written, write_warc

    written = write_warc(out, archived_answers(store.archive, prefixes), store.archive.get, f"kbcite/{__version__}")
    if written == Written():
        raise NotFound('the archive holds nothing of that; "kbcite status --pages" lists what there is')
    return written
