import html

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbcite.page.cleaning import clean_page
from kbcite.page.encoding import decode, strip_invisible
from kbcite.records import CleanDocument, Skipped

PARAGRAPH = "The bridge was closed for repairs in March, and traffic was sent over the old road until the summer. "
ARTICLE = f"""<html><head><title>Bridge closed - Town News</title></head><body>
<nav><a href=/>Home</a> <a href=/news>News</a></nav>
<div class="article"><h1>Bridge closed</h1><p>{PARAGRAPH * 2}</p>
<p>{PARAGRAPH} It cost &euro;&nbsp;2 million &amp; took
four months.</p></div>
<div class="sidebar"><ul><li><a href=1>Another story of the day</a></li><li><a href=2>And one more</a></li></ul></div>
<footer>Copyright Town News</footer></body></html>"""


def clean(text: str) -> CleanDocument:
    outcome = clean_page(text.encode(), "https://example.org/a", "text/html; charset=utf-8")
    assert isinstance(outcome, CleanDocument)
    return outcome


def folded(text: str) -> str:
    return " ".join(html.unescape(text).split())


def test_an_article_is_kept_without_what_stands_around_it():
    text = clean(ARTICLE).text
    assert text.startswith("# Bridge closed\n\nThe bridge")
    assert text.endswith("It cost € 2 million & took four months.")


def test_cleaning_twice_gives_the_same_document():
    assert clean(ARTICLE) == clean(ARTICLE)


def test_every_span_maps_back_to_the_page():
    data = ARTICLE.encode()
    source = strip_invisible(decode(data, "text/html").text)
    document = clean(ARTICLE)
    for span in document.spans:
        assert folded(source[span.source_start : span.source_end]) == document.text[span.start : span.end]
    covered = sum(span.end - span.start for span in document.spans)
    assert covered >= 0.95 * len(document.text)


def test_an_empty_shell_says_that_it_needs_javascript():
    shell = '<html><body><div id="root"></div><script src="/app.js"></script></body></html>'
    outcome = clean_page(shell.encode(), "https://example.org/", None)
    assert isinstance(outcome, Skipped) and outcome.reason == "needs_javascript"


def test_a_page_without_text_says_so():
    outcome = clean_page(b"<html><body><img src=a.png></body></html>", "https://example.org/", None)
    assert isinstance(outcome, Skipped) and outcome.reason == "no_text"


PIECES = st.sampled_from(
    ["<p>", "</p>", "<div class='comment'>", "</div>", "<table><tr><td>", "</table>", "<ul><li>", "</ul>", "<pre>", "</pre>", "<b>",
     "text one. ", "一段中文，很短。", "&amp;", "&nbsp;", "&#8203;", "<!--", "-->", "<script>", "</script>", "<br>", "<h2>", "</h2>",
     "a | b", "# c", "<", ">", "\0", "\r\n", "<math><mi>x</mi></math>", "<img alt='a picture'>", "<blockquote>", "<code>", "</code>",
     "<noscript>", "</html>", "<body>", "<dl><dt>", "<dd>", "<a href=x>"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=40))
def test_mangled_html_gives_a_document_whose_spans_map_back_or_a_reason(pieces):
    data = "".join(pieces).encode()
    outcome = clean_page(data, "https://example.org/", "text/html; charset=utf-8")
    if isinstance(outcome, Skipped):
        assert outcome.reason
        return
    source = strip_invisible(decode(data, "text/html; charset=utf-8").text)
    for span in outcome.spans:
        assert folded(source[span.source_start : span.source_end]) == " ".join(
            outcome.text[span.start : span.end].split()
        )


@pytest.mark.parametrize("data", [b"", b"\0", b"<", b"<html>", b"\xff\xfe", b"<html></html><body><p>x"])
def test_a_page_of_next_to_nothing_is_no_error(data):
    clean_page(data, "https://example.org/", None)
