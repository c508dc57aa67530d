"""What is made of a page that was fetched while answering: its text, its blocks and its links.

A module of its own, for its readers take half a second to import: they are, while the page is on its way.
"""

from __future__ import annotations

from dataclasses import dataclass

from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.page.chunking import CHUNK_RULES, chunk_document
from kbcite.page.cleaning import CLEAN_RULES, clean_page
from kbcite.page.first_look import look_at
from kbcite.page.link_texts import link_texts
from kbcite.records import Block, CleanDocument, Occurrence, Skipped, Stage
from kbcite.web.robots import header_tags

MIN_WORDS, MAX_WORDS, OVERLAP_WORDS = 40, 160, 20
"""Of a live page's blocks: well under the 512 tokens of SPEC 27, for they are embedded while someone waits: 0.35 s each, 1.2 s at 300 words."""
RULES = (CLEAN_RULES, f"live {CHUNK_RULES} {MIN_WORDS}-{MAX_WORDS}-{OVERLAP_WORDS}")
"""Of cleaning and of chunking, as they are stored with a reading."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was made of a page's bytes."""

    document: CleanDocument
    pieces: tuple[tuple[Block, Occurrence], ...]
    links: tuple[tuple[str, str], ...]
    """(URL, text), as in LivePage."""
    rules: tuple[str, str] = RULES


def read_answer(url: str, result: FetchedPage | FetchFailure, obeys_robots: bool) -> Reading | Skipped:
    """The reading of what came for `url`, or why there is none."""
    if isinstance(result, FetchFailure):
        return Skipped(url, Stage.LIVE, result.reason, result.detail)
    if not 200 <= result.status < 300 or not result.body:
        return Skipped(url, Stage.LIVE, f"http_{result.status}", f"status {result.status}")
    look = look_at(result)
    if look.wall is not None:
        return Skipped(url, Stage.LIVE, look.wall.kind, look.wall.detail)
    if obeys_robots and (look.links.is_noindex or "noindex" in header_tags(result)):
        return Skipped(url, Stage.LIVE, "noindex", "the page asks not to be kept")
    document = clean_page(result.body, result.final_url, result.header("content-type"))
    if isinstance(document, Skipped):
        return document
    pieces = chunk_document(document.text, MIN_WORDS, MAX_WORDS, OVERLAP_WORDS, document.metadata.title)
    return Reading(document, tuple(pieces), link_texts(look.decoded, result.final_url))
