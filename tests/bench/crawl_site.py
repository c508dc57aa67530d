"""Made-up sites of any size for measuring crawls: pages from their number alone, written out for nginx or answered on the fly."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LINKS = 20
_WORDS = """river archive winter council harbour granite ledger orchard signal meadow copper lantern voyage timber market
valley charter bridge quarry garden station museum parish border island mill tower canal""".split()


_STYLE = (
    "<style>\n"
    + "\n".join(
        f".part-{n} {{ margin: {n}px auto; padding: 0 {n}em; color: #{n * 1111:06x}; border: 1px solid }}"
        for n in range(12)
    )
    + "\n</style>\n"
)
_MENU = (
    "<nav class=menu><ul>"
    + "".join(
        f'<li class="menu-entry level-{n % 3}"><a href="/p{n}.html" title="Go to entry {n}">Entry {n}</a></li>'
        for n in range(16)
    )
    + "</ul></nav>"
)
_FOOTER = '<footer class="site-footer"><p>Made for measuring. All rights reserved, terms of use, privacy, imprint.</p></footer>'


def page(n: int, count: int) -> bytes:
    """Page `n` of `count`, about 6 kB: half of it the frame that all pages share, then prose, and links that reach every page from page 0."""
    chance = random.Random(n)
    prose = "\n".join(
        f"<h2>Part {part} of page {n}</h2>\n<p>{' '.join(chance.choices(_WORDS, k=90))}.</p>" for part in range(4)
    )
    # Two children of a binary tree reach all pages; the rest are links across, as real pages have.
    near = [n * 2 + 1, n * 2 + 2, *(chance.randrange(count) for _ in range(LINKS - 2))]
    links = " ".join(f'<a href="p{to}.html">see page {to}</a>' for to in near if to < count)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page {n}</title>\n'
        f'<link rel="canonical" href="/p{n}.html">\n{_STYLE}</head>\n<body>{_MENU}\n<main><h1>Page {n}</h1>\n'
        f"{prose}\n<p>{links}</p></main>\n{_FOOTER}</body></html>\n"
    ).encode()


def write_site(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n", encoding="utf-8")
    for n in range(count):
        (folder / f"p{n}.html").write_bytes(page(n, count))


def nginx_path() -> str | None:
    """Where nginx is; it is often outside the PATH of a user who is not root."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """The URL of a folder served by nginx on loopback, without a trailing slash. Raises SystemExit where nginx does not start."""
    binary = nginx_path()
    if binary is None:
        raise SystemExit("nginx is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as run:
        settings = Path(run) / "nginx.conf"
        temporary = "".join(
            f"{kind}_temp_path {run}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        settings.write_text(
            f"""daemon off; worker_processes 1; pid {run}/pid; error_log {run}/error.log;
            events {{ worker_connections 256; }}
            http {{
              types {{ text/html html; text/plain txt; }} charset utf-8; access_log off; keepalive_requests 100000; {temporary}
              server {{ listen 127.0.0.1:{port}; root {folder}; }}
            }}""",
            encoding="utf-8",
        )
        for above in (folder, folder.parent):  # nginx's worker is another user where it was started by root
            above.chmod(0o755)
        process = subprocess.Popen(
            [binary, "-p", run, "-c", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=10)


def _wait_for(port: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("nginx did not start")
