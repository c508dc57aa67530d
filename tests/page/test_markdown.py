import pytest
from lxml import html as lxml_html

from kbcite.page.markdown import write_markdown


def markdown(html: str) -> str:
    return write_markdown([lxml_html.fromstring(f"<div>{html}</div>")], set())[0]


CASES = {
    "headings": ("<h2>Title <b>bold</b></h2><p>Text</p>", "## Title bold\n\nText"),
    "white space is folded": ("<p>one\n  two\t three</p>", "one two three"),
    "emphasis and links are text": ('<p>see <a href="/x">the <em>page</em></a>.</p>', "see the page."),
    "line breaks": ("<p>one<br>two</p>", "one\ntwo"),
    "nested lists": (
        "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>",
        "- a\n  - b\n- c",
    ),
    "numbered lists with a start": ('<ol start="3"><li>c</li><li>d</li></ol>', "3. c\n4. d"),
    "a list item of paragraphs": ("<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n  b"),
    "definitions": ("<dl><dt>term</dt><dd>meaning</dd></dl>", "term\n: meaning"),
    "quotes": ("<blockquote><p>one</p><p>two</p></blockquote>", "> one\n>\n> two"),
    "a data table": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1 | 2</td><td>3</td></tr></table>",
        "| a | b |\n| --- | --- |\n| 1 \\| 2 | 3 |",
    ),
    "a span fills the row": (
        "<table><tr><th colspan=2>ab</th><th>c</th></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>",
        "| ab |  | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
    ),
    "a layout table is no table": (
        "<table><tr><td><p>text</p></td></tr><tr><td>more</td></tr></table>",
        "text\n\nmore",
    ),
    "code keeps its lines and language": (
        '<pre><code class="language-python">if a:\n    b()\n</code></pre>',
        "```python\nif a:\n    b()\n```",
    ),
    "a fence longer than the one inside": ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
    "line numbers in a table go": (
        "<table><tr><td class=gutter><pre>1\n2</pre></td><td class=code><pre>a\n  b</pre></td></tr></table>",
        "```\na\n  b\n```",
    ),
    "one element a line": ("<pre><div>a</div><div> b</div></pre>", "```\na\n b\n```"),
    "inline code": ("<p>run <code>make x</code> now</p>", "run `make x` now"),
    "inline code that the editor wrapped": (
        "<p>it returns <code><i>(0,</i>\n<i>x)</i></code>, then stops</p>",
        "it returns `(0, x)`, then stops",
    ),
    "code alone on its lines without pre": ("<p><code><i>a = 1</i>\n<i>b = 2</i></code></p>", "```\na = 1\nb = 2\n```"),
    "posts that are articles": ("<article><div>One.</div></article><article>Two.</article>", "One.\n\nTwo."),
    "sections in items": (
        "<ul><li><section><h2>Methods</h2><ul><li><section><h3>boil</h3><p>Boils.</p></section></li></ul></section></li></ul>",
        "## Methods\n\n### boil\n\nBoils.",
    ),
    "an image's text": ('<p><img alt="the old bridge" src=a.png></p>', "![the old bridge]()"),
    "an image beside its sources": (
        "<picture><source srcset=a.webp><source srcset=b.webp><img alt='the old bridge' src=a.png></picture><p>x</p>",
        "![the old bridge]()\n\nx",
    ),
    "an image's file name is no text": ('<p>x<img alt="DSC001.jpg"></p>', "x"),
    "nor is what an editor wrote for its author": (
        '<p>x<img alt="图片"><img alt="image"><img alt="IMG-20260501"><img class="vm avatar" alt="mira"></p>',
        "x",
    ),
    "the pictures of a gallery": (
        "<p><img alt='The old bridge'> <img alt='The old bridge'></p>",
        "![The old bridge]()",
    ),
    "a short text for an image": ('<p>x<img alt="Image of 4 boats"></p>', "x![Image of 4 boats]()"),
    "TeX of a formula": (
        '<p>so <math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math></p>',
        "so $x^2$",
    ),
    "only what would be structure is escaped": (
        "<p># no heading</p><p>a_b * c [d]</p>",
        "\\# no heading\n\na_b * c [d]",
    ),
    "ideographic spaces inside stay": ("<p>　　第一条　文字</p>", "第一条　文字"),
    "a permalink is no text": ('<h2><a class="header-anchor" href="#x">#</a> Use</h2>', "## Use"),
}


@pytest.mark.parametrize("name", CASES)
def test_html_becomes_markdown(name):
    html, expected = CASES[name]
    assert markdown(html).strip() == expected


def test_pieces_are_slices_of_the_text():
    text, pieces = write_markdown([lxml_html.fromstring("<div><h1>a  b</h1><ul><li>c<b>d</b></li></ul></div>")], set())
    assert [text[piece.start : piece.end] for piece in pieces] == ["a b", "c", "d"]


def test_dropped_elements_leave_no_empty_item():
    root = lxml_html.fromstring("<div><ul><li><span>x</span></li><li>y</li></ul></div>")
    text, _ = write_markdown([root], {root.find(".//span")})
    assert text.strip() == "- y"


@pytest.mark.parametrize(
    "page",
    [
        '<dl><dt>sort(x)<a class="headerlink" href="#sort">¶</a></dt><dd>Sorts.</dd></dl>',
        '<h2>Sorting <a href="#sorting"><span>#</span></a></h2>',
        '<ol><li><b><a href="#ref1">^</a></b> A note.</li></ol>',
    ],
)
def test_links_to_the_place_itself_are_no_text(page: str) -> None:
    assert not set("¶#^") & set(markdown(page).removeprefix("## "))
