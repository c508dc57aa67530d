"""Which source covers a URL, and whether it may be fetched at all: the whitelist (SPEC 1), as pure decisions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache

from kbcite.errors import UsageError
from kbcite.settings import SourceSettings
from kbcite.urls import folder_of, host_of, is_within, split, url_key

FORGOTTEN = "forgotten"
"""Reason of a URL that the user had taken out of the store."""


class Scope:
    """The whitelist, ready to be asked. Raises UsageError for a source whose URL or pattern cannot be read."""

    def __init__(self, sources: Sequence[SourceSettings], forgotten: Collection[str] = ()) -> None:
        """forgotten: URL keys and hosts that are left alone, because the user had them taken out of the store."""
        self.sources = tuple(sources)
        self._forgotten = frozenset(forgotten)
        entries: list[tuple[str, SourceSettings]] = []
        self._excluded: dict[str, list[re.Pattern[str]]] = {}
        for source in sources:
            if split(source.url) is None:
                raise UsageError(f"source {source.url!r} is not an http or https address; mend it in kbcite.toml")
            entries += [(prefix, source) for prefix in source.scope or (folder_of(source.url),)]
            self._excluded[source.url] = [_pattern(text, source.url) for text in source.exclude]
        private = [split(prefix) for prefix, source in entries if source.allow_private]
        self._private = {(parts.host, parts.port) for parts in private if parts is not None}
        # The longest prefix first: a source inside another one is meant. By host, so that many sources cost no more than few.
        self._entries: defaultdict[str, list[tuple[str, SourceSettings]]] = defaultdict(list)
        for prefix, source in sorted(entries, key=lambda entry: len(entry[0]), reverse=True):
            if (parts := split(prefix)) is not None:
                self._entries[parts.host].append((prefix, source))
        self.source_of = lru_cache(maxsize=20_000)(self._source_of)

    def _source_of(self, url: str) -> SourceSettings | None:
        """The source that covers a URL: the one with the longest prefix; None outside the whitelist."""
        parts = split(url)
        entries = self._entries.get(parts.host, ()) if parts is not None else ()
        return next((source for prefix, source in entries if is_within(url, (prefix,))), None)

    def require_source(self, url: str) -> SourceSettings:
        """The source that covers a URL. Raises UsageError that says how to add one."""
        source = self.source_of(url)
        if source is None:
            raise UsageError(f'{url} is outside the whitelist; add it with "kbcite source add {url}"')
        return source

    def allows_private(self, url: str) -> bool:
        """Whether the host of a URL may be at a private address: a host of a source that says so, robots.txt included."""
        parts = split(url)
        return parts is not None and (parts.host, parts.port) in self._private

    def exclusion(self, url: str, source: SourceSettings) -> str | None:
        """Why a URL is left out although the source covers it, as `reason: detail`: it was forgotten, or `excluded` by a pattern."""
        if self._forgotten and not self._forgotten.isdisjoint((url_key(url), host_of(url))):
            return f'{FORGOTTEN}: it was forgotten; "kbcite forget URL --undo" lets it in again'
        pattern = next((one for one in self._excluded[source.url] if one.search(url)), None)
        return f"excluded: matches {pattern.pattern!r}" if pattern else None


def _pattern(text: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"source {where}: exclude {text!r} is not a regular expression: {error}") from error
