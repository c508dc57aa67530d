"""The golden pages: each is read whole, without a superfluous tail, and with its title, date and encoding."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbcite.cli.regress import details
from kbcite.page.cleaning import clean_page
from kbcite.page.encoding import decode, strip_invisible
from kbcite.records import CleanDocument
from kbcite.stages.regress import GoldenPage, Loss, golden_pages, judge, read_floors
from tests.spans import disordered_spans, untraced_words, wrong_spans

FOLDER = Path(__file__).parent.parent / "golden_pages"
PAGES = golden_pages(FOLDER)
DOCUMENTS = [page for page in PAGES if not page.skip_reason]


def clean(page: GoldenPage) -> CleanDocument:
    outcome = clean_page(page.data, page.url, page.content_type)
    assert isinstance(outcome, CleanDocument), outcome
    return outcome


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_is_lost_on(page: GoldenPage) -> None:
    outcome = clean_page(page.data, page.url, page.content_type)
    result = judge(page, outcome, read_floors(FOLDER).get(page.name, Loss()))
    assert result.passed, f"{page.name}: {result.loss}\n{details(result)}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_span_holds_what_the_page_says_there_on(page: GoldenPage) -> None:
    document = clean(page)
    source = strip_invisible(decode(page.data, page.content_type).text)
    assert wrong_spans(document, source) == []
    assert disordered_spans(document) == []


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_word_has_a_span_on(page: GoldenPage) -> None:
    assert untraced_words(clean(page)) == []


def test_there_are_at_least_20_pages_and_floors_name_only_them() -> None:
    assert len(PAGES) >= 20
    assert set(read_floors(FOLDER)) <= {page.name for page in PAGES}
