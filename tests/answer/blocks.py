"""Retrieved blocks for tests of answers, made of plain texts."""

from __future__ import annotations

from kbcite.records import Block, PageState, Place, RetrievedBlock, Scores, SourceType
from kbcite.words import count_words, language_of

NOW = "2026-11-30T08:00:00Z"


def retrieved(
    text: str,
    number: int = 0,
    *,
    url: str = "",
    title: str = "",
    published_at: str | None = None,
    fetched_at: str = "2026-11-29T08:00:00Z",
    source_type: SourceType = SourceType.WEB,
    dropped: str | None = None,
    heading_chain: tuple[str, ...] = (),
    context: str = "",
    start: int = 0,
    also: tuple[Place, ...] = (),
) -> RetrievedBlock:
    """A block of a page of its own; blocks are best given in order, with growing numbers."""
    place = Place(
        number,
        start,
        start + len(text),
        heading_chain,
        url or f"https://example.com/{number}",
        title,
        published_at,
        fetched_at,
        source_type,
        PageState.ALIVE,
        f"{number:064x}",
        text=text,
        context=context,
    )
    block = Block(f"b{number}", text, count_words(text), language_of(text))
    score = 0.9 - 0.05 * number
    return RetrievedBlock(block, place, Scores(score, score, score, score), also, dropped)
