"""Whether a page fetched while answering is fit to be cited (SPEC 53). A failed filter falls back to what is stored."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kbcite.clock import from_text, seconds_between
from kbcite.patterns import pattern
from kbcite.records import RetrievedBlock

TOO_SHORT = "too_short"
TOO_OLD = "too_old"
OFF_TOPIC = "off_topic"
MIN_PROTECTED = 40
"""Characters of tables, code and quotes that make up for too little prose: a price list is a table and two lines."""

_PROTECTED = pattern(r"^(?:\|.*\||>.*| {4}.*)$|^```.*?^```", re.MULTILINE | re.DOTALL)
_WHITE = pattern(r"\s+")


def why_unfit(
    text: str, published_at: str | None, now: str, *, min_chars: int, max_age_s: int | None
) -> tuple[str, str] | None:
    """(reason, detail) of a page that is not to be used, None for one that is. A page without a date is not old."""
    protected = sum(len(_WHITE.sub("", found)) for found in _PROTECTED.findall(text))
    prose = len(_WHITE.sub(" ", _PROTECTED.sub("", text)).strip())
    if prose < min_chars and protected < MIN_PROTECTED:
        return TOO_SHORT, f"{prose} characters, {min_chars} are needed"
    if max_age_s is not None and published_at:
        try:
            age_s = seconds_between(published_at, now)
        except ValueError:
            return None
        if age_s > max_age_s:
            return TOO_OLD, f"published {from_text(published_at):%Y-%m-%d}, {age_s // 86_400} days ago"
    return None


def off_topic(blocks: Sequence[RetrievedBlock], min_relevance: float) -> tuple[str, str] | None:
    """(reason, detail) where no block of a page is relevant enough."""
    best = max((block.scores.relevance for block in blocks), default=0.0)
    return None if best >= min_relevance else (OFF_TOPIC, f"relevance {best:.2f}, {min_relevance:.2f} is needed")
