"""Pages fetched while answering, on a real site on loopback: what is pooled, and what is refused with which reason."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kbcite.clock import pinned_clock
from kbcite.page.cleaning import clean_page
from kbcite.records import Skipped
from kbcite.settings import LiveSettings, Settings, SourceSettings
from kbcite.stages.live import LiveBranch, LiveText, live_crawl_settings
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.web.fetch import Fetcher
from kbcite.web.scope import Scope
from tests.site_server import Answer, Reply, Site, serve_site

NOW = "2026-11-30T08:00:00Z"
TEXT = (
    "The swimming pool on Mill Street opens every day from seven in the morning until nine in the evening. A day ticket costs "
    "6.50 euros for adults and 3.20 euros for children under fourteen. Lockers take a coin of one euro, which comes back."
)


def page(body: str, title: str = "Swimming pool") -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"


POOL = page(f"<p>{TEXT}</p><p class='price'>Sauna: 12.00 euros a day, towel included.</p>")


class Store:
    """The doors of a new store whose only source is a site."""

    def __init__(self, folder: Path, site: Site, **source: object) -> None:
        self.database = Database(folder / "kb.sqlite3")
        self.archive = Archive(folder / "archive.sqlite3")
        self.settings = Settings(
            sources=(SourceSettings(f"{site.url}/", allow_private=True, **source),),  # type: ignore[arg-type]
            live=LiveSettings(answer_within_s=1.0, fetch_within_s=2.0),
        )

    @contextmanager
    def branch(self, now: str = NOW) -> Iterator[LiveBranch]:
        clock = pinned_clock(now)
        scope = Scope(self.settings.sources)
        with (
            Fetcher(live_crawl_settings(self.settings), allow_private=scope.allows_private, clock=clock) as fetcher,
            LiveBranch(self.database, self.archive, fetcher.fetch, self.settings, clock) as branch,
        ):
            yield branch

    def fetch(self, url: str, selector: str = "", now: str = NOW) -> LiveText | Skipped:
        with self.branch(now) as branch:
            return branch.fetch_live(url, selector)


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site({"/pool.html": POOL}) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path, site: Site) -> Store:
    return Store(tmp_path, site)


def test_a_page_is_fetched_once_an_hour_and_its_bytes_are_archived(store: Store, site: Site) -> None:
    first = store.fetch(f"{site.url}/pool.html")
    assert isinstance(first, LiveText)
    assert (first.title, first.is_pooled, first.is_cut) == ("Swimming pool", False, False)
    assert "6.50 euros" in first.text
    assert "<" not in first.text
    assert store.archive.get(first.digest) == POOL.encode()
    again = store.fetch(f"{site.url}/pool.html", now="2026-11-30T08:59:59Z")
    assert isinstance(again, LiveText)
    assert (again.is_pooled, again.fetched_at, again.text) == (True, NOW, first.text)
    assert site.paths() == ["/pool.html"]
    assert isinstance(store.fetch(f"{site.url}/pool.html", now="2026-11-30T09:00:01Z"), LiveText)
    assert site.paths() == ["/pool.html"] * 2


def test_a_selector_leaves_only_what_it_names(store: Store, site: Site) -> None:
    found = store.fetch(f"{site.url}/pool.html", ".price")
    assert isinstance(found, LiveText)
    assert found.text == "Sauna: 12.00 euros a day, towel included."


@pytest.mark.parametrize("selector", [".nothing", "p[["])
def test_a_selector_that_names_nothing_is_told(store: Store, site: Site, selector: str) -> None:
    found = store.fetch(f"{site.url}/pool.html", selector)
    assert isinstance(found, Skipped)
    assert found.reason == "selector"


def hang(handler: object) -> None:
    time.sleep(4)


def drip(handler: object) -> None:
    handler.send_response(200)  # type: ignore[attr-defined]
    handler.send_header("Content-Type", "text/html")  # type: ignore[attr-defined]
    handler.end_headers()  # type: ignore[attr-defined]
    for _ in range(40):
        handler.wfile.write(b"<p>")  # type: ignore[attr-defined]
        handler.wfile.flush()  # type: ignore[attr-defined]
        time.sleep(0.1)


WALL = "<html><head><title>Just a moment...</title></head><body>Checking your browser before accessing</body></html>"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reply(b"gone", 404), "http_404"),
        (Reply(b"broken", 500), "http_500"),
        (WALL, "bot_challenge"),
        (Reply(b"%PDF-1.7", headers=(("Content-Type", "application/pdf"),)), "content_type"),
        (hang, "timeout"),
        (drip, "timeout"),
    ],
    ids=["404", "500", "wall", "pdf", "hangs", "drips"],
)
def test_what_cannot_be_read_is_told_with_its_reason_and_not_asked_again_at_once(
    store: Store, site: Site, answer: Answer, reason: str
) -> None:
    site.pages["/bad.html"] = answer
    began = time.monotonic()
    lost = [store.fetch(f"{site.url}/bad.html") for _ in range(2)]
    assert [one.reason for one in lost if isinstance(one, Skipped)] == [reason, reason]
    assert time.monotonic() - began < 3.5
    assert site.paths() == ["/bad.html"]


def test_outside_the_whitelist_nothing_is_asked_for(store: Store, site: Site) -> None:
    with serve_site({"/x.html": POOL}) as other:
        found = store.fetch(f"{other.url}/x.html")
        assert other.requests == []
    assert isinstance(found, Skipped)
    assert found.reason == "out_of_scope"


def test_a_redirect_that_leaves_the_whitelist_is_refused(store: Store, site: Site) -> None:
    with serve_site({"/x.html": POOL}) as other:
        site.pages["/out.html"] = Reply(status=302, headers=(("Location", f"{other.url}/x.html"),))
        found = store.fetch(f"{site.url}/out.html")
        assert other.requests == []
    assert isinstance(found, Skipped)
    assert found.reason == "out_of_scope"


def test_robots_txt_is_obeyed(store: Store, site: Site) -> None:
    site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /", headers=(("Content-Type", "text/plain"),))
    found = store.fetch(f"{site.url}/pool.html")
    assert isinstance(found, Skipped)
    assert found.reason == "robots_disallowed"
    assert site.paths() == []


def test_a_pooled_page_is_neither_scheduled_nor_cleaned_nor_searched(store: Store, site: Site) -> None:
    before = store.database.vectors.generation()
    store.fetch(f"{site.url}/pool.html")
    database = store.database
    assert database.pages.due("2027-12-31T00:00:00Z") == []
    assert database.pages.next_due_at() is None
    assert database.pages.stale_snapshots("other rules") == []
    assert list(database.blocks.live()) == []
    assert database.vectors.generation() == before, "the index is not out of date"


def test_a_stored_page_that_is_gone_is_noted_and_one_that_changed_is_visited_first(
    store: Store, site: Site, tmp_path: Path
) -> None:
    url = f"{site.url}/pool.html"
    store.fetch(url)
    digest = store.database.pages.get(url, url).digest  # type: ignore[union-attr]
    with store.database.transaction():
        store.database.pages._sql.execute("UPDATE pages SET is_live = 0, due_at = '2026-12-30T00:00:00Z'")
        document = clean_page(POOL.encode(), url, "text/html; charset=utf-8")
        assert not isinstance(document, Skipped)
        store.database.documents.save(1, 1, replace(document, digest=digest or ""), "rules", NOW)
    site.pages["/pool.html"] = POOL.replace("6.50", "7.20")
    store.fetch(url, now="2026-12-01T08:00:00Z")
    page = store.database.pages.get(url, url)
    assert page is not None
    assert (page.marked_at, page.digest) == ("2026-12-01T08:00:00Z", digest)
    site.pages["/pool.html"] = Reply(b"gone", 404)
    store.fetch(url, now="2026-12-02T08:00:00Z")
    page = store.database.pages.get(url, url)
    assert page is not None
    assert (page.misses, page.state) == (1, "unreachable")


def test_a_long_page_is_cut_at_200_kilobytes_at_a_line(store: Store, site: Site) -> None:
    store.settings = replace(store.settings, live=LiveSettings())
    site.pages["/long.html"] = page("".join(f"<p>{n}: {TEXT}</p>" for n in range(1500)))
    found = store.fetch(f"{site.url}/long.html")
    assert isinstance(found, LiveText)
    assert found.is_cut
    assert 190_000 < len(found.text.encode()) <= 200_000
    assert found.text.endswith(TEXT) or found.text.endswith("\n")


def test_a_page_that_the_readers_cannot_bear_is_told_like_any_loss(
    store: Store, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("kbcite.stages.live_reading.clean_page", fail)
    found = store.fetch(f"{site.url}/pool.html")
    assert isinstance(found, Skipped)
    assert (found.reason, found.detail) == ("internal_error", "RecursionError: too deep")


def test_a_fault_of_the_fetch_itself_is_not_laid_to_the_page(
    store: Store, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AttributeError("no such pace")

    with store.branch() as branch:
        monkeypatch.setattr("kbcite.web.visitor.Visitor.visit", fail)
        with pytest.raises(AttributeError, match="no such pace"):
            branch.fetch_live(f"{site.url}/pool.html")
        assert branch.under_way == {}
