"""`python -m tests.bench.crawl_manners [PAGES]`: 50 hosts at one request a second each, by the servers' own log.

Each host answers after 100 ms. The lower bound is what one host's pages and robots.txt take at its rate; the crawl of all fifty should
take little more, and no host may ever be asked more often.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import crawl_site
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.web.fetch import Fetcher
from tests.generated_site import serve_generated, star_page

HOSTS = 50
PAGES = 20
INTERVAL_S = 1.0
DELAY_S = 0.1
SETTINGS = CrawlSettings(private_interval_s=INTERVAL_S, jitter=0.05)


@dataclass(frozen=True)
class Manners:
    requests: int
    wall_s: float
    lower_bound_s: float
    fastest_rate: float
    """Requests a second of the host that was asked fastest, from its first to its last."""
    shortest_gap_s: float

    @property
    def ratio(self) -> float:
        return self.wall_s / self.lower_bound_s


def crawl_politely(hosts: int = HOSTS, pages: int = PAGES, settings: CrawlSettings = SETTINGS) -> Manners:
    with serve_generated(star_page(pages), DELAY_S) as site, tempfile.TemporaryDirectory() as folder:
        sources = [SourceSettings(url=f"{site.url(f'127.0.0.{n}')}/0", allow_private=True) for n in range(1, hosts + 1)]
        with (
            Database(Path(folder) / "kb.sqlite3") as database,
            Archive(Path(folder) / "archive.sqlite3") as archive,
            Fetcher(settings, allow_private=lambda _: True) as fetcher,
        ):
            began = time.monotonic()
            for _ in crawl_site(database, archive, fetcher.fetch, sources, settings=settings):
                pass
            wall = time.monotonic() - began
            stored = database.pages.count()
        logs = list(site.requests.values())
    if (len(logs), stored) != (hosts, hosts * pages):
        raise SystemExit(f"{stored} pages of {len(logs)} hosts were stored, not {hosts * pages} of {hosts}")
    return Manners(
        requests=sum(map(len, logs)),
        wall_s=wall,
        lower_bound_s=pages * settings.private_interval_s + DELAY_S,
        fastest_rate=max((len(log) - 1) / (log[-1] - log[0]) for log in logs),
        shortest_gap_s=min(b - a for log in logs for a, b in pairwise(log)),
    )


def crawl_manners(pages: int = PAGES) -> bool:
    """Print the figures; True if the crawl keeps both bounds."""
    found = crawl_politely(pages=pages)
    ok = found.ratio <= 1.1 and found.fastest_rate <= 1 / INTERVAL_S
    print(
        f"{HOSTS} hosts, {found.requests} requests: {found.wall_s:.1f} s, {found.ratio:.3f} x the lower bound (bar 1.1); fastest host"
        f" {found.fastest_rate:.3f} requests/s (bar {1 / INTERVAL_S:g}), shortest gap {found.shortest_gap_s:.3f} s {'ok' if ok else 'MISSED'}"
    )
    return ok


if __name__ == "__main__":
    sys.exit(0 if crawl_manners(*map(int, sys.argv[1:2])) else 1)
