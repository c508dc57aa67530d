import pytest

from kbcite.page.extraction import extract
from kbcite.page.head import read_head
from kbcite.page.tree import parse_html
from kbcite.records import MainContent

POSTS = (
    "The pump runs for a minute and stops, then the lamp blinks four times and it starts again.",
    "Four blinks mean that the float is stuck. Take the lid off and turn it by hand, it should move freely.",
    "That was it, thank you. A small stone had come in with the water from the roof.",
    "For the next who reads this: a cheap filter in front of the inlet keeps stones out.",
)


def thread(around: str, url: str = "https://example.org/forum/t/7") -> str:
    posts = "".join(
        f"<div class=msg>{around.format(n=n)}<div><p>{post}</p></div></div>" for n, post in enumerate(POSTS)
    )
    source = f"<html><body><h1>Pump stops after a minute</h1>{posts}</body></html>"
    root = parse_html(source)
    content = extract(root, read_head(root), source, url)
    assert isinstance(content, MainContent)
    return content.text


PLAIN = thread("")


@pytest.mark.parametrize(
    "around",
    [
        "<div><a href=/q>Quote</a> <a href=/r>Report</a></div>",
        "<div>Click to expand...</div>",
        "<div><div>Senior Member</div></div>",
        "<div>Posts: {n}12<br>Joined: Mar 201{n}</div>",
        "<dl><dt>Joined</dt><dd>Apr {n}, 2019</dd><dt>Reaction score</dt><dd>{n}7</dd></dl>",
        "<div>Last edited: Apr {n}, 2026</div>",
        "<table><tr><td>注册时间 2019-3-{n}<br>帖子 {n}08</td></tr></table>",
        "<table><tr><td><div class=sign>Life is a garden, number {n}</div></td></tr></table>",
    ],
    ids=[
        "buttons",
        "a label",
        "a rank",
        "figures of a member",
        "a list of figures",
        "marks of edits",
        "a Chinese profile",
        "signatures",
    ],
)
def test_what_a_template_puts_beside_each_post_is_left_out(around):
    assert thread(around) == PLAIN


@pytest.mark.parametrize(
    "around",
    [
        "<h4>marta</h4>",
        "<blockquote><p>As the manual says</p></blockquote>",
        "<pre>lamp.blink(4)</pre>",
        "<p>Hello {n}</p>",
    ],
    ids=["names", "quotes", "code", "lines that differ"],
)
def test_what_repeats_and_is_said_by_people_stays(around):
    assert thread(around) != PLAIN


def test_lines_that_repeat_in_an_article_stay():
    text = thread("<p>Advantages:</p>", "https://example.org/pumps")
    assert text.count("Advantages:") == len(POSTS)


def test_links_in_brackets_beside_the_title_are_no_part_of_it():
    title = "<h1><a href=/f?kind=4>[Help]</a> Pump stops after a minute</h1><span><a href=/t/7>[复制链接]</a></span>"
    posts = "".join(f"<div class=msg><p>{post} <a href=/x>[see here]</a></p></div>" for post in POSTS)
    source = f"<html><body><div>{title}</div>{posts}</body></html>"
    root = parse_html(source)
    content = extract(root, read_head(root), source, "https://example.org/forum/t/7")
    assert isinstance(content, MainContent)
    assert content.text.startswith(f"# Pump stops after a minute\n\n{POSTS[0]} [see here]")


def test_the_name_of_who_is_quoted_is_left_out_before_a_quote():
    quote = "<aside class=quote><div class=title>tovek:</div><blockquote><p>Is it the float?</p></blockquote></aside>"
    assert "> Is it the float?" in thread(quote)
    assert "tovek" not in thread(quote)
