"""`python -m tests.bench.crawl_speed [PAGES]`: pages a second over a local site behind nginx, beside Scrapy, in turn.

kbcite runs as people run it: `kbcite crawl` with robots.txt, archive, database commits and links. Scrapy follows the same links and
stores nothing. Whole processes are timed, start-up included.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from tests.bench.crawl_site import nginx, nginx_path, write_site

PAGES = 2_000
ROUNDS = 3
WANTED = 300.0
"""Pages a second."""


def crawl_speed(pages: int = PAGES, rounds: int = ROUNDS) -> bool:
    """Print both rates; True if kbcite reaches `WANTED` and is the faster one. Says so where a program is missing."""
    if nginx_path() is None:
        print("crawl speed: skipped, nginx is not installed")
        return True
    has_peer = find_spec("scrapy") is not None
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        write_site(Path(folder) / "site", pages)
        with nginx(Path(folder) / "site") as url:
            seed = f"{url}/p0.html"
            for n in range(rounds):
                ours.append(_timed(_kbcite_crawl(Path(folder) / f"kb{n}", seed, pages), f"fetched {pages},"))
                if has_peer:
                    theirs.append(_timed([sys.executable, "-m", "tests.bench.scrapy_peer", seed], str(pages)))
    best = _line("kbcite crawl", ours, pages)
    if not has_peer:
        print("scrapy          skipped, not installed (pip install --group bench)")
        return best >= WANTED
    return _line("scrapy", theirs, pages) < best >= WANTED


def _kbcite_crawl(store: Path, seed: str, pages: int) -> list[str]:
    base = [sys.executable, "-m", "kbcite", "--store", str(store)]
    add = ["source", "add", seed, "--allow-private", "--depth", "100", "--max-pages", str(pages + 1)]
    for step in (["init"], add):
        subprocess.run([*base, *step], check=True, capture_output=True)
    return [*base, "crawl"]


def _timed(command: list[str], wanted: str) -> tuple[float, float]:
    """Wall and CPU seconds of a command. Raises SystemExit unless it prints what a whole crawl prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if wanted not in done.stdout:
        raise SystemExit(f"{' '.join(command)} printed {done.stdout!r}, not {wanted!r}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _line(name: str, runs: list[tuple[float, float]], pages: int) -> float:
    wall, cpu = (statistics.median(side) for side in zip(*runs, strict=True))
    print(f"{name:<14} {pages / wall:6.0f} pages/s   {cpu / pages * 1000:5.2f} ms CPU a page   (median of {len(runs)})")
    return pages / wall


if __name__ == "__main__":
    sys.exit(0 if crawl_speed(*map(int, sys.argv[1:2])) else 1)
