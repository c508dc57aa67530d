"""Which pages may be looked at for a question: what the whitelist, the labels, the pool and the store say of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from kbcite.answer.live_decision import PageChoice
from kbcite.answer.live_pages import LiveEntry, is_topical, names_title
from kbcite.clock import seconds_between
from kbcite.patterns import pattern
from kbcite.records import SourceType
from kbcite.settings import SourceSettings
from kbcite.store.database import Database
from kbcite.urls import resolve
from kbcite.web.scope import Scope

_ADDRESS = pattern(
    r"(?:https?://|www\.)[^\s，。？！；：、）】》“”\"'<>]+[^\s，。？！；：、）】》“”\"'<>.,?!;:)\]]", re.IGNORECASE
)

LIVE_PAGE = "live page"


class PageChoices:
    """The pages of the sources as one question may use them. Labels and type bar the rest of the sources (SPEC 46)."""

    def __init__(
        self,
        database: Database,
        sources: Sequence[SourceSettings],
        now: str,
        source_type: SourceType | None,
        labels: Collection[str],
    ) -> None:
        self._database = database
        self._sources = sources
        self._now = now
        self._source_type = source_type
        self._labels = labels

    @cached_property
    def scope(self) -> Scope:
        return Scope(self._sources)

    def choice(self, url: str, why: str, ttl_s: int, fresh_s: int | None = None) -> PageChoice:
        """A page with what the whitelist, the pool and the store say of it.

        ttl_s: how long ago a pooled page may have been fetched. fresh_s: the same of a stored one, if it is not ttl_s.
        """
        url = resolve(url, url) or url
        source = self.scope.source_of(url)
        if source is None:
            return PageChoice(url, why, f"out_of_scope: no source covers {url}")
        if refusal := self.scope.exclusion(url, source):
            return PageChoice(url, why, refusal)
        if not self._is_allowed(source):
            return PageChoice(url, why, "label: the page is not among those that were asked for")
        age = self.age_of(url)
        is_fresh = age is not None and age <= (ttl_s if fresh_s is None else fresh_s)
        return PageChoice(url, why, None, self._database.pool.get(url, self._now, ttl_s) is not None, is_fresh)

    def live_pages(self, question: str, ttl_s: int) -> Iterator[PageChoice]:
        """The sources' `live` pages on the topic, those whose topics are named first."""
        chosen: list[LiveEntry] = []
        for source in self._sources:
            if self._is_allowed(source):
                entries = [LiveEntry(url, source.topics, self._database.pool.title_of(url)) for url in source.live]
                topical = [entry for entry in entries if is_topical(question, entry)]
                # Topics are the source's: among several pages of one, the titles tell which is meant.
                chosen += [entry for entry in topical if names_title(question, entry.title)] or topical
        for entry in sorted(chosen, key=lambda entry: not entry.topics):
            yield self.choice(entry.url, LIVE_PAGE, ttl_s)

    def age_of(self, url: str) -> int | None:
        """Seconds since the stored bytes of a page were last seen; None where it is not stored."""
        seen = self._database.pool.seen_at([url]).get(url)
        return max(0, seconds_between(seen[0], self._now)) if seen else None

    def _is_allowed(self, source: SourceSettings) -> bool:
        is_type = self._source_type in (None, source.type) or self._source_type is SourceType.LIVE
        return is_type and (not self._labels or not set(self._labels).isdisjoint(source.labels))


def addresses(question: str) -> list[str]:
    """The web addresses that a question names, made absolute."""
    found = [match.group() for match in _ADDRESS.finditer(question)]
    return [url if "://" in url else f"https://{url}" for url in found]
