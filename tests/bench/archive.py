"""`python -m tests.bench.archive [FOLDER]`: what the archive keeps of a site, against page-by-page zstd, and what a read costs.

FOLDER holds the HTML files of one site; without it a news site of 500 pages is generated: three templates with menus, styles and
scripts of their own, 60 to 90 KB a page, of which 2 to 6 KB are an article that no other page has. Times are of the CPU.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import zstandard

from kbcite.records import FetchedPage
from kbcite.store.archive import COMPRESSION_LEVEL, Archive

PAGES = 500
SITE = "https://news.example"
MIN_RATIO = 4.0
MAX_READ_MS = 1.0


def words(chance: random.Random, count: int) -> str:
    return " ".join("".join(chance.choices("etaoinshrdlucmfw", k=chance.randint(2, 9))) for _ in range(count))


def template(seed: int) -> tuple[str, str]:
    """Head with menu, and foot, of one kind of page."""
    chance = random.Random(seed)
    style = "\n".join(
        f".{words(chance, 1)}{{margin:{chance.randint(0, 40)}px;color:#{chance.randrange(1 << 24):06x}}}"
        for _ in range(500)
    )
    menu = "\n".join(
        f'<li class="item"><a href="/{words(chance, 1)}/{chance.randrange(10**6)}.html">{words(chance, 3)}</a></li>'
        for _ in range(300)
    )
    script = "\n".join(f'_push("{words(chance, 2)}",{{id:{chance.randrange(10**9)}}});' for _ in range(250))
    head = f"<!doctype html><html><head><style>{style}</style></head><body><ul>{menu}</ul><main>"
    return head, f"</main><script>{script}</script></body></html>"


def news_site() -> list[bytes]:
    chance = random.Random(1)
    templates = [template(seed) for seed in range(3)]
    pages = []
    for _ in range(PAGES):
        head, foot = chance.choice(templates)
        text = "".join(f"<p>{words(chance, 60)}.</p>" for _ in range(chance.randint(4, 14)))
        pages.append(f"{head}<h1>{words(chance, 7)}</h1>{text}{foot}".encode())
    return pages


def report(folder: Path | None = None) -> bool:
    """Print the figures; True if they are within their bars."""
    pages = [file.read_bytes() for file in sorted(folder.rglob("*.html"))[:PAGES]] if folder else news_site()
    alone = sum(len(zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(page)) for page in pages)
    with tempfile.TemporaryDirectory() as store:
        path = Path(store) / "archive.sqlite3"
        with Archive(path) as archive:
            began = time.process_time()
            with archive.transaction():
                digests = [archive.put_response(answer(n, body)) for n, body in enumerate(pages)]
            put_ms = (time.process_time() - began) * 1000 / len(pages)
            _, size, kept = archive.sizes()
        file_size = path.stat().st_size
        with Archive(path) as archive:  # opened anew, so that no dictionary is in memory
            random.Random(2).shuffle(digests)
            reads = sorted(read_ms(archive, digest) for digest in digests)
    ratio, median = alone / kept, statistics.median(reads)
    ok = (ratio >= MIN_RATIO or folder is not None) and median <= MAX_READ_MS
    print(
        f"archive of {len(pages)} pages of one site: {size / 1e6:.1f} MB, page by page {alone / 1e6:.2f} MB, kept in {kept / 1e6:.2f} MB"
        f" (x {ratio:.1f} less), file with headers {file_size / 1e6:.2f} MB; put {put_ms:.1f} ms, read {median:.2f} ms (median),"
        f" {reads[len(reads) * 99 // 100]:.2f} ms (99 %)  {'ok' if ok else 'MISSED'}"
    )
    return ok


def answer(n: int, body: bytes) -> FetchedPage:
    url = f"{SITE}/{n}.html"
    headers = (("content-type", "text/html"), ("etag", f'"{n}"'), ("server", "nginx"))
    return FetchedPage(url, url, 200, headers, body, "2026-03-01T08:00:00Z")


def read_ms(archive: Archive, digest: str) -> float:
    began = time.process_time()
    archive.get(digest)
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    sys.exit(not report(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
