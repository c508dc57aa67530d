"""A hundred saved answers whose pages then change on the server: all still verify, and the audit names exactly the stale ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbcite.answer.answering import AnswerOptions
from kbcite.page.chunking import CHUNK_RULES, chunk_document
from kbcite.page.cleaning import CLEAN_RULES, clean_page
from kbcite.records import RetrievedBlock, Scores
from kbcite.settings import CrawlSettings, SourceSettings
from kbcite.stages.ask import answer_question, save_answer
from kbcite.stages.audit import AuditedAnswer, Auditor
from kbcite.stages.chunk import chunk_documents
from kbcite.stages.clean import clean_pages
from kbcite.stages.crawl import crawl_site
from kbcite.stages.recheck import recheck_pages
from kbcite.stages.verify import Verifier
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.web.fetch import Fetcher
from tests.site_server import Reply, Site, serve_site

PAGES = 100
QUICK = CrawlSettings(threads=4, total_timeout_s=5.0, retries=0)
CHANGED = frozenset(range(0, 10))
REWORDED = frozenset(range(10, 14))
REMOVED = frozenset({14})
ELSEWHERE = frozenset(range(15, 25))
GONE = frozenset(range(25, 30))
MOVED = frozenset(range(30, 33))
MARKUP = frozenset(range(33, 37))
NEW_HEAD = frozenset({39, 42})
"""Pages whose row stands under another column head now; their numbers are those of pages with a table."""


def is_table(n: int) -> bool:
    return n % 3 == 0


def page(n: int, fact: str, *, other: str = "first", head: str = "Fee per year", mark: bool = False) -> str:
    """A page about one permit: its fee as a sentence (English or Chinese) or in a table, and a section about other things."""
    where = f"<em>permit</em>\n  number {n}" if mark else f"permit number {n}"
    if is_table(n):
        cell = f"<b>{fact} euros</b>" if mark else f"{fact} euros"
        told = (
            f"<table><tr><th>Permit</th><th>{head}</th></tr><tr><td>Mooring permit {n}</td><td>{cell}</td></tr>"
            f"<tr><td>Guest berth</td><td>12 euros</td></tr></table>"
        )
    elif n % 2:
        told = f"<p>第{n}号许可证的年费为{fact}元，逾期不缴的许可证将被收回。申请人须在窗口办理。</p>"
    else:
        told = f"<p>The fee for the {where} is {fact} euros a year. It is paid at the harbour office in January.</p>"
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>Permit {n}</title></head><body><main><h1>Permit {n}</h1>"
        f"<h2>Fees</h2>{told}<h2>Opening hours</h2><p>The office is open on the {other} Monday of each month from nine to twelve, "
        f"and by appointment on other days; bring the old permit and a document with a photograph.</p></main></body></html>"
    )


def question(n: int) -> str:
    if n % 2 and not is_table(n):
        return f"第{n}号许可证的年费是多少？"
    return f"How much is the fee of mooring permit {n}?" if is_table(n) else f"What is the fee for permit number {n}?"


class Harbour:
    """A store over the permits, a saved answer for each, and the site behind it."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder, self.site = folder, site
        self.database = Database(folder / "kb.sqlite3")
        self.archive = Archive(folder / "archive.sqlite3")
        self.sources = (SourceSettings(url=f"{site.url}/", allow_private=True),)
        self.now = "2026-11-01T12:00:00Z"
        self.number: dict[str, int] = {}

    def clock(self) -> str:
        return self.now

    def crawl(self) -> None:
        urls = [f"{self.site.url}/{n}.html" for n in range(PAGES)]
        with Fetcher(QUICK, allow_private=lambda _: True, clock=self.clock) as fetcher:
            options: dict[str, Any] = {"urls": urls, "settings": QUICK, "clock": self.clock}
            list(crawl_site(self.database, self.archive, fetcher.fetch, self.sources, **options))
        self.clean()

    def clean(self) -> None:
        list(clean_pages(self.database, self.archive, clean_page, CLEAN_RULES, self.clock))
        list(chunk_documents(self.database, chunk_document_of, CHUNK_RULES, self.clock))

    def recheck(self, day: int) -> None:
        self.now = f"2026-11-{day:02}T12:00:00Z"
        with Fetcher(QUICK, allow_private=lambda _: True, clock=self.clock) as fetcher:
            options: dict[str, Any] = {"everything": True, "settings": QUICK, "clock": self.clock}
            list(recheck_pages(self.database, self.archive, fetcher.fetch, self.sources, clean_page, **options))

    def ask(self, n: int) -> None:
        """Answer from the page's own blocks, as if search had found them."""
        url = f"{self.site.url}/{n}.html"
        stored = self.database.pages.get(url, url)
        assert stored is not None
        assert stored.document_id is not None
        ids = [block.id for block, _ in self.database.blocks.of_document(stored.document_id)]
        loaded = self.database.blocks.load(ids)
        hits = [RetrievedBlock(block, places[0], Scores(0.9, 0.9, 0.9, 0.9)) for block, places in loaded.values()]
        hits = [hit for hit in hits if hit.place.url == url]
        options = AnswerOptions(max_sentences=1, min_confidence=0.0)
        answered = answer_question(question(n), self.database, self.archive, lambda _: hits, None, options, self.clock)
        assert answered.answer.refusal is None, question(n)
        assert str(100 + n) in answered.answer.text, (question(n), answered.answer.text)
        save_answer(self.database, answered)
        self.number[answered.answer.id] = n

    def records(self) -> list[dict[str, Any]]:
        return list(self.database.answers.newest())

    def audit(self) -> dict[int, AuditedAnswer]:
        auditor = Auditor(self.database, self.archive, clean_page)
        return {self.number[answer.id]: answer for answer in auditor.audit(self.records())}


def chunk_document_of(text: str, title: str = "") -> Any:
    return chunk_document(text, title=title)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    """The store after its pages changed on the server and were rechecked over some days; nothing of the change is built yet."""
    with serve_site() as site:
        made = Harbour(tmp_path_factory.mktemp("harbour"), site)
        for n in range(PAGES):
            site.pages[f"/{n}.html"] = page(n, str(100 + n))
        made.crawl()
        for n in range(PAGES):
            made.ask(n)
        for n in range(PAGES):
            site.pages[f"/{n}.html"] = changed_page(n, site)
        for day in (3, 5, 8):
            made.recheck(day)
        yield made
        made.archive.close()
        made.database.close()


def changed_page(n: int, site: Site) -> Reply | str:
    fact = str(100 + n)
    if n in CHANGED:
        return page(n, str(900 + n))
    if n in REWORDED:
        return (
            page(n, fact)
            .replace("is paid", "must be paid")
            .replace("fee for", "yearly fee for")
            .replace("年费为", "年度费用为")
            if not is_table(n)
            else page(n, f"{fact} to {fact[0]}99")
        )
    if n in REMOVED:
        return (
            page(n, fact)
            .replace("<h2>Fees</h2>", "<h2>News</h2>")
            .replace(f"The fee for the permit number {n} is {fact} euros a year.", "")
        )
    if n in ELSEWHERE:
        return page(n, fact, other="second")
    if n in GONE:
        return Reply(b"gone", 404)
    if n in MOVED:
        site.pages[f"/new/{n}.html"] = page(n, fact)
        return Reply(b"", 301, (("Location", f"{site.url}/new/{n}.html"),))
    if n in MARKUP:
        return page(n, fact, mark=True, other="third")
    if n in NEW_HEAD:
        return page(n, fact, head="Fee per month")
    return page(n, fact)


def test_every_saved_answer_still_verifies_against_the_archive(harbour: Harbour) -> None:
    verifier = Verifier(harbour.database, harbour.archive)
    reports = [verifier.answer(record) for record in harbour.records()]
    assert len(reports) == PAGES
    assert [report for report in reports if not report.is_ok] == []
    names = {check.name for report in reports for citation in report.citations for check in citation.checks}
    assert names == {"archive", "bytes", "page", "document"}


def test_the_audit_names_exactly_the_answers_whose_passage_changed(harbour: Harbour) -> None:
    audited = harbour.audit()
    assert {n for n, answer in audited.items() if answer.status == "stale"} == CHANGED | REWORDED | REMOVED | NEW_HEAD
    assert {n for n, answer in audited.items() if answer.status == "gone"} == GONE
    assert {n for n, answer in audited.items() if any(c.outcome == "moved" for c in answer.citations)} == MOVED


def test_it_names_the_same_ones_once_the_change_is_built(harbour: Harbour) -> None:
    before = {n: answer.status for n, answer in harbour.audit().items()}
    auditor = Auditor(harbour.database, harbour.archive, clean_page)
    list(auditor.audit(harbour.records()))
    assert auditor.unbuilt
    harbour.clean()
    built = Auditor(harbour.database, harbour.archive, clean_page)
    list(built.audit(harbour.records()))
    assert not built.unbuilt
    assert {n: answer.status for n, answer in harbour.audit().items()} == before


@pytest.mark.parametrize(("n", "was", "now"), [(2, "102", "902"), (3, "103", "903"), (5, "105", "905")])
def test_a_changed_figure_is_the_only_word_that_differs(harbour: Harbour, n: int, was: str, now: str) -> None:
    (citation,) = harbour.audit()[n].citations
    assert citation.quoted == citation.archived
    assert now in citation.now
    assert [(c.kind, c.text) for c in citation.difference if c.kind != "same"] == [("removed", was), ("added", now)]


def test_a_page_that_is_gone_says_since_when(harbour: Harbour) -> None:
    (citation,) = harbour.audit()[25].citations
    assert (citation.outcome, citation.now, citation.difference) == ("gone", "", ())
    assert citation.detail.startswith("status 404, 3 times since 2026-11-03")


@pytest.fixture
def tampered(harbour: Harbour, tmp_path: Path) -> Iterator[tuple[sqlite3.Connection, Verifier, dict[str, Any]]]:
    """A copy of the store to spoil, and the record of an answer in it."""
    for name in ("kb.sqlite3", "archive.sqlite3"):
        with sqlite3.connect(harbour.folder / name) as whole, sqlite3.connect(tmp_path / name) as copy:
            whole.backup(copy)
    with Database(tmp_path / "kb.sqlite3") as database, Archive(tmp_path / "archive.sqlite3") as archive:
        record = next(r for r in database.answers.newest() if harbour.number[r["id"]] == 50)
        archive_sql = sqlite3.connect(tmp_path / "archive.sqlite3")
        yield archive_sql, Verifier(database, archive), record
        archive_sql.close()


def failures(verifier: Verifier, record: dict[str, Any]) -> list[str]:
    report = verifier.answer(record)
    named = [check.name for citation in report.citations for check in citation.checks if not check.is_ok]
    return [*named, *(f"sentence {s.verdict}" for s in report.sentences if not s.is_ok), *report.problems]


Tampered = tuple[sqlite3.Connection, Verifier, dict[str, Any]]


def test_one_changed_byte_of_the_archive_is_found(tampered: Tampered) -> None:
    sql, verifier, record = tampered
    digest = record["sources"]["web"][0]["snapshot"]["sha256"]
    with sql:
        (data,) = sql.execute("SELECT data FROM blobs WHERE digest = ?", (digest,)).fetchone()
        spoilt = data[:-1] + bytes([data[-1] ^ 1])
        sql.execute("UPDATE blobs SET data = ? WHERE digest = ?", (spoilt, digest))
    assert failures(verifier, record) == ["archive"]


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("quote", "text"), "The fee for the permit number 50 is 15 euros a year.", ["document"]),
        (("quote", "start"), 0, ["document"]),
        (("snapshot", "byte_start"), 3, ["bytes"]),
        (("snapshot", "sha256"), "0" * 64, ["archive"]),
    ],
)
def test_a_record_that_was_altered_is_found(
    tampered: Tampered, path: tuple[str, str], value: Any, found: list[str]
) -> None:
    _, verifier, record = tampered
    record["sources"]["web"][0][path[0]][path[1]] = value
    assert failures(verifier, record) == found


def test_an_altered_sentence_is_found(tampered: Tampered) -> None:
    _, verifier, record = tampered
    record["answer"]["text"] = record["answer"]["text"].replace("150", "170")
    assert failures(verifier, record) == ["sentence contradicted"]


def test_a_mark_without_a_source_is_found(tampered: Tampered) -> None:
    _, verifier, record = tampered
    marker = record["answer"]["claims"][0]["markers"][0]
    marker["n"] = 7
    assert failures(verifier, record) == [f"the text has no [7] at {marker['start']}", "[7] has no source"]
