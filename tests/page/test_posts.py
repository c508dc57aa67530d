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
        "<p>by <b>mira</b> » Fri May {n}2, 2026 10:12 am</p>",
        "<dl><dd><b>Posts:</b> {n}42</dd><dd><b>Joined:</b> Mon May {n}1, 2017 4:20 pm</dd></dl>",
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
        "who wrote it and when",
        "a dated profile",
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


def test_a_short_thread_is_no_list_of_links():
    links = "".join(f"<div><a href=/forum/{n}>Another room of the board, number {n}</a></div>" for n in range(9))
    posts = "".join(f"<div class=msg><h3><a href=/p/{n}>Re: Pump</a></h3><p>{POSTS[n]}</p></div>" for n in range(4))
    text = text_of_page(f"<div id=page><h2>Pump</h2>{posts}</div><div class=rooms>{links}</div>", "viewtopic.php?t=7")
    assert all(post in text for post in POSTS)
    assert "Another room" not in text


def test_the_heading_of_the_site_is_not_put_before_the_title_of_a_thread():
    posts = "".join(f"<div class=msg><p>{post}</p></div>" for post in POSTS)
    body = f"<title>Pump - Garden board</title><div><h1>Garden board</h1></div><div id=page><h2>Pump</h2>{posts}</div>"
    assert text_of_page(body, "viewtopic.php?t=7").startswith("## Pump")


def test_a_short_post_below_its_header_is_no_dateline():
    posts = "".join(
        f"<div class=item><header>小明 2026年5月{n}日发布 #{n} 2026年5月{n}日星期五</header><p>第{n}次试过，水泵还是过一分钟就停</p></div>"
        for n in range(1, 5)
    )
    text = text_of_page(f"<h1>水泵</h1><div>{posts}</div>", "d/15448")
    assert text.count("水泵还是过一分钟就停") == 4
    assert "发布" not in text


def test_what_replies_answer_stands_before_them():
    replies = "".join(f"<div class=reply-{n}><p>{post * 4}</p></div>" for n, post in enumerate(POSTS[1:]))
    cookies = "<div><p>This website uses cookies to give you the best service that it can, so they say.</p></div>"
    page = f"{cookies}<div id=wrap><div class=question-body><p>{POSTS[0]}</p></div><div class=replies>{replies}</div></div>"
    text = text_of_page(page, "forum/garden/pump")
    assert text.startswith(POSTS[0])
    assert POSTS[3] in text


def test_a_post_that_is_marked_as_its_authors_is_no_box_about_the_author():
    def post(n: int) -> str:
        who = "topic-author" if n % 2 else "other"
        return f"<div class='reply item-{n} user-id-{n} even {who} hentry'><p>{POSTS[n]}</p></div>"

    text = text_of_page("<h1>Pump</h1><div>" + "".join(map(post, range(4))) + "</div>", "forums/topic/pump/")
    assert all(post in text for post in POSTS)


def text_of_page(body: str, path: str) -> str:
    source = f"<html><body>{body}</body></html>"
    root = parse_html(source)
    content = extract(root, read_head(root), source, f"https://board.example.org/{path}")
    assert isinstance(content, MainContent)
    return content.text
