"""What stands around the posts of a thread, or the offers of a shop, and repeats with each of them.

A template puts the same labels and buttons beside every post; next to an author stands since when a member, how many posts,
from where. None of it is text, and classes seldom say so in words that another site shares; that it repeats does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from kbcite.page.boilerplate import is_protected
from kbcite.page.regions import CHARS, LINKS, PROSE, Page

_TITLES = frozenset("h1 h2 h3 h4".split())
"""Headings that are left alone: names of posters and of parts of an offer may repeat."""
_PROFILE = re.compile(
    r"\b(joined|join date|member since|registered|posts?|messages|location|from|reaction score|likes|points|karma|threads|"
    r"solutions|topics|reputation|registriert seit|beiträge|mensajes|messaggi)\b(\s*[:：])?|(注册时间|帖子|积分|主题|威望|金钱|在线时间|最后登录)",
    re.IGNORECASE,
)
"""What forums tell of a member, and whether a colon follows it."""
_DIGIT = re.compile(r"\d")
_EDITED = re.compile(r"\W*(?:(?:last )?(?:edited|modified)\b|本帖最后由|最后编辑)", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_POSTED = re.compile(
    r"(?:(?:re:\s)?post(?:ed)?\s*:?\s*)?(?:by\s+\S.{0,40}?\s*[»,·|•-]?\s+)?(?:(?:posted|asked|answered|replied|commented|on)\s*:?\s+)?"
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
    rf"(?:{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH},?\s+\d{{4}}|\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}})"
    r"(?:,?\s+(?:at\s+)?\d{1,2}:\d\d(?::\d\d)?(?:\s*[ap]m)?)?\W*(?:#\d+)?",
    re.IGNORECASE,
)
"""The line that says by whom and when a post was written, and nothing else."""
_IN_BRACKETS = re.compile(r"\s*(?:\[\D{1,20}\]|【\D{1,12}】)\s*")
_SIGNATURE_NAME = re.compile(r"(?<![a-z])(?:sign|k?sig|(?:user)?signature|signaturecontainer)(?![a-z])", re.IGNORECASE)
"""What forums call the lines that a member puts below all posts; in tables of posts, too, where other names are not believed."""
# Lengths are in Latin letters (`Page.unit`).
_LONGEST_PROFILE = 300
_LONGEST_LINE = 150
_LONGEST_EDIT = 100
_REPEATS = 3
"""Times that a line must stand in the text to be one of the template. Of such lines on forum and product pages of 130 sites
87 of 100 characters were none of the text; on other pages it is labels of lists and tables, and they stay."""


def cut_repeated(page: Page, parts: Iterable[int]) -> dict[int, str]:
    """The short lines, but titles, that stand in the parts again and again: buttons, ranks, labels of a template."""
    lines: dict[str, list[int]] = {}
    for part in parts:
        for region in _uncut(page, part):
            if _is_line(page, region, _LONGEST_LINE) and page.tags[region] not in _TITLES:
                lines.setdefault(page.text(region), []).append(region)
    return {region: "repeated" for found in lines.values() if len(found) >= _REPEATS for region in found}


def cut_profiles(page: Page, parts: Iterable[int]) -> dict[int, str]:
    """What the parts tell about the authors of posts, whom they quote, their signatures, and when a post was edited."""
    cuts: dict[int, str] = {}
    for part in parts:
        done = part
        for region in _uncut(page, part):
            if region < done or not page.chars[region]:
                continue
            if _SIGNATURE_NAME.search(page.elements[region].get("class", "")):
                cuts[region] = "signature"
                done = page.ends[region]
            elif _is_profile(page, region):
                cuts[region] = "profile"
                done = page.ends[region]
            elif _is_line(page, region, _LONGEST_LINE) and _is_before_quote(page, region):
                cuts[region] = "profile"
            elif _is_line(page, region, _LONGEST_EDIT) and (when := _when(page.text(region))):
                cuts[region] = when
    return cuts


def labels_in_brackets(page: Page, parts: Iterable[int]) -> tuple[etree._Element, ...]:
    """The links in brackets beside a title: `[Help]` for a kind of thread, `[复制链接]` for a control."""
    found: list[etree._Element] = []
    for part in parts:
        for region in (part, *_uncut(page, part)):
            is_short = page.chars[region] < _LONGEST_PROFILE * page.unit
            if is_short and page.titles[region] and page.own[LINKS, region] and not page.own[PROSE, region]:
                links = page.elements[region].iter("a")
                found += [link for link in links if _IN_BRACKETS.fullmatch("".join(link.itertext()))]
    return tuple(found)


def _uncut(page: Page, part: int) -> Iterator[int]:
    """The regions below a part that are not cut, nor in quotes, code and tables of data."""
    region, end = part + 1, page.ends[part]
    while region < end:
        if region in page.cuts or is_protected(page, region):
            region = page.ends[region]
        else:
            yield region
            region += 1


def _is_line(page: Page, region: int, most: int) -> bool:
    """True for a region whose text is its own, and short."""
    chars = page.chars[region]
    return 0 < chars < most * page.unit and bool(page.own[CHARS, region] == chars)


def _when(text: str) -> str:
    """The rule that cuts a line which says when a post was written or changed; empty for any other."""
    return "edited" if _EDITED.match(text) else "dateline" if _POSTED.fullmatch(text) else ""


def _is_before_quote(page: Page, region: int) -> bool:
    """True for the name of who is quoted, `tovek:`, where it stands before the quote and not in it."""
    behind = page.ends[region]
    return (
        page.tags[page.parents[region]] == "aside"
        and behind < len(page.tags)
        and page.tags[behind] == "blockquote"
        and page.text(region).endswith((":", "："))
    )


def _is_profile(page: Page, region: int) -> bool:
    """True for a block of figures about a person: at least two of them, without running text or as labels of short lines."""
    if page.prose[region] and not _is_line(page, region, _LONGEST_LINE) and page.tags[region] != "dl":
        return False
    if page.chars[region] >= _LONGEST_PROFILE * page.unit:
        return False
    text = " ".join(page.elements[region].itertext())
    must_be_labels = page.prose[region] > 0
    found = {
        (latin or chinese).lower() for latin, colon, chinese in _PROFILE.findall(text) if colon or not must_be_labels
    }
    return len(found) > 1 and _DIGIT.search(text) is not None
