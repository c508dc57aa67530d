"""Where each piece of the Markdown text stands in the page: spans that a person or a program can check.

A text of the tree runs from one tag to the next, so in the source it stands between `>` and `<`, and the pieces stand
there in the order of the Markdown. Long pieces are looked for first, each behind the one before; they are the anchors.
Short pieces, which occur anywhere, are then looked for between the anchors around them only. A piece that the parser
changed (entities, comments inside it) is looked for in the same gap of the source with its entities resolved and its
tags taken out, and found places are carried back through a map of offsets.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from kbcite.page.markdown import Piece, fold
from kbcite.records import Span

_ANCHOR_CHARS = 24
_MOST_TRIES = 8
_TOKEN = re.compile(
    r"(?P<markup><!--.*?(?:-->|\Z)|<(script|style)\b[^<>]*>.*?(?:</\2\s*>|\Z)|</?[a-zA-Z!?][^<>]*>)"
    r"|(?P<entity>&(?:#[xX]?[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);?)|(?P<space>[^\S\u3000]+)",
    re.IGNORECASE | re.DOTALL,
)
_ENTITIES = re.compile(r"(&(?:#[xX]?[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);?)\1*")
"""One entity, or the same one several times."""
_LETTERS = "a-zA-Z0-9\u0370-\u1fff\u2e80-\u2fff\u3040-\ufeff\U00020000-\U0003ffff"
"""Characters that hardly anyone writes as entities; Chinese punctuation and emoji some programs do."""
_PLAIN_RUN = re.compile(f"[{_LETTERS}][{_LETTERS} ,.]*")
_LONG_WORD = re.compile(f"[{_LETTERS}]{{4,}}")
_TAG_LIKE = re.compile("<[a-zA-Z/!?]")
_PROBE_CHARS = 8
_ENTITY_CHARS = 8
"""Characters of source for one of the text, where entities, comments and tags stand in it."""
_MARGIN = 100
_NEXT_CHARS = 2_000
_NEAR_CHARS = 4_000
"""How far on a piece is first looked for as it is."""
_NEEDLE_CHARS = 40
"""A longer text is not looked for whole: that takes longer to prepare than to do."""
_WIDEST = 50_000
"""Bound of a window for a text of nothing but entities."""
Place = tuple[int, int]
"""Start and end in the source."""
Run = tuple[int, int, int, int]
"""Start and end in a piece, start and end in the source."""


def locate(pieces: Sequence[Piece], source: str) -> tuple[Span, ...]:
    """The spans of the pieces in the source, in the order of the Markdown; a piece that cannot be found has none.

    The source slice of a span, with entities resolved and white space folded, is its Markdown slice. A piece with markup
    inside it (a comment, a tag that was taken out) has one span for each run between.
    """
    low = _body_start(source)
    places = _anchor(pieces, source, low)
    spans: list[Span] = []
    waiting: list[Piece] = []
    for piece, place in zip(pieces, places, strict=True):
        if place is None:
            waiting.append(piece)
            continue
        if waiting:
            spans.extend(_fill(waiting, source, low, place[0]))
            waiting = []
        spans.append(Span(piece.start, piece.end, *place))
        low = place[1]
    spans.extend(_fill(waiting, source, low, len(source)))
    return tuple(spans)


def _body_start(source: str) -> int:
    start = source.find("<body")
    return max(start if start >= 0 else source.find("<BODY"), 0)


def _anchor(pieces: Sequence[Piece], source: str, low: int) -> list[Place | None]:
    """The places of long pieces behind `low`, increasing; None for all others."""
    places: list[Place | None] = [None] * len(pieces)
    before = cursor = low
    last = -1
    for number, piece in enumerate(pieces):
        if len(piece.raw) < _ANCHOR_CHARS:
            cursor += len(piece.raw)  # it stands before the next one, wherever
            continue
        found = _find(piece, source, cursor, len(source))
        if found is None and last >= 0:
            # Either this piece is not in the source as it is, or the last anchor was set too far on.
            found = _find(piece, source, before, cursor)
            if found is not None:
                places[last] = None
                cursor = before
        if found is not None:
            places[number] = found
            last, before, cursor = number, cursor, found[1]
        else:
            cursor += len(piece.raw)
    return places


def _find(piece: Piece, source: str, low: int, high: int) -> Place | None:
    """The first place in `source[low:high]` where the piece stands as it is and is all the text between two tags.

    Nearly always it is what comes next, as it is or with some characters as entities. Only where it is not, a part of it is
    searched for, the longest that is likely to be written plainly, and the page is not searched to its end in vain.
    """
    raw = piece.raw
    would_be_tag = piece.is_code and _TAG_LIKE.search(raw)
    start = -1 if would_be_tag else source.find(raw[:_NEEDLE_CHARS], low, low + _NEAR_CHARS)
    end = start + len(raw)
    if start >= 0 and end <= high and source.startswith(raw, start) and _is_bounded(piece, source, start, end):
        return start, end
    probe = _probe(raw)
    near = min(high, low + _NEAR_CHARS)
    if probe and not piece.is_attribute and (place := _find_with_entities(piece, probe, source, low, near)):
        return place
    if would_be_tag:
        return None  # as it is it would be found in a tag
    offset = probe.start() if probe else 0
    needle = probe[0][:_NEEDLE_CHARS] if probe else raw
    at = source.find(needle, low + offset, high)
    for _ in range(_MOST_TRIES):
        if at < 0:
            return None
        start = at - offset
        if source.startswith(raw, start) and _is_bounded(piece, source, start, start + len(raw)):
            return start, start + len(raw)
        at = source.find(needle, at + 1, high)
    if at < 0 or piece.is_code or piece.is_attribute:
        return None
    # A short text, such as a digit, is found all over the tags before its own.
    at = source.find(f">{raw}<", max(at - offset - 1, low), high)
    return (at + 1, at + 1 + len(raw)) if at >= 0 else None


def _probe(raw: str) -> re.Match[str] | None:
    """The first plain run of a text that is long, else its longest; None where none is long enough to be looked for."""
    best = None
    longest = _PROBE_CHARS - 1
    for run in _PLAIN_RUN.finditer(raw):
        length = run.end() - run.start()
        if length > longest:
            best, longest = run, length
            if length >= _ANCHOR_CHARS:
                break
    return best


def _is_bounded(piece: Piece, source: str, start: int, end: int) -> bool:
    """True where the place is cut off on both sides by what ends such a piece, and not the middle of something else."""
    before, after = source[start - 1 : start], source[end : end + 1]
    if piece.is_attribute:
        return before in "\"'= " and after in "\"'> "
    if before == ">" and after == "<":
        return True
    if piece.is_code and (before == "\n" or before in ">;") and (not after or after in "\r\n<&"):
        return True
    while start > 0 and source[start - 1].isspace():
        start -= 1
    while end < len(source) and source[end].isspace():
        end += 1
    return (start == 0 or source[start - 1] in ">;|") and (end == len(source) or source[end] in "<&|")


def _fill(pieces: Sequence[Piece], source: str, low: int, high: int) -> Iterator[Span]:
    """Spans of pieces that stand, in this order, in `source[low:high]`."""
    for piece in pieces:
        place = _find(piece, source, low, high)
        if place is not None:
            yield Span(piece.start, piece.end, *place)
            low = place[1]
            continue
        for start, end, source_start, source_end in _find_resolved(piece, source, low, high):
            yield Span(piece.start + start, piece.start + end, source_start, source_end)
            low = source_end


def _find_resolved(piece: Piece, source: str, low: int, high: int) -> list[Run]:
    """Where the piece stands once entities are resolved and tags taken out; empty where it does not."""
    if place := _find_with_entities(piece, _probe(piece.raw), source, low, high):
        return [(0, piece.end - piece.start, *place)]
    shown = piece.raw if piece.is_code else fold(piece.raw)
    for window in _windows(piece.raw, source, low, high):
        runs = _ResolvedText(source, *window, fold=not piece.is_code).find(shown)
        if runs and _is_bounded(piece, source, runs[0][2], runs[-1][3]):
            return runs
    return []


def _find_with_entities(piece: Piece, probe: re.Match[str] | None, source: str, low: int, high: int) -> Place | None:
    """The first place where the piece stands from one tag, or line of code, to the next, some characters as entities.

    probe: a plain run of the piece that is looked for; None where it has none.
    """
    needle = probe[0][:_NEEDLE_CHARS] if probe else "&"
    at = source.find(needle, low, high)
    for _ in range(_MOST_TRIES):
        if at < 0:
            return None
        start = source.rfind(">", low, at) + 1 or low
        if piece.is_code:
            start = max(start, source.rfind("\n", start, at) + 1)
        else:
            while start < at and source[start].isspace():
                start += 1
        end = _end_of(piece.raw, source, start)
        if end and _is_bounded(piece, source, start, end):
            return start, end
        at = source.find(needle, at + 1, high)
    return None


def _end_of(raw: str, source: str, start: int) -> int:
    """Where the text that stands at `start` ends once its entities are resolved; 0 where another text stands there."""
    position, matched = start, 0
    while matched < len(raw):
        entity = source.find("&", position, position + len(raw) - matched)
        stop = len(raw) if entity < 0 else matched + entity - position
        if not source.startswith(raw[matched:stop], position):
            return 0
        position += stop - matched
        matched = stop
        if entity >= 0:
            run = _ENTITIES.match(source, entity)
            name, text = (run[1], html.unescape(run[1])) if run else ("&", "&")
            if run and text:
                times = max(1, min(len(run[0]) // len(name), (len(raw) - matched) // len(text)))
                name, text = name * times, text * times
            if not raw.startswith(text, matched):
                return 0
            position += len(name)
            matched += len(text)
    return position


def _windows(raw: str, source: str, low: int, high: int) -> Iterator[Place]:
    """Parts of the source around the longest plain run of the text, wide enough for entities in the rest of it.

    For a text without such a run it is what follows next: pieces stand close behind one another.
    """
    probe = _probe(raw)
    if probe is None:
        yield low, min(high, low + min(_ENTITY_CHARS * len(raw), _WIDEST) + _NEXT_CHARS)
        return
    at = source.find(probe[0], low, high)
    if at < 0 and (word := max(_LONG_WORD.finditer(raw), key=lambda run: run.end() - run.start(), default=None)):
        probe = word  # markup may stand between any two words: React puts comments there
        at = source.find(probe[0], low, high)
    before = _ENTITY_CHARS * probe.start() + _MARGIN
    after = probe.end() - probe.start() + _ENTITY_CHARS * (len(raw) - probe.end()) + _MARGIN
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        yield max(low, at - before), min(high, at + after)
        at = source.find(probe[0], at + 1, high)


class _ResolvedText:
    """A part of the source as a reader sees it, with a map from its characters to theirs."""

    def __init__(self, source: str, low: int, high: int, fold: bool) -> None:
        self._starts: list[int] = []
        """Where each run begins in the text; the next three lists say where it came from and whether 1:1."""
        self._source_starts: list[int] = []
        self._source_ends: list[int] = []
        self._breaks: list[bool] = []
        """True for a run that does not directly follow the one before it in the source."""
        parts: list[str] = []
        length = 0
        position = low
        ends_in_space = True
        broken = True

        def add(text: str, start: int, end: int) -> None:
            nonlocal length, broken, ends_in_space
            self._starts.append(length)
            self._source_starts.append(start)
            self._source_ends.append(end)
            self._breaks.append(broken)
            parts.append(text)
            length += len(text)
            broken = False
            ends_in_space = text[-1].isspace()

        for token in _TOKEN.finditer(source, low, high):
            if token.start() > position:
                add(source[position : token.start()], position, token.start())
            position = token.end()
            if token["markup"] is not None:
                broken = True
                continue
            text = html.unescape(token[0]) if token["entity"] is not None else token[0]
            if fold and text.isspace():
                if ends_in_space:
                    broken = True
                    continue
                text = " "
            elif not fold:
                text = text.replace("\r", "")
            if text:
                add(text, token.start(), token.end())
        if high > position:
            add(source[position:high], position, high)
        self._text = "".join(parts)

    def find(self, shown: str) -> list[Run]:
        """The first place of `shown`, as the runs that it consists of in the source."""
        begin = self._text.find(shown) if shown else -1
        if begin < 0:
            return []
        end = begin + len(shown)
        found: list[Run] = []
        run = bisect_right(self._starts, begin) - 1
        while run < len(self._starts) and self._starts[run] < end:
            run_start = self._starts[run]
            run_end = self._starts[run + 1] if run + 1 < len(self._starts) else len(self._text)
            start, stop = max(begin, run_start), min(end, run_end)
            source_start, source_end = self._source_starts[run], self._source_ends[run]
            if run_end - run_start == source_end - source_start:
                source_start, source_end = source_start + start - run_start, source_start + stop - run_start
            if found and not self._breaks[run]:
                found[-1] = (found[-1][0], stop - begin, found[-1][2], source_end)
            else:
                found.append((start - begin, stop - begin, source_start, source_end))
            run += 1
        return found
