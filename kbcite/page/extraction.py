"""Element tree → the main content, without navigation, advertisements, comments and the like (SPEC 17 to 20).

Text has weight: running text by its length, labels and headings a little of theirs, links next to none. What is named or
looks like boilerplate is cut, and the smallest region that still holds most of the weight is the main one: the article,
or what all posts or products of a page stand in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from kbcite.page.boilerplate import cut_inside, cut_named, is_dateline
from kbcite.page.markdown import write_markdown
from kbcite.page.regions import Page, Region, measure
from kbcite.page.source_spans import locate
from kbcite.page.tree import text_content
from kbcite.page.unseen import CONTROLS, is_shell, strip_unseen
from kbcite.records import Cut, MainContent
from kbcite.words import CJK

_PRODUCT_MARKS = (
    ('"Product"', re.compile(r'"@type"\s*:\s*"Product"')),
    ("schema.org/Product", re.compile(r"schema\.org/Product\b")),
    ('property="og:type"', re.compile(r'property="og:type"\s+content="(?:og:)?product')),
)
"""What the source of a product page holds; the text before each pattern stands in all its matches and is found faster."""
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_CHINESE_UNIT = 0.4
"""A Chinese character says as much as two and a half Latin letters."""
_FORUM_WORD = re.compile(
    r"(?<![a-z])(?:forums?|threads?|topics?|bbs|discussions?|discuss|questions?|answers?|qa|bbpress|community|viewtopic|showthread)(?![a-z])",
    re.IGNORECASE,
)
# The figures below were set on half of the pages of 580 sites and tried on the other half; between 0.7 and 0.8 for `_MOST`,
# or half and double of the others, the F1 of the main text moves by less than 0.005 (`make bench` measures it again).
_MOST = 0.75
"""Share of the weight that the main region has to hold."""
_BODY_FACTOR = 5.0
"""What weight counts for where templates name the text itself (`entry-content`)."""
_INDEX_PROSE = 600
"""Running text below which a page of links is an index: its links are what it has to say."""
_INDEX_TEASERS = 6
_TEASER_WEIGHT = 100
"""Weight a teaser below which so many of them are an index."""
_INDEX_CHARS = 0.25
"""Share of an index from which a part of it is left alone."""
_SHELL_CHARS = 200
_TWIN_PROSE = 60
_LEAD_PROSE = 80
_LEAD_NAME = re.compile(r"\b(?:dek|deck|lede|standfirst)\b", re.IGNORECASE)
"""What newspapers call the sentence under a title; it may be half as short."""
_LEAVES = frozenset("p li pre ul ol table blockquote dl".split())
_CUT_TEXT_CHARS = 200


@dataclass(frozen=True, slots=True)
class NoContent:
    """Why a page has no main content: `no_text`, or `needs_javascript`."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Selection:
    main: Region
    parts: tuple[Region, ...]
    """The main region, and those beside it that belong to the same text, in order."""


def extract(root: etree._Element, source: str, url: str = "") -> MainContent | NoContent:
    """The main content of a parsed page. The tree is used up: what is never content is taken out of it.

    source: the decoded text that the tree was parsed from; spans count in it. url: its words help to know a forum.
    """
    selection = _select(root, source, url)
    if isinstance(selection, NoContent):
        return selection
    dropped = {region.element for part in selection.parts for region in _cut_regions(part)}
    markdown, pieces = write_markdown([part.element for part in selection.parts], dropped)
    if not markdown:
        return NoContent("no_text")
    return MainContent(markdown, locate(pieces, source))


def explain(root: etree._Element, source: str, url: str = "") -> tuple[Cut, ...]:
    """What `extract` leaves out of a page, in the order of the page. The tree is used up."""
    cuts = [
        _cut_of(element, f"tag {element.tag}")
        for element in root.iter(*CONTROLS, "noscript")
        if text_content(element).strip()
    ]
    selection = _select(root, source, url)
    if isinstance(selection, NoContent):
        return tuple(cuts)
    outside: list[Region] = []
    inner = selection.main
    while inner.parent is not None:
        outside += [region for region in inner.parent.children if region is not inner and region not in selection.parts]
        inner = inner.parent
    cuts += [_cut_of(region.element, region.cut or "outside the main text") for region in outside if region.chars]
    inside = [region for part in selection.parts for region in _cut_regions(part)]
    cuts += [_cut_of(region.element, region.cut) for region in inside if region.chars]
    return tuple(cuts)


def _cut_of(element: etree._Element, rule: str) -> Cut:
    text = " ".join(" ".join(element.itertext()).split())
    links = sum(len(" ".join(" ".join(link.itertext()).split())) for link in element.iter("a"))
    return Cut(rule, text[:_CUT_TEXT_CHARS], len(text), min(links / len(text), 1.0) if text else 0.0)


def _cut_regions(region: Region) -> list[Region]:
    """The outermost regions below this one that are cut, in order."""
    found: list[Region] = []
    for child in region.children:
        if child.cut:
            found.append(child)
        else:
            found += _cut_regions(child)
    return found


def _select(root: etree._Element, source: str, url: str) -> _Selection | NoContent:
    body = root.find("body")
    if body is None:
        body = root
    strip_unseen(root, body, source)
    unit = _unit_of(text_content(body))
    page = measure(body, unit)
    whole = page.body
    if (
        whole.chars < _SHELL_CHARS * unit
        and whole.prose <= _SHELL_CHARS * unit / 2
        and is_shell(body, source, whole.chars)
    ):
        return NoContent("needs_javascript", f"{whole.chars} characters of text beside its scripts")
    if not whole.chars:
        return NoContent("no_text")
    is_forum = _is_forum(url, body, source)
    is_product = any(text in source and mark.search(source) for text, mark in _PRODUCT_MARKS)
    cut_named(page, is_forum, is_product)
    main = _heaviest(whole, unit)
    is_index = _is_index(whole, main, unit)
    if is_index:
        whole.weigh_links()
        main = _heaviest(whole, unit)
    if not is_index and whole.titles == 1 and is_product:
        main = _up_to_title(main)
    parts = (main,) if is_index else _with_lead(page, main, is_forum)
    for part in parts:
        cut_inside(part, main, unit, _INDEX_CHARS * main.chars if is_index else 0.0)
    return _Selection(main, parts)


def _is_index(whole: Region, main: Region, unit: float) -> bool:
    """True for a page whose links are what it has to say: a list of products, the front page of a newspaper."""
    if main.teasers >= _INDEX_TEASERS and main.weight < _TEASER_WEIGHT * unit * main.teasers:
        return True
    return main.prose < _INDEX_PROSE * unit and (whole.link_density > 0.5 or whole.prose < 0.15 * whole.chars)


def _unit_of(text: str) -> float:
    """Characters of this text that say as much as one Latin letter."""
    sample = text[:: max(1, len(text) // 1000)]
    letters = sum(map(str.isalpha, sample))
    return _CHINESE_UNIT if letters and len(_CJK_CHARACTER.findall(sample)) > 0.2 * letters else 1.0


def _is_forum(url: str, body: etree._Element, source: str) -> bool:
    """True for a page whose address, body or schema says that people talk to each other on it: replies are its text."""
    names = f"{url} {body.get('class', '')} {body.get('id', '')}"
    return _FORUM_WORD.search(names) is not None or "DiscussionForumPosting" in source or "QAPage" in source


def _heaviest(page: Region, unit: float) -> Region:
    """The smallest region that holds most of the page's weight."""
    pulls: dict[Region, float] = {}

    def pull(region: Region) -> float:
        """Weight below the region, more where templates name the text itself."""
        if region.cut:
            return 0.0
        total = region.own_weight + sum(map(pull, region.children))
        if region.is_body:
            total *= _BODY_FACTOR
        pulls[region] = total
        return total

    pull(page)
    main = page
    while main.children:
        best = max(main.children, key=lambda child: pulls.get(child, 0.0))
        whole = pulls[main] / (_BODY_FACTOR if main.is_body else 1.0)
        if best not in pulls or pulls[best] < _MOST * whole or best.tag in _LEAVES or _has_twin(best, main, unit):
            break
        main = best
    return main


def _has_twin(region: Region, parent: Region, unit: float) -> bool:
    """True where a sibling of the same tag and class holds text too: they are sections of one text."""
    name = region.element.get("class")
    return any(
        other is not region
        and not other.cut
        and other.tag == region.tag
        and other.prose > _TWIN_PROSE * unit
        and other.link_density < 0.3
        and other.element.get("class") == name
        for other in parent.children
    )


def _up_to_title(main: Region) -> Region:
    """The smallest region around the main one that holds the title: what a product costs stands beside its name."""
    return next((region for region in (main, *main.ancestors()) if region.titles), main)


def _with_lead(page: Page, main: Region, is_forum: bool) -> tuple[Region, ...]:
    """The main region, and before it what beside it reads like its beginning: the lead of an article.

    A title outside of the main region is left to the metadata, but for forums: there it is what the replies answer.
    """
    if main.parent is None:
        return (main,)
    beside = main.parent.children
    lead = [region for region in beside[: beside.index(main)] if _is_lead(region, page.unit)]
    if is_forum and page.body.titles == 1 and not main.titles and not any(region.titles for region in lead):
        lead.insert(0, next(region for region in page.titles if not region.is_cut))
    return (*lead, main)


def _is_lead(region: Region, unit: float) -> bool:
    if region.cut or region.teasers or region.tag in ("ul", "ol", "table"):
        return False
    least = _LEAD_PROSE * unit
    if _LEAD_NAME.search(region.element.get("class", "")):
        least /= 2
    if region.prose < least or region.link_density >= 0.2 or region.prose <= 0.7 * region.chars:
        return False
    return not is_dateline(region, unit)
