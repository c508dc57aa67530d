"""The golden pages: each is read whole, without a superfluous tail, and with its title, date and encoding."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from kbcite.cli.regress import details
from kbcite.page.cleaning import clean_page
from kbcite.page.encoding import decode, strip_invisible
from kbcite.records import CleanDocument
from kbcite.stages.regress import GoldenPage, Loss, golden_pages, judge, read_floors

FOLDER = Path(__file__).parent.parent / "golden_pages"
PAGES = golden_pages(FOLDER)
DOCUMENTS = [page for page in PAGES if not page.skip_reason]

_TAG = re.compile(r"<[^<>]*>")
_NOT_OF_THE_TEXT = re.compile(r"^[> ]*(?:\d+\. |```\w*$)|!\[[^\]]*\]\(\)", re.MULTILINE)
"""Numbers of list items and languages of code are made, alternative texts of images stand in attributes."""


def clean(page: GoldenPage) -> CleanDocument:
    outcome = clean_page(page.data, page.url, page.content_type)
    assert isinstance(outcome, CleanDocument), outcome
    return outcome


def without_space(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_is_lost_on(page: GoldenPage) -> None:
    outcome = clean_page(page.data, page.url, page.content_type)
    result = judge(page, outcome, read_floors(FOLDER).get(page.name, Loss()))
    assert result.passed, f"{page.name}: {result.loss}\n{details(result)}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_span_holds_what_the_page_says_there_on(page: GoldenPage) -> None:
    document = clean(page)
    source = strip_invisible(decode(page.data, page.content_type).text)
    for span in document.spans:
        stands = html.unescape(_TAG.sub("", source[span.source_start : span.source_end]))
        assert without_space(document.text[span.start : span.end]) == without_space(stands)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_word_has_a_span_on(page: GoldenPage) -> None:
    document = clean(page)
    untraced = list(document.text)
    for span in document.spans:
        untraced[span.start : span.end] = " " * (span.end - span.start)
    assert re.findall(r"\w+", _NOT_OF_THE_TEXT.sub("", "".join(untraced))) == []


def test_there_are_at_least_20_pages_and_floors_name_only_them() -> None:
    assert len(PAGES) >= 20
    assert set(read_floors(FOLDER)) <= {page.name for page in PAGES}
