"""The HTML of an answer as text: what it holds, what it escapes, and that it needs nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from kbcite.html_answer import Archived, paragraphs_of, parts_of, to_html
from kbcite.records import Conflict, Quote, Verdict
from tests.shown_answers import answer, chinese, compose, english, refused, source

HOSTILE = "</style></script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onmouseover=alert(3) {{ 7*7 }} {% raw %} ${x}"


class Tags(HTMLParser):
    """Every tag with its attributes, and the text outside the style sheet."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._in_style = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if not self._in_style:
            self.text += data


def words(page: str) -> str:
    return " ".join(Tags(page).text.split())


def hostile() -> str:
    text, claims = compose(
        [("", HOSTILE, (1, 2), Verdict.PARTIAL), ("\n- ", f"`{HOSTILE}` **{HOSTILE}**", (2,), Verdict.SUPPORTED)]
    )
    made = answer(
        text,
        claims,
        (
            source(
                1,
                HOSTILE,
                f"| {HOSTILE} | x |",
                (HOSTILE,),
                url="javascript:alert(4)",
                deep_link='https://a.example/"><script>alert(5)</script>',
                published_at=HOSTILE,
                also=("javascript:alert(6)", 'https://b.example/" onclick="alert(7)'),
            ),
            source(
                2, "", f"```{HOSTILE}\n{HOSTILE}\n```", url="data:text/html,<script>alert(8)</script>", deep_link=None
            ),
        ),
        question=HOSTILE,
        method=HOSTILE,
        notices=(HOSTILE,),
        conflicts=(Conflict(HOSTILE, ((HOSTILE, 1),), HOSTILE),),
    )
    return to_html(made, {1: Archived(HOSTILE, HOSTILE, f"| {HOSTILE} |", "kb/archived/a.html"), 2: Archived()})


@pytest.mark.parametrize(
    "page",
    [to_html(*english()), to_html(*chinese()), to_html(refused()), hostile()],
    ids="en zh refused hostile".split(),
)
def test_nothing_runs_and_nothing_is_loaded_from_elsewhere(page: str) -> None:
    tags = Tags(page).tags
    assert not {"script", "img", "link", "iframe", "object", "base", "form"} & {tag for tag, _ in tags}
    for tag, attributes in tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style", "action")], tag
        address = attributes.get("href") or ""
        assert not address or re.match(r"https?://|#source-\d+$|kb/archived/", address), address
    assert "url(" not in page.partition("<style>")[2].partition("</style>")[0]
    assert "@import" not in page


@pytest.mark.parametrize("page", [to_html(*english()), hostile()], ids=["en", "hostile"])
def test_the_policy_allows_this_style_sheet_and_nothing_else(page: str) -> None:
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(a["content"] for tag, a in Tags(page).tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_hostile_words_are_shown_as_they_are() -> None:
    page = hostile()
    assert "<script>" not in page
    shown = words(page)
    assert shown.count("alert(1)") >= 8
    assert "{{ 7*7 }}" in shown
    assert html.escape(HOSTILE, quote=False)[:30] in page


def test_a_link_of_another_scheme_is_no_link() -> None:
    made, _ = english()
    first = replace(made.sources[0], url="javascript:alert(1)", deep_link=None)
    page = to_html(replace(made, sources=(first, *made.sources[1:])))
    assert not [a for _, a in Tags(page).tags if (a.get("href") or "").startswith("javascript")]


def test_each_mark_opens_a_card_with_passage_place_dates_and_both_links() -> None:
    page = to_html(*english())
    buttons = [a for tag, a in Tags(page).tags if tag == "button" and a.get("class") == "n"]
    cards = {a["id"]: a for _, a in Tags(page).tags if "popover" in a}
    assert [b["popovertarget"] for b in buttons] == list(cards)
    assert len(buttons) == 6, "one for each mark in the text"
    card = page.partition('id="card-1-1-1"')[2].partition('id="card-')[0]
    shown = words("<div" + card)
    for part in (
        "Quickstart",
        "First transaction",
        "Limits",
        "50,000 keys",
        "published 2026-10-02",
        "fetched 2026-11-30",
    ):
        assert part in shown
    assert 'href="https://docs.example.com/guide/page-1.html#:~:text=limits"' in card
    assert 'href="kb/archived/x.html"' in card


def test_the_verdict_of_every_sentence_can_be_read() -> None:
    shown = words(to_html(*english()))
    assert shown.count("(supported)") == 3
    assert "only partly supported by its source" in shown
    assert "contradicted by its source" in shown


def test_internal_documents_stand_apart_and_a_dead_page_says_so() -> None:
    shown = words(to_html(*english()))
    assert shown.index("Internal documents") < shown.rindex("Plans and prices") < shown.index("Sources")
    assert "The page is gone; its archived copy remains." in shown


def test_a_chinese_answer_is_chinese_throughout() -> None:
    page = to_html(*chinese())
    assert '<html lang="zh">' in page
    shown = words(page)
    assert "来源只支持其中一部分" in shown
    assert not re.search(r"\b(Source|published|fetched|supported|Archived)\b", shown)


def test_a_refusal_says_why_and_cites_nothing() -> None:
    page = to_html(refused())
    assert "below_threshold" in words(page)
    assert "最佳匹配 0.31，需要 0.45" in words(page)
    assert "popovertarget" not in page


def test_an_answer_needs_no_store_to_be_shown() -> None:
    made, _ = english()
    assert "50,000 keys" in words(to_html(made))


def test_a_quoted_row_gets_the_head_of_its_table() -> None:
    (table,) = parts_of("| Team | 9 |\n| --- | --- |\n| Solo | 1 \\| 2 |", "| Plan | Nodes |")
    assert (table.kind, table.head) == ("table", ("Plan", "Nodes"))
    assert table.rows == (("Team", "9"), ("Solo", "1 | 2"))


def test_text_code_and_tables_keep_their_order() -> None:
    parts = parts_of("Run `a` and **b**:\n```sh\nmake\n```\n| x | y |\n")
    assert [part.kind for part in parts] == ["text", "code", "table"]
    assert [(run.kind, run.text) for run in parts[0].runs] == [
        ("text", "Run "),
        ("code", "a"),
        ("text", " and "),
        ("strong", "b"),
        ("text", ":"),
    ]
    assert parts[1].runs[0].text == "make"


def test_the_text_is_shown_whole_and_in_order() -> None:
    made, _ = english()
    paragraphs = paragraphs_of(made.text, made.claims)
    assert [paragraph.is_item for paragraph in paragraphs] == [False, False, True, True]
    told = " ".join(run.text for p in paragraphs for s in p.sentences for part in s.parts for run in part.runs)
    for word in re.findall(r"\w+", re.sub(r"\[\d\]", "", made.text)):
        assert word in told


def test_a_quote_of_nothing_is_no_fault() -> None:
    made, archived = english()
    empty = replace(made.sources[0], quote=Quote("", 0, 0, True), heading_chain=(), title="")
    assert made.sources[0].url in words(to_html(replace(made, sources=(empty, *made.sources[1:])), archived))
