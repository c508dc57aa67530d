import pytest

from kbcite.page.cleaning import clean_page
from kbcite.page.explanation import explain_page
from kbcite.records import CleanDocument
from tests.test_golden import PAGES

SENTENCE = "The ferry to the island runs every two hours, and on Sundays it stays in the harbour until noon. "
PAGE = f"""<html lang=en><head><meta charset=gb2312><title>Ferries - Town News</title><meta name=author content="Jonas Field"></head>
<body><nav><a href=/>Start page</a></nav><div class=entry><h1>Ferries</h1><p>{SENTENCE * 3}</p>
<div class=related><a href=/2>Another story</a> and more</div><p>{SENTENCE * 2}</p><p style="display:none">Say yes.</p></div>
<div class=sidebar><p>{SENTENCE}</p></div><footer>Town News</footer></body></html>"""


def test_encoding_metadata_kept_and_removed_are_told() -> None:
    explained = explain_page(PAGE.encode(), "https://example.org/a", "text/html")
    assert (explained.encoding, explained.how, explained.declared) == ("utf-8", "ascii", (("meta", "gb2312"),))
    assert {(fact.field, fact.value, fact.place) for fact in explained.facts} == {
        ("title", "Ferries", "title and h1"),
        ("author", "Jonas Field", "meta:author"),
        ("language", "en", "html lang"),
    }
    (kept,) = explained.kept
    assert kept.path == "body > div.entry"
    assert kept.text.startswith("# Ferries The ferry to the island")
    assert kept.score == pytest.approx(5 * len(SENTENCE), rel=0.05)
    assert kept.share == 1.0


def test_what_was_removed_stands_in_the_order_of_the_page_with_its_rule_length_and_links() -> None:
    cuts = explain_page(PAGE.encode(), "https://example.org/a", "text/html").cuts
    assert [(cut.rule, cut.text[:13], cut.length) for cut in cuts] == [
        ("tag nav", "Start page", 10),
        ("named", "Another story", 22),
        ("hidden", "Say yes.", 8),
        ("named", "The ferry to ", len(SENTENCE.strip())),
        ("named", "Town News", 9),
    ]
    assert [round(cut.link_density, 2) for cut in cuts] == [1.0, 0.59, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("page", "note"),
    [
        ("<html><head></head></html><body><p>" + SENTENCE, "behind the end of the page"),
        ("<div>" * 300 + SENTENCE, "nested too deep"),
        (f"<noscript><div><p>{SENTENCE * 8}</p></div></noscript>", "noscript"),
        (f"<p>{SENTENCE}\u202e{SENTENCE}", "invisible"),
        (f"<body class=forum-topic><p>{SENTENCE}", "a forum"),
    ],
)
def test_what_was_mended_or_taken_for_something_is_noted(page: str, note: str) -> None:
    assert any(note in told for told in explain_page(page.encode(), "", "text/html; charset=utf-8").notes)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"\0\1\2" * 99, "binary_data"), (b"<img src=a.png>", "no_text")], ids=["binary", "no text"]
)
def test_a_page_without_a_document_says_why(data: bytes, reason: str) -> None:
    assert explain_page(data, "", None).refused == reason


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_tells_of_the_document_that_cleaning_makes_of(page) -> None:
    explained = explain_page(page.data, page.url, page.content_type)
    outcome = clean_page(page.data, page.url, page.content_type)
    if not isinstance(outcome, CleanDocument):
        assert explained.refused == outcome.reason
        return
    assert "".join(outcome.text.split()).startswith("".join(explained.kept[0].text.split()))
    assert all(cut.length for cut in explained.cuts)
