"""Corrections: a notice of the same site that takes back what a page said (SPEC 56)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kbcite.answer.weights import is_stop, stems
from kbcite.clock import from_text
from kbcite.patterns import pattern
from kbcite.records import Place
from kbcite.urls import host_of
from kbcite.words import simplify

_CORRECTION = pattern(
    r"更正|勘误|订正|撤回声明|作废|\bcorrections?\b|\bcorrigend(?:um|a)\b|\berrat(?:um|a)\b|\bretract(?:ion|ed)\b|\bwithdrawn\b",
    re.IGNORECASE,
)
SAME_SUBJECT = 0.6
"""Share of the words of a page's title that the correction's title or text must say, where it does not link the page."""


def is_correction(place: Place) -> bool:
    """True where the title, or the heading that the block stands under, says that something is corrected."""
    return bool(_CORRECTION.search(simplify(" ".join((place.title, *place.heading_chain[:1])))))


def corrected_pages(places: Sequence[Place]) -> dict[str, str]:
    """URL of each page that another one corrects, and the URL of that one.

    A correction speaks for pages of its own site that were published, or where one has no date last fetched, before it, and whose address it
    names or whose title it says.
    """
    notices = {place.url: place for place in places if is_correction(place)}
    found: dict[str, str] = {}
    for place in places:
        for url, notice in notices.items():
            if place.url in notices or host_of(place.url) != host_of(url) or not _is_later(notice, place):
                continue
            if place.url in notice.text or _names(notice, place.title):
                found[place.url] = url
    return found


def _is_later(notice: Place, place: Place) -> bool:
    if notice.published_at and place.published_at:
        return from_text(notice.published_at) >= from_text(place.published_at)
    return True


def _names(notice: Place, title: str) -> bool:
    wanted = {term for term in stems(title) if not is_stop(term)}
    said = frozenset(stems(f"{notice.title} {notice.text}"))
    return bool(wanted) and len(wanted & said) >= SAME_SUBJECT * len(wanted)
