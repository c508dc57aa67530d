"""A document's text → its blocks, each with its heading chain and the span it was cut from (SPEC 25-31).

Sections decide first. A section that fits is one block, heading line included; one that is too large is cut between
its parts, then its sentences (`cutting`); subsections that together stay under the aim are one block; small neighbours under
one parent are joined. A page that its headings do not divide is cut the same way, and there each block begins with the
last sentences of the one before.

Blocks hold every character of the page that is not blank, but for the headline that repeats its title, in order.
`text[occurrence.start:occurrence.end]` is the block's text. Nothing depends on what stands further up or down
the page than the section and the window of one block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kbcite.block_id import block_id
from kbcite.errors import UsageError
from kbcite.page.cutting import AIM_FILL, Boundary, Sizes, Unit, cut_run, make_unit, overlap_start
from kbcite.page.outline import Section, build_sections
from kbcite.page.units import split_units
from kbcite.records import Block, Occurrence
from kbcite.words import count_words, language_of, normalise

CHUNK_RULES = "chunk/1"
"""Changes whenever the same text could be cut differently."""

_WORD_CHARS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A block to be."""

    start: int
    end: int
    chain: tuple[str, ...]
    words: int
    tokens: float
    context: str = ""
    has_body: bool = True
    """False for headings with nothing below."""


def chunk_document(
    text: str, min_words: int = 256, max_words: int = 512, overlap_words: int = 40, title: str = ""
) -> list[tuple[Block, Occurrence]]:
    """The blocks of a text in order, each with where it stands; text that comes twice is one block with two occurrences.

    Sizes are in words of `count_words`, and are bounded by the window of the encoder as well. `overlap_words` is how much of the
    block before is repeated where no headings divide the page. An outermost heading with the words of `title` is left out of
    the blocks and the chains: it is the page's, and the same text under another headline is the same block.
    Empty for a text without words, or with headings only. Raises UsageError for sizes that cannot be kept.
    """
    if not 1 <= min_words <= max_words or not 0 <= overlap_words <= max_words / 4:
        raise UsageError(
            f"blocks of {min_words} to {max_words} words with an overlap of {overlap_words} cannot be made; under [chunk] set "
            "min_words from 1 to max_words and overlap_words to a quarter of max_words at most"
        )
    root = build_sections(text)
    for section in root.children:
        if _is_title(section.chain, title):
            section.heading = None
            break
    is_divided = sum(bool(section.parts) for section in root.walk()) > 1
    sizes = Sizes(min_words, max_words, overlap_words=0 if is_divided else overlap_words)
    drafts = _join_bare_headings(_pack(text, root, sizes))
    blocks: list[tuple[Block, Occurrence]] = []
    for draft in drafts:
        piece = text[draft.start : draft.end]
        words = count_words(piece)
        if not (draft.has_body and words):
            continue
        block = Block(block_id(piece), piece, words, language_of(piece))
        chain = _without_title(draft.chain, title)
        blocks.append((block, Occurrence(block.id, draft.start, draft.end, chain, len(blocks), draft.context)))
    return blocks


def _without_title(chain: tuple[str, ...], title: str) -> tuple[str, ...]:
    return chain[1:] if _is_title(chain, title) else chain


def _is_title(chain: tuple[str, ...], title: str) -> bool:
    return bool(chain and title) and _folded(chain[0]) == _folded(title)


def _folded(title: str) -> str:
    return "".join(_WORD_CHARS.findall(normalise(title)))


# ---------------------------------------------------------------- sections


def _pack(text: str, section: Section, sizes: Sizes) -> list[_Draft]:
    """The blocks of a section and everything below it."""
    own = _own_drafts(text, section, sizes)
    if not section.children:
        return own
    drafts = [own, *(_pack(text, child, sizes) for child in section.children)]
    flat = [draft for group in drafts for draft in group]
    if flat and not _is_large(flat, sizes):
        return [_join(flat)]
    return _attach_tiny(_join_small(text, drafts, sizes), sizes)


def _own_drafts(text: str, section: Section, sizes: Sizes) -> list[_Draft]:
    heading = section.heading
    if not section.parts:
        if heading is None:
            return []
        unit = make_unit(text, heading.start, heading.end, Boundary.PART)
        return [_Draft(unit.start, unit.end, section.chain, unit.words, unit.tokens, has_body=False)]
    parts = [heading, *section.parts] if heading else section.parts
    units = split_units(text, parts, sizes)
    drafts: list[_Draft] = []
    for first, last in cut_run(text, units, sizes.without_overlap()):
        if drafts:
            first = overlap_start(units, first, drafts[-1].start, sizes)
        group = units[first:last]
        drafts.append(
            _Draft(
                group[0].start,
                group[-1].end,
                section.chain,
                sum(unit.words for unit in group),
                sum(unit.tokens for unit in group),
                group[0].context,
            )
        )
    return drafts


def _is_large(drafts: Iterable[_Draft], sizes: Sizes) -> bool:
    drafts = list(drafts)
    return sizes.is_large(sum(draft.words for draft in drafts), sum(draft.tokens for draft in drafts))


def _join(drafts: Sequence[_Draft]) -> _Draft:
    """One block from neighbours; its chain is what the chains of those with a body have in common."""
    if len(drafts) == 1:
        return drafts[0]
    with_body = [draft for draft in drafts if draft.has_body]
    chains = [draft.chain for draft in with_body or drafts]
    common = 0
    while all(len(chain) > common and chain[: common + 1] == chains[0][: common + 1] for chain in chains):
        common += 1
    return _Draft(
        drafts[0].start,
        drafts[-1].end,
        chains[0][:common],
        sum(draft.words for draft in drafts),
        sum(draft.tokens for draft in drafts),
        drafts[0].context,
        bool(with_body),
    )


def _join_small(text: str, groups: Sequence[Sequence[_Draft]], sizes: Sizes) -> list[_Draft]:
    """The blocks of neighbouring subsections, runs of small ones joined to what is no longer small."""
    joined: list[_Draft] = []
    run: list[_Draft] = []
    for group in [*groups, ()]:
        if len(group) == 1 and sizes.is_small(group[0].words, group[0].tokens):
            run.append(group[0])
            continue
        if run:
            units = [Unit(draft.start, draft.end, Boundary.PART, draft.words, draft.tokens) for draft in run]
            joined.extend(_join(run[first:last]) for first, last in cut_run(text, units, sizes.scaled(AIM_FILL)))
            run = []
        joined.extend(group)
    return joined


def _attach_tiny(drafts: Sequence[_Draft], sizes: Sizes) -> list[_Draft]:
    """Tiny blocks joined to a neighbour that has room: the first to the next, any other to the smaller of its neighbours."""
    left = list(drafts)
    i = 0
    while i < len(left):
        draft = left[i]
        if sizes.is_tiny(draft.words, draft.tokens) and draft.has_body:
            near = [j for j in (i - 1, i + 1) if 0 <= j < len(left) and left[j].has_body]
            near = [j for j in near if sizes.fill(draft.words + left[j].words, draft.tokens + left[j].tokens) <= 1]
            if near:
                first = min(i, min(near, key=lambda j: left[j].tokens))
                left[first : first + 2] = [_join(left[first : first + 2])]
                i = first
        i += 1
    return left


def _join_bare_headings(drafts: Sequence[_Draft]) -> list[_Draft]:
    """Headings with nothing below them go to the block after them, the last ones to the block before."""
    joined: list[_Draft] = []
    waiting: list[_Draft] = []
    for draft in drafts:
        waiting.append(draft)
        if draft.has_body:
            joined.append(_join(waiting))
            waiting = []
    if waiting and joined:
        joined[-1] = _join([joined[-1], *waiting])
    return joined
