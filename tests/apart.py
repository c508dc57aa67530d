"""Hostile input in a process of its own: what came of it, how long it took, and the most memory it needed.

`Apart` starts `python -m tests.apart` once and sends it a task a line; the servers that it fetches from run in the caller's process, so
that their memory is not counted. What a task needs is imported by the task, and not counted against the others.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.records import Skipped
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.web import guard
from kbcite.web.addresses import is_private
from kbcite.web.fetch import Fetcher
from kbcite.web.scope import Scope

MAX_PEAK_MB = 300
QUICK = CrawlSettings(
    connect_timeout_s=0.7, total_timeout_s=1.2, max_bytes=5_000_000, max_redirects=5, retries=0, threads=4
)


@dataclass(frozen=True)
class Outcome:
    result: dict[str, Any]
    elapsed_s: float
    peak_mb: float

    def __getitem__(self, name: str) -> Any:
        return self.result[name]


class Apart:
    """The other process. Every task must end within `limit_s` seconds and stay below `MAX_PEAK_MB`."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        # A proxy and a netrc that must not be used: nothing listens there, and the server would see the password.
        proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "ALL_PROXY"), "http://127.0.0.1:9/")
        netrc = Path(tempfile.gettempdir()) / "kbcite-test-netrc"
        netrc.write_text("machine 127.0.0.1 login user password secret\n", encoding="ascii")
        netrc.chmod(0o600)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.apart"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | proxies | {"NETRC": str(netrc)},
            cwd=Path(__file__).parent.parent,
        )

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)

    def _do(self, task: str, limit_s: float, **options: Any) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"task": task, **options}), file=self._process.stdin, flush=True)
        watchdog = threading.Timer(3 * limit_s, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        if not line:
            self.close()
            self._start()
            raise AssertionError(f"{task} did not end within {3 * limit_s:g} s, or brought its process down")
        outcome = Outcome(**json.loads(line))
        assert outcome.peak_mb < MAX_PEAK_MB
        assert outcome.elapsed_s < limit_s
        return outcome

    def fetch(
        self,
        url: str,
        *,
        limit_s: float = 2.5,
        private: str = "",
        public: str = "127.0.0.1",
        names: dict[str, list[str]] | None = None,
        settings: dict[str, Any] | None = None,
        authority: str = "",
    ) -> Outcome:
        """A FetchedPage (its body as text in latin-1) or FetchFailure as a dictionary.

        private: the beginning of the URLs that may be at private addresses. public: an address that is to pass for a public one. names:
        what the resolver says of a name, one answer a question, the last for ever. authority: a file of certificates that are trusted.
        """
        return self._do(
            "fetch",
            limit_s,
            url=url,
            private=private,
            public=public,
            names=names or {},
            settings=settings or {},
            authority=authority,
        )

    def crawl(self, *sources: SourceSettings, limit_s: float = 8.0, settings: dict[str, Any] | None = None) -> Outcome:
        """`pages`: URLs that were stored, `left_out`: reason by URL, `rows`: how many URLs the frontier holds."""
        return self._do("crawl", limit_s, sources=[asdict(source) for source in sources], settings=settings or {})

    def clean(self, body: bytes, content_type: str | None = "text/html", limit_s: float = 10.0) -> Outcome:
        """`reason` of a page that was skipped, None for one that was read; `text`, `encoding`."""
        return self._do("clean", limit_s, body=base64.b64encode(body).decode(), content_type=content_type)

    def read_list(self, body: bytes, limit_s: float = 10.0) -> Outcome:
        """`links` of a sitemap or feed, None for what is neither."""
        return self._do("read_list", limit_s, body=base64.b64encode(body).decode())

    def read_links(self, text: str, limit_s: float = 10.0) -> Outcome:
        return self._do("read_links", limit_s, text=text)


# ------------------------------------------------------------ the other side


def _fetch(
    url: str, private: str, public: str, names: dict[str, list[str]], settings: dict[str, Any], authority: str
) -> Any:
    real_resolve = socket.getaddrinfo

    def resolve(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        if host not in names:
            return real_resolve(host, port, *args, **options)
        address = names[host].pop(0) if len(names[host]) > 1 else names[host][0]
        return real_resolve(address, port, *args, **options)

    with (
        patch.object(guard, "is_private", lambda address: address != public and is_private(address)),
        patch.object(socket, "getaddrinfo", resolve),
        patch.dict(os.environ, {"SSL_CERT_FILE": authority} if authority else {}),
        Fetcher(_settings(settings), allow_private=lambda hop: bool(private) and hop.startswith(private)) as fetcher,
    ):
        result = fetcher.fetch(url)
    told = asdict(result)
    if isinstance(result, FetchedPage):
        told["body"] = result.body[:1000].decode("latin-1")
        told["length"] = len(result.body)
        told["reason"] = None
    return told


def _crawl(sources: list[dict[str, Any]], settings: dict[str, Any]) -> Any:
    from kbcite.stages.crawl import Crawled, crawl_site
    from kbcite.store.archive import Archive
    from kbcite.store.database import Database

    whitelist = [
        SourceSettings(**{key: tuple(value) if isinstance(value, list) else value for key, value in source.items()})
        for source in sources
    ]
    options = _settings(settings)
    told: dict[str, Any] = {"pages": [], "left_out": {}}
    with (
        tempfile.TemporaryDirectory() as folder,
        Database(Path(folder) / "kb.sqlite3") as database,
        Archive(Path(folder) / "archive.sqlite3") as archive,
        Fetcher(options, allow_private=Scope(whitelist).allows_private) as fetcher,
    ):
        for event in crawl_site(database, archive, fetcher.fetch, whitelist, settings=options):
            if isinstance(event, Crawled):
                told["pages"].append(event.url)
            elif isinstance(event, Skipped | FetchFailure):
                told["left_out"][event.url] = event.reason
        told["rows"], told["characters"] = database.connection.execute(
            "SELECT count(*), sum(length(url)) FROM frontier"
        ).fetchone()
        told["reasons"] = dict(
            database.connection.execute("SELECT reason, count(*) FROM frontier GROUP BY reason").fetchall()
        )
    return told


def _clean(body: str, content_type: str | None) -> Any:
    from kbcite.page.cleaning import clean_page

    result = clean_page(base64.b64decode(body), "https://example.com/a", content_type)
    if isinstance(result, Skipped):
        return {"reason": result.reason, "detail": result.detail, "text": "", "encoding": ""}
    return {"reason": None, "text": result.text, "encoding": result.encoding}


def _read_list(body: str) -> Any:
    from kbcite.page.feeds import read_list

    links = read_list(base64.b64decode(body), "https://example.com/sitemap.xml")
    return {"links": None if links is None else len(links), "first": links[:3] if links else []}


def _read_links(text: str) -> Any:
    from kbcite.page.links import read_links

    found = read_links(text, "https://example.com/a")
    return {"links": len(found.links), "first": found.links[:3]}


def _settings(changed: dict[str, Any]) -> CrawlSettings:
    return CrawlSettings(**{**asdict(QUICK), **changed})


_TASKS: dict[str, Callable[..., Any]] = {
    "fetch": _fetch,
    "crawl": _crawl,
    "clean": _clean,
    "read_list": _read_list,
    "read_links": _read_links,
}


def _forget_peak() -> None:
    """Let the peak begin anew, where the system can: on Linux."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5", encoding="ascii")


def peak_mb() -> float:
    """The most memory that this process has had; ru_maxrss would count what the process had that it was made from."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    for line in sys.stdin:
        options = json.loads(line)
        task = _TASKS[options.pop("task")]
        _forget_peak()
        started = time.monotonic()
        result = task(**options)
        outcome = Outcome(result, time.monotonic() - started, peak_mb())
        print(json.dumps(asdict(outcome)), flush=True)


if __name__ == "__main__":
    main()
