"""Which regions are not the main text, and by which rule.

Two kinds of evidence. Names: tag, class and id, which are believed only as far as the page bears them out. Looks: regions
of links, and blocks that open with one of the words that announce other pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice

import numpy as np
from lxml import etree

from kbcite.page.hints import (
    CARD_WORDS,
    COMMENT_WORDS,
    CONSENT_WORDS,
    FURNITURE_WORDS,
    LINKING_WORDS,
    NO_WORDS,
    REVIEW_WORDS,
    SIDE_WORDS,
)
from kbcite.page.page_kind import PageKind
from kbcite.page.regions import CHARS, HEADINGS, LINK_COUNT, LINKS, PROSE, THOUSANDTHS, TITLES, WEIGHT, Page, Regions
from kbcite.page.tables import data_rows

_CUT_TAGS = frozenset("aside footer form menu address".split())
_HEADER = frozenset(("header",))
_SECTIONS = frozenset("article main section li".split())
_PROTECTED_TAGS = frozenset("pre table tbody tr td blockquote h1 h2 h3 h4 p".split())
_KEY_WORDS = frozenset(("label",))
_AUTHOR_WORDS = frozenset(("author", "authors"))
_PICTURE_WORDS = frozenset(("gallery", "slideshow"))
_PARAGRAPH_WORDS = frozenset(("bio", "byline"))
"""Words that are believed of a paragraph, too."""
# Lengths are in Latin letters; Chinese characters count for more (`Page.unit`).
_ARTICLE_CHARS = 400
"""Weight beside the comments from which they are comments, and not the text."""
_ANSWERS = 0.75
"""Share of a page of questions that is left beside what is named comments, if answers are not called so, too."""
_CARD_CHARS, _LEAST_CARDS = 40, 4
_MANY_CLASSES = 4
_LONGEST_NOISE = 2000
_LONGEST_STATEMENT = 600
_DATELINE_CHARS = 200
_SAID_CHARS = 30
_LAST_HEADINGS = 2
_LONGEST_NUMBERS = 5000
# Behind a heading the text goes on without a blank where the source has none: `Related productsSaw`.
_NOISE = re.compile(
    r"\W*(?:相关(?:阅读|文章|新闻|推荐|链接|报道|内容|专题|话题)|(?:推荐|延伸|扩展|猜你想|热门|精彩)(?:阅读|文章|推荐|评论|新闻|标签)|猜你喜欢|为[你您]推荐|"
    r"广告|上一篇|下一篇|编辑推荐|网友评论|大家都在看|其他人也在看|扫一扫|分享到|责任编辑|责编|"
    r"(?:related|recommended|popular|similar|more|latest|recent) (?:articles?|posts?|stories|reading|links|topics|content|news|products)(?-i:(?![a-z]))|"
    r"(?:recommended|trending|advertisement|sponsored|share this|see also|also read|read also|read next|read more|you (?:may|might) also|"
    r"ähnliche (?:artikel|produkte|beiträge)|das könnte (?:sie|dich|ihnen|dir)|kunden kauften|passendes zubehör|vous aimerez|"
    r"produits (?:similaires|associés)|productos relacionados|prodotti correlati|関連商品|おすすめ(?:商品|記事)|похожие|看了又看|店铺热销|"
    r"customers (?:who|also)|frequently bought|recently viewed|complete (?:the|your) look|"
    r"baca juga|lesen sie auch|mehr zum thema|(?:à )?lire aussi|voir aussi|leia (?:também|mais)|lea también|te puede interesar|leggi anche|"
    r"lees ook|czytaj (?:też|także)|zobacz (?:też|także)|читайте также|関連(?:記事|リンク)|あわせて読みたい|관련\s?기사|"
    r"more (?:from|on|in)|most (?:read|popular|viewed)|don'?t miss|sign up|subscribe|follow us)(?-i:(?![a-zß-ÿ])))",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"\W*(?:版权声明|免责声明|著作权声明|特别声明|平台声明|郑重声明|反侵权公告|声明[:：]|版权所有|未经(?:授权|许可|书面)|copyright\b|©|all rights reserved|"
    r"disclaimer\b|powered by\b|users browsing this |"
    r"(?:this|our) (?:web)?site uses cookies|we use cookies|diese (?:web)?seite verwendet cookies|本(?:网)?站使用\s?cookies?|GMT\s?[+-]\d+, )",
    re.IGNORECASE,
)
# Nearly every short text is searched for these: a pattern that begins with a letter or digit finds its places many times as fast.
_DAY = re.compile(r"\d\d\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}")
_DATELINE_WORD = re.compile(r"(?:published|updated|posted|written by|last modified)\b")
_DATELINE_LABEL = re.compile(
    r"(?:(?:发布|公告|更新|发表)?(?:时间|日期)|来源|作者|编辑|记者|浏览(?:次数|量)?|阅读(?:次数|量)?|点击(?:数|量)?|字体|字号|大小)\s*[:：]"
    r"|[发發][布表]于|只看(?:该作者|楼主)|IP\s?属地|(?:查看|回复)\s*[:：]\s*\d"
)
_NOTES_NAME = re.compile(r"(?<![a-z])(?:(?:foot|end)notes?|references|reflist|bibliography)(?![a-z])", re.IGNORECASE)
_SENTENCE_END = re.compile("[。！？]")
_text_outside_links = etree.XPath("descendant::text()[not(ancestor::a)]")
_COUNTER = re.compile(
    r"\W*\d[\d,.]*\s?[km万]?\s?(?:likes?|upvotes?|votes?|views?|replies|reply|comments?|shares?|个?赞|次?(?:浏览|阅读|点击)|条?(?:评论|回复))\W*",
    re.IGNORECASE,
)
"""A line that is nothing but a count of readers or of what they did."""
_AD_LABEL = re.compile(
    r"\W*(?:advertise?ment|ad|sponsored(?: content)?|(?:article|story) continues (?:below|after)[\w\s]*|anzeige|werbung|publicité|publicidad|"
    r"pubblicità|publicidade|advertentie|reklama?|реклама|iklan|広告|광고|广告)\W*",
    re.IGNORECASE,
)
_LONGEST_LABEL = 40
_PAGER_WORDS = r"(?:首页|尾页|末页|[上下]一?页|[第共页]|\b(?:pages?|of|first|last|next|prev(?:ious)?|weiter|zurück|suivante?|précédente?|siguiente|anterior)\b)"
_PAGER_WORD = re.compile(_PAGER_WORDS, re.IGNORECASE)
"""What stands between the numbers of the pages that a text is split into."""
_PAGER_START = re.compile(rf"[\W\d_]*{_PAGER_WORDS}", re.IGNORECASE)


def cut_named(regions: Regions, kind: PageKind) -> dict[int, str]:
    """The regions that their tag, class or id gives away, each with its rule; the surest names are looked at first.

    A word that names much of what is left of the page is no evidence there: some sites call their posts comments, or their
    article a widget. Comments are the text of a forum, and of a page that has little else; but not those on a question's answers.
    """
    left = regions.own.copy()
    """The measures, 0 from where something is cut."""
    gone = bytearray(len(regions.tags))
    """1 for every region that is cut or stands in one."""
    cuts: dict[int, str] = {}

    def cut(region: int, rule: str) -> None:
        end = regions.ends[region]
        cuts[region] = rule
        gone[region:end] = b"\1" * (end - region)
        left[:, region:end] = 0

    def holds(region: int, measure: int) -> bool:
        return bool(left[measure, region : regions.ends[region]].any())

    names = {
        region: words | {regions.tags[region]}
        for region, (_, words) in regions.named.items()
        if _may_be_named(regions, region)
    }
    for words, most in ((CONSENT_WORDS, 0.97), (FURNITURE_WORDS, 0.6), (_CUT_TAGS | SIDE_WORDS, 0.3)):
        carriers = _carriers(names, words, gone)
        trusted = _trusted(regions, carriers, np.cumsum(left[WEIGHT]), most)
        for region, found in carriers.items():
            if (
                gone[region]
                or trusted.isdisjoint(found)
                or _is_quote(regions, region)
                or _is_inside(regions, region, _PROTECTED_TAGS)
            ):
                continue
            # One word among many classes says little about a region with title and text.
            is_titled = _has_many_classes(regions, region) and holds(region, TITLES) and holds(region, PROSE)
            # The pictures of a product are what it looks like; of other pages they are mostly the site's.
            is_picture = found <= _PICTURE_WORDS and not holds(region, CHARS) and kind.is_product
            # What leads nowhere does not announce other pages, nor share this one.
            leads_nowhere = found <= LINKING_WORDS and not holds(region, LINK_COUNT) and holds(region, PROSE)
            # One class of many says who wrote a post, `topic-author`, and not that it is about its author.
            is_post = kind.is_forum and found <= _AUTHOR_WORDS and _has_many_classes(regions, region)
            is_key = found <= _KEY_WORDS and _is_key(regions, region, left)
            if not (is_titled or is_picture or leads_nowhere or is_post or is_key):
                cut(region, "named")
    for region in _carriers(names, _HEADER, gone):
        if not (
            gone[region]
            or holds(region, TITLES)
            or holds(region, PROSE)
            or _is_inside(regions, region, _SECTIONS | _PROTECTED_TAGS)
        ):
            cut(region, "header")
    comments = _carriers(names, COMMENT_WORDS, gone)
    if (reviews := _carriers(names, REVIEW_WORDS, gone)) and kind.is_product:
        comments |= reviews
    if not comments or (kind.is_forum and not kind.is_question):
        return cuts
    cuts_without_comments, whole = dict(cuts), left[WEIGHT].sum()
    for region in sorted(comments):
        if not (gone[region] or _is_inside(regions, region, _PROTECTED_TAGS)):
            cut(region, "comments")
    rest = left[WEIGHT].sum()
    # What a product is stands in short lines that weigh little.
    article = (left[CHARS] - left[LINKS]).sum() * THOUSANDTHS if kind.is_product else rest
    are_the_text = article < _ARTICLE_CHARS * regions.unit * THOUSANDTHS or (
        kind.is_question and rest < _ANSWERS * whole
    )
    return cuts_without_comments if are_the_text else cuts


def _may_be_named(regions: Regions, region: int) -> bool:
    tag = regions.tags[region]
    return tag not in _PROTECTED_TAGS or (tag == "p" and not _PARAGRAPH_WORDS.isdisjoint(regions.named[region][1]))


def _carriers(names: dict[int, frozenset[str]], words: frozenset[str], gone: bytearray) -> dict[int, frozenset[str]]:
    """The regions that have one of the words for a name, with those that they have."""
    return {
        region: words & found for region, found in names.items() if not gone[region] and not words.isdisjoint(found)
    }


def _trusted(regions: Regions, carriers: dict[int, frozenset[str]], running: np.ndarray, most: float) -> set[str]:
    """The words that name no more than this share of the page, each counted where it first stands from the outside in.

    running: the weight up to each region, of all that is left.
    """
    totals: dict[str, int] = {}
    around: list[tuple[int, frozenset[str]]] = []
    """End and words of each carrier that the one looked at stands in."""
    for region, found in carriers.items():
        end = regions.ends[region]
        while around and around[-1][0] <= region:
            around.pop()
        above = around[-1][1] if around else NO_WORDS
        around.append((end, above | found))
        if new := found - above:
            weight = int(running[end - 1] - running[region - 1]) if region else int(running[-1])
            for word in new:
                totals[word] = totals.get(word, 0) + weight
    return {word for word, weight in totals.items() if weight <= most * running[-1]}


def _is_inside(regions: Regions, region: int, tags: Collection[str]) -> bool:
    return any(regions.tags[outer] in tags for outer in regions.ancestors(region))


def _is_key(regions: Regions, region: int, left: np.ndarray) -> bool:
    """True for what is named a label and has its value beside it: `Weight`, `1.2 kg`."""
    value = regions.ends[region]
    if left[LINKS, region:value].any() or value >= regions.ends[regions.parents[region]]:
        return False
    chars, links = left[[CHARS, LINKS], value : regions.ends[value]].sum(axis=1).tolist()
    return bool(chars > 2 * links)


def _has_many_classes(regions: Regions, region: int) -> bool:
    return len(regions.elements[region].get("class", "").split()) >= _MANY_CLASSES


def _is_quote(regions: Regions, region: int) -> bool:
    """True for an aside that quotes: forums answer one another so."""
    tags = regions.tags
    return tags[region] == "aside" and any(tags[child] == "blockquote" for child in regions.children(region))


def cuts_of_index(page: Page, main: int) -> dict[int, str]:
    """The cuts of a page that is an index, without those of parts of its cards."""
    tags, named = page.tags, page.named
    return {
        region: rule
        for region, rule in page.cuts.items()
        if rule != "named"
        or not main < region < page.ends[main]
        or tags[region] in _CUT_TAGS
        or not named[region][1] <= CARD_WORDS
    }


def cut_inside(page: Page, part: int, main: int, index_chars: float = 0.0) -> dict[int, str]:
    """The regions inside a part of the main text that look like something else, each with the rule that cuts it.

    index_chars: on a page that is an index, the length from which a region is left alone; else 0.
    """
    cuts: dict[int, str] = {}
    region, end = part + 1, page.ends[part]
    while region < end:
        if region not in page.cuts and not (index_chars and _is_card(page, region)):
            rule = _looks_like(page, region, index_chars)
            if not rule and not index_chars and page.teasers[region] > 1 and _is_teasers(page, region, main, cuts):
                rule = "teasers"
            if rule:
                cuts[region] = rule
            elif not is_protected(page, region):
                region += 1
                continue
        region = page.ends[region]
    return cuts


def cut_last_headings(page: Page, part: int, cuts: Collection[int]) -> dict[int, str]:
    """The headings at the end of a part that nothing follows: what stood under them is cut, or a script would fill it.

    cuts: of the part, beside those of the page.
    """
    last: list[int] = []
    has_text = False
    region, end = part + 1, page.ends[part]
    while region < end:
        if region in page.cuts or region in cuts:
            region = page.ends[region]
        elif page.tags[region] in HEADINGS:
            if page.chars[region] and page.tags[region] != "h1":
                last.append(region)
            region = page.ends[region]
        else:
            if page.own[CHARS, region] or page.images[region]:
                last.clear()
                has_text = True
            region += 1
    # More of them are a list that is written in headings.
    return dict.fromkeys(last, "empty section") if has_text and len(last) <= _LAST_HEADINGS else {}


def _looks_like(page: Page, region: int, index_chars: float) -> str:
    """The rule that cuts the region for its looks, or an empty text."""
    chars, tag = page.chars[region], page.tags[region]
    if not chars or tag in HEADINGS or tag == "pre":
        return ""
    density = page.links[region] / chars
    if tag in ("ul", "ol") and not density and chars < _LONGEST_NUMBERS and page.text(region).isdigit():
        return "line numbers"
    if index_chars:
        return "links" if density > 0.8 and chars < index_chars and _is_menu(page, region) else ""
    unit = page.unit
    if density > 0.6 and page.prose[region] < 100 * unit and tag not in ("p", "td", "tr", "tbody", "dd"):
        return (
            ""
            if _is_item_of_text(page, region) or _is_written_list(page, region) or _is_notes(page, region)
            else "links"
        )
    is_linked = density > 0.4
    if chars >= (_LONGEST_NOISE if is_linked else _LONGEST_STATEMENT) * unit:
        return ""
    is_block = tag in ("div", "section", "p")
    may_be_noise = (is_block or tag == "ul") and (is_linked or chars < 60 * unit)
    may_be_statement = (is_block or tag in ("td", "center")) and chars < _LONGEST_STATEMENT * unit
    may_be_dateline = _may_be_dateline(page, region)
    if not (may_be_noise or may_be_statement or may_be_dateline):
        return ""
    text = page.text(region)
    if is_block and chars < _LONGEST_LABEL and _COUNTER.fullmatch(text):
        return "counter"
    if is_block and chars < _LONGEST_LABEL and _AD_LABEL.fullmatch(text):
        return "noise words"
    if may_be_noise and _NOISE.match(text) and not _is_section(page, region, text):
        return "noise words"
    if may_be_noise and _is_pager(text):
        return "pager"
    if is_linked and chars < 60 * unit and page.link_count[region] > 2 and _is_only_links(page, region):
        return "links"
    if may_be_dateline and _reads_as_dateline(text) and not _holds_text(page, region):
        return "dateline"
    if may_be_statement and _STATEMENT.match(text):
        return "statement"
    return ""


def _is_menu(page: Page, region: int) -> bool:
    """True for some short links without a picture."""
    links = page.link_count[region]
    return not page.images[region] and links > 3 and page.links[region] < 15 * page.unit * links


def _is_card(page: Page, region: int) -> bool:
    """True for one of several alike with some text each: offers, events, stories."""
    least = _CARD_CHARS * page.unit
    if page.chars[region] < least:
        return False
    tag, name = page.tags[region], page.elements[region].get("class")
    alike = [
        beside
        for beside in page.children(page.parents[region])
        if page.tags[beside] == tag and page.chars[beside] > least and page.elements[beside].get("class") == name
    ]
    return len(alike) >= _LEAST_CARDS


def _is_pager(text: str) -> bool:
    """True for a line of page numbers and words such as 下一页 only."""
    if not _PAGER_START.match(text):
        return False
    rest, words = _PAGER_WORD.subn("", text)
    return (words > 1 or any(map(str.isdigit, text))) and not any(map(str.isalpha, rest))


def _is_only_links(page: Page, region: int) -> bool:
    """True where nothing but brackets, bars and the like stands between the links."""
    return not any(map(str.isalnum, "".join(_text_outside_links(page.elements[region]))))


def is_dateline(page: Page, region: int) -> bool:
    """True for a short line of when, by whom and where the text was published, or how often it was read."""
    return _may_be_dateline(page, region) and _reads_as_dateline(page.text(region)) and not _holds_text(page, region)


def _may_be_dateline(page: Page, region: int) -> bool:
    return page.chars[region] < _DATELINE_CHARS * page.unit and not page.titles[region]


def _reads_as_dateline(text: str) -> bool:
    return _dateline_marks(text) > 1 and not _SENTENCE_END.search(text)


def _dateline_marks(text: str) -> int:
    """How many days and words of a dateline a text holds; two say as much as more."""
    marks = len(_DAY.findall(text)) + len(_DATELINE_WORD.findall(text))
    if (
        marks < 2
        and not text.isascii()
        and (":" in text or "：" in text or "于" in text or "看" in text or "IP" in text)
    ):
        marks += len(_DATELINE_LABEL.findall(text))
    return marks


def _holds_text(page: Page, region: int) -> bool:
    """True for a quote, and where a paragraph says something else than when and by whom: a short post below its header."""
    least = _SAID_CHARS * page.unit
    return any(
        page.tags[inner] == "blockquote"
        or (page.tags[inner] == "p" and page.chars[inner] >= least and not _dateline_marks(page.text(inner)))
        for inner in range(region, page.ends[region])
    )


def is_statement(page: Page, region: int) -> bool:
    """True where all running text in a region is of who owns the page, and of what nobody is liable for."""
    texts = [inner for inner in range(region, page.ends[region]) if page.own[PROSE, inner]]
    return bool(texts) and all(_STATEMENT.match(page.text(text)) for text in texts)


def is_protected(page: Page, region: int) -> bool:
    """True for quotes, code and tables of data: nothing is cut out of them."""
    tag = page.tags[region]
    if tag == "table":
        return page.link_density(region) < 0.6 and data_rows(page.elements[region]) is not None
    return tag in ("blockquote", "pre")


def _is_teasers(page: Page, region: int, main: int, cuts: Collection[int]) -> bool:
    """True for a block of headings that are links, each with a short text, beside text of another kind.

    cuts: what is already known not to be text of the main region.
    """
    gone = [cut for cut in cuts if main < cut < page.ends[main]]
    teasers, prose, weight = (
        column[main] - sum(column[cut] for cut in gone) for column in (page.teasers, page.prose, page.weight)
    )
    return (
        page.chars[region] < 500 * page.unit * page.teasers[region]
        and page.weight[region] < 0.5 * weight
        and page.teasers[region] > 0.5 * teasers
        and prose - page.prose[region] > 100 * page.unit
    )


def _is_notes(page: Page, region: int) -> bool:
    """True for the notes and sources of a text, and what stands in them."""
    around = (region, *islice(page.ancestors(region), 3))
    return any(_NOTES_NAME.search(page.elements[outer].get("class", "")) for outer in around)


def _is_section(page: Page, region: int, text: str) -> bool:
    """True for a section that a reference calls `See also`, and for the block around its heading."""
    inner = region + 1
    return text[:8].lower() == "see also" and inner < page.ends[region] and page.tags[inner] in HEADINGS


def _is_item_of_text(page: Page, region: int) -> bool:
    """True for an item of a list that is more than links: it is left out with the whole list, or not at all."""
    return page.tags[region] == "li"


def _is_written_list(page: Page, region: int) -> bool:
    """True for a list of links that an author put among paragraphs: sources, further reading."""
    if page.tags[region] == "li":
        return _is_written_list(page, page.parents[region])
    element, parent = page.elements[region], page.parents[region]
    if page.tags[region] not in ("ul", "ol") or element.get("class") or element.get("id") or parent < 0:
        return False
    return any(page.tags[beside] in ("p", "pre") and page.own[PROSE, beside] for beside in page.children(parent))
