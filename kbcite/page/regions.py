"""The page as a tree of measured regions: what extraction weighs.

One pass over the elements. A region is a block-level element; text and links of the inline elements in it count as its
own. Lengths are characters without the white space around each text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from kbcite.page.tree import text_content

BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 "
    "h3 h4 h5 h6 header hgroup html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul "
    "dir noscript".split()
)
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_WORD = re.compile(r"(?<![0-9])(?:[A-Z]?[a-z]+|[A-Z]+(?![a-z]))")
"""Letters behind a digit are part of a hash, not a word."""
_MARK = re.compile(r"[,，。.、；;！!？?：](?=\s|$|[^\x00-\x7f])|[，。、；！？：]")


CONTENT_NAMES = frozenset(
    "articlebody entrycontent entrybody postcontent postbody posttext articlecontent articletext storybody storycontent newscontent "
    "articlemain maincontent markdownbody blogcontent".split()
)
COMMENT_WORDS = frozenset(
    "comment comments commentlist commentary disqus reply replies respond discussion discussions pinglun".split()
)
FURNITURE_WORDS = frozenset(
    "ads adsense advertisement breadcrumb breadcrumbs colophon copyright crumb crumbs foot footer login masthead "
    "menu menus modal nav navbar navigation newsletter pager pagination popup qrcode recommend recommendation "
    "recommendations recommended related sidebar signup sitemap submenu subnav subscribe subscription topbar "
    "trending tuijian xiangguan".split()
)
"""Words that name what is around the text on every site."""
SIDE_WORDS = frozenset(
    "ad advert advertising affiliate aside author authors avatar banner bio branding byline categories "
    "commentform controls credits dialog disclaimer drawer dropdown flyout follow gallery honeypot hot label "
    "latest legal links logo marketing mega meta metadata most noprint overlay pop popover popular prev previous "
    "print privacy promo rank ranking reactions recent relate rss search share sharedaddy sharing side signature "
    "similar slideshow social sponsor sponsored tag tagcloud tags teaser textwidget thumbs toc toolbar toolbox "
    "tooltip vcard votecell votes voting widget widgets".split()
)
"""Words that mostly name what stands beside the text, but that some sites give to the text."""
CONSENT_WORDS = frozenset("cookie cookies consent gdpr onetrust".split())
REVIEW_WORDS = frozenset(("reviews",))
"""What buyers say stands beside the text of a product, and is the text of other pages."""
NAMING_WORDS = CONSENT_WORDS | REVIEW_WORDS | COMMENT_WORDS | frozenset(("header",)) | FURNITURE_WORDS | SIDE_WORDS
NO_WORDS: frozenset[str] = frozenset()
Hint = tuple[bool, frozenset[str]]
NO_HINTS: Hint = (False, NO_WORDS)
NAMING_TAGS = frozenset("aside footer form menu address header".split())


TEASER = 0.25
"""What text behind a heading that is a link weighs: it announces another page."""


_NO_CHILDREN: list[Region] = []


class Region:
    """A block-level element with its measures; totals are of itself and all below it that is not cut.

    Defaults stand in the class: most regions of a page set few of them, and there are many.
    """

    children: list[Region] = _NO_CHILDREN
    """A list of its own from its first child on."""
    names = NO_WORDS
    """Words of its class and id that speak against it."""
    is_body = False
    """True where its class or id is one that templates give to the text itself."""
    cut = ""
    """The rule that cut it, or empty."""
    own_chars = 0
    own_links = 0
    """Of these, characters in links."""
    own_prose = 0
    """Characters, where they read as running text or are code; else 0."""
    own_weight = 0.0
    has_mark = False
    """True where its own text outside of links has a punctuation mark."""
    chars = 0
    links = 0
    link_count = 0
    images = 0
    prose = 0
    titles = 0
    """Number of `h1`."""
    teasers = 0
    """Number of headings that are links: they announce other pages."""
    weight = 0.0
    _text: str | None = None

    def __init__(self, element: etree._Element, tag: str, parent: Region | None) -> None:
        self.element = element
        self.tag = tag
        self.parent = parent

    @property
    def link_density(self) -> float:
        return self.links / self.chars if self.chars else 0.0

    def text(self) -> str:
        """Its text, white space folded; remembered, for more than one rule asks for it."""
        if self._text is None:
            self._text = " ".join(text_content(self.element).split())
        return self._text

    @property
    def is_cut(self) -> bool:
        """True where this region or one around it is cut."""
        return bool(self.cut) or any(region.cut for region in self.ancestors())

    def ancestors(self) -> Iterator[Region]:
        region = self.parent
        while region is not None:
            yield region
            region = region.parent

    def remove(self, rule: str) -> None:
        """Cuts the region: its measures leave the totals around it."""
        self.cut = rule
        if self.chars or self.images or self.link_count or self.titles:
            for region in self.ancestors():
                region.include(self, -1)

    def restore(self) -> None:
        self.cut = ""
        for region in self.ancestors():
            region.include(self, 1)

    def include(self, other: Region, sign: int) -> None:
        self.chars += sign * other.chars
        self.links += sign * other.links
        self.link_count += sign * other.link_count
        self.images += sign * other.images
        self.prose += sign * other.prose
        self.titles += sign * other.titles
        self.teasers += sign * other.teasers
        self.weight += sign * other.weight

    def weigh_links(self) -> None:
        """Sets all weights to what they are on a page that is an index: half of the text, links or not."""
        self.own_weight = self.weight = 0.5 * self.own_chars
        for child in self.children:
            if not child.cut:
                child.weigh_links()
                self.weight += child.weight


@dataclass(frozen=True, slots=True)
class Page:
    """All regions of a page."""

    body: Region
    named: tuple[Region, ...]
    """Those that their tag, class or id may give away, in the order of the page."""
    titles: tuple[Region, ...]
    """Its `h1`, in the order of the page."""
    unit: float
    """Characters that say as much as one Latin letter does: 1 for Latin text, less for Chinese."""


def measure(body: etree._Element, unit: float) -> Page:
    """The regions of `body`, in one pass over its elements."""
    named: list[Region] = []
    headlines: list[Region] = []
    prose_chars = 60 * unit
    label_chars = 20 * unit
    teaser_chars = 400 * unit
    teased = 0.0

    def visit(element: etree._Element, region: Region, in_link: bool) -> None:
        """Adds the inline content of `element` to `region` and the regions below it to its children."""
        text = element.text
        if text and (text := text.strip()):
            count(text, region, in_link)
        for child in element:
            tag = child.tag
            if tag in BLOCKS:
                # One in five is empty: nothing to measure.
                if len(child) or child.text or tag == "h1":
                    inner = Region(child, tag, region)
                    if region.children is not _NO_CHILDREN:
                        region.children.append(inner)
                    else:
                        region.children = [inner]
                    get = child.get
                    hint = hints_of(name) if (name := get("class")) else NO_HINTS
                    if (name := get("id")) and (named_by_id := hints_of(name)) is not NO_HINTS:
                        hint = joined(hint, named_by_id)
                    if hint is not NO_HINTS:
                        inner.is_body, inner.names = hint
                        named.append(inner)
                    elif tag in NAMING_TAGS:
                        named.append(inner)
                    visit(child, inner, in_link)
                    close(inner)
            elif tag == "a":
                region.link_count += 1
                visit(child, region, True)
            elif tag == "img":
                region.images += 1
            elif len(child) or child.text:
                visit(child, region, in_link)
            text = child.tail
            if text and (text := text.strip()):
                count(text, region, in_link)

    def count(text: str, region: Region, in_link: bool) -> None:
        length = len(text)
        region.own_chars += length
        if in_link:
            region.own_links += length
        elif 8 < length < prose_chars and not region.has_mark and _MARK.search(text):
            region.has_mark = True

    def close(region: Region) -> None:
        """Weighs the own text of a region, and adds up its children, which are complete."""
        nonlocal teased
        chars = region.own_chars
        links = region.own_links
        prose = 0
        weight = 0.0
        titles = 0
        if region.tag == "h1":
            titles = 1
            headlines.append(region)
        teasers = 0
        if chars:
            own = chars - links
            tag = region.tag
            if tag in HEADINGS:
                weight = 0.1 * own
                if tag != "h1":
                    teasers = int(links > 0.8 * chars)
                    teased = teaser_chars if teasers else 0.0
            elif tag == "pre":
                prose = own
                weight = 0.7 * own
            elif links > own:
                weight = 0.1 * own
            elif own >= prose_chars or (own >= label_chars and region.has_mark):
                prose = own
                weight = float(own)
            else:
                weight = 0.2 * own
            if teased > 0 and prose:
                teased -= own
                weight *= TEASER
            weight += 0.05 * links
            region.own_prose = prose
            region.own_weight = weight
        if region.children:
            link_count = region.link_count
            images = region.images
            for child in region.children:
                if child.chars or child.images or child.titles:
                    chars += child.chars
                    links += child.links
                    link_count += child.link_count
                    images += child.images
                    prose += child.prose
                    titles += child.titles
                    teasers += child.teasers
                    weight += child.weight
            region.link_count = link_count
            region.images = images
        if chars:
            region.chars = chars
            region.links = links
            region.prose = prose
            region.weight = weight
            if teasers:
                region.teasers = teasers
        if titles:
            region.titles = titles

    root = Region(body, "body", None)
    visit(body, root, False)
    close(root)
    return Page(root, tuple(named), tuple(headlines), unit)


@lru_cache(maxsize=20_000)
def hints_of(name: str) -> Hint:
    """Whether a class or id names the text itself, and which of its words speak against it; `NO_HINTS` for neither.

    Pages repeat their names, and sites those of their templates: hence the caches.
    """
    hint = NO_HINTS
    for part in name.split():
        found = _hint_of(part)
        if found is not NO_HINTS:
            hint = joined(hint, found)
    return hint


def joined(one: Hint, other: Hint) -> Hint:
    return (one[0] or other[0], one[1] | other[1])


@lru_cache(maxsize=20_000)
def _hint_of(part: str) -> Hint:
    if ":" in part or "[" in part:
        return NO_HINTS  # utility classes (`md:hidden`, `[&>p]:mt-2`) say how a thing looks, not what it is
    lowered = part.lower()
    found = _WORD.findall(part)
    words = NAMING_WORDS.intersection(found if lowered == part else [word.lower() for word in found])
    is_body = lowered.replace("-", "").replace("_", "") in CONTENT_NAMES
    return (is_body, words) if words or is_body else NO_HINTS
