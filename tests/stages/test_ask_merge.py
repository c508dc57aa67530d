"""Which stored blocks stand beside live ones: nothing of a page that is not believed, and no place on one."""

from __future__ import annotations

from kbcite.answer.live_decision import PageChoice
from kbcite.live_records import LiveLoss, LivePage
from kbcite.records import CleanDocument, Metadata, Occurrence, SourceType
from kbcite.stages.ask_merge import merged, without
from kbcite.stages.ask_seen import Seen
from tests.answer.blocks import NOW, retrieved

A, B = "https://a.example/", "https://b.example/"
WEEK_S = 7 * 86_400
LONG_AGO = "2026-10-01T08:00:00Z"


def test_a_block_that_also_stands_on_another_page_is_cited_from_there() -> None:
    block = retrieved("日票6.50元。", url=A, also=(retrieved("日票6.50元。", 1, url=B).place,))
    (kept,) = without([block], {A: "superseded"})
    assert (kept.dropped, kept.place.url, kept.also) == (None, B, ())
    (kept,) = without([block], {B: "superseded"})
    assert (kept.place.url, kept.also) == (A, ())
    (gone,) = without([block], {A: "corrected by c", B: "superseded"})
    assert gone.dropped == "corrected"


def test_a_live_place_is_believed_whatever_is_said_of_its_page() -> None:
    block = retrieved("日票7.20元。", url=A, source_type=SourceType.LIVE)
    assert without([block], {A: "superseded"}) == [block]


def seen(url: str, reason: str = "") -> Seen:
    if reason:
        return Seen(PageChoice(url, "stale hit"), LiveLoss(url, reason, ""), reason)
    document = CleanDocument(url, "f" * 64, "日票7.20元。", (), Metadata(), "utf-8", "")
    piece = (retrieved(document.text).block, Occurrence("b0", 0, len(document.text), (), 0))
    page = LivePage(url, url, document, (piece,), SourceType.WEB, (), NOW, is_pooled=False)
    return Seen(PageChoice(url, "live page"), page)


def dropped(*looks: Seen) -> dict[str, str | None]:
    """By page, why stale blocks of two pages are not used, once the pages were looked at."""
    stored = [retrieved("甲。", url=A, fetched_at=LONG_AGO), retrieved("乙。", 1, url=B, fetched_at=LONG_AGO)]
    live = [retrieved("日票7.20元。", 2, url=A, source_type=SourceType.LIVE)]
    found = merged("?", looks, stored, {}, lambda _question, _pieces: live, min_relevance=0.4, window_s=WEEK_S, now=NOW)
    return {block.place.url: block.dropped for block in found if block.place.source_type is not SourceType.LIVE}


def test_beside_a_page_that_was_fetched_stale_blocks_are_not_used() -> None:
    assert dropped(seen(A)) == {A: "superseded", B: "stale"}


def test_a_page_that_could_not_be_had_is_fallen_back_to() -> None:
    assert dropped(seen(A), seen(B, "http_503")) == {A: "superseded", B: None}


def test_a_page_that_is_gone_is_not() -> None:
    assert dropped(seen(A), seen(B, "http_404")) == {A: "superseded", B: "page_gone"}


def test_where_nothing_was_fetched_stale_blocks_stay() -> None:
    assert dropped(seen(A, "timeout")) == {A: None, B: None}
