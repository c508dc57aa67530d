"""`python -m tests.faults.soak [PAGES]`: a day of cron, an hour in each step, over a site that grows to so many pages; 100,000 unless said.

Every simulated hour the site has new pages in its sitemap and some of the old ones say something else; then the commands that cron
runs and people ask are run, one after the other in one process: what one of them does not give back is there in the next hour. For a
quarter of a day more nothing happens on the site. Figures are of the process at rest, between the hours, when the C library has given
back what it held free: only what is kept counts. Below some 10,000 pages bounded caches are still filling, and look like a leak.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kbcite.clock import to_text
from kbcite.stages.doctor import examine_store
from kbcite.store.layout import make_store
from tests.site_server import Reply, Site, serve_site

PAGES = 100_000
HOURS = 24
QUIET_HOURS = 6
START = datetime(2026, 11, 30, tzinfo=UTC)
MAX_SLOPE_MB = 1.0
"""A thousand pages."""
MAX_FATTER = 1.15
"""Bytes that a new page costs in the second half of the day, to those in the first."""
MAX_QUIET_GROWTH = 0.02
"""Of the store, in the hours in which nothing happens."""
RECHECKED = 0.02
"""Share of the pages that an hour's recheck may visit."""

_WORDS = (
    "river bridge ferry council school museum harbour ticket winter market library garden station tower lamp granite ledger "
    "archive meadow orchard printer village window copper signal barrel lantern cellar chapel willow"
).split()

_CRON = """
import ctypes, gc, io, json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch
from kbcite.cli.app import main
from tests.fakes import BagEncoder

store = Path(sys.argv[1])

def run(*words):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    sys.argv = ["kbcite", "--store", str(store), *words]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return code, err.getvalue()

with patch("kbcite.retrieval.encoder.open_encoder", lambda *_, **__: BagEncoder()):
    for line in sys.stdin:
        told = [(words[0], *run(*words)) for words in json.loads(line)]
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        files = os.listdir("/proc/self/fd")
        size = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
        print(json.dumps([told, int(status["VmRSS"].split()[0]) / 1024, len(files), int(status["Threads"]), size]), flush=True)
"""


@dataclass(frozen=True)
class Hour:
    """How the process and the store were after an hour's commands."""

    pages: int
    """On the site."""
    rss_mb: float
    files: int
    threads: int
    store_bytes: int
    took_s: float


class GrowingSite:
    """Pages, a list of each hour's new ones, and a list of these lists."""

    def __init__(self, site: Site, pages: int) -> None:
        self._site = site
        self._pages = pages
        self.hour = 0
        site.missing = self._answer

    def count(self, hour: int) -> int:
        """Pages that there are at an hour."""
        return self._pages * min(hour + 1, HOURS) // HOURS

    def _answer(self, handler: Any) -> Reply:
        name, _, number = handler.path.strip("/").partition("-")
        if name == "robots.txt":
            return Reply(f"User-agent: *\nAllow: /\nSitemap: {self._site.url}/sitemap\n".encode())
        if name == "sitemap":
            last = min(self.hour, HOURS - 1)
            lists = range(last + 1) if not number else ()
            pages = (
                range(self.count(int(number) - 1) if number != "0" else 0, self.count(int(number))) if number else ()
            )
            entries = [f"sitemap-{n}" for n in lists] + [f"page-{n}" for n in pages]
            kind, item = ("urlset", "url") if number else ("sitemapindex", "sitemap")
            listed = "".join(f"<{item}><loc>{self._site.url}/{entry}</loc></{item}>" for entry in entries)
            return Reply(
                f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</{kind}>'.encode(),
                headers=(("Content-Type", "application/xml"),),
            )
        if name == "page" and int(number) < self.count(self.hour):
            return Reply(self._page(int(number)).encode())
        return Reply(self._page(0).encode()) if not name else Reply(b"not here", 404)

    def _page(self, n: int) -> str:
        edition = min(self.hour, HOURS) // 6 if n % 10 == 0 else 0
        chance = random.Random(f"{n} {edition}")
        text = "".join(f"<p>{' '.join(chance.choices(_WORDS, k=30))} {n} {edition}.</p>" for _ in range(4))
        return f"<!DOCTYPE html><html><head><title>Page {n}</title></head><body><h1>Page {n}</h1>{text}</body></html>"


def commands(hour: int, pages: int) -> list[list[str]]:
    """What cron and people run in an hour."""
    now = ["--now", to_text(START + timedelta(hours=hour))]
    visits = str(max(10, round(pages * RECHECKED)))
    words = random.Random(hour).sample(_WORDS, 2)
    return [
        ["build", *now],
        ["recheck", "--limit", visits, *now],
        ["ask", f"Where is the {words[0]} near the {words[1]}?", *now],
        ["search", words[0], *now],
        ["status", *now],
    ]


MAY_END_WITH = {"build": {0}, "recheck": {0}, "ask": {0, 3}, "search": {0}, "status": {0}}


def soak(pages: int = PAGES) -> Iterator[Hour]:
    """One record an hour, after its commands were run. Raises AssertionError where one failed or the store is not whole at the end."""
    with serve_site() as site, tempfile.TemporaryDirectory() as folder:
        growing = GrowingSite(site, pages)
        store = Path(folder) / "kb"
        make_store(store)
        (store / "kbcite.toml").write_text(
            f'[[source]]\nurl = "{site.url}/"\ndepth = 3\nallow_private = true\nmax_pages = 10000000\n',
            encoding="ascii",
        )
        cron = subprocess.Popen(
            [sys.executable, "-c", _CRON, str(store)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert cron.stdin is not None
        assert cron.stdout is not None
        try:
            for hour in range(HOURS + QUIET_HOURS):
                growing.hour = hour
                site.requests.clear()
                started = time.monotonic()
                print(json.dumps(commands(hour, growing.count(hour))), file=cron.stdin, flush=True)
                told, *figures = json.loads(cron.stdout.readline())
                for command, code, error in told:
                    assert code in MAY_END_WITH[command], (hour, command, code, error)
                yield Hour(growing.count(hour), *figures, took_s=time.monotonic() - started)
        finally:
            cron.stdin.close()
            cron.stdout.close()
            cron.wait(30)
        examination = examine_store(store, read_data=True)
        assert examination.damage == (), examination.damage
        assert dict(examination.counts)["pages"] == pages + 1, "the start page and those of the lists"


def slope_mb(hours: list[Hour]) -> float:
    """MB a thousand pages, by least squares over the growing hours but the first quarter: what is loaded once is there then."""
    kept = hours[HOURS // 4 : HOURS]
    mean_x = sum(one.pages for one in kept) / len(kept)
    mean_y = sum(one.rss_mb for one in kept) / len(kept)
    rise = sum((one.pages - mean_x) * (one.rss_mb - mean_y) for one in kept)
    return 1000 * rise / sum((one.pages - mean_x) ** 2 for one in kept)


def faults(hours: list[Hour]) -> list[str]:
    """What grew that should not have."""
    found = []
    if slope_mb(hours) >= MAX_SLOPE_MB:
        found.append(f"memory grows by {slope_mb(hours):.2f} MB a 1,000 pages")
    later = hours[HOURS // 4 :]
    files, threads = ({getattr(one, name) for one in later} for name in ("files", "threads"))
    if max(files) - min(files) > 2 or max(threads) - min(threads) > 2:
        found.append(f"open files {sorted(files)}, threads {sorted(threads)}")
    quarter, half, end = hours[HOURS // 4 - 1], hours[HOURS // 2 - 1], hours[HOURS - 1]
    first, second = bytes_a_page(quarter, half), bytes_a_page(half, end)
    if second > MAX_FATTER * first:
        found.append(f"a new page costs {second:.0f} bytes, {first:.0f} before")
    quiet = hours[-1].store_bytes / end.store_bytes - 1
    if quiet > MAX_QUIET_GROWTH:
        found.append(f"the store grew by {quiet:.1%} while nothing happened")
    return found


def bytes_a_page(before: Hour, after: Hour) -> float:
    return (after.store_bytes - before.store_bytes) / (after.pages - before.pages)


def report(pages: int = PAGES) -> bool:
    """Print a line an hour; True if nothing grew that should not have."""
    print(f"{'hour':>4} {'pages':>7} {'RSS MB':>7} {'files':>5} {'threads':>7} {'store MB':>8} {'took s':>6}")
    hours = []
    for hour, one in enumerate(soak(pages)):
        hours.append(one)
        print(
            f"{hour:>4} {one.pages:>7} {one.rss_mb:>7.1f} {one.files:>5} {one.threads:>7} {one.store_bytes / 1e6:>8.1f} {one.took_s:>6.1f}",
            flush=True,
        )
    found = faults(hours)
    quiet = hours[-1].store_bytes / hours[HOURS - 1].store_bytes - 1
    print(
        f"memory {slope_mb(hours):+.3f} MB a 1,000 pages (bar {MAX_SLOPE_MB:g}), {bytes_a_page(hours[HOURS // 2 - 1], hours[HOURS - 1]):.0f} bytes a "
        f"new page, {quiet:+.2%} in {QUIET_HOURS} quiet hours; {'; '.join(found) or 'nothing grew that should not have'}"
    )
    return not found


if __name__ == "__main__":
    sys.exit(0 if report(*map(int, sys.argv[1:2])) else 1)
