"""Which regions are not the main text, and by which rule.

Two kinds of evidence. Names: tag, class and id, which are believed only as far as the page bears them out. Looks: regions
of links, and blocks that open with one of the words that announce other pages.
"""

from __future__ import annotations

import re

from kbcite.page.regions import (
    COMMENT_WORDS,
    CONSENT_WORDS,
    FURNITURE_WORDS,
    HEADINGS,
    NO_WORDS,
    REVIEW_WORDS,
    SIDE_WORDS,
    Page,
    Region,
)
from kbcite.page.tables import data_rows

_CUT_TAGS = frozenset("aside footer form menu address".split())
_SECTIONS = frozenset("article main section li".split())
_PROTECTED_TAGS = frozenset("pre table tbody tr td blockquote h1 h2 h3 h4 p".split())
_PARAGRAPH_WORDS = frozenset(("bio", "byline"))
"""Words that are believed of a paragraph, too."""
# Lengths are in Latin letters; Chinese characters count for more (`Page.unit`).
_ARTICLE_CHARS = 400
"""Weight beside the comments from which they are comments, and not the text."""
_MANY_CLASSES = 4
_LONGEST_NOISE = 2000
_LONGEST_STATEMENT = 600
_DATELINE_CHARS = 200
_NOISE = re.compile(
    r"\W*(?:相关(?:阅读|文章|新闻|推荐|链接|报道|内容|专题|话题)|(?:推荐|延伸|扩展|猜你想|热门|精彩)(?:阅读|文章|推荐|评论|新闻|标签)|猜你喜欢|为[你您]推荐|"
    r"广告|上一篇|下一篇|编辑推荐|网友评论|大家都在看|其他人也在看|扫一扫|分享到|责任编辑|责编|"
    r"(?:related|recommended|popular|similar|more|latest|recent) (?:articles?|posts?|stories|reading|links|topics|content|news|products)\b|"
    r"(?:recommended|trending|advertisement|sponsored|share this|see also|also read|read also|read next|read more|you (?:may|might) also|"
    r"more (?:from|on|in)|most (?:read|popular|viewed)|don'?t miss|sign up|subscribe|follow us)\b)",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"\W*(?:版权声明|免责声明|著作权声明|特别声明|平台声明|郑重声明|反侵权公告|声明[:：]|版权所有|未经(?:授权|许可|书面)|copyright\b|©|all rights reserved|"
    r"disclaimer\b|powered by\b)",
    re.IGNORECASE,
)
_DATELINE = re.compile(
    r"(?:(?:发布|公告|更新|发表)?(?:时间|日期)|来源|作者|编辑|记者|浏览(?:次数|量)?|阅读(?:次数|量)?|点击(?:数|量)?|字体|字号|大小)\s*[:：]|[发發][布表]于|只看(?:该作者|楼主)|(?:查看|回复)\s*[:：]\s*\d|"
    r"\b\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}|\b(?:published|updated|posted|written by|last modified)\b"
)
_SENTENCE_END = re.compile("[。！？]")
_COUNTER = re.compile(
    r"\W*\d[\d,.]*\s?[km万]?\s?(?:likes?|upvotes?|votes?|views?|replies|reply|comments?|shares?|个?赞|次?(?:浏览|阅读|点击)|条?(?:评论|回复))\W*",
    re.IGNORECASE,
)
"""A line that is nothing but a count of readers or of what they did."""
_LONGEST_COUNTER = 24


def cut_named(page: Page, is_forum: bool, is_product: bool) -> None:
    """Cuts the regions that their tag, class or id gives away, the surest names first.

    A word that names much of what is left of the page is no evidence there: some sites call their posts comments, or their
    article a widget. Comments are the text of a forum, and of a page that has little else.
    """
    named = [
        region
        for region in page.named
        if region.tag not in _PROTECTED_TAGS or (region.tag == "p" and not _PARAGRAPH_WORDS.isdisjoint(region.names))
    ]
    names = [(region, region.names | {region.tag}) for region in named]
    for words, most in ((CONSENT_WORDS, 0.97), (FURNITURE_WORDS, 0.6), (_CUT_TAGS | SIDE_WORDS, 0.3)):
        carriers = [
            (region, words & names_and_tag)
            for region, names_and_tag in names
            if not words.isdisjoint(names_and_tag) and not region.cut
        ]
        trusted = _trusted(carriers, most * page.body.weight)
        for region, found in carriers:
            if not trusted.isdisjoint(found) and not (
                _is_titled(region) or _is_quote(region) or _is_inside_cut(region)
            ):
                region.remove("named")
    for region in named:
        if _is_page_header(region) and not region.cut and not _is_inside_cut(region):
            region.remove("header")
    comments = []
    comment_words = COMMENT_WORDS | REVIEW_WORDS if is_product else COMMENT_WORDS
    for region in named:
        if not comment_words.isdisjoint(region.names) and not region.cut and not _is_inside_cut(region):
            region.remove("comments")
            comments.append(region)
    if is_forum or page.body.weight < _ARTICLE_CHARS * page.unit:
        for region in comments:
            region.restore()


def _trusted(carriers: list[tuple[Region, frozenset[str]]], most: float) -> set[str]:
    """The words that name no more than this weight in all, each counted where it first stands from the outside in."""
    totals: dict[str, float] = {}
    seen: dict[Region, frozenset[str]] = {}
    for region, found in carriers:
        above = next((seen[outer] for outer in region.ancestors() if outer in seen), NO_WORDS)
        seen[region] = above | found
        for word in found - above:
            totals[word] = totals.get(word, 0.0) + region.weight
    return {word for word, weight in totals.items() if weight <= most}


def _is_page_header(region: Region) -> bool:
    """True for a header of the page: without title or text, and not of an article, section or card."""
    if region.tag != "header" and "header" not in region.names:
        return False
    return not (region.titles or region.prose) and all(outer.tag not in _SECTIONS for outer in region.ancestors())


def _is_inside_cut(region: Region) -> bool:
    outer = region.parent
    while outer is not None:
        if outer.cut or outer.tag in _PROTECTED_TAGS:
            return True
        outer = outer.parent
    return False


def _is_titled(region: Region) -> bool:
    """True for a region with title, text and many classes: one word among the many says little about it."""
    return bool(region.titles and region.prose) and len(region.element.get("class", "").split()) >= _MANY_CLASSES


def _is_quote(region: Region) -> bool:
    """True for an aside that quotes: forums answer one another so."""
    return region.tag == "aside" and any(child.tag == "blockquote" for child in region.children)


def cut_inside(region: Region, main: Region, unit: float, index_chars: float = 0.0) -> None:
    """Marks the regions inside the main one that look like something else.

    index_chars: on a page that is an index, the length from which a region is left alone; else 0.
    """
    for child in region.children:
        if child.cut:
            continue
        rule = _looks_like(child, unit, index_chars)
        if not rule and not index_chars and _is_teasers(child, main, unit):
            rule = "teasers"
        if rule:
            child.remove(rule)
        elif not _is_protected(child):
            cut_inside(child, main, unit, index_chars)


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
    is_linked = density > 0.4
    if region.chars >= (_LONGEST_NOISE if is_linked else _LONGEST_STATEMENT) * unit:
        return ""
    is_block = region.tag in ("div", "section", "p")
    if is_block and region.chars < _LONGEST_COUNTER and _COUNTER.fullmatch(region.text()):
        return "counter"
    may_be_noise = (is_block or region.tag == "ul") and (is_linked or region.chars < 60 * unit)
    may_be_statement = (is_block or region.tag in ("td", "center")) and region.chars < _LONGEST_STATEMENT * unit
    if may_be_noise and _NOISE.match(region.text()):
        return "noise words"
    if is_dateline(region, unit):
        return "dateline"
    if may_be_statement and _STATEMENT.match(region.text()):
        return "statement"
    return ""


def is_dateline(region: Region, unit: float) -> bool:
    """True for a short line of when, by whom and where the text was published, or how often it was read."""
    if region.titles or region.chars >= _DATELINE_CHARS * unit:
        return False
    text = region.text()
    return len(_DATELINE.findall(text)) >= 2 and not _SENTENCE_END.search(text)


def _is_protected(region: Region) -> bool:
    """True for quotes, code and tables of data: nothing is cut out of them."""
    if region.tag in ("blockquote", "pre"):
        return True
    return region.tag == "table" and region.link_density < 0.6 and data_rows(region.element) is not None


def _is_teasers(region: Region, main: Region, unit: float) -> bool:
    """True for a block of headings that are links, each with a short text, beside text of another kind."""
    return (
        region.teasers >= 2
        and region.chars < 500 * unit * region.teasers
        and region.weight < 0.5 * main.weight
        and region.teasers > 0.5 * main.teasers
        and main.prose - region.prose > 100 * unit
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
