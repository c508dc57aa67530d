"""Which links of a page are to be queued: covered by a source, not too deep, not excluded, not a trap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kbcite.settings import SourceSettings
from kbcite.web.scope import Scope
from kbcite.web.traps import TrapMemory, trap_of

MAX_REMEMBERED = 200_000
"""Links remembered as seen, so that a navigation repeated on every page is looked at once."""


class LinkFilter:
    """Belongs to one run and one thread.

    year: the current one; calendars are cut off some years from it.
    """

    def __init__(self, scope: Scope, year: int) -> None:
        self._scope = scope
        self._year = year
        self._traps = TrapMemory()
        self._seen: set[int] = set()

    def refusal(self, url: str, source: SourceSettings, depth: int) -> str | None:
        """Why a URL inside the whitelist is not fetched, as `reason: detail`."""
        if depth > source.depth:
            return f"too_deep: {depth} links from the seed, depth in kbcite.toml is {source.depth}"
        return self._scope.exclusion(url, source) or trap_of(url, self._year) or self._traps.body_trap(url)

    def sift(self, links: Sequence[str], depth: int) -> Iterator[tuple[str, SourceSettings, str | None]]:
        """(link, source, refusal) of the links not met before that a source covers within its depth. links: each once."""
        # Eight bytes stand for the link: in one run of a billion two links would share them.
        for link in [link for link in links if hash(link) not in self._seen]:
            source = self._scope.source_of(link)
            # A link that is too deep here may be found nearer to the seed later.
            if source is not None and depth > source.depth:
                continue
            if len(self._seen) >= MAX_REMEMBERED:
                self._seen.clear()
            self._seen.add(hash(link))
            if source is not None:
                yield link, source, self.refusal(link, source, depth) or self._traps.filter_trap(link)

    def see_page(self, url: str, text: str) -> None:
        """Remember a page's text: many alike in a row are a trap."""
        self._traps.see_body(url, text)
