"""A page as it came, before it is stored: its text, where it leads, and whether something stands in front of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kbcite.fetch_records import FetchedPage
from kbcite.page.encoding import decode
from kbcite.page.interstitial import Interstitial, recognise
from kbcite.page.links import PageLinks, read_links
from kbcite.records import DecodedPage, Skipped, Stage

INTERNAL_ERROR = "internal_error"
"""Reason of a page that a reader cannot bear."""

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class FirstLook:
    decoded: DecodedPage
    links: PageLinks
    wall: Interstitial | None
    """What stands in front of the page; None if it is the page itself."""


def look_at(page: FetchedPage) -> FirstLook:
    """What a first look at a fetched page shows. Linear in its length, without a tree."""
    decoded = decode(page.body, page.header("content-type"))
    links = read_links(decoded.text, page.final_url, decoded.encoding)
    return FirstLook(decoded, links, recognise(decoded.text, links.refresh))


def read_or_skip(url: str, stage: Stage, read: Callable[[], Read]) -> Read | Skipped:
    """What a reader makes of the page at `url`; where it cannot bear the page, a record that names the error.

    Only for readers, pure functions of a page's bytes: one bad page must not stop the others (SPEC 13), but a fault of the store
    or the network is no page's.
    """
    try:
        return read()
    except Exception as error:
        return Skipped(url, stage, INTERNAL_ERROR, f"{type(error).__name__}: {error}")
