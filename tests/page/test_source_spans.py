from itertools import pairwise

import pytest

from kbcite.page.markdown import Piece
from kbcite.page.source_spans import locate

CASES = {
    "plain": ("<p>one text</p>", ["one text"], ["one text"]),
    "the first of equal texts comes first": ("<p>a</p><i>x</i><p>a</p>", ["a", "x", "a"], ["a", "x", "a"]),
    "entities": ("<p>R&amp;D &euro;&nbsp;5</p>", ["R&D €\xa05"], ["R&amp;D &euro;&nbsp;5"]),
    "entities before all letters": ("<p>&ldquo;&amp; a&rdquo;</p>", ["“& a”"], ["&ldquo;&amp; a&rdquo;"]),
    "an entity without its semicolon, a sign that is none": ("<p>R&amp D & E</p>", ["R& D & E"], ["R&amp D & E"]),
    "entities and a comment": ("<p>a &lt; b<!-- no --> &gt; c</p>", ["a < b > c"], ["a &lt; b", " &gt; c"]),
    "white space": ("<p>one\r\n  two</p>", ["one\n  two"], ["one\r\n  two"]),
    "a comment inside": ("<p>one <!-- no -->two</p>", ["one two"], ["one ", "two"]),
    "not the copy in a script": (
        '<script>{"t":"the same sentence, twice"}</script><p>the same sentence, twice</p>',
        ["the same sentence, twice"],
        ["the same sentence, twice"],
    ),
    "a digit behind tags full of it": ("<p id=2222222222 class=x222>2</p>", ["2"], ["2"]),
    "Chinese punctuation as entities": (
        "<p>右边我们都知道&#xff0c;左边呢&#xff1f;</p>",
        ["右边我们都知道，左边呢？"],
        ["右边我们都知道&#xff0c;左边呢&#xff1f;"],
    ),
    "one entity many times": (f"<p>{'&amp;' * 50} and</p>", ["&" * 50 + " and"], [f"{'&amp;' * 50} and"]),
    "comments between all words": (
        "<p>old<!-- --> <!-- -->bridges<!-- --> <!-- -->fall</p>",
        ["old bridges fall"],
        ["old", " ", "bridges", " ", "fall"],
    ),
    "what is not there has no span": ("<p>one</p>", ["something else"], []),
}


@pytest.mark.parametrize("name", CASES)
def test_pieces_are_found(name):
    source, raws, expected = CASES[name]
    pieces, position = [], 0
    for raw in raws:
        shown = " ".join(raw.split())
        pieces.append(Piece(position, position + len(shown), raw))
        position += len(shown) + 1
    spans = locate(pieces, source)
    assert [source[span.source_start : span.source_end] for span in spans] == expected
    assert all(one.source_end <= other.source_start for one, other in pairwise(spans))


def test_the_copy_in_a_script_is_passed_over():
    source = '<script>{"t":"the same sentence, twice"}</script><p>the same sentence, twice</p>'
    (span,) = locate([Piece(0, 24, "the same sentence, twice")], source)
    assert span.source_start == source.rindex("the same")


def test_code_that_shows_a_tag_is_not_found_in_a_tag():
    source = "<form>\n</form>\n<pre>&lt;/form&gt;\n</pre>"
    (span,) = locate([Piece(0, 7, "</form>", is_code=True)], source)
    assert source[span.source_start : span.source_end] == "&lt;/form&gt;"


def test_a_long_piece_is_not_found_before_there_is_room_for_those_in_front_of_it():
    title = "The same long line stands in the head, and again at the end."
    source = f"<h2>{title}</h2><p>Rooms &amp; boards are what the first paragraph is about.</p><p>{title}</p>"
    first = "Rooms & boards are what the first paragraph is about."
    spans = locate([Piece(0, len(first), first), Piece(len(first) + 1, len(first) + 1 + len(title), title)], source)
    assert [span.source_start for span in spans] == [source.index("Rooms"), source.rindex(title)]
