import pytest

from kbcite.page.cleaning import clean_page
from kbcite.page.provenance import foreign_words, page_source
from kbcite.records import CleanDocument

BODY = (
    b"<html><head><title>Rules</title></head><body><main><h1>Rules</h1><p>Deposits are returned within&nbsp;30 days &amp; without <b>any</b> deduction, "
    b"if the flat is left as it was found by the tenant.</p><ol><li>Write to us.</li><li>Bring the key.</li></ol>"
    b"<pre><code class=language-bash>echo done</code></pre><table><tr><th>Flat</th><th>Deposit</th></tr><tr><td>Small</td><td>900</td></tr></table>"
    b"</main></body></html>"
)


@pytest.fixture
def document() -> CleanDocument:
    cleaned = clean_page(BODY, "https://a.example/", "text/html; charset=utf-8")
    assert isinstance(cleaned, CleanDocument)
    return cleaned


def test_every_word_of_a_document_stands_on_its_page(document: CleanDocument) -> None:
    source = page_source(BODY, "text/html; charset=utf-8")
    assert "1. Write to us." in document.text
    assert foreign_words(document.text, document.spans, source, 0, len(document.text)) == ()


@pytest.mark.parametrize(
    ("was", "written"), [("30 days", "90 days"), ("900", "9000"), ("returned", "kept"), ("Small", "Small Large")]
)
def test_a_word_that_is_not_there_is_named(document: CleanDocument, was: str, written: str) -> None:
    source = page_source(BODY, "text/html; charset=utf-8")
    forged = document.text.replace(was, written)
    assert foreign_words(forged, document.spans, source, 0, len(forged))


def test_other_bytes_do_not_vouch_for_the_words(document: CleanDocument) -> None:
    source = page_source(BODY.replace(b"30 days", b"60 days"), "text/html; charset=utf-8")
    start = document.text.index("Deposits")
    assert "30" in foreign_words(document.text, document.spans, source, start, start + 60)
