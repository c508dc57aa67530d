"""Rechecks of a real site on loopback, with the real cleaning rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbcite.errors import NotFound
from kbcite.page.cleaning import clean_page
from kbcite.records import PageState, Skipped, Tier
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.crawl import crawl_site
from kbcite.stages.recheck import recheck_pages
from kbcite.stages.recheck_verdict import Rechecked
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.pages import PageRow
from kbcite.urls import url_key
from kbcite.web.fetch import Fetcher
from tests.site_server import Reply, Site

QUICK = CrawlSettings(threads=4, connect_timeout_s=0.5, total_timeout_s=1.0, retries=0)
PARAGRAPH = (
    "The release of version {} changes how the cache is written to disk and read again after a restart of it. " * 5
)


def article(version: int = 1, views: int = 10, clock: str = "12:00:00", extra: str = "") -> str:
    return (
        f"<html><head><title>Release notes</title></head><body><div class=top>Now {clock}</div><article>"
        f"<h1>Release notes</h1><p>{PARAGRAPH.replace('{}', str(version))}</p>"
        f"<p>{PARAGRAPH.replace('{}', 'two')}</p><p>{extra}</p></article><footer>{views} visits</footer></body></html>"
    )


def store_day(store: Store) -> int:
    return int(store.now[8:10])


class Store:
    def __init__(self, folder: Path, site: Site) -> None:
        self.database = Database(folder / "kb.sqlite3")
        self.archive = Archive(folder / "archive.sqlite3")
        self.site = site
        self.sources: tuple[SourceSettings, ...] = (SourceSettings(url=f"{site.url}/", allow_private=True),)
        self.now = "2026-11-01T12:00:00Z"

    def close(self) -> None:
        self.archive.close()
        self.database.close()

    def _fetcher(self) -> Fetcher:
        return Fetcher(QUICK, allow_private=lambda _: True, clock=lambda: self.now)

    def crawl(self, *paths: str) -> None:
        with self._fetcher() as fetcher:
            urls = [self.site.url + path for path in paths]
            options: dict[str, Any] = {"urls": urls, "settings": QUICK, "clock": lambda: self.now}
            list(crawl_site(self.database, self.archive, fetcher.fetch, self.sources, **options))
        self.site.requests.clear()

    def recheck(self, day: int, **options: Any) -> list[Rechecked | Skipped]:
        self.now = f"2026-11-{day:02}T12:00:00Z"
        with self._fetcher() as fetcher:
            options = {"settings": QUICK, "clock": lambda: self.now, "everything": True} | options
            return list(recheck_pages(self.database, self.archive, fetcher.fetch, self.sources, clean_page, **options))

    def one(self, day: int, **options: Any) -> Rechecked:
        (record,) = self.recheck(day, **options)
        assert isinstance(record, Rechecked), record
        return record

    def page(self, path: str = "/a") -> PageRow:
        url = self.site.url + path
        page = self.database.pages.get(url, url_key(url))
        assert page is not None
        return page


@pytest.fixture
def store(tmp_path: Path, site: Site) -> Iterator[Store]:
    opened = Store(tmp_path, site)
    site.pages["/a"] = article()
    opened.crawl("/a")
    yield opened
    opened.close()


# ------------------------------------------------------------ unchanged and changed


def test_equal_bytes_are_unchanged(store: Store) -> None:
    record = store.one(8)
    assert (record.outcome, record.detail) == ("unchanged", "same bytes")
    assert store.page().fetched_at == store.now


def test_not_modified_is_unchanged_and_costs_no_body(store: Store, site: Site) -> None:
    def answer(handler: Any) -> Reply:
        headers = (("ETag", '"7"'), ("Content-Type", "text/html"))
        if handler.headers.get("If-None-Match") == '"7"':
            return Reply(status=304, headers=headers)
        return Reply(article(version=2).encode(), headers=headers)

    site.pages["/a"] = answer
    assert store.one(8).outcome == "changed"
    record = store.one(15)
    assert (record.outcome, record.detail) == ("unchanged", "not modified")


def test_after_ten_times_not_modified_the_page_is_asked_for_in_full(store: Store, site: Site) -> None:
    conditional: list[bool] = []

    def answer(handler: Any) -> Reply:
        conditional.append("If-None-Match" in handler.headers)
        return Reply(
            b"" if conditional[-1] else article(len(conditional) + 1).encode(),
            304 if conditional[-1] else 200,
            (("ETag", '"constant"'), ("Content-Type", "text/html")),
        )

    site.pages["/a"] = answer
    outcomes = [store.one(day).outcome for day in range(2, 16)]
    assert conditional == [False, *[True] * 10, False, True, True]
    assert outcomes == ["changed", *["unchanged"] * 10, "changed", "unchanged", "unchanged"]


def test_a_frame_that_changes_leaves_the_page_unchanged_and_its_bytes_are_kept(store: Store, site: Site) -> None:
    site.pages["/a"] = article(views=99, clock="13:37:00")
    record = store.one(8)
    assert (record.outcome, record.detail) == ("unchanged", "same text")
    assert [snapshot.digest for snapshot in store.database.pages.snapshots(store.page().id)][1:] == [record.digest]
    assert [outcome for _, outcome, _, _ in store.database.pages.visits(store.page().id)][1:] == ["unchanged"]


def test_a_changed_text_is_stored_anew(store: Store, site: Site) -> None:
    before = store.page()
    site.pages["/a"] = article(version=2)
    record = store.one(8)
    after = store.page()
    assert (record.outcome, after.state, after.digest) == ("changed", PageState.CHANGED, record.digest)
    assert before.digest != after.digest
    assert store.archive.get(str(after.digest)) == article(version=2).encode()
    assert store.archive.has(str(before.digest))


@pytest.mark.parametrize("version", [1, 2])
def test_damaged_bytes_are_fetched_in_full_and_written_anew(store: Store, site: Site, version: int) -> None:
    def answer(handler: Any) -> Reply:
        is_known = "If-None-Match" in handler.headers
        body = b"" if is_known else article(version).encode()
        return Reply(body, 304 if is_known else 200, (("ETag", '"1"'), ("Content-Type", "text/html")))

    site.pages["/a"] = answer
    digest = str(store.page().digest)
    store.archive._sql.execute("UPDATE blobs SET data = x'00' WHERE digest = ?", (digest,))
    assert store.one(8).outcome == ("unchanged" if version == 1 else "changed")
    assert store.archive.get(str(store.page().digest)) == article(version).encode()


def test_the_validators_of_an_unchanged_text_are_kept(store: Store, site: Site) -> None:
    site.pages["/a"] = Reply(article(views=11).encode(), headers=(("ETag", '"11"'), ("Content-Type", "text/html")))
    assert store.one(8).outcome == "unchanged"
    assert store.page().etag == '"11"'


# ------------------------------------------------------------ in trouble


def test_404_kills_after_three_checks_over_three_days_and_the_bytes_stay(store: Store, site: Site) -> None:
    del site.pages["/a"]
    outcomes = [store.one(day).outcome for day in (8, 9, 12)]
    assert outcomes == ["unreachable", "unreachable", "dead"]
    page = store.page()
    assert (page.state, page.misses, page.missing_since) == (PageState.DEAD, 3, "2026-11-08T12:00:00Z")
    assert store.archive.has(str(page.digest))


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_other_statuses_never_kill(store: Store, site: Site, status: int) -> None:
    site.pages["/a"] = Reply(b"no", status)
    records = [store.one(day) for day in range(8, 20)]
    assert {record.outcome for record in records} == {"unreachable"}
    assert (store.page().failures, store.page().misses) == (12, 0)
    assert records[0].detail == f"status {status}"


def test_a_host_that_is_gone_never_kills(store: Store, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    store.database.frontier.save_robots(store.database.frontier.robots()[site.url])
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    store.sources = (SourceSettings(url=f"{site.url}/", allow_private=True, obey_robots=False),)
    assert {store.one(day).outcome for day in (8, 12, 16, 20)} == {"unreachable"}


def test_a_dead_page_that_answers_again_is_revived(store: Store, site: Site) -> None:
    del site.pages["/a"]
    for day in (8, 9, 12):
        store.one(day)
    site.pages["/a"] = article()
    record = store.one(20)
    assert (record.outcome, record.is_revived, record.was) == ("unchanged", True, PageState.DEAD)
    assert (store.page().state, store.page().misses) == (PageState.ALIVE, 0)


def test_a_wall_against_bots_is_out_of_reach_and_not_stored(store: Store, site: Site) -> None:
    site.pages["/a"] = "<title>Just a moment...</title><script>_cf_chl_opt</script>"
    record = store.one(8)
    assert (record.outcome, record.detail) == ("unreachable", "bot_challenge: _cf_chl_opt")
    assert len(store.database.pages.snapshots(store.page().id)) == 1


def test_a_page_without_main_text_is_out_of_reach(store: Store, site: Site) -> None:
    site.pages["/a"] = "<html><body><div id=app></div><script src=app.js></script></body></html>"
    assert store.one(8).outcome == "unreachable"


# ------------------------------------------------------------ moved, and the quiet 404


def test_a_permanent_redirect_is_a_move(store: Store, site: Site) -> None:
    site.pages |= {"/a": Reply(status=301, headers=(("Location", "/b"),)), "/b": article()}
    record = store.one(8)
    assert (record.outcome, record.moved_to) == ("moved", f"{site.url}/b")
    assert (store.page("/a").state, store.page("/b").state) == (PageState.MOVED, PageState.ALIVE)


def test_a_page_that_moved_and_came_back_is_revived(store: Store, site: Site) -> None:
    site.pages |= {"/a": Reply(status=301, headers=(("Location", "/b"),)), "/b": article(2)}
    store.one(8)
    site.pages["/a"] = article()
    (record,) = store.recheck(9, urls=[f"{site.url}/a"])
    assert isinstance(record, Rechecked)
    assert (record.outcome, record.is_revived, store.page("/a").state) == ("unchanged", True, PageState.ALIVE)


def test_a_temporary_redirect_is_a_move_once_it_lasts(store: Store, site: Site) -> None:
    site.pages |= {"/a": Reply(status=302, headers=(("Location", "/b"),)), "/b": article()}
    assert [store.one(day, urls=[f"{site.url}/a"]).outcome for day in (8, 9, 10)] == [
        "unreachable",
        "unreachable",
        "moved",
    ]


def test_a_redirect_off_the_whitelist_is_not_followed_and_is_told(store: Store, site: Site) -> None:
    site.pages["/a"] = Reply(status=301, headers=(("Location", "http://example.com/"),))
    record = store.one(8)
    assert record.outcome == "unreachable"
    assert record.detail == "redirects to http://example.com/, which is not fetched: out_of_scope"


def test_being_sent_to_the_start_page_counts_as_gone(store: Store, site: Site) -> None:
    site.pages |= {"/a": Reply(status=302, headers=(("Location", "/"),)), "/": article(9)}
    assert [store.one(day).outcome for day in (8, 9, 12)] == ["unreachable", "unreachable", "dead"]


def test_a_text_that_the_site_gives_for_any_address_counts_as_gone(store: Store, site: Site) -> None:
    gone = "<html><title>Shop</title><body><p>" + "Sorry, this page has left us for good. " * 8 + "</p></body></html>"
    site.pages["/a"] = gone
    site.missing = gone
    record = store.one(8)
    assert (record.outcome, record.evidence.misses) == ("unreachable", 1)
    assert "cannot exist" in record.detail


@pytest.mark.parametrize(
    "title", ["Page not found - Shop", "404", "Error 404 | Shop", "您访问的页面不存在", "This document does not exist"]
)
def test_a_page_that_says_it_is_not_there_counts_as_gone_on_a_site_that_says_404_elsewhere(
    store: Store, site: Site, title: str
) -> None:
    site.pages["/a"] = f"<html><title>{title}</title><body><h1>{title}</h1><p>{'Try the search, or go home. ' * 4}</p>"
    record = store.one(8)
    assert (record.outcome, record.evidence.misses) == ("unreachable", 1)
    assert record.detail.startswith('not_found: titled "')


@pytest.mark.parametrize(
    ("title", "words"), [("How we mend a 404", "A 404 is what the server says. "), ("Found at last", "It was here. ")]
)
def test_a_page_that_says_much_or_has_another_title_is_a_change(
    store: Store, site: Site, title: str, words: str
) -> None:
    site.pages["/a"] = f"<html><title>{title}</title><body><h1>{title}</h1><p>{words * 40}</p>"
    assert store.one(8).outcome == "changed"


def test_a_not_found_that_repeats_its_address_and_is_longer_than_the_page_counts_as_gone(
    store: Store, site: Site
) -> None:
    def answer(handler: Any) -> str:
        return (
            f"<html><title>Shop</title><body><h1>No such page</h1><p>We looked for {handler.path} and could not find it.</p>"
            f"<p>{PARAGRAPH * 3}</p></body></html>"
        )

    site.pages["/a"] = site.missing = answer
    record = store.one(8)
    assert (record.outcome, record.evidence.misses) == ("unreachable", 1)
    assert "cannot exist" in record.detail


def test_being_sent_where_any_address_is_sent_counts_as_gone(store: Store, site: Site) -> None:
    site.pages |= {"/a": Reply(status=301, headers=(("Location", "/gone.html"),)), "/gone.html": article(3)}
    site.missing = Reply(status=302, headers=(("Location", "/gone.html"),))
    assert [store.one(day, urls=[f"{site.url}/a"]).outcome for day in (8, 9, 12)] == [
        "unreachable",
        "unreachable",
        "dead",
    ]


def test_the_site_is_asked_for_a_page_that_cannot_exist_once_a_folder(store: Store, site: Site) -> None:
    site.pages |= {f"/f/{n}": article(n) for n in range(4)}
    store.crawl(*(f"/f/{n}" for n in range(4)))
    site.pages |= {f"/f/{n}": f"<html><title>{n}</title><body><p>{f'Number {n} is new. ' * 40}" for n in range(4)}
    assert {record.outcome for record in store.recheck(8) if isinstance(record, Rechecked)} == {"changed", "unchanged"}
    assert sum("kbcite-" in path for path in site.paths()) == 1


def test_an_edit_costs_no_further_request(store: Store, site: Site) -> None:
    site.pages["/a"] = article(extra="One more sentence that was not there before stands here now.")
    assert store.one(8).outcome == "changed"
    assert site.paths() == ["/a"]


def test_a_redirect_to_log_in_is_out_of_reach_for_however_long(store: Store, site: Site) -> None:
    form = "<html><title>Welcome</title><body><form><input type=password></form></body></html>"
    site.pages |= {"/a": Reply(status=302, headers=(("Location", "/login?next=/a"),)), "/login": form}
    records = [store.one(day, urls=[f"{site.url}/a"]) for day in range(8, 14)]
    assert {record.outcome for record in records} == {"unreachable"}
    assert records[0].detail == f"login_wall: sent to {site.url}/login?next=/a"


def test_a_form_to_log_in_in_place_of_the_page_is_out_of_reach(store: Store, site: Site) -> None:
    site.pages["/a"] = "<html><body><p>Please log in to read on.</p><form><input type='password'></form></body></html>"
    record = store.one(8)
    assert record.outcome == "unreachable"
    assert record.detail.startswith("login_wall: ")
    assert len(store.database.pages.snapshots(store.page().id)) == 1


def test_a_domain_that_is_for_sale_counts_as_gone(store: Store, site: Site) -> None:
    site.pages["/a"] = "<html><title>e.com</title><body><h1>e.com</h1><p>This domain is for sale. Make an offer.</p>"
    assert [store.one(day).outcome for day in (8, 9, 12)] == ["unreachable", "unreachable", "dead"]
    assert len(store.database.pages.snapshots(store.page().id)) == 1


def test_410_takes_as_many_checks_as_404(store: Store, site: Site) -> None:
    site.pages["/a"] = Reply(b"gone", 410)
    assert [store.one(day).outcome for day in (8, 9, 12)] == ["unreachable", "unreachable", "dead"]


def test_the_evidence_is_told(store: Store, site: Site) -> None:
    del site.pages["/a"]
    store.one(8)
    record = store.one(9)
    assert record.detail == "status 404, check 2 of 3 since 2026-11-08, dead no sooner than 2026-11-11"
    assert record.due_at == "2026-11-10T12:00:00Z"


def test_a_page_that_became_a_file_of_another_kind_is_out_of_reach(store: Store, site: Site) -> None:
    site.pages["/a"] = Reply(b"%PDF-1.7", headers=(("Content-Type", "application/pdf"),))
    record = store.one(8)
    assert (record.outcome, record.detail) == ("unreachable", "now is application/pdf")


def test_a_text_that_shrank_is_a_change_where_the_site_has_honest_404s(store: Store, site: Site) -> None:
    site.pages["/a"] = (
        "<html><title>Notes</title><body><p>" + "Withdrawn, see the new notes there. " * 8 + "</p></body></html>"
    )
    assert store.one(8).outcome == "changed"


# ------------------------------------------------------------ what is visited


def test_only_due_pages_are_visited(store: Store, site: Site) -> None:
    assert store.recheck(3, everything=False) == []
    assert site.paths() == []
    assert len(store.recheck(8, everything=False)) == 1
    assert store.recheck(9, everything=False) == []


def test_a_limit_leaves_the_rest_due(store: Store, site: Site) -> None:
    site.pages |= {f"/{n}": article(n) for n in range(5)}
    store.crawl(*(f"/{n}" for n in range(5)))
    assert len(store.recheck(10, everything=False, limit=4)) == 4
    assert len(store.recheck(10, everything=False)) == 2


def test_a_limit_takes_the_pages_whose_visit_is_worth_most(store: Store, site: Site) -> None:
    def answer(handler: Any) -> str:
        return article(store_day(store))

    site.pages |= {"/often": answer, "/never": article(2)}
    store.crawl("/often", "/never")
    for day in (4, 8, 9, 13):
        store.recheck(day)
    (first,) = store.recheck(16, limit=1)
    assert first.url == f"{site.url}/often"


def test_a_page_named_out_of_date_comes_first_before_it_is_due_and_in_full(store: Store, site: Site) -> None:
    site.pages["/b"] = Reply(article(2).encode(), headers=(("ETag", '"1"'), ("Content-Type", "text/html")))
    store.crawl("/b")
    store.recheck(8)
    site.requests.clear()
    store.database.pages.mark(store.page("/b").id, "2026-11-09T12:00:00Z")
    (record,) = store.recheck(9, everything=False)
    assert record.url == f"{site.url}/b"
    assert "if-none-match" not in site.requests[-1].headers
    assert store.recheck(9, everything=False) == []


@pytest.mark.parametrize(("tier", "days"), [(Tier.DAILY, 1), (Tier.MONTHLY, 7)])
def test_the_tier_of_the_source_bounds_the_interval(store: Store, site: Site, tier: Tier, days: int) -> None:
    store.sources = (SourceSettings(url=f"{site.url}/", allow_private=True, tier=tier),)
    assert days <= (int(store.one(8).due_at[8:10]) - 8) < 2 * days


def test_a_run_over_what_is_due_reads_no_archived_bytes_of_unchanged_pages(
    store: Store, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(handler: Any) -> Reply:
        is_known = "If-None-Match" in handler.headers
        return Reply(b"" if is_known else article().encode(), 304 if is_known else 200, (("ETag", '"1"'),))

    site.pages["/a"] = answer
    store.one(2)
    monkeypatch.setattr(store.archive, "get", None)
    (record,) = store.recheck(20, everything=False)
    assert isinstance(record, Rechecked)
    assert record.detail == "not modified"


def test_a_stopped_run_leaves_the_rest_due(store: Store) -> None:
    assert store.recheck(10, everything=False, should_stop=lambda: True) == []
    assert len(store.recheck(10, everything=False)) == 1


def test_robots_txt_is_obeyed(store: Store, site: Site) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /a"
    (record,) = store.recheck(8)
    assert isinstance(record, Skipped)
    assert record.reason == "robots_disallowed"
    assert site.paths() == []
    assert store.page().due_at == "2026-11-15T12:00:00Z"


def test_a_page_that_no_source_covers_any_more_is_skipped(store: Store, site: Site) -> None:
    store.sources = (SourceSettings(url=f"{site.url}/docs/", allow_private=True),)
    (record,) = store.recheck(8)
    assert isinstance(record, Skipped)
    assert record.reason == "out_of_scope"
    assert site.paths() == []


def test_an_unknown_url_is_told(store: Store, site: Site) -> None:
    with pytest.raises(NotFound, match="is not in the store"):
        store.recheck(8, urls=[f"{site.url}/never"])


# ------------------------------------------------------------ links that a recheck brings


@pytest.mark.parametrize(
    ("changed", "is_fetched"),
    [
        (article(version=2, extra='<a href="/new">The new page</a>'), True),
        (article().replace("<footer>", '<footer><a href="/new">New</a> '), True),
        (article(version=2, extra='<a rel="nofollow" href="/other">x</a>'), False),
        (
            article(version=2, extra='<a href="/new">New</a>').replace(
                "<head>", '<head><meta name="robots" content="nofollow">'
            ),
            False,
        ),
    ],
    ids=["in the text", "in the frame", "no link to it", "nofollow"],
)
def test_what_a_changed_page_links_to_is_fetched_by_the_next_crawl(
    store: Store, site: Site, changed: str, is_fetched: bool
) -> None:
    site.pages["/"] = article()
    store.crawl()
    site.pages["/"] = changed
    site.pages["/new"] = article(version=9)
    store.recheck(8)
    site.requests.clear()
    store.now = "2026-11-08T13:00:00Z"
    store.crawl()
    assert (store.database.pages.get(f"{site.url}/new", url_key(f"{site.url}/new")) is not None) is is_fetched
    store.crawl()
    assert [request.path for request in site.requests] == []
