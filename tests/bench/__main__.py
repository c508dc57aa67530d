"""`make bench [DATA=FOLDER]`: start-up, upkeep and how fresh it keeps a store, crawls, then quality and speed on a folder's data.

The folder may hold `encoding/`, `extract/` and `qa/`, each with the `score.py` that judges the run. KBCITE_BENCH_STORE names a
store to time `ask` on; without it one is built from the golden pages. Times are medians of runs in turn, as ratios.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import archive, recheck, schedule
from tests.bench.crawl_manners import crawl_manners
from tests.bench.crawl_speed import crawl_speed
from tests.golden_site import serve_golden_pages

RUNS = 9
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of what is timed: an installed program has its bytecode."""


def wall_s(command: Sequence[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, env=INSTALLED)
    took = time.perf_counter() - began
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return took


def ratio(name: str, command: Sequence[str], peer: Sequence[str], bar: float) -> bool:
    """Time a command and its peer in turn; print the medians and their ratio; True if it is within the bar."""
    wall_s(command), wall_s(peer)
    pairs = [(wall_s(command), wall_s(peer)) for _ in range(RUNS)]
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    ok = ours / theirs <= bar
    print(
        f"{name:<34} {ours * 1000:7.0f} ms  {theirs * 1000:6.0f} ms  x {ours / theirs:5.2f}  (bar {bar}) {'ok' if ok else 'MISSED'}"
    )
    return ok


def start_up(store: str) -> bool:
    python = sys.executable
    kbcite = [str(Path(python).parent / "kbcite")]
    light = [python, "-c", "import typer, rich"]
    print(f"start-up, median of {RUNS} runs in turn: command, peer, ratio")
    helped = ratio("--help against typer, rich", [*kbcite, "--help"], light, 2.5)
    needed = [python, "-c", "import typer, rich, numpy, faiss"]
    question = "apt 怎么升级软件包？"
    asked = ratio("ask against its imports", [*kbcite, "--store", store, "ask", question], needed, 2.5)
    return helped and asked


def build_golden_store(folder: Path) -> str:
    store = str(folder / "kb")
    base = [sys.executable, "-m", "kbcite", "-q", "--store", store]
    with serve_golden_pages() as site:
        for step in (["init"], ["source", "add", site, "--allow-private", "--depth", "1"], ["build"]):
            subprocess.run([*base, *step], check=True, stdout=subprocess.DEVNULL)
    return store


def score(data: Path) -> None:
    """Run the judges that the data folder brings."""

    def run(*command: str) -> None:
        print(f"\n$ {' '.join(command)}", flush=True)
        subprocess.run([sys.executable, *command], check=True)

    if (data / "encoding").is_dir():
        run(
            str(data / "encoding" / "score.py"),
            str(data / "encoding" / "cases.zip"),
            "--impl",
            "tests.bench.adapters:decode",
        )
    if (data / "extract").is_dir():
        extract = data / "extract"
        run(
            str(extract / "score.py"),
            "--data",
            str(extract / "dev"),
            "--callable",
            "tests.bench.adapters:clean",
            "--path",
            ".",
        )
        run(str(extract / "score_dates.py"), "--callable", "tests.bench.adapters:published", "--path", ".")
    if (data / "qa").is_dir():
        with tempfile.TemporaryDirectory() as folder:
            for mode in ("retrieval", "answers", "support", "dedup", "timeclass"):
                out = str(Path(folder) / f"{mode}.jsonl")
                run("-m", "tests.bench.qa_run", mode, str(data / "qa"), out)
                run(str(data / "qa" / "score.py"), mode, out, "--boot", "0")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        fast = start_up(os.environ.get("KBCITE_BENCH_STORE") or build_golden_store(Path(folder)))
    kept = archive.report()
    upkept = [recheck.report(), schedule.report()]
    crawled = [crawl_speed(), crawl_manners()]
    if len(sys.argv) > 1:
        score(Path(sys.argv[1]))
    return 0 if fast and kept and all(upkept) and all(crawled) else 1


if __name__ == "__main__":
    sys.exit(main())
