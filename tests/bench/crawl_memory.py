"""`python -m tests.bench.crawl_memory [PAGES]`: memory and open files of a crawl as it goes on; 100,000 pages unless said.

The site is made up on the fly in this process, the crawl runs in one of its own and says every so many pages what it holds. SQLite's
page caches are kept small there: they fill up to their bound, which is no leak and would hide one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.generated_site import serve_generated, tree_page

PAGES = 100_000
MAX_SLOPE_MB = 1.0
"""A thousand pages."""

_CRAWL = """
import json, os, sys
from pathlib import Path
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import crawl_site
from kbcite.stages.crawl_results import Crawled
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.web.fetch import Fetcher

folder, url, every = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
source = SourceSettings(url=url, depth=100, max_pages=10_000_000, allow_private=True)
settings = CrawlSettings()

def say(pages):
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    files = len(os.listdir("/proc/self/fd"))
    print(json.dumps([pages, int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"])]), flush=True)

with Database(folder / "kb.sqlite3") as database, Archive(folder / "archive.sqlite3") as archive:
    for connection in (database.connection, archive.connection):
        connection.execute("PRAGMA cache_size = -2000")
    with Fetcher(settings, allow_private=lambda _: True) as fetcher:
        pages = 0
        for event in crawl_site(database, archive, fetcher.fetch, [source], settings=settings):
            if isinstance(event, Crawled):
                pages += 1
                if pages % every == 0:
                    say(pages)
"""


@dataclass(frozen=True)
class Sample:
    pages: int
    rss_mb: float
    files: int
    threads: int


def memory_of_crawl(pages: int) -> list[Sample]:
    """What the crawl held at each twentieth of its way. Raises SystemExit unless it fetched every page."""
    every = pages // 20
    with serve_generated(tree_page(pages)) as site, tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _CRAWL, folder, f"{site.url()}/0", str(every)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    samples = [Sample(*json.loads(line)) for line in done.stdout.splitlines()]
    if not samples or samples[-1].pages != every * 20:
        raise SystemExit(f"the crawl ended after {samples[-1].pages if samples else 0} of {pages} pages")
    return samples


def slope_mb(samples: list[Sample]) -> float:
    """MB a thousand pages, by least squares over all but the first quarter."""
    kept = samples[len(samples) // 4 :]
    mean_x = sum(one.pages for one in kept) / len(kept)
    mean_y = sum(one.rss_mb for one in kept) / len(kept)
    rise = sum((one.pages - mean_x) * (one.rss_mb - mean_y) for one in kept)
    return 1000 * rise / sum((one.pages - mean_x) ** 2 for one in kept)


def crawl_memory(pages: int = PAGES) -> bool:
    """Print the figures; True if memory grows less than the bar and the open files stay the same."""
    samples = memory_of_crawl(pages)
    kept = samples[len(samples) // 4 :]
    files = {one.files for one in kept}
    ok = slope_mb(samples) < MAX_SLOPE_MB and max(files) - min(files) <= 2
    print(
        f"{pages} pages: RSS {samples[0].rss_mb:.0f} MB at {samples[0].pages}, {samples[-1].rss_mb:.0f} MB at the end, "
        f"{slope_mb(samples):.3f} MB a 1,000 pages (bar {MAX_SLOPE_MB:g}); open files {min(files)} to {max(files)} {'ok' if ok else 'MISSED'}"
    )
    return ok


if __name__ == "__main__":
    sys.exit(0 if crawl_memory(*map(int, sys.argv[1:2])) else 1)
