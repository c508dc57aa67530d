"""When a page was published, and the place that says so.

Machine-readable places come first: JSON-LD of an article, then meta elements; then the day in the URL; then what a reader sees
(`visible_dates`); last what says little, such as the time of the record or of the last change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from lxml import etree

from kbcite.page.dates import date_in_url, read_date
from kbcite.page.head import Head, is_article
from kbcite.page.visible_dates import VisibleDate, visible_dates

PUBLISHED_METAS = (
    "article:published_time",
    "og:article:published_time",
    "og:published_time",
    "datepublished",
    "og:release_date",
    "bytedance:published_time",
    "article:create_at",
    "article:published",
    "pubdate",
    "publishdate",
    "publish_date",
    "publish-date",
    "publication_date",
    "publicationdate",
    "published_at",
    "published-date",
    "publishtime",
    "publish_time",
    "published_time",
    "parsely-pub-date",
    "sailthru.date",
    "cxenseparse:recs:publishtime",
    "article.published",
    "article_date_original",
    "originalpublicationdate",
    "citation_publication_date",
    "dc.date.issued",
    "dcterms.issued",
    "date",
    "datecreated",
    "rnews:datepublished",
    "vr:published_time",
    "shareaholic:article_published_time",
    "firstpublishedtime",
)
WEAK_METAS = ("dcterms.date", "dc.date", "dcterms.created", "dc.date.created", "created")
"""Often the day the template or the record was made."""
MODIFIED_METAS = (
    "article:modified_time",
    "og:article:modified_time",
    "og:modified_time",
    "article:modified",
    "datemodified",
    "dateupdate",
    "og:updated_time",
    "bytedance:updated_time",
    "dcterms.modified",
    "dc.date.modified",
    "lastmod",
    "last_modified",
    "last-modified",
    "revised",
    "updated",
)

_LEAST_SCORE, _LEAST_SCORE_OF_MODIFIED = 1.0, 2.5
"""Below this a visible date is more likely one the page tells about; the second where a time of change is known."""
_LEAST_SCORE_BESIDE_JSON_LD = 2.0
"""The day of a JSON-LD record that is no article says little, but more than a date in the middle of the text."""
_LOCAL_SCORE = 2.0
"""Score from which a visible date may correct a machine-readable one that is given in UTC."""


@dataclass(frozen=True, slots=True)
class Publication:
    published_at: str | None = None
    published_from: str | None = None
    modified_at: str | None = None
    modified_from: str | None = None


def read_publication(
    root: etree._Element, head: Head, path: str, fetched_at: str | None, heading: etree._Element | None
) -> Publication:
    """When the page was published and last modified.

    path: of the page's URL, or more than one with a space between. fetched_at: later dates are not believed (None: any is). heading: of the main text.
    """
    day_first = _writes_day_first(head.language)
    # The page's own clock may be a day ahead of UTC.
    latest = (date.fromisoformat(fetched_at[:10]) + timedelta(days=1)).isoformat() if fetched_at else "9999"

    def first_usable(places: Iterator[tuple[str, object]]) -> tuple[str, str] | None:
        for place, text in places:
            value = read_date(text, day_first) if isinstance(text, str) else None
            if value and value[:10] <= latest:
                return place, value
        return None

    def seen() -> list[VisibleDate]:
        return [
            found for found in visible_dates(root, head.times, heading, path, day_first) if found.value[:10] <= latest
        ]

    changed = first_usable(_modified_places(head))
    modified = changed[::-1] if changed else (None, None)
    day_of_url = date_in_url(path)
    if day_of_url and day_of_url > latest:
        day_of_url = None
    if stated := first_usable(_published_places(head)):
        place, value = stated
        if day_of_url and _are_next_days(value, day_of_url):
            return Publication(day_of_url, "url", *modified)
        if _may_be_another_day(value):
            for found in seen():
                if found.score > _LOCAL_SCORE and _is_local_time_of(value, found.value):
                    return Publication(found.value, found.place, *modified)
        return Publication(value, place, *modified)
    if day_of_url:
        return Publication(day_of_url, "url", *modified)
    return _by_sight(seen(), first_usable(_weak_places(head)), *modified)


def _by_sight(
    seen: list[VisibleDate], weak: tuple[str, str] | None, modified: str | None, modified_from: str | None
) -> Publication:
    """The best visible date, or else the best of what says little."""
    updated = _best(found for found in seen if found.is_modified)
    published = _best(found for found in seen if not found.is_modified)
    least = _LEAST_SCORE if modified is None else _LEAST_SCORE_OF_MODIFIED
    if modified is None and updated:
        modified, modified_from = updated.value, updated.place
    if weak and weak[0] == "json-ld":
        least = max(least, _LEAST_SCORE_BESIDE_JSON_LD)
    if published and published.score >= least:
        return Publication(published.value, published.place, modified, modified_from)
    if weak:
        return Publication(weak[1], weak[0], modified, modified_from)
    return Publication(modified, "modified" if modified else None, modified, modified_from)


def _best(dates: Iterator[VisibleDate]) -> VisibleDate | None:
    """The first of those with the highest score, if that is one to be believed."""
    best = max(dates, key=lambda found: found.score, default=None)
    return best if best and best.score >= _LEAST_SCORE else None


def _writes_day_first(language: str) -> bool:
    tag = language.lower()
    return bool(tag) and tag != "en" and not tag.startswith(("en-us", "zh", "ja", "ko"))


# ---------------------------------------------------------------- one moment, two days


def _are_next_days(one: str, other: str) -> bool:
    """True if two dates are one day apart, as those of one moment in two time zones may be."""
    return abs(date.fromisoformat(one[:10]) - date.fromisoformat(other[:10])) == timedelta(days=1)


def _may_be_another_day(value: str) -> bool:
    """True for a time in UTC that is another day in East Asia or Europe (evening) or in America (early morning)."""
    return value.endswith(("Z", "+00:00")) and not 8 <= int(value[11:13]) < 16


def _is_local_time_of(utc: str, other: str) -> bool:
    """True if two dates of different days can be one moment, first in UTC, then on a clock of the page's readers.

    A day without time can be that of a moment on the full hour: midnight there.
    """
    if not _are_next_days(utc, other):
        return False
    if "T" not in other:
        return utc[13:19] == ":00:00"
    ahead = datetime.fromisoformat(other[:16]) - datetime.fromisoformat(utc[:16])
    return timedelta(hours=-12) <= ahead <= timedelta(hours=14) and ahead % timedelta(minutes=30) == timedelta(0)


# ---------------------------------------------------------------- machine-readable places


def _published_places(head: Head) -> Iterator[tuple[str, object]]:
    for item in head.items:
        if is_article(item):
            yield "json-ld", item.get("datePublished")
    for name in PUBLISHED_METAS:
        for content in head.metas.get(name, ()):
            yield f"meta:{name}", content


def _weak_places(head: Head) -> Iterator[tuple[str, object]]:
    for key in ("datePublished", "uploadDate", "dateCreated"):
        for item in head.items:
            yield "json-ld", item.get(key)
    for name in WEAK_METAS:
        for content in head.metas.get(name, ()):
            yield f"meta:{name}", content


def _modified_places(head: Head) -> Iterator[tuple[str, object]]:
    for item in head.items:
        if is_article(item):
            yield "json-ld", item.get("dateModified")
    for name in MODIFIED_METAS:
        for content in head.metas.get(name, ()):
            yield f"meta:{name}", content
