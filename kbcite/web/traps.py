"""Guards against sites without an end: calendars, filters that multiply, paths that grow, the same page under ever new names."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import TypeVar

from kbcite.urls import MAX_URL_LENGTH, split

K = TypeVar("K")
V = TypeVar("V")

MAX_PATH_DEPTH = 16
MAX_SEGMENT_REPEATS = 3
MAX_YEARS_AWAY = 5
MAX_FILTER_URLS = 500
"""URLs of one path whose query varies in three fields or more. Two that vary (a topic and its page) have no limit of their own."""
VARYING_FIELDS = 3
VARYING_VALUES = 8
MAX_EQUAL_BODIES = 20
PASSING_TRAPS = frozenset({"too_many_queries", "equal_pages"})
"""Reasons that come from what a run has seen, not from the URL alone."""
BODY_CHARS = 30_000
"""How much of a page is compared."""

_CALENDAR = re.compile(r"calendar|calendrier|kalender|events?|agenda|schedule|archives?|日历", re.IGNORECASE)
_DATE_FIELD = re.compile(
    r"(?:year|yr|y|month|ym|date|day|time|start|end|from|to|since|until|cal\w*)(?:_?date)?", re.IGNORECASE
)
_YEAR = re.compile(r"(\d{4})(?!\d{5})")
_TAG = re.compile(r"<[^>]*>")
_CLOCK_TIME = re.compile(r"\b\d{1,2}:\d\d(?::\d\d)?\b")
_TOKEN = re.compile(r"\b[0-9a-f-]{16,}\b")
_FIGURES = re.compile(r"\d+")
_ASSET = re.compile(
    r"\.(?:jpe?g|png|gif|webp|svg|ico|bmp|tiff?|woff2?|ttf|eot|mp[34]|m4[av]|avi|mov|wmv|flv|webm|ogg"
    r"|wav|zip|rar|7z|gz|tgz|bz2|xz|tar|exe|msi|dmg|apk|iso|deb|rpm|jar|pdf|docx?|xlsx?|pptx?|csv|bin)",
    re.IGNORECASE,
)


def trap_of(url: str, year: int) -> str | None:
    """Why a URL looks like part of a trap or of no page at all, as `reason: detail`; None if it does not.

    year: the current one.
    """
    parts = split(url)
    if parts is None:
        return "scheme: only http and https"
    if len(url) > MAX_URL_LENGTH:
        return f"url_too_long: {len(url)} characters"
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MAX_PATH_DEPTH:
        return f"path_too_deep: {len(segments)} segments"
    for segment in set(segments) if len(segments) > MAX_SEGMENT_REPEATS else ():
        if segments.count(segment) > MAX_SEGMENT_REPEATS:
            return f"repeated_segment: {segment!r} {segments.count(segment)} times"
    is_list = bool(segments) and segments[-1].endswith(".xml.gz")
    if segments and not is_list and (dot := segments[-1].rfind(".")) > 0 and _ASSET.fullmatch(segments[-1], dot):
        return f"not_a_page: {segments[-1][dot:]}"
    return _far_date(segments, parts.query, year)


def _far_date(segments: list[str], query: str, year: int) -> str | None:
    """Calendars go on for ever: dates years ahead anywhere in a date field, years back only where the path says calendar."""
    is_calendar = any(_CALENDAR.search(segment) for segment in segments)
    for pair in query[1:].split("&") if query else ():
        name, _, value = pair.partition("=")
        if _DATE_FIELD.fullmatch(name) and (found := _YEAR.match(value)):
            away = int(found[1]) - year
            if away > MAX_YEARS_AWAY or (is_calendar and away < -MAX_YEARS_AWAY):
                return f"calendar: {pair}"
    if is_calendar:
        for segment in segments:
            if re.fullmatch(r"[12]\d{3}(?:-\d\d){0,2}", segment) and int(segment[:4]) - year > MAX_YEARS_AWAY:
                return f"calendar: {segment}"
    return None


MAX_PATHS = 20_000
"""Paths and path patterns remembered; what was not met for longest is forgotten."""


@dataclass
class _Queries:
    count: int = 0
    values: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class TrapMemory:
    """What a run has seen of each path: traps that only show over many URLs. Belongs to one run and one thread."""

    def __init__(self) -> None:
        self._queries: OrderedDict[tuple[str, tuple[str, ...]], _Queries] = OrderedDict()
        self._bodies: OrderedDict[str, tuple[bytes, int]] = OrderedDict()

    def filter_trap(self, url: str) -> str | None:
        """Counts a newly found URL; a refusal where its path has had too many combinations of query values."""
        parts = split(url)
        if parts is None or parts.query.count("=") < VARYING_FIELDS:
            return None
        pairs = [pair.partition("=") for pair in parts.query[1:].split("&")]
        path = (parts.origin + parts.path, tuple(sorted({name for name, _, _ in pairs})))
        seen = self._queries.pop(path, None) or _Queries()
        _remember(self._queries, path, seen)
        seen.count += 1
        for name, _, value in pairs:
            if len(seen.values[name]) < VARYING_VALUES:
                seen.values[name].add(value)
        varying = sum(len(values) >= VARYING_VALUES for values in seen.values.values())
        if seen.count > MAX_FILTER_URLS and varying >= VARYING_FIELDS:
            return f"too_many_queries: more than {MAX_FILTER_URLS} combinations at {parts.path}"
        return None

    def see_body(self, url: str, text: str) -> None:
        """Remember a page's text, without markup, clock times and request numbers, under its path pattern."""
        pattern = _path_pattern(url)
        words = hashlib.blake2b(_lasting(text[:BODY_CHARS]).encode(errors="replace"), digest_size=8).digest()
        last, count = self._bodies.pop(pattern, (b"", 0))
        _remember(self._bodies, pattern, (words, count + 1 if words == last else 1))

    def body_trap(self, url: str) -> str | None:
        """A refusal where the last pages under the URL's path pattern were all alike: a soft 404, or a page without an end."""
        pattern = _path_pattern(url)
        if self._bodies.get(pattern, (b"", 0))[1] >= MAX_EQUAL_BODIES:
            return f"equal_pages: {MAX_EQUAL_BODIES} pages in a row were alike under {pattern}"
        return None


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> None:
    memory[key] = value
    if len(memory) > MAX_PATHS:
        memory.popitem(last=False)


def _lasting(text: str) -> str:
    """What a page says, without markup, white space, clock times and request numbers."""
    words = _TAG.sub(" ", text).split()
    # Only a long word or one with a colon can hold either; looking at each word once is ten times as fast as a search.
    long = [word for word in set(words) if len(word) >= 16 or ":" in word]
    passing = {word: rest for word in long if (rest := _CLOCK_TIME.sub("", _TOKEN.sub("", word))) != word}
    return "".join([passing.get(word, word) for word in words] if passing else words)


def _path_pattern(url: str) -> str:
    """Host and path with figures and the last segment blanked, and the names of the query's fields."""
    parts = split(url)
    if parts is None:
        return url
    names = sorted({pair.partition("=")[0] for pair in parts.query[1:].split("&")})
    folder = _FIGURES.sub("0", parts.path[: parts.path.rfind("/") + 1])
    return f"{parts.origin}{folder}*{'?' + '&'.join(names) if parts.query else ''}"
