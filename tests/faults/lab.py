"""A site, a store and a worker to do harm to; and the oracle that says whether the store bore it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbcite.clock import system_clock
from kbcite.retrieval.vector_index import vector_id
from kbcite.stages.doctor import examine_store, treat_store
from kbcite.stages.search import open_index
from kbcite.store.archive import ARCHIVE_NAME, Archive, digest_of
from kbcite.store.database import DATABASE_NAME, Database
from kbcite.store.layout import make_store
from kbcite.urls import url_key
from tests.fakes import BagEncoder
from tests.site_server import Site

IS_NIGHTLY = os.environ.get("KBCITE_FAULTS") == "nightly"


def count(often: int, nightly: int) -> int:
    """How many times a fault is made: a few in `make check`, many with KBCITE_FAULTS=nightly."""
    return nightly if IS_NIGHTLY else often


PAGES = 60
_WORDS = (
    "river bridge ferry council school museum harbour ticket winter market library garden station tower lamp".split()
)


def fill(site: Site, version: int = 1) -> None:
    """Pages that differ in length and share a paragraph; every third changes with the version."""
    site.pages["/robots.txt"] = ""
    for n in range(PAGES):
        links = "".join(f'<a href="/{child}">{child}</a> ' for child in (n * 2 + 1, n * 2 + 2) if child < PAGES)
        edition = version if n % 3 == 0 else 1
        paragraphs = "".join(
            f"<p>In part {part} of page {n} the {_WORDS[(n + part) % 15]} near the {_WORDS[(n * part) % 15]} was opened in "
            f"{1900 + n + part} and closed in {1950 + n + edition}. 第{n}页第{part}段：{_WORDS[part % 15]}于{1900 + n}年开放。</p>"
            for part in range(1 + n % 7)
        )
        shared = "<p>Books may be kept for four weeks, films for one week, and both can be renewed twice.</p>" * (n % 2)
        site.pages["/" if n == 0 else f"/{n}"] = (
            f"<html><head><title>Page {n}</title></head><body><h1>Page {n}</h1>{paragraphs}{shared}{links}</body></html>"
        )


class Worker:
    """The process that forks for every job."""

    def __init__(self, disk: Path | None = None) -> None:
        self.python = sys.executable
        environment = os.environ | ({"LD_PRELOAD": str(disk)} if disk else {})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=Path(__file__).parent.parent.parent,
        )

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)

    def _ask(self, task: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(task), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def start(self, **task: Any) -> int:
        return self._ask(task)

    def wait(self, pid: int, limit_s: float = 60.0) -> int:
        """The exit code, negative for a signal. A job that hangs is killed after `limit_s`."""
        watchdog = threading.Timer(limit_s, os.kill, (pid, signal.SIGKILL))
        watchdog.start()
        try:
            return self._ask({"wait": pid})
        finally:
            watchdog.cancel()


@dataclass
class Lab:
    folder: Path
    site: Site
    worker: Worker
    notes: Path | None = None
    """The beginning of the names of what is noted of the jobs, where that is not beside the store."""
    acks: Path = field(init=False)
    traceback: Path = field(init=False)

    def __post_init__(self) -> None:
        self.notes = self.notes or self.folder
        self.acks = self.notes.with_suffix(".acks")
        self.traceback = self.notes.with_suffix(".traceback")
        if not self.folder.exists():
            make_store(self.folder)
            settings = self.folder / "kbcite.toml"
            settings.write_text(
                f'[[source]]\nurl = "{self.site.url}/"\ndepth = 50\nallow_private = true\n\n[crawl]\nretries = 0\n',
                encoding="ascii",
            )

    def start(self, job: str, **options: Any) -> int:
        common = {
            "folder": str(self.folder),
            "url": self.site.url,
            "acks": str(self.acks),
            "traceback": str(self.traceback),
        }
        return self.worker.start(job=job, **common, **options)

    def run(self, job: str, **options: Any) -> int:
        """Runs a job to its end; its exit code."""
        code = self.worker.wait(self.start(job, **options))
        self.check_traceback()
        return code

    def run_and_kill(self, job: str, after_s: float) -> int:
        pid = self.start(job)
        time.sleep(after_s)
        os.kill(pid, signal.SIGKILL)
        code = self.worker.wait(pid)
        self.check_traceback()
        return code

    def command(self, *arguments: str, **options: Any) -> tuple[int, str, str]:
        """Runs the console script on the store: (exit code, standard output, standard error)."""
        return self.finish_command(self.start_command(*arguments, **options))

    def start_command(self, *arguments: str, **options: Any) -> tuple[int, Path]:
        assert self.notes is not None
        output = self.notes.with_suffix(f".{time.monotonic_ns()}")
        everything = ["--store", str(self.folder), *arguments]
        return self.start("command", arguments=everything, output=str(output), **options), output

    def finish_command(self, started: tuple[int, Path], limit_s: float = 60.0) -> tuple[int, str, str]:
        pid, output = started
        code = self.worker.wait(pid, limit_s)
        self.check_traceback()
        told = [output.with_name(f"{output.name}.{ending}") for ending in ("out", "err")]
        return code, *(path.read_text(encoding="utf-8") if path.exists() else "" for path in told)  # type: ignore[return-value]

    def check_traceback(self) -> None:
        if self.traceback.exists():
            raise AssertionError(self.traceback.read_text(encoding="utf-8"))

    def acknowledged(self) -> list[list[str]]:
        """The lines that were reported, in words; a line that a kill cut short was not."""
        text = self.acks.read_bytes().decode() if self.acks.exists() else ""
        return [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def count(self, table: str) -> int:
        with Database(self.folder / DATABASE_NAME) as database:
            return int(database.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def copy_to(self, folder: Path) -> Lab:
        shutil.copytree(self.folder, folder)
        if self.acks.exists():
            shutil.copy(self.acks, folder.with_suffix(".acks"))
        return Lab(folder, self.site, self.worker)


def check(folder: Path, acknowledged: list[list[str]]) -> None:
    """The oracle: the doctor finds nothing wrong, nothing reported is lost, the index that is opened holds what the database says."""
    examination = examine_store(folder, read_data=True)
    assert examination.damage == (), examination.damage
    with Database(folder / DATABASE_NAME) as database, Archive(folder / ARCHIVE_NAME) as archive:
        last: dict[tuple[str, str], list[str]] = {}
        for line in acknowledged:
            last[line[0], line[1] if len(line) > 1 else ""] = line
        for (kind, name), line in last.items():
            if kind == "page":
                page = database.pages.get(name, url_key(name))
                assert page is not None, line
                digests = {snapshot.digest for snapshot in database.pages.snapshots(page.id)}
                assert line[2] in digests, line
                assert digest_of(archive.get(line[2])) == line[2]
            elif kind in ("cleaned", "chunked"):
                page = database.pages.get(name, url_key(name))
                assert page is not None, line
                assert kind == "cleaned" or page.document_id is not None, line
            elif kind == "answer":
                assert database.answers.get(name) is not None, line
        check_index(database, folder)


def check_index(database: Database, folder: Path) -> None:
    encoder = BagEncoder()
    kept = database.vectors.live_ids(encoder.fingerprint)
    if kept:
        index = open_index(database, encoder, folder / "vectors")
        assert sorted(index.block_ids) == sorted(kept)
        assert {index.block_id(vector_id(block_id)) for block_id in kept} == set(kept)


def contents(folder: Path) -> dict[str, object]:
    """What a store says of the site, without times and numbers of rows."""
    with Database(folder / DATABASE_NAME) as database:
        query = database.connection.execute
        return {
            "pages": query(
                "SELECT p.url, s.digest FROM pages p JOIN snapshots s ON s.id = p.snapshot_id ORDER BY 1"
            ).fetchall(),
            "texts": query(
                "SELECT p.url, d.text FROM pages p JOIN documents d ON d.id = p.document_id ORDER BY 1"
            ).fetchall(),
            "blocks": query(
                "SELECT DISTINCT b.id FROM blocks b JOIN live_occurrences o ON o.block_num = b.num ORDER BY 1"
            ).fetchall(),
            "vectors": database.vectors.live_ids(BagEncoder().fingerprint),
            "words": query("SELECT count(*) FROM word_rows").fetchall(),
        }


def repair(folder: Path) -> list[str]:
    return list(treat_store(folder, examine_store(folder, read_data=True).symptoms, system_clock))
