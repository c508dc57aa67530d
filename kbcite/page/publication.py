"""When a page was published, and the place that says so.

Machine-readable places come first, in the order of how often they were right on pages of 240 sites; then the day in the URL;
then what a reader would see. A visible date counts for its words (发布时间, Published), its class, how near it stands behind the
heading, and its time of day; it counts against it to stand in a link, a list, a comment, a footer or a long sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from lxml import etree

from kbcite.page.dates import date_in_url, find_dates, read_date
from kbcite.page.head import Head, is_article, text_of

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

_DATED_TEXT = etree.XPath("//body//text()[contains(., '20') or contains(., '19')]")
_NUMERAL_TEXT = etree.XPath("//body//text()[contains(., '二〇') or contains(., '二○') or contains(., '二零')]")
_LONGEST_LINE = 300
"""A longer text node is running text, whose dates are of what it tells about."""
_SHORT_LINE = 90
_MOST_CANDIDATES = 60

_PUBLISHED_WORDS = re.compile(
    r"(?:发布|發布|发表|發表|刊登|刊发|时间|時間|日期|来源|來源|上传|创建|published|posted|publish\s?date|date|datum|created|written|"
    r"veröffentlicht|erschienen|erstellt|publié|publicado|pubblicato)[^\d]{0,25}$",
    re.IGNORECASE,
)
_MODIFIED_WORDS = re.compile(
    r"(?:更新|修改|编辑于|編輯|updated?|modified|edited|revised|reviewed|aktualisiert|änderung|geändert|mis à jour|actualizado|aggiornato)[^\d]{0,25}$",
    re.IGNORECASE,
)
_WORDS_AFTER = re.compile(
    r"^[\s|/,，、)）\]】]{0,6}(?:来源|來源|更新|发布|發布|发表|發表|作者|编辑|編輯|记者|字号|浏览|阅读|点击|评论|by\b)",
    re.IGNORECASE,
)
_OTHER_WORDS = re.compile(
    r"(?:©|copyright|版权|版權|all rights|截至|注册|註冊|加入|joined|registered|member since|expires?|deadline|有效期|生日|born|died|"
    r"回复|回覆|评论|評論|event|access(?:ed)?|retrieved|abgerufen|viewed|downloaded|last visit\w*)[^\d]{0,30}$",
    re.IGNORECASE,
)
_DATE_HINT = re.compile(
    r"date|time|pub|posted|byline|dateline|meta|info|source|author|stamp|created|fabu|riqi|shijian|laiyuan",
    re.IGNORECASE,
)
_OTHER_HINT = re.compile(
    r"comment|reply|replies|respon|related|relat|recommend|sidebar|side-|foot|copyright|popular|\bhot|rank|calendar|(?<![a-z]-)widget|"
    r"archive|nav|menu|latest|recent|teaser|trending|more-|newslist|news-list|event|crumb|weather|ticker|pinglun|signature|profile",
    re.IGNORECASE,
)
_NOT_THE_PAGE = frozenset(
    ("aside", "footer", "nav", "select", "option", "script", "style", "textarea", "button", "form")
)
_LEAST_SCORE, _LEAST_SCORE_OF_MODIFIED = 1.0, 2.5
"""Below this a visible date is more likely one the page tells about; the second where a time of change is known."""


@dataclass(frozen=True, slots=True)
class Publication:
    published_at: str | None = None
    published_from: str | None = None
    modified_at: str | None = None


@dataclass(slots=True)
class _Candidate:
    value: str
    place: str
    score: float
    is_modified: bool = False


def read_publication(root: etree._Element, head: Head, path: str, fetched_at: str | None, title: str) -> Publication:
    """When the page was published and last modified.

    path: of the page's URL. fetched_at: dates after that day are not believed (None: any is). title: as cleaned.
    """
    day_first = _writes_day_first(head.language)
    latest = fetched_at[:10] if fetched_at else "9999"

    def usable(text: object) -> str | None:
        value = read_date(text, day_first) if isinstance(text, str) else None
        return value if value and value[:10] <= latest else None

    modified = _first(usable(text) for _, text in _modified_places(head))
    day_of_url = date_in_url(path)
    if day_of_url and day_of_url > latest:
        day_of_url = None
    seen: list[_Candidate] | None = None
    for place, text in _published_places(head):
        if value := usable(text):
            if day_of_url and _is_next_day(value, day_of_url):
                return Publication(day_of_url, "url", modified)
            if value.endswith(("Z", "+00:00")):
                seen = _visible_dates(root, head, title, day_first, path)
                local = [c for c in seen if c.score > 2 and _is_local_time_of(value, c.value)]
                if local:
                    return Publication(local[0].value, local[0].place, modified)
            return Publication(value, place, modified)
    if day_of_url:
        return Publication(day_of_url, "url", modified)
    seen = [c for c in _visible_dates(root, head, title, day_first, path) if c.value[:10] <= latest]
    best = max((c for c in seen if not c.is_modified), key=lambda c: c.score, default=None)
    updated = max((c for c in seen if c.is_modified), key=lambda c: c.score, default=None)
    if modified is None and updated:
        modified = updated.value
    if best and best.score >= (_LEAST_SCORE if modified is None else _LEAST_SCORE_OF_MODIFIED):
        return Publication(best.value, best.place, modified)
    for place, text in _weak_places(head):
        if value := usable(text):
            return Publication(value, place, modified)
    if updated and updated.score >= _LEAST_SCORE:
        return Publication(updated.value, updated.place, modified)
    if modified:
        return Publication(modified, "modified", modified)
    return Publication()


def _is_next_day(value: str, other: str) -> bool:
    """True if two dates are one day apart, as those of one moment in two time zones may be."""
    return abs(date.fromisoformat(value[:10]) - date.fromisoformat(other[:10])) == timedelta(days=1)


def _is_local_time_of(utc: str, other: str) -> bool:
    """True if two dates of different days can be one moment, first in UTC, then on a clock of the page's readers.

    A day without time can be that of a moment on the full hour: midnight there.
    """
    if not _is_next_day(utc, other):
        return False
    if "T" not in other:
        return utc[13:19] == ":00:00"
    ahead = datetime.fromisoformat(other[:16]) - datetime.fromisoformat(utc[:16])
    return timedelta(hours=-12) <= ahead <= timedelta(hours=14) and ahead % timedelta(minutes=30) == timedelta(0)


def _first(values: Iterator[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _writes_day_first(language: str) -> bool:
    tag = language.lower()
    return bool(tag) and not tag.startswith(("en-us", "zh", "ja", "ko")) and tag != "en"


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


# ---------------------------------------------------------------- what a reader sees


def _visible_dates(root: etree._Element, head: Head, title: str, day_first: bool, path: str) -> list[_Candidate]:
    texts: list[str] = _DATED_TEXT(root) or _NUMERAL_TEXT(root)
    heading = _page_heading(head.headings, title)
    above = list(heading.iterancestors()) if heading is not None else []
    month = re.search(r"((?:19|20)\d\d)[/_-]?(0[1-9]|1[0-2])(?!\d)", path)
    candidates: list[_Candidate] = []
    for text in texts:
        if len(text) > _LONGEST_LINE:
            continue
        element = text.getparent()  # type: ignore[attr-defined]  # lxml's result strings know their element
        if text.is_tail:  # type: ignore[attr-defined]
            element = element.getparent()
        for found in find_dates(text, day_first):
            before = text[: found.start] or _text_before(text)
            candidate = _judge(element, text, before, found.value, heading, above)
            if _WORDS_AFTER.match(text[found.end :] or _text_after(text)):
                candidate.score += 2.0
            if month and found.value.startswith(f"{month[1]}-{month[2]}"):
                candidate.score += 1.5
            candidate.score -= min(1.5, 0.1 * len(candidates))
            candidates.append(candidate)
        if len(candidates) >= _MOST_CANDIDATES:
            break
    for rank, element in enumerate(head.times):
        value = read_date(element.get("datetime") or element.get("title") or "", day_first)
        if value:
            shown = text_of(element)
            candidate = _judge(element, shown, "", value, heading, above)
            candidate.place, candidate.score = "time", candidate.score + 1.0 - min(1.5, 0.1 * rank)
            candidates.append(candidate)
    return candidates


def _text_before(text: str) -> str:
    """Text that stands right before a text node, in an element of its own: `<b>Published:</b> 8 March 2015`."""
    element = text.getparent()  # type: ignore[attr-defined]
    if text.is_tail:  # type: ignore[attr-defined]
        return "".join(element.itertext())[-40:]
    previous = element.getprevious()
    if previous is not None:
        return (("".join(previous.itertext())) + (previous.tail or ""))[-40:]
    parent = element.getparent()
    return (parent.text or "")[-40:] if parent is not None else ""


def _text_after(text: str) -> str:
    element = text.getparent()  # type: ignore[attr-defined]
    following = element.getnext() if text.is_tail or not len(element) else element[0]  # type: ignore[attr-defined]
    return "".join(following.itertext())[:20] if following is not None else ""


def _judge(
    element: etree._Element,
    text: str,
    before: str,
    value: str,
    heading: etree._Element | None,
    above: Sequence[etree._Element],
) -> _Candidate:
    line = text.strip()
    score = 1.0 if len(line) < _SHORT_LINE else -1.5
    if "T" in value:
        score += 1.0
    if len(line) < 24:
        score += 0.5
    is_modified = bool(_MODIFIED_WORDS.search(before[-40:]))
    if _PUBLISHED_WORDS.search(before[-40:]):
        score += 3.0
    elif _OTHER_WORDS.search(before[-45:]):
        score -= 4.0
    hinted = False
    chain = [element, *element.iterancestors()]
    for depth, ancestor in enumerate(chain):
        tag = ancestor.tag
        if tag in ("body", "html"):
            break
        itemprop = ancestor.get("itemprop")
        if itemprop and "datePublished" in itemprop:
            score += 3.0
        if tag == "time" and ancestor.get("pubdate") is not None:
            score += 2.0
        names = f"{ancestor.get('class') or ''} {ancestor.get('id') or ''}"
        if depth < 3 and not hinted and _DATE_HINT.search(names):
            score, hinted = score + 1.5, True
        if tag in _NOT_THE_PAGE or (len(names) > 1 and _OTHER_HINT.search(names)):
            score -= 3.0
            break
        if tag == "a":
            score -= 1.5
        elif tag == "li":
            score -= 1.0
    score += _nearness(chain, heading, above)
    return _Candidate(value, "text", score, is_modified)


def _nearness(
    chain: Sequence[etree._Element], heading: etree._Element | None, above: Sequence[etree._Element]
) -> float:
    """Up to 2.5 for standing right behind the heading, less for farther away or before it."""
    if heading is None:
        return 0.0
    up_from_heading = {ancestor: steps for steps, ancestor in enumerate([heading, *above])}
    for steps, ancestor in enumerate(chain):
        if ancestor in up_from_heading:
            distance = steps + up_from_heading[ancestor]
            ours, theirs = chain[steps - 1] if steps else None, ([heading, *above])[up_from_heading[ancestor] - 1]
            is_before = ours is not None and ancestor is not heading and ancestor.index(ours) < ancestor.index(theirs)
            return max(0.0, 2.5 - 0.25 * max(0, distance - 2)) - (0.75 if is_before else 0.0)
    return 0.0


def _page_heading(headings: Sequence[etree._Element], title: str) -> etree._Element | None:
    """The heading that says the title, else the first `h1`."""
    wanted = _folded(title)
    first = None
    for heading in headings:
        text = _folded(text_of(heading))
        if len(text) > 3 and wanted and (text in wanted or wanted in text):
            return heading
        if first is None and heading.tag == "h1" and text:
            first = heading
    return first


def _folded(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())
