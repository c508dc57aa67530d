"""Dates that a reader of a page sees, each with a score of how likely it is the day of publication.

Counts for a date: words such as 发布时间 or "Published" before it, 来源 behind it, its class, standing right behind the heading, its
time of day. Counts against it: a link, a list, a comment, a footer, a long sentence, words such as "Copyright" before it.

The weights were set on 259 pages of 239 sites with dates read by people. They are not delicate: a third more or less on any one
of six that were tried moved F1 by at most 0.007.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from lxml import etree

from kbcite.page.dates import find_dates, read_date
from kbcite.page.head import text_of
from kbcite.page.tree import text_content

_NOT_CODE = "[not(parent::script or parent::style or parent::code or parent::kbd or parent::samp or ancestor::pre)]"
_DATED_TEXT = etree.XPath(f"/html/body/descendant::text()[contains(., '20')][string-length() < 300]{_NOT_CODE}")
_OLDER_YEARS = ("199", "二〇", "二○", "二零")
_OLDER_TEXT = etree.XPath(
    f"/html/body/descendant::text()[{' or '.join(f'contains(., {year!r})' for year in _OLDER_YEARS)}]"
    f"[string-length() < 300]{_NOT_CODE}"
)
"""Years as they are written. A text node of more than 300 characters is running text, whose dates are of what it tells."""
_DIGIT = re.compile(r"\d")
_SHORT_LINE, _BARE_LINE = 90, 24
_CLAUSE_END = re.compile("[，。；！？]")
_MOST_LINES, _MOST_CANDIDATES = 500, 60

_WORDS_BEFORE = re.compile(
    r"(?:(?P<modified>更新|修改|编辑于|編輯於|updated?|modified|edited|revised|reviewed(?! in)|aktualisiert|änderung|geändert|mis à jour|"
    r"actualizado|aggiornato)"
    r"|(?P<other>©|copyright|版权|版權|all rights|截至|活动|活動|报名|注册|註冊|加入|joined|registered|member since|expires?|deadline|"
    r"有效期|生日|born|died|回复|回覆|评论|評論|引用|检索|event|access(?:ed)?|retrieved|abgerufen|viewed|downloaded|last visit)"
    r"|(?P<published>发布|發布|发表|發表|刊登|刊发|时间|時間|日期|来源|來源|上传|创建|published|posted|date\b|datum|created|written|"
    r"veröffentlicht|erschienen|erstellt|publié|publicado|pubblicato))(?:时间|時間|日期|\sdate)?",
    re.IGNORECASE,
)
"""What the words before a date say that it is; the last of them counts."""
_WORDS_AFTER = re.compile(
    r"^[\s|/,，、)）\]】]{0,6}(?:来源|來源|更新|发布|發布|发表|發表|作者|编辑|編輯|记者|字号|浏览|阅读|点击|评论|by\b)",
    re.IGNORECASE,
)
_DATE_HINT = re.compile(
    r"date|time|pub|posted|byline|dateline|meta|info|source|author|stamp|created|fabu|riqi|shijian|laiyuan",
    re.IGNORECASE,
)
_COMMENT_HINT = re.compile(r"comment|repl(?:y|ies)|respon[ds]|reviews|testimonial|pinglun|copyright", re.IGNORECASE)
_OTHER_HINT = re.compile(
    r"relat|recommend|sidebar|side-|foot|popular|\bhot|rank|calendar|(?<![a-z]-)widget|"
    r"archive|nav|menu|latest|recent|teaser|trending|more-|newslist|news-list|event|crumb|weather|ticker|signature|profile",
    re.IGNORECASE,
)
_SECTION_HEADINGS = frozenset(("h2", "h3", "h4"))
_LEAST_SECTIONS = 3
"""That many different days in headings are those of the sections: versions of a program, days of a diary."""
_NOT_THE_PAGE = frozenset(("aside", "footer", "nav", "select", "option", "textarea", "button", "blockquote"))


@dataclass(frozen=True, slots=True)
class VisibleDate:
    value: str
    place: str
    """`text` or `time`."""
    score: float
    is_modified: bool
    """True if the page calls it the day of the last change."""


def visible_dates(
    root: etree._Element,
    times: Sequence[etree._Element],
    heading: etree._Element | None,
    path: str,
    day_first: bool,
) -> list[VisibleDate]:
    """The dates of short lines and of `time` elements, in this order.

    heading: what the date of the main text should stand near. path: of the URL; a date of the month it names is likelier.
    """
    surroundings = _Surroundings(heading)
    month = re.search(r"((?:19|20)\d\d)[/_-]?(0[1-9]|1[0-2])(?!\d)", path)
    month_of_url = f"{month[1]}-{month[2]}" if month else "none"
    found: list[VisibleDate] = []
    of_sections: list[VisibleDate] = []
    for text in _dated_texts(root)[:_MOST_LINES]:
        element = text.getparent()
        if text.is_tail:
            element = element.getparent()
        for day in find_dates(text, day_first):
            said = _said_before(text[: day.start] or _text_before(text))
            score = _score_of_line(text, said) + surroundings.score(element)
            score += ("T" in day.value) + 1.5 * day.value.startswith(month_of_url)
            score += 2.0 * bool(_WORDS_AFTER.match(text[day.end :] or _text_after(text)))
            score -= min(1.5, 0.1 * len(found))
            found.append(VisibleDate(day.value, "text", score, said == "modified"))
            if any(close.tag in _SECTION_HEADINGS for close in (element, *islice(element.iterancestors(), 2))):
                of_sections.append(found[-1])
        if len(found) >= _MOST_CANDIDATES:
            break
    for rank, element in enumerate(times[:_MOST_CANDIDATES]):
        if value := read_date(element.get("datetime") or element.get("title") or "", day_first):
            score = _score_of_line(text_of(element), None) + surroundings.score(element) + ("T" in value)
            score += 1.0 - min(1.5, 0.1 * rank)
            found.append(VisibleDate(value, "time", score, False))
    if len({date.value for date in of_sections}) >= _LEAST_SECTIONS:
        return [date for date in found if date not in of_sections]
    return found


def _dated_texts(root: etree._Element) -> list[etree._ElementUnicodeResult]:
    """The text nodes with a year: one of this century, where there are any."""
    if texts := _DATED_TEXT(root):
        return list(texts)
    # Looking for four years takes as long as parsing the page; most pages have none of them in any of their texts.
    whole = text_content(root)
    return list(_OLDER_TEXT(root)) if any(year in whole for year in _OLDER_YEARS) else []


def _score_of_line(line: str, said: str | None) -> float:
    length = len(line.strip())
    score = 1.0 if length < _SHORT_LINE and not _CLAUSE_END.search(line) else -2.5
    return score + 0.5 * (length < _BARE_LINE) + {"published": 3.0, "other": -4.0}.get(said or "", 0.0)


def _said_before(text: str) -> str | None:
    """`published`, `modified` or `other`, by the last word before a date with no other number between."""
    words = _DIGIT.split(text[-40:])[-1]
    said = None
    for match in _WORDS_BEFORE.finditer(words):
        said = match.lastgroup
    return said


def _text_before(text: etree._ElementUnicodeResult) -> str:
    """Text that stands right before a text node, in an element of its own: `<b>Published:</b> 8 March 2015`."""
    element = text.getparent()
    if text.is_tail:
        return text_content(element)[-40:]
    previous = element.getprevious()
    if previous is not None:
        return (text_content(previous) + (previous.tail or ""))[-40:]
    parent = element.getparent()
    return (parent.text or "")[-40:] if parent is not None else ""


def _text_after(text: etree._ElementUnicodeResult) -> str:
    element = text.getparent()
    following = element.getnext() if text.is_tail or not len(element) else element[0]
    return text_content(following)[:20] if following is not None else ""


def _names(element: etree._Element) -> str:
    return f"{element.get('class') or ''} {element.get('id') or ''}"


class _Surroundings:
    """Scores of elements by what they stand in and how near the heading; each element is judged once."""

    def __init__(self, heading: etree._Element | None) -> None:
        self._path = [heading, *heading.iterancestors()] if heading is not None else []
        self._steps_up = {ancestor: steps for steps, ancestor in enumerate(self._path)}
        self._inherited: dict[etree._Element, float] = {}
        self._hinted: dict[str, bool] = {}
        self._penalties: dict[str, float] = {}
        """By class and id, which the entries of a list have in common."""

    def score(self, element: etree._Element) -> float:
        hinted = any(self._is_hinted(_names(close)) for close in (element, *islice(element.iterancestors(), 2)))
        return 1.5 * hinted + self._standing(element) + self._nearness(element)

    def _is_hinted(self, names: str) -> bool:
        if names not in self._hinted:
            self._hinted[names] = bool(_DATE_HINT.search(names))
        return self._hinted[names]

    def _penalty(self, names: str) -> float:
        """What the names of an element say against its dates."""
        if names not in self._penalties:
            self._penalties[names] = 5.0 if _COMMENT_HINT.search(names) else 3.0 * bool(_OTHER_HINT.search(names))
        return self._penalties[names]

    def _standing(self, element: etree._Element | None) -> float:
        """What an element and those around it say, up to the first that is not the main text or also holds the heading."""
        if element is None or element in self._steps_up or element.tag == "body":
            return 0.0
        if element not in self._inherited:
            tag = element.tag
            score = 3.0 * ("datePublished" in (element.get("itemprop") or ""))
            if penalty := 5.0 if tag in _NOT_THE_PAGE else self._penalty(_names(element)):
                score -= penalty
            else:
                score += {"a": -1.5, "li": -1.0}.get(tag, 0.0)
                score -= 2.0 * (tag == "td" and element.getparent().find("th") is not None)
                score += 2.0 * (tag == "time" and element.get("pubdate") is not None)
                score += self._standing(element.getparent())
            self._inherited[element] = score
        return self._inherited[element]

    def _nearness(self, element: etree._Element) -> float:
        """Up to 2.5 for standing right behind the heading; less for each level and each element between, and before it."""
        below: etree._Element | None = None
        for steps, ancestor in enumerate([element, *element.iterancestors()]):
            if ancestor in self._steps_up:
                steps_up = self._steps_up[ancestor]
                behind: int = (
                    ancestor.index(below) - ancestor.index(self._path[steps_up - 1]) if steps and steps_up else 1
                )
                far = 0.25 * max(0, steps + steps_up - 2) + 0.1 * max(0, abs(behind) - 1)
                return max(0.0, 2.5 - far) - (0.75 if behind < 0 else 0.0)
            below = ancestor
        return 0.0
