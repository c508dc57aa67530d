"""Deep links and annotations in a real Chromium, on the golden pages as they were fetched."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kbcite.answer.deep_link import page_link
from kbcite.answer.passages import split_passages
from kbcite.page.byte_span import source_span
from kbcite.page.cleaning import clean_page
from kbcite.page.provenance import page_source
from kbcite.page.shown_text import body_text, shown_text
from kbcite.records import CleanDocument
from tests.golden_site import GOLDEN_PAGES
from tests.site_server import Reply, Site, serve_site

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("KBCITE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]
WINDOW = {"width": 420, "height": 140}
"""So small that a passage is in it only if the link led there."""
LINKS = 6
"""Passages tried on each page."""
NO_SCRIPT = ("Content-Security-Policy", "script-src 'none'")
HIDES = {"faq-with-nested-lists", "forum-in-noscript"}
"""Panels that open by a click, and text for browsers without scripts: no link can lead there."""


@dataclass(frozen=True)
class Golden:
    name: str
    source: str
    document: CleanDocument


def golden_pages() -> list[Golden]:
    found = []
    for folder in sorted(path.parent for path in GOLDEN_PAGES.glob("*/page.html")):
        about = tomllib.loads((folder / "source.toml").read_text(encoding="utf-8"))
        body, content_type = (folder / "page.html").read_bytes(), about.get("content_type")
        document = clean_page(body, "https://golden.example/", content_type)
        if isinstance(document, CleanDocument):
            found.append(Golden(folder.name, page_source(body, content_type), document))
    return found


PAGES = golden_pages()


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport=WINDOW)
        browser.close()


@pytest.fixture(scope="module")
def served() -> Iterator[Site]:
    with serve_site() as site:
        yield site


def serve(site: Site, source: str) -> str:
    site.pages["/page"] = Reply(source.encode(), 200, (("Content-Type", "text/html; charset=utf-8"), NO_SCRIPT))
    return f"{site.url}/page"


def passages(golden: Golden) -> list[tuple[int, int]]:
    """Places in the source of some passages of the page, spread over it."""
    text = golden.document.text
    every = [
        source_span(golden.document.spans, passage.start, passage.end)
        for passage in split_passages(text, "")
        if len(re.findall(r"\w", passage.text)) > 8
    ]
    known = [place for place in every if place]
    return known[:: max(1, len(known) // LINKS)][:LINKS]


@pytest.mark.parametrize("golden", [g for g in PAGES if g.name not in HIDES], ids=lambda golden: golden.name)
def test_a_link_leads_to_its_passage(golden: Golden, page: Any, served: Site) -> None:
    shown = shown_text(golden.source)
    missed, tried = [], 0
    for start, end in passages(golden):
        link = page_link(f"{served.url}/page", shown.text, *shown.place(start, end))
        if link is None:
            continue
        stop = golden.source.find("<", start, end)
        stop = end if stop < 0 else stop
        marked = f'{golden.source[:start]}<span id="kb-here">{golden.source[start:stop]}</span>{golden.source[stop:]}'
        serve(served, marked)
        page.goto("about:blank")
        page.goto(link)
        page.wait_for_timeout(100)
        here = page.query_selector("#kb-here")
        if here is None:
            continue  # it starts in a formula or an attribute, where no element can be put to look for
        tried += 1
        box = here.evaluate("element => element.getBoundingClientRect().toJSON()")
        if not (box["bottom"] > 0 and box["top"] < WINDOW["height"]):
            missed.append(link)
    assert missed == []
    assert tried, "no passage of the page could be linked"


@pytest.mark.parametrize("golden", PAGES, ids=lambda golden: golden.name)
def test_annotations_count_in_the_text_content_of_the_browser(golden: Golden, page: Any, served: Site) -> None:
    page.goto(serve(served, golden.source))
    assert page.evaluate("document.body.textContent") == body_text(golden.source).text


def test_the_tests_above_hold_for_chinese_and_english_and_tables() -> None:
    texts = [golden.document.text for golden in PAGES]
    assert sum(bool(re.search("[\u4e00-\u9fff]", text)) for text in texts) >= 3
    assert sum("| --- |" in text for text in texts) >= 3
    assert Path(GOLDEN_PAGES).is_dir()
