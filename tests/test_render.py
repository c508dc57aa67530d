from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from kbcite.records import (
    Answer,
    Claim,
    Freshness,
    Grounding,
    Marker,
    PageState,
    Quote,
    Refusal,
    RefusalReason,
    Retrieval,
    SnapshotReference,
    Source,
    SourceType,
    Verdict,
)
from kbcite.render import answer_pieces, fitted, one_line, printable, where, width_of


def source(n: int, type_: SourceType = SourceType.WEB, **changes: object) -> Source:
    fields = {
        "n": n,
        "block_id": f"b1{n}",
        "url": f"https://a.example/{n}",
        "title": f"Title {n}",
        "heading_chain": ("Prices",),
        "published_at": "2026-03-01",
        "fetched_at": "2026-03-02T08:00:00Z",
        "age_s": 60,
        "source_type": type_,
        "state": PageState.ALIVE,
        "quote": Quote("q", 0, 1, True),
        "deep_link": None,
        "snapshot": SnapshotReference("0" * 64),
    }
    return Source(**{**fields, **changes})  # type: ignore[arg-type]


def answer(text: str, claims: tuple[Claim, ...], sources: tuple[Source, ...], **changes: object) -> Answer:
    fields = {
        "id": "a1",
        "trace_id": "t1",
        "created_at": "2026-03-02T08:00:00Z",
        "question": "?",
        "lang": "en",
        "grounding": Grounding(1.0, 1.0),
        "retrieval": Retrieval(3, 2, 2, 0.45, 0.3),
        "freshness": Freshness("reference", None, None),
    }
    return Answer(text=text, claims=claims, sources=sources, **{**fields, **changes})  # type: ignore[arg-type]


def shown(record: Answer, terminal: bool = False) -> str:
    out = io.StringIO()
    body, sources = answer_pieces(record)
    console = Console(file=out, force_terminal=terminal, soft_wrap=True, highlight=False, width=200)
    console.print(Text.assemble(*body))
    if sources:
        console.print(Text.assemble(*sources))
    return out.getvalue()


def cited(text: str, marker: str = "[1]", verdict: Verdict = Verdict.SUPPORTED) -> tuple[str, Claim]:
    full = f"{text} {marker}"
    return full, Claim(0, len(text), (Marker(1, len(text) + 1, len(full)),), verdict, 1.0)


def test_an_answer_shows_its_text_and_its_numbered_sources() -> None:
    text, claim = cited("A ticket costs 6.50 euros.")
    lines = shown(answer(text, (claim,), (source(1),))).splitlines()
    assert lines[0] == "A ticket costs 6.50 euros. [1]"
    assert lines[2:] == ["Sources", "[1] Title 1 › Prices", "    https://a.example/1  published 2026-03-01"]


def test_internal_documents_and_web_pages_stand_apart() -> None:
    text, claim = cited("x")
    out = shown(answer(text, (claim,), (source(1), source(2, SourceType.INTERNAL))))
    assert out.index("Internal documents") < out.index("[2] Title 2") < out.index("Sources") < out.index("[1] Title 1")


def test_a_page_without_a_date_says_when_it_was_fetched() -> None:
    text, claim = cited("x")
    assert "fetched 2026-03-02" in shown(answer(text, (claim,), (source(1, published_at=None),)))


@pytest.mark.parametrize("verdict", [Verdict.PARTIAL, Verdict.UNSUPPORTED, Verdict.CONTRADICTED])
def test_a_sentence_that_its_source_does_not_bear_out_is_flagged(verdict: Verdict) -> None:
    text, claim = cited("It opens at six.", verdict=verdict)
    first = shown(answer(text, (claim,), (source(1),))).splitlines()[0]
    assert first.startswith("It opens at six. [1] (")
    assert "source" in first


def test_a_refusal_says_its_reason_and_scores_in_the_language_of_the_question() -> None:
    refusal = Refusal(RefusalReason.BELOW_THRESHOLD, "我无法从提供的资料中确认这一点。", 0.3, needed=0.45)
    out = shown(answer("", (), (), lang="zh", refusal=refusal))
    assert out.splitlines() == ["我无法从提供的资料中确认这一点。", "(below_threshold: 最佳匹配 0.30，需要 0.45)"]


def test_marks_and_titles_are_links_on_a_terminal() -> None:
    text, claim = cited("x")
    out = shown(answer(text, (claim,), (source(1, deep_link="https://a.example/1#:~:text=x"),)), terminal=True)
    assert out.count("https://a.example/1#:~:text=x") == 2
    assert "\x1b]8;" in out


def test_what_a_page_says_cannot_steer_the_terminal() -> None:
    hostile = "\x1b]0;owned\x07\x1b[31mred\u202e\U000e0041"
    text, claim = cited(hostile)
    bad = source(1, title=hostile, url="https://a.example/\x1b[2J", heading_chain=(hostile,))
    out = shown(answer(text, (claim,), (bad,)), terminal=True)
    for character in ("\x07", "\x1b[31m", "\x1b[2J", "\u202e", "\U000e0041", "\x1b]0;"):
        assert character not in out
    assert "\\x1b]0;owned" in out


def test_markup_of_the_terminal_library_is_plain_text() -> None:
    text, claim = cited("[bold red]x[/] [link=https://evil.example]y[/link]")
    assert "[bold red]x[/] [link=https://evil.example]y[/link]" in shown(
        answer(text, (claim,), (source(1),)), terminal=True
    )


def test_printable_keeps_text_and_shows_controls() -> None:
    assert printable("价格 6,50 €\n\tx") == "价格 6,50 €\n\tx"
    assert printable("a\rb\x00") == "a\\rb\\x00"


def test_one_line_folds_and_cuts() -> None:
    assert one_line("a\n  b", 10) == "a b"
    assert one_line("abcdef", 4) == "abc…"


def test_a_heading_that_repeats_the_title_is_shown_once() -> None:
    assert where("价格表", ("价格表", "2026 年"), "https://a.example") == "价格表 › 2026 年"
    assert where("", (), "https://a.example") == "https://a.example"


@pytest.mark.parametrize(
    ("text", "columns", "kept"),
    [
        ("价格表", 6, "价格表"),
        ("价格表", 5, "价格…"),
        ("价格表", 4, "价…"),
        ("abc", 2, "a…"),
        ("e\u0301x", 2, "e\u0301x"),
    ],
)
def test_a_line_is_cut_to_the_columns_of_a_terminal(text: str, columns: int, kept: str) -> None:
    assert fitted(text, columns) == kept
    assert width_of(kept) <= columns
