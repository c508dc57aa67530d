"""Real documents, served on loopback: manuals from Debian packages, in English and Chinese.

    python -m tests.debian_docs build STORE [more]     serve them, build a store, and check it against the sites' own links
    python -m tests.debian_docs serve PORT [more]      only serve them

There are two sets: five manuals about Python and Debian, and with `more` those of a database, an office suite, an image
editor, a music typesetter and a machine controller, the larger ones in part. Needs the packages of `PACKAGES` or `MORE_PACKAGES`.
"""

from __future__ import annotations

import json
import mimetypes
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import run
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

DOC = Path("/usr/share/doc")
ROOTS = {
    "python": DOC / "python3.11" / "html",
    "handbook": DOC / "debian-handbook" / "html" / "zh-CN",
    "reference": Path("/usr/share/debian-reference"),
    "faq": DOC / "debian" / "FAQ" / "zh-cn",
    "maint-guide": DOC / "maint-guide-zh-cn" / "html",
    "postgres": DOC / "postgresql-doc-15" / "html",
    "gimp": Path("/usr/share/gimp/2.0/help/zh_CN"),
    "lilypond": DOC / "lilypond" / "html" / "Documentation",
    "office": Path("/usr/share/libreoffice/help"),
    "linuxcnc": DOC / "linuxcnc",
}
EDITED: dict[str, bytes] = {}
"""Paths that answer with other bytes than the file's: what a test changes on the site."""
SEEDS = {
    "python": "python/index.html",
    "handbook": "handbook/index.html",
    "reference": "reference/index.zh-cn.html",
    "faq": "faq/index.zh-cn.html",
    "maint-guide": "maint-guide/index.zh-cn.html",
}
MORE_SEEDS = {
    "postgres": "postgres/index.html",
    "gimp": "gimp/index.html",
    "lilypond": "lilypond/learning/index.zh.html",
    "office": "office/zh-CN/text/scalc/guide/main.html",
    "linuxcnc": "linuxcnc/gcode_zh_CN.html",
}
EXCLUDED = {
    "postgres": r"/(?:release-\d|ecpg|infoschema-|spi|catalog-|view-|pl(?:pgsql|perl|tcl|python)|protocol|libpq|sp?gist|gin|brin|bki)",
    "gimp": r"/(?:gfdl|plug-in|script-fu|python-fu)",
    "lilypond": r"/[\w-]+\.html",
}
SCOPES = {
    "lilypond": ("lilypond/learning/", "lilypond/web/"),
    "office": ("office/zh-CN/text/scalc/", "office/zh-CN/text/swriter/guide/", "office/zh-CN/text/shared/guide/"),
}
"""What is left out of the large ones, and which folders of a site belong to it."""


def file_of(path: str) -> Path | None:
    """The file that a URL path names, or None; nothing outside the manuals is served."""
    name, _, rest = unquote(path).lstrip("/").partition("/")
    root = ROOTS.get(name)
    if root is None:
        return None
    file = (root / rest).resolve()
    # The packages link some files to each other, so the manual's own folder is not the only one allowed.
    return file if file.is_file() and file.is_relative_to("/usr/share") else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        file = file_of(urlsplit(self.path).path)
        body = EDITED.get(self.path.lstrip("/")) or (file.read_bytes() if file else b"not here")
        self.send_response(200 if file else 404)
        # No charset in the header: the decoder has to find it.
        self.send_header("Content-Type", (mimetypes.guess_type(file.name)[0] if file else None) or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are nothing to report."""


@contextmanager
def serve(port: int = 0) -> Iterator[str]:
    server = _Server(("127.0.0.1", port), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("a", "area", "link"):
            self.found += [value for key, value in attrs if key == "href" and value and tag != "link"]


def reachable(name: str) -> set[str]:
    """Paths of all HTML pages that links reach from a manual's seed, found by the standard library's parser alone."""
    seen, queue = set(), [SEEDS[name]]
    while queue:
        path = queue.pop()
        file = file_of(path)
        if path in seen or file is None or file.suffix != ".html":
            continue
        seen.add(path)
        parser = _Links()
        parser.feed(file.read_text(encoding="utf-8", errors="replace"))
        for link in parser.found:
            target = urlsplit(urljoin(f"http://x/{path}", urldefrag(link.strip())[0]))
            if target.netloc == "x" and target.path.lstrip("/").startswith(f"{name}/"):
                queue.append(unquote(target.path.lstrip("/")))
    return seen


def kbcite(store: str, *arguments: str) -> str:
    """What a kbcite command prints; a page that answers 404 (the manuals link some) is no failure."""
    done = run(
        [sys.executable, "-m", "kbcite", "--store", store, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(f"kbcite {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def build(store: str, site: str, names: Iterable[str] = SEEDS) -> None:
    print(kbcite(store, "init"), end="")
    for name in names:
        limits = ["--allow-private", "--depth", "30", "--max-pages", "2000"]
        limits += [f"--exclude={EXCLUDED[name]}"] if name in EXCLUDED else []
        limits += [f"--scope={site}{scope}" for scope in SCOPES.get(name, ())]
        print(kbcite(store, "source", "add", site + (SEEDS | MORE_SEEDS)[name], *limits), end="")
    print(kbcite(store, "build"), end="")


def missing(store: str, names: Iterable[str] = SEEDS) -> list[str]:
    """Reachable pages that the store has not."""
    rows = json.loads(kbcite(store, "--json", "status", "--pages"))["page_list"]
    stored = {unquote(urlsplit(row["url"]).path.lstrip("/")) for row in rows}
    return sorted(path for name in names for path in reachable(name) - stored)


PACKAGES = "python3.11-doc debian-handbook debian-reference-zh-cn debian-faq-zh-cn maint-guide-zh-cn"
MORE_PACKAGES = "postgresql-doc-15 gimp-help-zh-cn lilypond-doc-html-zh libreoffice-help-zh-cn linuxcnc-doc-zh-cn"


def main() -> int:
    is_more = sys.argv[3:4] == ["more"]
    seeds, packages = (MORE_SEEDS, MORE_PACKAGES) if is_more else (SEEDS, PACKAGES)
    if absent := [str(ROOTS[name]) for name in seeds if not ROOTS[name].is_dir()]:
        raise SystemExit(f"there is no {absent[0]}; apt install {packages}")
    if sys.argv[1:2] == ["serve"]:
        with serve(int(sys.argv[2])) as site:
            print(site, *(site + seed for seed in seeds.values()), sep="\n", flush=True)
            threading.Event().wait()
    with serve() as site:
        build(sys.argv[2], site, seeds)
    if is_more:
        return 0  # parts are left out, so what links reach says nothing
    gone = missing(sys.argv[2])
    total = sum(len(reachable(name)) for name in SEEDS)
    print(f"{total - len(gone)} of {total} reachable pages are stored", *gone, sep="\n")
    return bool(gone)


if __name__ == "__main__":
    sys.exit(main())
