"""Statements and their blocks → the text of an answer with its marks, claims, numbered sources and quotes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbcite.answer.claims import ClaimCheck
from kbcite.answer.deep_link import deep_link
from kbcite.answer.grounding import Statement
from kbcite.answer.passages import split_passages
from kbcite.answer.weights import Weigh, share, stems
from kbcite.clock import seconds_between
from kbcite.records import Claim, Marker, Quote, RetrievedBlock, SnapshotReference, Source, Verdict

DocumentText = Callable[[int], str]
"""A document's whole text by its id; what tells whether a quote is unique in its page."""


@dataclass(frozen=True, slots=True)
class Assembled:
    text: str
    claims: tuple[Claim, ...]
    sources: tuple[Source, ...]
    numbers: tuple[tuple[int, ...], ...]
    """For each statement the numbers it got, in the order of its blocks."""


def assemble(
    statements: Sequence[Statement],
    blocks: Sequence[RetrievedBlock],
    now: str,
    max_quote_chars: int,
    weigh: Weigh,
    document_text: DocumentText | None = None,
) -> Assembled:
    """The answer's text and records; sources are numbered from 1 by first use.

    Sentences that rest on one block share its number as long as one quote of at most max_quote_chars holds what they rest on.
    """
    spans = [_spans(statement, blocks, max_quote_chars, weigh) for statement in statements]
    quotes = _merge([span for own in spans for span in own], max_quote_chars)
    numbers: dict[tuple[int, int, int], int] = {}
    text = ""
    claims: list[Claim] = []
    given: list[tuple[int, ...]] = []
    for statement, own in zip(statements, spans, strict=True):
        text += statement.before if text else statement.before.lstrip()
        start = len(text)
        text += statement.text
        end = len(text)
        mine = list(dict.fromkeys(numbers.setdefault(_quote_of(span, quotes), len(numbers) + 1) for span in own))
        given.append(tuple(mine))
        markers = []
        if mine:
            text += _gap(statement.text)
            for n in mine:
                markers.append(Marker(n, len(text), len(text) + len(f"[{n}]")))
                text += f"[{n}]"
        if statement.is_factual:
            check = statement.check or ClaimCheck(Verdict.UNSUPPORTED, 0.0, ())
            claims.append(Claim(start, end, tuple(markers), check.verdict, check.score, check.checks))
    sources = [_source(n, blocks[block], start, end, now, document_text) for (block, start, end), n in numbers.items()]
    return Assembled(text, tuple(claims), tuple(sources), tuple(given))


def _gap(text: str) -> str:
    if text.endswith(("```", "~~~")):
        return "\n"
    return " " if text[-1:].isascii() else ""


def _spans(
    statement: Statement, blocks: Sequence[RetrievedBlock], max_quote_chars: int, weigh: Weigh
) -> list[tuple[int, int, int]]:
    """For each cited block the span that the statement rests on."""
    known = {block: (block, start, min(end, start + max_quote_chars)) for block, start, end in statement.spans}
    return [
        known.get(block) or (block, *_nearest(statement.text, blocks[block], max_quote_chars, weigh))
        for block in statement.blocks
    ]


def _nearest(text: str, block: RetrievedBlock, max_quote_chars: int, weigh: Weigh) -> tuple[int, int]:
    """The passage of a block that says most of a sentence."""
    source = block.place.text
    wanted = stems(text)
    passages = split_passages(source, block.place.context)
    best = max(passages, key=lambda p: share(wanted, frozenset(stems(p.text)), weigh), default=None)
    if best is None:
        return 0, min(len(source), max_quote_chars)
    return best.start, min(best.end, best.start + max_quote_chars)


def _merge(spans: list[tuple[int, int, int]], max_quote_chars: int) -> list[tuple[int, int, int]]:
    """One span for all that lie close enough together in a block."""
    merged: list[tuple[int, int, int]] = []
    for block, start, end in sorted(set(spans)):
        if merged and merged[-1][0] == block and max(end, merged[-1][2]) - merged[-1][1] <= max_quote_chars:
            merged[-1] = (block, merged[-1][1], max(end, merged[-1][2]))
        else:
            merged.append((block, start, end))
    return merged


def _quote_of(span: tuple[int, int, int], quotes: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    return next(q for q in quotes if q[0] == span[0] and q[1] <= span[1] and span[2] <= q[2])


def _source(
    n: int, retrieved: RetrievedBlock, start: int, end: int, now: str, document_text: DocumentText | None
) -> Source:
    place = retrieved.place
    words = place.text[start:end]
    document = document_text(place.document_id) if document_text is not None else None
    exact = document is None or document[place.start + start : place.start + end] == words
    return Source(
        n=n,
        block_id=retrieved.block.id,
        url=place.url,
        title=place.title,
        heading_chain=place.heading_chain,
        published_at=place.published_at,
        fetched_at=place.fetched_at,
        age_s=max(0, seconds_between(place.published_at or place.fetched_at, now)),
        source_type=place.source_type,
        state=place.state,
        quote=Quote(words, place.start + start, place.start + end, exact),
        deep_link=deep_link(place.url, words, document) if document is not None and exact else None,
        snapshot=SnapshotReference(place.digest),
        also=tuple(dict.fromkeys(other.url for other in retrieved.also if other.url != place.url)),
        scores=retrieved.scores,
    )
