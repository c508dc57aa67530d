"""A process that has everything imported and forks for each job, so that a run of a command costs no start-up and can be killed.

Jobs are the stages as the commands run them, under the store's lock, with a cheap encoder; what a job reports goes line by line into a
file, written before the next piece of work begins: whatever stands there had been acknowledged. `command` is the console script itself.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import faiss  # noqa: F401  # imported before the fork
import requests  # noqa: F401

# What the forked commands import is imported here, once.
from kbcite.cli import app, ask, build, chunk, clean, crawl, doctor, index, recheck, search, show, status  # noqa: F401
from kbcite.clock import system_clock
from kbcite.errors import KbciteError
from kbcite.page.chunking import CHUNK_RULES, chunk_document
from kbcite.page.cleaning import CLEAN_RULES, clean_page
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.chunk import chunk_documents
from kbcite.stages.clean import clean_pages
from kbcite.stages.crawl import crawl_site
from kbcite.stages.index import index_blocks
from kbcite.stages.recheck import recheck_pages
from kbcite.store.archive import ARCHIVE_NAME, Archive
from kbcite.store.database import DATABASE_NAME, Database
from kbcite.store.lock import writer_lock
from kbcite.web.fetch import Fetcher
from tests.fakes import BagEncoder

SETTINGS = CrawlSettings(threads=4, connect_timeout_s=5.0, total_timeout_s=10.0, retries=0)
RULES = f"{CHUNK_RULES} 256-512-40"

Say = Callable[..., None]


@dataclass
class Store:
    folder: Path
    url: str
    """The site's."""
    database: Database
    archive: Archive
    say: Say

    @property
    def sources(self) -> list[SourceSettings]:
        return [SourceSettings(url=f"{self.url}/", depth=50, allow_private=True)]


def crawl_job(store: Store) -> None:
    with Fetcher(SETTINGS, allow_private=lambda _: True) as fetcher:
        events = crawl_site(
            store.database, store.archive, fetcher.fetch, store.sources, everything=True, settings=SETTINGS
        )
        for event in events:
            if digest := getattr(event, "digest", None):
                store.say("page", event.url, digest)


def recheck_job(store: Store) -> None:
    with Fetcher(SETTINGS, allow_private=lambda _: True) as fetcher:
        records = recheck_pages(
            store.database,
            store.archive,
            fetcher.fetch,
            store.sources,
            clean_page,
            everything=True,
            settings=SETTINGS,
        )
        for record in records:
            if getattr(record, "outcome", "") in ("changed", "unchanged"):
                store.say("page", record.url, record.digest)


def clean_job(store: Store) -> None:
    for outcome in clean_pages(store.database, store.archive, clean_page, CLEAN_RULES, system_clock):
        store.say("cleaned", outcome.url)


def chunk_job(store: Store) -> None:
    def cut(text: str, title: str) -> Any:
        return chunk_document(text, 256, 512, 40, title)

    for outcome in chunk_documents(store.database, cut, RULES, system_clock):
        store.say("chunked", outcome.url)


def index_job(store: Store, rebuild: bool = False) -> None:
    for outcome in index_blocks(store.database, BagEncoder(), store.folder / "vectors", rebuild=rebuild):
        store.say("indexed", str(outcome.blocks))


def rebuild_job(store: Store) -> None:
    index_job(store, rebuild=True)


def ask_job(store: Store) -> None:
    """Saves answers, one after the other, as `ask` does: under no lock."""
    document_id, digest = store.database.connection.execute(
        "SELECT d.id, s.digest FROM documents d JOIN snapshots s ON s.id = d.snapshot_id LIMIT 1"
    ).fetchone()
    (block_id,) = store.database.connection.execute("SELECT id FROM blocks LIMIT 1").fetchone()
    for _ in range(200):
        answer_id = f"a{os.urandom(6).hex()}"
        record = {
            "id": answer_id,
            "trace_id": os.urandom(16).hex(),
            "created_at": system_clock(),
            "question": "why?",
            "status": "answered",
            "claims": ["because " * 50],
        }
        store.database.answers.save(record, [(1, block_id, document_id, digest)])
        store.say("answer", answer_id)


def build_job(store: Store) -> None:
    for job in (crawl_job, clean_job, chunk_job, index_job):
        job(store)


STAGES: dict[str, Callable[[Store], None]] = {
    "crawl": crawl_job,
    "clean": clean_job,
    "chunk": chunk_job,
    "index": index_job,
    "build": build_job,
    "rebuild": rebuild_job,
    "recheck": recheck_job,
    "ask": ask_job,
}


def run_stage(name: str, folder: str, url: str, acks: str) -> int:
    reports = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def say(*words: str) -> None:
        os.write(reports, (" ".join(words) + "\n").encode())

    path = Path(folder)
    try:
        with (
            writer_lock(path, name, system_clock()),
            Database(path / DATABASE_NAME) as database,
            Archive(path / ARCHIVE_NAME) as archive,
        ):
            STAGES[name](Store(path, url, database, archive, say))
    except KbciteError as error:
        say("error", str(error))
        return int(error.exit_code)
    except (sqlite3.Error, OSError) as error:
        # What `main` turns into one line and exit code 6; anything else is a fault of the program.
        say("error", str(error))
        return 6
    say("done")
    return 0


def run_command(arguments: list[str], output: str) -> int:
    """The console script, its output in OUTPUT.out and OUTPUT.err."""
    for number, ending in ((1, "out"), (2, "err")):
        opened = os.open(f"{output}.{ending}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
    sys.argv = ["kbcite", *arguments]
    try:
        with patch("kbcite.retrieval.encoder.open_encoder", lambda *_, **__: BagEncoder()):
            app.main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def start(task: dict[str, Any]) -> int:
    """The process number of a forked job."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        if task.get("closed_stdout"):
            os.close(1)
        if disk := task.get("disk"):
            names = (disk["folder"], disk["acks"], disk["journal"])
            ctypes.CDLL(None).disk_arm(
                *(name.encode() for name in names), ctypes.c_long(disk["at"]), ctypes.c_int(disk["kind"])
            )
        if task["job"] == "command":
            code = run_command(task["arguments"], task["output"])
        else:
            code = run_stage(task["job"], task["folder"], task["url"], task["acks"])
        if counted := task.get("counted"):
            disk_count = ctypes.CDLL(None).disk_count
            disk_count.restype = ctypes.c_long
            Path(counted).write_text(str(disk_count()), encoding="ascii")
    except BaseException:
        Path(task["traceback"]).write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(code)


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        task = json.loads(line)
        if "wait" in task:
            _, status = os.waitpid(task["wait"], 0)
            reply = os.waitstatus_to_exitcode(status)
        else:
            reply = start(task)
        print(reply, file=replies, flush=True)


if __name__ == "__main__":
    main()
