from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbcite.cli.context import Context, Wait, context_of
from kbcite.cli.progress import progress
from kbcite.errors import Finding, NotFound
from kbcite.render import counted, one_line, summary

if TYPE_CHECKING:
    from kbcite.store.doctor import Symptom


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    ctx: typer.Context,
    read_data: Annotated[
        bool, typer.Option("--read-data", help="Also read every archived body and block and compare their digests.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Put right what can be made again from what is kept, and say what was done."),
    ] = False,
    wait: Wait = 0.0,
) -> None:
    """Look for damage in the store, and repair it. Exit code 1 where something is wrong; work that only waits is told, and is not wrong."""
    from kbcite.stages.doctor import examine_store, lost_database, treat_store
    from kbcite.store.lock import writer_lock

    context = context_of(ctx)
    if not context.store.is_dir():
        raise NotFound(f'no store at {context.store}; run "kbcite --store {context.store} init" first')
    done: list[str] = []
    with (
        writer_lock(context.store, "doctor --repair", context.clock(), wait) if repair else nullcontext(),
        progress(context, "doctor") as advance,
    ):
        examination = examine_store(context.store, read_data=read_data, advance=advance)
        if repair:
            done = list(treat_store(context.store, examination.symptoms, context.clock))
            if lost_database(examination):
                done += _make_database(context)
            if done:
                examination = examine_store(context.store, read_data=read_data, advance=advance)
    record: dict[str, Any] = {
        "store": str(context.store),
        "ok": not examination.damage,
        "damage": [asdict(symptom) for symptom in examination.damage],
        "waiting": [asdict(symptom) for symptom in examination.symptoms if not symptom.is_damage],
        "repaired": done,
        "counts": dict(examination.counts),
        "read_data": read_data,
    }
    lines = [f"repaired  {one_line(step, 200)}" for step in done]
    lines += [_line("wrong", symptom) for symptom in examination.damage]
    lines += [_line("waiting", symptom) for symptom in examination.symptoms if not symptom.is_damage]
    lines += [f"holds     {summary(record['counts'])}"] if examination.counts else []
    if record["ok"]:
        lines.append("nothing is wrong" + ("" if read_data else "; --read-data reads every archived body too"))
    context.show("\n".join(lines), record)
    if examination.damage:
        kinds = counted(len(examination.damage), "kind")
        raise Finding(f"{kinds} of damage in {context.store}; {_next(examination.damage, repair)}")


def _make_database(context: Context) -> list[str]:
    """Puts the lost database aside and makes one from what the archive knows of its bytes; what was done."""
    from kbcite.settings import SETTINGS_NAME
    from kbcite.settings_reading import load_settings
    from kbcite.stages.warc import Imported, rebuild_pages
    from kbcite.store.archive import ARCHIVE_NAME, Archive
    from kbcite.store.database import DATABASE_NAME, Database

    folder = context.store
    sources = load_settings(folder / SETTINGS_NAME).sources
    with Archive(folder / ARCHIVE_NAME) as archive:
        if next(archive.responses(), None) is None:
            return []
        kept = ""
        for ending in ("", "-wal", "-shm"):
            file = folder / f"{DATABASE_NAME}{ending}"
            if file.exists():
                aside = f"{DATABASE_NAME}.lost-{context.clock().replace(':', '')}{ending}"
                file.replace(folder / aside)
                kept = kept or f"; what was there is kept as {aside}"
        with Database(folder / DATABASE_NAME) as database:
            events = list(rebuild_pages(database, archive, sources))
    urls = {event.url for event in events if isinstance(event, Imported)}
    return [
        f'made {DATABASE_NAME} again from the archive: {len(urls)} pages{kept}; "kbcite --offline build" makes text, blocks and'
        " vectors of them; saved answers are lost with the old file"
    ]


def _line(kind: str, symptom: Symptom) -> str:
    number = f": {symptom.count}" if symptom.count > 1 or symptom.examples else ""
    named = f" ({', '.join(one_line(example, 80) for example in symptom.examples)}{', …' * (symptom.count > len(symptom.examples))})"
    return f"{kind:<9} {one_line(symptom.what, 300)}{number}{named * bool(symptom.examples)}; {symptom.remedy}"


def _next(damage: tuple[Symptom, ...], repaired: bool) -> str:
    if not repaired and any(symptom.is_repairable for symptom in damage):
        return '"kbcite doctor --repair" puts right what it can'
    return damage[0].remedy
