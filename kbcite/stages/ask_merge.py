"""Live pages in front of what is stored: which blocks an answer may rest on once pages were looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kbcite.answer.corrections import corrected_pages
from kbcite.answer.freshness import is_stale
from kbcite.answer.live_filters import off_topic
from kbcite.live_records import LivePage
from kbcite.records import Block, PageState, Place, RetrievedBlock, SourceType
from kbcite.stages.ask_seen import Seen

Judge = Callable[[str, Sequence[tuple[Block, Place]]], list[RetrievedBlock]]
"""A question and blocks that are in no index → the blocks ranked, best first."""

PAGE_GONE = "page_gone"
SUPERSEDED = "superseded"
CORRECTED = "corrected"
STALE = "stale"
LIST = "list"
BELOW = "below "
_GONE = ("http_404", "http_410")


def merged(
    question: str,
    seen: Sequence[Seen],
    blocks: Sequence[RetrievedBlock],
    invalid: dict[str, str],
    judge: Judge,
    *,
    min_relevance: float,
    window_s: int | None,
    now: str,
) -> list[RetrievedBlock]:
    """The blocks of the fit pages in front; stored ones of the same pages, of pages that are gone, and stale ones are not used.

    A stale page that was to be looked at and could not be had is fallen back to: its blocks stay. Marks what of `seen` is used or off
    the topic, and adds to `invalid` (URL → reason).
    """
    live = _live_blocks(question, seen, judge, min_relevance)
    for one in seen:
        if one.reason in _GONE:
            invalid[one.found.requested_url] = PAGE_GONE
        elif one.is_used and isinstance(one.found, LivePage):
            invalid.update({one.found.url: SUPERSEDED, one.found.requested_url: SUPERSEDED})
    _prefer_notices(seen)
    used = {one.found.url for one in seen if isinstance(one.found, LivePage) and one.is_used}
    live = [block for block in live if block.place.url in used]
    names = {block.block.id for block in live}
    at = {one.found.document.digest: one.found.fetched_at for one in seen if isinstance(one.found, LivePage)}
    stored = [_as_seen(block, at) for block in without(blocks, invalid)]
    stored = [replace(b, dropped=SUPERSEDED) if b.dropped is None and b.block.id in names else b for b in stored]
    if used:
        lost = {one.found.requested_url for one in seen if one.reason}
        stored = [
            replace(b, dropped=STALE)
            if b.dropped is None and b.place.url not in lost and is_stale(b.place, window_s, now)
            else b
            for b in stored
        ]
    both = [*live, *stored]
    corrected = corrections([block.place for block in both if block.dropped is None])
    invalid |= corrected
    return without(both, corrected)


def corrections(places: Sequence[Place]) -> dict[str, str]:
    """`corrected by URL` for each page that another one corrects."""
    return {url: f"{CORRECTED} by {by}" for url, by in corrected_pages(places).items()}


def without(blocks: Sequence[RetrievedBlock], invalid: Mapping[str, str]) -> list[RetrievedBlock]:
    """The blocks less their places on invalid pages, live ones excepted; one that stands nowhere else is dropped.

    It says why by the first word of its page's reason.
    """
    return [block if block.dropped is not None else _standing(block, invalid) for block in blocks]


def _standing(block: RetrievedBlock, invalid: Mapping[str, str]) -> RetrievedBlock:
    places = (block.place, *block.also)
    kept = tuple(place for place in places if place.url not in invalid or place.source_type is SourceType.LIVE)
    if not kept:
        return replace(block, dropped=invalid[block.place.url].partition(" ")[0])
    return block if len(kept) == len(places) else replace(block, place=kept[0], also=kept[1:])


def _live_blocks(question: str, seen: Sequence[Seen], judge: Judge, min_relevance: float) -> list[RetrievedBlock]:
    """The blocks of the fit pages, ranked; a page none of whose blocks is relevant is marked as off the topic, the others as used."""
    pieces = [piece for one in seen if one.fit is not None for piece in _placed(one.fit)]
    live = judge(question, pieces) if pieces else []
    for one in seen:
        if (page := one.fit) is not None:
            own = [block for block in live if any(place.url == page.url for place in (block.place, *block.also))]
            one.reason, one.detail = off_topic(own, min_relevance) or ("", "")
            one.is_used = not one.reason
    return live


def _as_seen(block: RetrievedBlock, seen_again: Mapping[str, str]) -> RetrievedBlock:
    """The stored block, seen now where its page was fetched and has the same bytes: it still says so, fit for live use or not."""
    at = seen_again.get(block.place.digest)
    return replace(block, place=replace(block.place, fetched_at=max(at, block.place.fetched_at))) if at else block


def _prefer_notices(seen: Sequence[Seen]) -> None:
    """A list says the title of what a page below it says in full: where that is used, the list is not."""
    above = {one.choice.why.removeprefix(BELOW) for one in seen if one.is_used and one.choice.why.startswith(BELOW)}
    for one in seen:
        if one.is_used and one.choice.url in above:
            one.is_used, one.reason, one.detail = False, LIST, "a page below it is used"


def _placed(page: LivePage) -> list[tuple[Block, Place]]:
    """The blocks of a live page where they stand on it. A page of an internal source stays one: the lists are kept apart."""
    document = page.document
    kind = SourceType.INTERNAL if page.source_type is SourceType.INTERNAL else SourceType.LIVE
    return [
        (
            block,
            Place(
                document.id,
                o.start,
                o.end,
                o.heading_chain,
                page.url,
                document.metadata.title,
                document.metadata.published_at,
                page.fetched_at,
                kind,
                PageState.ALIVE,
                document.digest,
                page.labels,
                o.ordinal,
                document.text[o.start : o.end],
                o.context,
            ),
        )
        for block, o in page.pieces
    ]
