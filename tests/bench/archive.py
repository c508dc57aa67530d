"""`python -m tests.bench.archive [FOLDER...]`: what the archive keeps of a site, against page-by-page compression, and what a read costs.

A news site of 500 pages is generated: three templates with menus, styles and scripts of their own, 60 to 90 KB a page, of which 2 to 6
KB are an article that no other page has. Beside it stand the HTML files of one site in each FOLDER, or the Debian manuals that are
installed: their pages are text nearly all through, and what they have in common is bounded by how small they get in one piece.
"""

from __future__ import annotations

import gzip
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard

from kbcite.fetch_records import FetchedPage
from kbcite.store.archive import COMPRESSION_LEVEL, Archive
from tests.debian_docs import ROOTS

PAGES = 500
MIN_PAGES = 15
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


@dataclass(frozen=True)
class Figures:
    """Bytes of the pages of one site: as fetched, under schemes that take page by page, kept, and in one piece."""

    pages: int
    raw: int
    gzip: int
    """As a WARC file holds them: gzip -6 for each."""
    zstd: int
    """The archive's own level for each."""
    kept: int
    whole: int
    """All in one frame that cannot be read at random: hardly any scheme of dictionaries or blocks gets below it."""
    file: int
    """The archive's file, with headers and indexes."""
    put_ms: float
    read_ms: float
    slow_read_ms: float
    """Median and 99 % of the reads."""


def measure(pages: list[bytes]) -> Figures:
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
    long = zstandard.ZstdCompressionParameters.from_level(12, window_log=27, enable_ldm=True)
    return Figures(
        len(pages),
        size,
        sum(len(gzip.compress(page, 6)) for page in pages),
        sum(len(zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress(page)) for page in pages),
        kept,
        len(zstandard.ZstdCompressor(compression_params=long).compress(b"".join(pages))),
        file_size,
        put_ms,
        statistics.median(reads),
        reads[len(reads) * 99 // 100],
    )


def corpora(folders: Sequence[Path]) -> Iterator[tuple[str, list[bytes]]]:
    """Name and pages of each site: the generated one, and those in the folders or, without any, the manuals that are installed."""
    yield "generated news site", news_site()
    named = {str(folder): folder for folder in folders} or {f"manual {name}": root for name, root in ROOTS.items()}
    for name, folder in named.items():
        files = sorted(folder.rglob("*.html"))
        # One file in so many, so that a site of more pages is not judged by its first chapters.
        bodies = dict.fromkeys(
            file.read_bytes() for file in files[:: max(1, len(files) // PAGES)][:PAGES] if file.is_file()
        )
        if len(bodies) >= MIN_PAGES:
            yield name, list(bodies)


def report(folders: Sequence[Path] = ()) -> bool:
    """Print the figures; True if the generated site is within its bars, and reading within them everywhere."""
    print("archive: how many times less than page by page; what a read costs, CPU ms")
    print(
        f"{'site':<22} {'pages':>5} {'MB':>5} {'kept':>6} {'file':>6} {'of gzip -6':>10} {'of zstd':>7} {'in one piece':>12} {'put':>5} {'read':>5} {'99 %':>5}"
    )
    ok = True
    for name, pages in corpora(folders):
        found = measure(pages)
        is_within = found.read_ms <= MAX_READ_MS and (
            name != "generated news site" or found.zstd >= MIN_RATIO * found.kept
        )
        ok &= is_within
        print(
            f"{name[-22:]:<22} {found.pages:>5} {found.raw / 1e6:>5.1f} {found.kept / 1e6:>6.2f} {found.file / 1e6:>6.2f}"
            f" {found.gzip / found.kept:>10.2f} {found.zstd / found.kept:>7.2f} {found.zstd / found.whole:>12.2f}"
            f" {found.put_ms:>5.1f} {found.read_ms:>5.2f} {found.slow_read_ms:>5.2f}  {'ok' if is_within else 'MISSED'}",
            flush=True,
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
    sys.exit(not report([Path(name) for name in sys.argv[1:]]))
