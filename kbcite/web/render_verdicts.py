"""Which pages of a site need a browser: what was seen of each path pattern, and what follows for the next page of it (SPEC 9).

Three things are noted of a pattern: that a page of it held its words (`static`), that rendering brought one its words (`rendered`), how
often rendering brought nothing (`barren`). A pattern of which all pages needed rendering is rendered at once; one that is mixed, or not
known, is judged page by page, so that a failed body check reopens any verdict; one where rendering brought nothing three times is
left alone for a week.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kbcite.clock import seconds_between
from kbcite.urls import split

MAX_BARREN = 3
BARREN_S = 7 * 86_400

_EXTENSION = re.compile(r"\.[a-zA-Z]{2,5}$")
_VARIABLE = re.compile(r"\d|%|.{40}")


class Need(StrEnum):
    STATIC = "static"
    RENDERED = "rendered"
    BARREN = "barren"


@dataclass(frozen=True, slots=True)
class RenderVerdict:
    """What was seen of the pages of one site and path pattern."""

    site: str
    pattern: str
    need: Need
    pages: int
    """How many, where it matters: of barren ones; else 1."""
    at: str


class RenderVerdicts:
    """The verdicts of all sites; safe to use from several threads."""

    def __init__(self, known: Iterable[RenderVerdict] = ()) -> None:
        self._seen = {(one.site, one.pattern, one.need): one for one in known}
        # What is learned in this run holds from the next one on: until then nobody knows what else stands under the pattern.
        self._settled = {(site, pattern) for site, pattern, need in self._seen if need is Need.RENDERED}
        self._new: dict[tuple[str, str, Need], RenderVerdict] = {}
        self._lock = threading.Lock()

    def note(self, url: str, need: Need, now: str) -> None:
        """Remember what a page turned out to be."""
        site, pattern = place_of(url)
        with self._lock:
            known = self._seen.get((site, pattern, need))
            if known is not None and need is not Need.BARREN:
                return
            pages = known.pages + 1 if known is not None and need is Need.BARREN else 1
            self._set(RenderVerdict(site, pattern, need, pages, now))
            if need is Need.RENDERED and (barren := self._seen.get((site, pattern, Need.BARREN))) is not None:
                self._set(RenderVerdict(site, pattern, Need.BARREN, 0, barren.at))

    def is_needed(self, url: str) -> bool:
        """Whether a page is rendered without being judged: all pages of its pattern that earlier runs met needed it."""
        return place_of(url) in self._settled and self._of(url, Need.STATIC) is None

    def was_needed(self, url: str) -> bool:
        """Whether any page of the pattern was rendered to some use."""
        return self._of(url, Need.RENDERED) is not None

    def is_hopeless(self, url: str, now: str) -> bool:
        """Whether rendering brought nothing of late, again and again."""
        barren = self._of(url, Need.BARREN)
        if barren is None or self.was_needed(url):
            return False
        return barren.pages >= MAX_BARREN and seconds_between(barren.at, now) < BARREN_S

    def take_new(self) -> list[RenderVerdict]:
        """What was noted since the last call: for the database."""
        with self._lock:
            new, self._new = list(self._new.values()), {}
            return new

    def _of(self, url: str, need: Need) -> RenderVerdict | None:
        return self._seen.get((*place_of(url), need))

    def _set(self, verdict: RenderVerdict) -> None:
        key = (verdict.site, verdict.pattern, verdict.need)
        self._seen[key] = self._new[key] = verdict


def place_of(url: str) -> tuple[str, str]:
    """(site, path pattern) of a URL: the last part of its path and each that looks like a number, name or id become `*`.

    Raises ValueError for what is not an http or https URL.
    """
    parts = split(url)
    if parts is None:
        raise ValueError(f"{url!r} is not an http or https URL")
    *folders, last = parts.path.split("/")
    extension = _EXTENSION.search(last)
    pattern = "/".join("*" if _VARIABLE.search(folder) else folder for folder in folders) + "/"
    if last:
        pattern += "*" + (extension.group().lower() if extension else "")
    names = sorted({field.partition("=")[0] for field in parts.query[1:].split("&") if field})
    return parts.origin, pattern + ("?" + "&".join(names[:8]) if names else "")
