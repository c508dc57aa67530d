"""The page as a tree of measured regions: what extraction weighs.

One pass over the elements. A region is a block-level element; text and links of the inline elements in it count as its
own. Lengths are characters without the white space around each text.
"""

from __future__ import annotations

import re

from lxml import etree

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
    "ads advertisement adsense breadcrumb breadcrumbs colophon copyright crumb crumbs foot footer "
    "login masthead menu menus modal nav navbar navigation newsletter pager pagination popup qrcode "
    "signup sitemap submenu subnav subscribe subscription topbar".split()
)
"""Words that name what is around the text on every site."""
SIDE_WORDS = frozenset(
    "ad advert advertising affiliate aside author authors avatar banner bio branding byline categories commentform controls credits "
    "dialog disclaimer drawer dropdown flyout follow honeypot hot label latest legal links logo marketing mega meta metadata "
    "most noprint overlay pop popover popular prev previous print privacy promo rank ranking reactions recent recommend "
    "recommendation recommendations recommended related relate rss search share sharedaddy sharing sidebar side signature similar "
    "social sponsor sponsored tag tagcloud tags teaser textwidget thumbs toc toolbar toolbox tooltip trending tuijian vcard "
    "widget widgets xiangguan".split()
)
"""Words that mostly name what stands beside the text, but that some sites give to the text."""
CONSENT_WORDS = frozenset("cookie cookies consent gdpr onetrust".split())
NAMING_WORDS = CONSENT_WORDS | COMMENT_WORDS | frozenset(("header",)) | FURNITURE_WORDS | SIDE_WORDS
NO_WORDS: frozenset[str] = frozenset()


TEASER = 0.4
"""What text behind a heading that is a link weighs: it announces another page."""


class Region:
    """A block-level element with its measures; totals are of what is not cut below it, after `add_up`."""

    __slots__ = (
        "chars", "children", "cut", "element", "images", "is_body", "link_count", "links", "names", "own_chars", "own_images",
        "own_link_count", "own_links", "own_marks", "own_prose", "own_teasers", "own_titles", "own_weight", "parent", "prose", "tag",
        "teasers", "titles", "weight",
    )  # fmt: skip

    def __init__(self, element: etree._Element, tag: str, parent: Region | None) -> None:
        self.element = element
        self.tag = tag
        self.parent = parent
        self.children: list[Region] = []
        self.names = NO_WORDS
        """Words of its class and id that speak against it."""
        self.is_body = False
        """True where its class or id is one that templates give to the text itself."""
        self.cut = ""
        """The rule that cut it, or empty."""
        self.own_chars = 0
        self.own_links = 0
        """Of these, characters in links."""
        self.own_link_count = 0
        self.own_marks = 0
        """Punctuation marks outside of links."""
        self.own_images = 0
        self.own_teasers = 0
        """1 for a heading that is a link: it announces another page."""
        self.own_titles = 1 if tag == "h1" else 0
        self.own_prose = 0
        """Characters, where they read as running text or are code; else 0."""
        self.own_weight = 0.0
        self.chars = self.links = self.link_count = self.images = self.prose = self.titles = self.teasers = 0
        self.weight = 0.0

    @property
    def link_density(self) -> float:
        return self.links / self.chars if self.chars else 0.0

    @property
    def text(self) -> str:
        return " ".join("".join(self.element.itertext(with_tail=False)).split())

    def add_up(self) -> None:
        """Sets the totals of this region and all below it, cut ones left out."""
        for child in self.children:
            child.add_up()
        self.sum_children()

    def weigh_links(self) -> None:
        """Sets all weights to what they are on a page that is an index: half of the text, links or not."""
        for child in self.children:
            child.weigh_links()
        self.own_weight = 0.5 * self.own_chars
        self.sum_children()

    def sum_children(self) -> None:
        chars, links, link_count, images = self.own_chars, self.own_links, self.own_link_count, self.own_images
        prose, weight, titles, teasers = self.own_prose, self.own_weight, self.own_titles, self.own_teasers
        for child in self.children:
            if not child.cut:
                chars += child.chars
                links += child.links
                link_count += child.link_count
                images += child.images
                prose += child.prose
                weight += child.weight
                titles += child.titles
                teasers += child.teasers
        self.chars, self.links, self.link_count, self.images = chars, links, link_count, images
        self.prose, self.weight, self.titles, self.teasers = prose, weight, titles, teasers


def measure(body: etree._Element, unit: float) -> Region:
    """The region of `body` with all regions below it.

    unit: characters that say as much as one Latin letter does: 1.0 for Latin text, less for Chinese.
    """
    hints: dict[str, tuple[bool, frozenset[str]]] = {}
    prose_chars = 60 * unit
    label_chars = 20 * unit
    teaser_chars = 400 * unit
    teased = 0.0

    def visit(element: etree._Element, region: Region, in_link: bool) -> None:
        """Adds the inline content of `element` to `region` and the regions below it to its children."""
        text = element.text
        if text:
            count(text, region, in_link)
        for child in element:
            tag = child.tag
            if tag in BLOCKS:
                inner = Region(child, tag, region)
                name = child.get("class", "") + " " + child.get("id", "")
                if name != " ":
                    hint = hints.get(name)
                    if hint is None:
                        hint = hints[name] = hints_of(name)
                    inner.is_body, inner.names = hint
                visit(child, inner, in_link)
                close(inner)
                region.children.append(inner)
            elif tag == "a":
                region.own_link_count += 1
                visit(child, region, True)
            elif tag == "img":
                region.own_images += 1
            elif tag != "br":
                visit(child, region, in_link)
            text = child.tail
            if text:
                count(text, region, in_link)

    def count(text: str, region: Region, in_link: bool) -> None:
        text = text.strip()
        if not text:
            return
        length = len(text)
        region.own_chars += length
        if in_link:
            region.own_links += length
        elif length > 8:
            region.own_marks += len(_MARK.findall(text))

    def close(region: Region) -> None:
        """Weighs the text of a region whose children are complete."""
        nonlocal teased
        own = region.own_chars - region.own_links
        weight = 0.2 * own
        if region.tag == "pre":
            region.own_prose = own
            weight = 0.7 * own
        elif region.tag in HEADINGS or region.own_links > own:
            weight = 0.1 * own
        elif own >= prose_chars or (region.own_marks and own >= label_chars):
            region.own_prose = own
            weight = own
        if region.tag in HEADINGS and region.own_chars and region.tag != "h1":
            region.own_teasers = int(region.own_links > 0.8 * region.own_chars)
            teased = teaser_chars if region.own_teasers else 0.0
        elif teased > 0 and region.own_prose:
            teased -= own
            weight *= TEASER
        region.own_weight = weight + 0.05 * region.own_links
        region.sum_children()

    root = Region(body, "body", None)
    visit(body, root, False)
    close(root)
    return root


def hints_of(name: str) -> tuple[bool, frozenset[str]]:
    """Whether class and id name the text itself, and which of their words speak against it."""
    # Utility classes (`md:hidden`, `[&>p]:mt-2`) say how a thing looks, not what it is.
    names = [part for part in name.split() if ":" not in part and "[" not in part]
    is_body = any(part.replace("-", "").replace("_", "").lower() in CONTENT_NAMES for part in names)
    return is_body, NAMING_WORDS.intersection(word.lower() for part in names for word in _WORD.findall(part))
