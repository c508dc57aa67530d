import time

import pytest

from kbcite.page.tree import MAX_DEPTH, parse_html, parse_with_notes

BOMBS = {
    "300 nested": "<div>" * 300 + "words" + "</div>" * 300 + "after",
    "5,000 nested": "<div>" * 5000 + "words" + "</div>" * 5000 + "after",
    "20,000 nested tables": "<table><tr><td>" * 20_000 + "words",
    "100,000 nested": "<div>" * 100_000 + "words",
    "200,000 attributes": "<div " + " ".join(f'a{i}="x"' for i in range(200_000)) + ">words</div>",
    "200,000 attributes with angle brackets": "<div " + " ".join(f'a{i}=">"' for i in range(200_000)) + ">words</div>",
    "30 MB script": "<script>" + "x=1;" * 7_500_000 + "</script><p>words",
    "200,000 unclosed comments": "words" + "<!-- a " * 200_000,
    "2 M entities": "words" + "&amp;" * 2_000_000,
    "200,000 unclosed quotes": "words" + '<a b="' * 200_000,
    "100,000 unclosed formatting tags": "<b>" * 100_000 + "words",
}


def text_of(html: str) -> str:
    return " ".join("".join(parse_html(html).itertext()).split())


def depth_of(element) -> int:
    return 1 + max(map(depth_of, element), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_soon_and_keeps_its_words(name):
    start = time.monotonic()
    assert "words" in text_of(BOMBS[name])
    assert time.monotonic() - start < 10


def test_nesting_is_flattened_and_text_behind_it_stays():
    root = parse_html("<div>" * 300 + "deep" + "</div>" * 300 + "<p>after</p>")
    assert "".join(root.itertext()) == "deepafter"
    assert depth_of(root) <= MAX_DEPTH


def test_text_behind_an_early_end_of_html_is_found():
    root = parse_html("<html><head><title>t</title></head></html><body><p>the text</p></body></html>")
    assert root.find("body") is not None
    assert "the text" in "".join(root.find("body").itertext())


def test_a_giant_tag_keeps_its_name_and_its_neighbours():
    root = parse_html(f'<p>before<img src="{"x" * 70_000}">after</p>')
    assert text_of("<p>before</p>") in "".join(root.itertext())
    assert root.find(".//img").attrib == {}


@pytest.mark.parametrize("html", ["", " ", "<", "\0", "<!-- only -->", "\ud800"])
def test_next_to_nothing_gives_a_tree(html):
    assert parse_html(html).tag == "html"


def test_nothing_is_left_of_the_marker():
    root = parse_html("<p>text</p>")
    assert [element.tag for element in root.iter()] == ["html", "body", "p"]


@pytest.mark.parametrize(
    ("html", "note"),
    [
        ("<html><head><title>t</title></head></html><body><p>the text</p></body></html>", "behind the end of the page"),
        ("<div>" * 300 + "deep" + "</div>" * 300, "nested too deep"),
        (f'<p>before<img src="{"x" * 70_000}">after</p>', "attributes"),
    ],
)
def test_what_was_mended_is_told(html, note):
    (told,) = parse_with_notes(html)[1]
    assert note in told


def test_of_a_page_in_order_nothing_is_told():
    assert parse_with_notes("<!doctype html><html><body><p>text</p></body></html>")[1] == ()
