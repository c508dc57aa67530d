"""Which regions are not the main text, and by which rule.

Two kinds of evidence. Names: tag, class and id, which are believed only as far as the page bears them out. Looks: regions
of links, and blocks that open with one of the words that announce other pages.
"""

from __future__ import annotations

import re

from kbcite.page.regions import COMMENT_WORDS, CONSENT_WORDS, FURNITURE_WORDS, HEADINGS, SIDE_WORDS, Region

_CUT_TAGS = frozenset("aside footer form menu address".split())
_PROTECTED_TAGS = frozenset("pre table tbody tr td blockquote h1 h2 h3 h4 p".split())
_ARTICLE_CHARS = 250
_MANY_CLASSES = 4
_NOISE = re.compile(
    r"^\W*(?:相关阅读|推荐阅读|热门文章|延伸阅读|相关文章|相关新闻|相关推荐|猜你喜欢|广告|热门推荐|为你推荐|相关链接|精彩推荐|上一篇|下一篇|"
    r"related (?:articles?|posts?|stories|reading|links|topics|content)|recommended|you (?:may|might) also (?:like|enjoy)|more (?:from|on|in|stories)\b|"
    r"read (?:more|next)|popular (?:posts|articles)|most (?:read|popular)|trending|advertisement|sponsored|share this|see also$)",
    re.IGNORECASE,
)


def cut_named(page: Region, unit: float, is_forum: bool) -> None:
    """Marks the regions that their tag, class or id gives away, the surest names first.

    A word that names much of what is left of the page is no evidence there: some sites call their posts comments, or their
    article a widget. Comments are the text of a forum, and of a page that has little else.
    """
    comments: list[Region] = []
    for words, most in ((CONSENT_WORDS, 0.97), (FURNITURE_WORDS, 0.6), (_CUT_TAGS | SIDE_WORDS, 0.3)):
        totals: dict[str, float] = {}
        _name_totals(page, frozenset(), words, totals)
        trusted = {word for word, weight in totals.items() if weight <= most * page.weight}
        _cut_below(page, trusted)
        page.add_up()
    _cut_headers(page)
    _list_comments(page, comments)
    for region in comments:
        region.cut = "comments"
    page.add_up()
    if is_forum or page.weight < _ARTICLE_CHARS * unit:
        for region in comments:
            region.cut = ""
        page.add_up()


def _name_totals(region: Region, seen: frozenset[str], words: frozenset[str], totals: dict[str, float]) -> None:
    """Adds the weight of the outermost regions that each of the words names; tags count as words."""
    for child in region.children:
        if child.cut:
            continue
        new = (words & (child.names | {child.tag})) - seen
        for word in new:
            totals[word] = totals.get(word, 0.0) + child.weight
        _name_totals(child, seen | new if new else seen, words, totals)


def _cut_below(region: Region, trusted: set[str]) -> None:
    """Cuts the outermost regions with a trusted name."""
    for child in region.children:
        if child.cut or child.tag in _PROTECTED_TAGS:
            continue
        if (child.tag in trusted or not trusted.isdisjoint(child.names)) and not _is_titled(child):
            child.cut = "named"
        else:
            _cut_below(child, trusted)


def _is_titled(region: Region) -> bool:
    """True for a region with title, text and many classes: one word among the many says little about it."""
    return bool(region.titles and region.prose) and len(region.element.get("class", "").split()) >= _MANY_CLASSES


def _cut_headers(region: Region) -> None:
    """Cuts headers without a title: the page's, not the article's."""
    for child in region.children:
        if child.cut or child.tag in _PROTECTED_TAGS:
            continue
        if (child.tag == "header" or "header" in child.names) and not child.titles and not child.prose:
            child.cut = "header"
        else:
            _cut_headers(child)


def _list_comments(region: Region, found: list[Region]) -> None:
    for child in region.children:
        if child.cut or child.tag in _PROTECTED_TAGS:
            continue
        if not COMMENT_WORDS.isdisjoint(child.names):
            found.append(child)
        else:
            _list_comments(child, found)


def cut_inside(region: Region, unit: float, index_chars: float = 0.0, main: Region | None = None) -> None:
    """Marks the regions inside the main one that look like something else.

    index_chars: on a page that is an index, the length from which a region is left alone; else 0.
    """
    main = main or region
    for child in region.children:
        if not child.cut:
            child.cut = _looks_like(child, unit, index_chars)
            if not child.cut and not index_chars and _is_teasers(child, main, unit):
                child.cut = "teasers"
            if not child.cut:
                cut_inside(child, unit, index_chars, main)


def _looks_like(region: Region, unit: float, index_chars: float) -> str:
    """The rule that cuts the region for its looks, or an empty text."""
    if not region.chars or region.tag in HEADINGS or region.tag == "pre":
        return ""
    density = region.link_density
    if index_chars:
        if (
            density > 0.8
            and region.chars < index_chars
            and not region.images
            and region.link_count > 3
            and region.links < 15 * unit * region.link_count
        ):
            return "links"
        return ""
    if density > 0.6 and region.prose < 100 * unit and region.tag not in ("p", "td", "tr", "tbody", "dd"):
        return "" if _is_written_list(region) else "links"
    if (
        region.chars < 2000 * unit
        and region.tag in ("div", "section", "ul", "p")
        and (density > 0.4 or region.chars < 60 * unit)
        and _NOISE.match(region.text)
    ):
        return "noise words"
    return ""


def _is_teasers(region: Region, main: Region, unit: float) -> bool:
    """True for a block of headings that are links, each with a short text, beside text of another kind."""
    return (
        region.teasers >= 2
        and region.chars < 500 * unit * region.teasers
        and region.weight < 0.5 * main.weight
        and region.teasers > 0.5 * main.teasers
        and main.prose - region.prose > 250 * unit
    )


def _is_written_list(region: Region) -> bool:
    """True for a list of links that an author put among paragraphs: sources, further reading."""
    if region.tag == "li":
        return region.parent is not None and _is_written_list(region.parent)
    if (
        region.tag not in ("ul", "ol")
        or region.element.get("class")
        or region.element.get("id")
        or region.parent is None
    ):
        return False
    return any(sibling.tag in ("p", "pre") and sibling.own_prose for sibling in region.parent.children)
