"""Element tree → the main content, without navigation, advertisements, comments and the like (SPEC 17 to 20).

Text has weight: running text by its length, labels and headings a little of theirs, links next to none. What is named or
looks like boilerplate is cut, and the smallest region that still holds most of the weight is the main one: the article,
or what all posts or products of a page stand in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from lxml import etree

from kbcite.page.boilerplate import cut_inside, cut_last_headings, cut_named, cuts_of_index, is_dateline, is_statement
from kbcite.page.head import Head
from kbcite.page.hints import COMMENT_WORDS, NO_HINTS
from kbcite.page.markdown import write_markdown
from kbcite.page.page_kind import PageKind
from kbcite.page.posts import cut_profiles, cut_repeated, labels_in_brackets
from kbcite.page.regions import CHARS, PROSE, THOUSANDTHS, Page, measure
from kbcite.page.source_spans import locate
from kbcite.page.tables import data_rows
from kbcite.page.unseen import is_shell, strip_unseen
from kbcite.records import MainContent

# The figures below were set on half of the pages of 580 sites and tried on the other half; between 0.7 and 0.8 for `_MOST`,
# or half and double of the others, the F1 of the main text moves by less than 0.005 (`make bench` measures it again).
_MOST = 0.75
"""Share of the weight that the main region has to hold."""
_MOST_OF_ANSWERS = 0.9
"""The same on a page of a question: one answer may well be most of it, and is not all."""
_BODY_FACTOR = 5.0
"""What weight counts for where templates name the text itself (`entry-content`)."""
_TITLE_FACTOR = 2.0
"""What weight counts for in the smallest region that holds the only title and text: what stands below it is of other pages."""
_TITLE_PROSE = 150
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
_DIGITS = re.compile(r"\d+")
_LEAVES = frozenset("p li pre ul ol table blockquote dl".split())


@dataclass(frozen=True, slots=True)
class NoContent:
    """Why a page has no main content: `no_text`, or `needs_javascript`."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a page is its main text."""

    page: Page
    """With all that is cut out of the parts."""
    main: int
    parts: tuple[int, ...]
    """The main region, and those beside it that belong to the same text, in order."""
    kinds: tuple[str, ...]
    """What the page was taken for, where that changed a rule: `an index`, `a forum`, `a product`."""
    labels: tuple[etree._Element, ...] = ()
    """Links inside of kept regions that are none of their text."""

    def dropped(self) -> set[etree._Element]:
        """What of the parts is not written."""
        return {self.page.elements[cut] for part in self.parts for cut in self.page.outermost_cuts(part)}.union(
            self.labels
        )


def extract(root: etree._Element, head: Head, source: str, url: str) -> MainContent | NoContent:
    """The main content of a parsed page. The tree is used up: what is never content is taken out of it.

    head: what `read_head` gives of the tree. source: the decoded text that the tree was parsed from; spans count in it.
    url: its words help to know a forum.
    """
    selection = select(root, head, source, url)
    if isinstance(selection, NoContent):
        return selection
    page = selection.page
    markdown, pieces = write_markdown([page.elements[part] for part in selection.parts], selection.dropped())
    if not markdown:
        return NoContent("no_text")
    return MainContent(markdown, locate(pieces, source))


def select(root: etree._Element, head: Head, source: str, url: str) -> Selection | NoContent:
    """Which regions of a page are its main text. The tree is used up; arguments as for `extract`."""
    body = root.find("body")
    if body is None:
        body = root
    kind = PageKind(url, head, body)
    strip_unseen(root, body, source)
    regions = measure(body)
    unit = regions.unit
    chars, prose = int(regions.own[CHARS].sum()), int(regions.own[PROSE].sum())
    if chars < _SHELL_CHARS * unit and prose <= _SHELL_CHARS * unit / 2 and is_shell(body, source, chars):
        return NoContent("needs_javascript", f"{chars} characters of text beside its scripts")
    if not chars:
        return NoContent("no_text")
    page = regions.without(cut_named(regions, kind))
    favoured = _favoured(page, kind)
    is_question = kind.is_forum and kind.is_question
    main = _heaviest(page, page.pulls(False, favoured), _MOST_OF_ANSWERS if is_question else _MOST)
    if not kind.is_thread and (kind.is_listing or _is_index(page, main)):
        main = _heaviest(page, page.pulls(True, favoured), _MOST)
        page = page.without(cuts_of_index(page, main))
        index_chars = _INDEX_CHARS * page.chars[main]
        return Selection(
            replace(page, cuts=page.cuts | cut_inside(page, main, main, index_chars)), main, (main,), ("an index",)
        )
    if page.titles[0] == 1 and not page.titles[main] and kind.is_product:
        main = _up_to_title(page, main)
    parts = _with_lead(page, main, kind, head.title)
    cuts: dict[int, str] = {}
    for part in parts:
        cuts |= cut_inside(page, part, main)
    if kind.is_forum or kind.is_product:
        page = page.without(page.cuts | cuts)
        cuts = cut_profiles(page, parts) if kind.is_forum else {}
        cuts = {**cut_repeated(page, parts), **cuts}
    kinds = tuple(name for name, holds in (("a forum", kind.is_forum), ("a product", kind.is_product)) if holds)
    for part in parts:
        cuts |= cut_last_headings(page, part, cuts)
    labels = labels_in_brackets(page, parts) if kind.is_forum else ()
    return Selection(replace(page, cuts=page.cuts | cuts), main, parts, kinds, labels)


def _favoured(page: Page, kind: PageKind) -> dict[int, float]:
    """How many times the weight of some regions counts: those named as the text itself, and the one with the title."""
    favoured = {region: _BODY_FACTOR for region, (is_body, _) in page.named.items() if is_body}
    if page.titles[0] == 1 and not (kind.is_forum or kind.is_product):
        title = next(region for region, tag in enumerate(page.tags) if tag == "h1" and not page.is_cut(region))
        titled = next((outer for outer in page.ancestors(title) if page.prose[outer] >= _TITLE_PROSE * page.unit), 0)
        favoured.setdefault(titled, _TITLE_FACTOR)
    return favoured


def _is_index(page: Page, main: int) -> bool:
    """True for a page whose links are what it has to say: a list of products, the front page of a newspaper."""
    teasers = page.teasers[main]
    if teasers >= _INDEX_TEASERS and page.weight[main] < _TEASER_WEIGHT * THOUSANDTHS * page.unit * teasers:
        return True
    if page.prose[main] >= _INDEX_PROSE * page.unit:
        return False
    return page.link_density(0) > 0.5 or page.prose[0] < 0.15 * page.chars[0]


def _heaviest(page: Page, pulls: Sequence[float], most: float) -> int:
    """The smallest region that holds most of the page's weight, given that of each; `most` is a share."""
    main = 0
    while children := list(page.children(main)):
        best = max(children, key=pulls.__getitem__)
        if best in page.cuts or pulls[best] < most * pulls[main] or _is_leaf(page, best) or _has_twin(page, best):
            break
        main = best
    return main


def _is_leaf(page: Page, region: int) -> bool:
    """True for a paragraph, list or table of data; tables that only lay out a page hold other regions."""
    tag = page.tags[region]
    return tag in _LEAVES and (tag != "table" or data_rows(page.elements[region]) is not None)


def _has_twin(page: Page, region: int) -> bool:
    """True where a sibling of the same tag and name holds text too: they are sections of one text."""
    tag, name = page.tags[region], _template_name(page, region)
    return any(
        other != region
        and page.tags[other] == tag
        and other not in page.cuts
        and page.prose[other] > _TWIN_PROSE * page.unit
        and page.link_density(other) < 0.3
        and _template_name(page, other) == name
        and not is_statement(page, other)
        for other in page.children(page.parents[region])
    )


def _template_name(page: Page, region: int) -> str:
    """The class of a region, or its id without numbers: `post_7` and `post_8` are of one template."""
    element = page.elements[region]
    return element.get("class") or _DIGITS.sub("", element.get("id", ""))


def _up_to_title(page: Page, main: int) -> int:
    """The smallest region around the main one that holds the title: what a product costs stands beside its name."""
    return next((region for region in (main, *page.ancestors(main)) if page.titles[region]), main)


def _replied_to(page: Page, main: int) -> list[int]:
    """Where the main region is named replies or stands in such: what stands before them and reads like a post."""
    region, is_replies = main, False
    for outer in page.ancestors(main):
        is_replies = is_replies or not COMMENT_WORDS.isdisjoint(page.named.get(region, NO_HINTS)[1])
        posts = [beside for beside in page.children(outer) if beside < region and _is_lead(page, beside)]
        if is_replies and posts:
            return posts
        region = outer
    return []


def _with_lead(page: Page, main: int, kind: PageKind, title: str) -> tuple[int, ...]:
    """The main region, and before it what beside it reads like its beginning: the lead of an article. title: of the head.

    A title outside of the main region is left to the metadata, but for forums: there it is what the replies answer.
    """
    if main == 0:
        return (main,)
    before = takewhile(lambda region: region != main, page.children(page.parents[main]))
    lead = [region for region in before if _is_lead(page, region)]
    if kind.is_forum and not lead:
        lead = _replied_to(page, main)
    has_title_elsewhere = page.titles[0] == 1 and not any(page.titles[region] for region in (main, *lead))
    if has_title_elsewhere and kind.is_forum and not _begins_with_title(page, lead[0] if lead else main, title):
        lead.insert(0, next(region for region, tag in enumerate(page.tags) if tag == "h1" and not page.is_cut(region)))
    return (*lead, main)


def _begins_with_title(page: Page, region: int, title: str) -> bool:
    """True where the first words are a heading that the page is titled by: the `h1` is the name of the site then."""
    first = next((inner for inner in range(region, page.ends[region]) if page.own[CHARS, inner]), region)
    return page.tags[first] in ("h2", "h3") and page.text(first) in " ".join(title.split())


def _is_lead(page: Page, region: int) -> bool:
    if region in page.cuts or page.teasers[region] or page.tags[region] in ("ul", "ol", "table"):
        return False
    least = _LEAD_PROSE * page.unit
    if _LEAD_NAME.search(page.elements[region].get("class", "")):
        least /= 2
    prose = page.prose[region]
    if prose < least or page.link_density(region) >= 0.2 or prose <= 0.7 * page.chars[region]:
        return False
    return not is_dateline(page, region) and not is_statement(page, region)
