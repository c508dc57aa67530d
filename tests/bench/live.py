"""How long an answer takes on the demo's pages: from the store, beside a page of three seconds, and again within the hour.

`python -m tests.bench.live` builds the demo's store and asks a few times in processes of their own, as a user does. The answer's own time is
compared with the bars; starting Python and reading the store come on top of it, and are shown beside.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.golden_site import serve_golden_pages

ROUNDS = 5
DELAY_S = 3.0
BUILT = datetime(2026, 10, 1, 8, tzinfo=UTC)
PAGE, QUESTION = "price-list-old-and-new", "RO反渗透滤芯的价格是多少？"


@dataclass(frozen=True)
class Asked:
    record: dict[str, Any]
    live: dict[str, Any]
    """Of the trace."""
    process_s: float

    @property
    def total_s(self) -> float:
        return float(self.record["timing_ms"]["total"]) / 1000

    @property
    def fetch_s(self) -> float:
        spans = [fetch["ended_ms"] - fetch["began_ms"] for fetch in self.live["fetches"] if fetch["way"] == "fetch"]
        return max(spans, default=0.0) / 1000


class Store:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "kbcite", "--store", str(self.folder), *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def ask(self, at: datetime) -> Asked:
        began = time.monotonic()
        record = json.loads(self.run("--json", "--now", at.isoformat(), "ask", QUESTION))
        took = time.monotonic() - began
        return Asked(record, json.loads(self.run("--json", "trace"))["trace"]["live"], took)


def measure(folder: Path) -> dict[str, list[Asked]]:
    """Answers from the store, beside a slow page, and half an hour after that."""
    delays_s: dict[str, float] = {}
    with serve_golden_pages(delays_s=delays_s) as site:
        store = Store(folder)
        store.run("init")
        page = f"{site}{PAGE}/"
        store.run("source", "add", site, "--allow-private", "--depth", "1", "--live", page, "--topic", "滤芯")
        store.run("--now", BUILT.isoformat(), "build")
        asked: dict[str, list[Asked]] = {"stored": [], "live": [], "again": []}
        delays_s[PAGE] = DELAY_S
        for n in range(ROUNDS):
            # Of the class `product`, the answer is stale after a week.
            now = BUILT + timedelta(days=8 * n)
            asked["stored"].append(store.ask(now + timedelta(hours=1)))
            asked["live"].append(store.ask(now + timedelta(days=8)))
            asked["again"].append(store.ask(now + timedelta(days=8, minutes=30)))
    return asked


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="kbcite-live-") as folder:
        asked = measure(Path(folder) / "kb")
    for way, bar in (("stored", 1.0), ("live", 4.2), ("again", 1.0)):
        rounds = asked[way]
        outcomes = {one.record["freshness"]["live"]["outcome"] for one in rounds}
        total, process = (statistics.median(getattr(one, name) for one in rounds) for name in ("total_s", "process_s"))
        line = f"{way:<7} {total:.2f} s (bar {bar:g} s), the whole process {process:.2f} s, outcome {', '.join(sorted(outcomes))}"
        if way == "live":
            best = min(rounds, key=lambda one: one.total_s)
            began, ended = best.live["retrieval_ms"]
            line += (
                f"; quickest {best.total_s:.2f} s: fetch {best.fetch_s:.2f} s, retrieval from {began:.0f} to {ended:.0f} ms, "
                f"{best.live['overlap_ms']:.0f} ms of it beside the fetch"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
