"""The page as a table of its block-level elements: what extraction weighs.

One pass over the elements fills parallel columns. A region is a row of them, a plain number: rows stand in the order of
the page, region 0 is the body, and what stands in a region are the rows behind it up to its end. So the sum of anything
over a region with all below it is the difference of two running sums, and nothing has to be walked twice.

Text and links of inline elements count as those of the region that they stand in. Lengths are characters without the white
space around each text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from lxml import etree

from kbcite.page.hints import NO_HINTS, Hint, hints_of, joined
from kbcite.page.tree import text_content
from kbcite.words import CJK

BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 "
    "h3 h4 h5 h6 header hgroup html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul "
    "dir noscript".split()
)
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_NAMING_TAGS = frozenset("aside footer form menu address header".split())
_OTHER, _CODE, _HEADING, _TITLE = range(4)
_KINDS = dict.fromkeys(BLOCKS, _OTHER) | dict.fromkeys(HEADINGS, _HEADING) | {"h1": _TITLE, "pre": _CODE}
_MARK = re.compile(r"[,，。.、；;！!？?：](?=\s|$|[^\x00-\x7f])|[，。、；！？：]")
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_CHINESE_UNIT = 0.4
"""A Chinese character says as much as two and a half Latin letters."""
_UNIT_SAMPLE = 1000

_PROSE_CHARS = 60
"""Length from which text is running text; shorter ones with a punctuation mark are, from `_LABEL_CHARS` on."""
_LABEL_CHARS = 20
_LEAST_MARKED = 8
THOUSANDTHS = 1000
"""Weights are whole thousandths of a character, so that sums are exact: no order of adding changes a document."""
_WEIGHT_OF_PROSE = 1000
_WEIGHT_OF_CODE = 700
_WEIGHT_OF_LABELS = 200
_WEIGHT_OF_HEADINGS = 100
_WEIGHT_AMONG_LINKS = 100
_WEIGHT_OF_LINKS = 50
_WEIGHT_ON_INDEX = 500
"""On a page that is an index half of the text counts, links or not."""
_TEASED = 4
"""How many times less text weighs behind a heading that is a link: it announces another page."""
_TEASER_CHARS = 400
"""How far behind such a heading, at most."""


CHARS, LINKS, PROSE, WEIGHT, LINK_COUNT, IMAGES, TITLES, TEASERS = range(8)
"""Rows of `Regions.own`, in the order of the totals of `Page`."""


@dataclass(frozen=True, slots=True)
class Regions:
    """The regions of a page, as columns of one length."""

    elements: list[etree._Element]
    tags: list[str]
    parents: list[int]
    """-1 for the body."""
    ends: list[int]
    """One more than the last region that stands in it."""
    named: dict[int, Hint]
    """Those that their tag, class or id may give away, in the order of the page."""
    unit: float
    """Characters that say as much as one Latin letter does: 1 for Latin text, less for Chinese."""
    own: np.ndarray
    """int64 (8, regions): a row for each measure (`CHARS` ...), of each region without those below it."""

    def children(self, region: int) -> Iterator[int]:
        child, end = region + 1, self.ends[region]
        while child < end:
            yield child
            child = self.ends[child]

    def ancestors(self, region: int) -> Iterator[int]:
        """The regions around this one, from the inside out."""
        region = self.parents[region]
        while region >= 0:
            yield region
            region = self.parents[region]

    def text(self, region: int) -> str:
        """Its text, white space folded."""
        return " ".join(text_content(self.elements[region]).split())

    def without(self, cuts: dict[int, str]) -> Page:
        """The regions with all their totals, as they are once these are cut."""
        totals = _sums(self.own, self.ends, cuts).tolist()
        return Page(
            self.elements, self.tags, self.parents, self.ends, self.named, self.unit, self.own, dict(cuts), *totals
        )


@dataclass(frozen=True, slots=True)
class Page(Regions):
    """The regions of a page with those that are cut, and totals: of each region and all below it that is not cut."""

    cuts: dict[int, str]
    """The rule that cut it, for each region that is cut."""
    chars: list[int]
    links: list[int]
    """Of these, characters in links."""
    prose: list[int]
    """Of these, characters outside of links in regions that read as running text or are code."""
    weight: list[int]
    """In thousandths of a character of running text."""
    link_count: list[int]
    images: list[int]
    titles: list[int]
    """Number of `h1`."""
    teasers: list[int]
    """Number of headings that are links: they announce other pages."""

    def pulls(self, is_index: bool, favoured: Mapping[int, float]) -> list[float]:
        """The weight of every region with all below it; in the favoured ones so many times as much."""
        own = self.own[CHARS] * _WEIGHT_ON_INDEX if is_index else self.own[WEIGHT]
        weight = own.astype(np.float64)
        for region, factor in favoured.items():
            weight[region : self.ends[region]] *= factor
        return list(_sums(weight[np.newaxis], self.ends, self.cuts)[0].tolist())

    def link_density(self, region: int) -> float:
        chars = self.chars[region]
        return self.links[region] / chars if chars else 0.0

    def is_cut(self, region: int) -> bool:
        """True where this region or one around it is cut."""
        return region in self.cuts or any(outer in self.cuts for outer in self.ancestors(region))

    def outermost_cuts(self, region: int) -> list[int]:
        """The outermost of the regions below this one that are cut, in order."""
        found = []
        below, end = region + 1, self.ends[region]
        while below < end:
            if below in self.cuts:
                found.append(below)
                below = self.ends[below]
            else:
                below += 1
        return found


def _sums(own: np.ndarray, ends: list[int], cuts: Collection[int]) -> np.ndarray:
    """The sums of each row of `own` (rows, regions) over every region with all below it, without those in `cuts`."""
    running = np.zeros((own.shape[0], own.shape[1] + 1), own.dtype)
    running[:, 1:] = own
    for region in cuts:
        running[:, region + 1 : ends[region] + 1] = 0
    np.cumsum(running, axis=1, out=running)
    sums: np.ndarray = running[:, ends] - running[:, :-1]
    return sums


def measure(body: etree._Element) -> Regions:
    """The regions of `body`, in one pass over its elements."""
    elements, tags, parents, ends = [body], ["body"], [-1], [0]
    named: dict[int, Hint] = {}
    texts: list[str] = []
    places: list[int] = []
    """Where each of the texts stands: twice the region, one more for a link in it."""
    link_regions: list[int] = []
    image_regions: list[int] = []
    around: list[tuple[int, int]] = []
    """Place, and children still to come, of each element around."""
    place, left = 0, len(body)
    if (text := body.text) and (text := text.strip()):
        texts.append(text)
        places.append(place)
    for element in body.iterdescendants():
        while not left:
            ends[place >> 1] = len(tags)
            place, left = around.pop()
        left -= 1
        if (text := element.tail) and (text := text.strip()):
            texts.append(text)
            places.append(place)
        tag, text, children = element.tag, element.text, len(element)
        inside = place
        if tag in BLOCKS:
            # One in five is empty: nothing to measure.
            if not children and not text and tag != "h1":
                continue
            region = len(tags)
            parents.append(place >> 1)
            elements.append(element)
            tags.append(tag)
            ends.append(region + 1)
            inside = 2 * region | place & 1
            get = element.get
            hint = hints_of(name) if (name := get("class")) else NO_HINTS
            if (name := get("id")) and (named_by_id := hints_of(name)) is not NO_HINTS:
                hint = joined(hint, named_by_id)
            if hint is not NO_HINTS or tag in _NAMING_TAGS:
                named[region] = hint
        elif tag == "a":
            link_regions.append(place >> 1)
            inside = place | 1
        elif tag == "img":
            image_regions.append(place >> 1)
        if text and (text := text.strip()):
            texts.append(text)
            places.append(inside)
        if children:
            around.append((place, left))
            place, left = inside, children
    for open_place, _ in [*around, (place, left)]:
        ends[open_place >> 1] = len(tags)
    unit = _unit_of(texts)
    own = _own_measures(tags, ends, texts, places, unit)
    own[LINK_COUNT] = np.bincount(link_regions, minlength=len(tags))
    own[IMAGES] = np.bincount(image_regions, minlength=len(tags))
    return Regions(elements, tags, parents, ends, named, unit, own)


def _unit_of(texts: list[str]) -> float:
    """Characters of these texts that say as much as one Latin letter."""
    text = "".join(texts)
    sample = text[:: max(1, len(text) // _UNIT_SAMPLE)]
    letters = sum(map(str.isalpha, sample))
    return _CHINESE_UNIT if letters and len(_CJK_CHARACTER.findall(sample)) > 0.2 * letters else 1.0


def _own_measures(tags: list[str], ends: list[int], texts: list[str], places: list[int], unit: float) -> np.ndarray:
    """The measures of each region without those below it; links and images are left at 0."""
    number = len(tags)
    length = np.fromiter(map(len, texts), np.int64, len(texts))
    place = np.array(places, np.int64)
    by_place = np.bincount(place, length, 2 * number).astype(np.int64).reshape(number, 2)
    links = by_place[:, 1]
    outside = by_place[:, 0]
    chars = outside + links
    kinds = np.fromiter(map(_KINDS.__getitem__, tags), np.int64, number)
    is_title, is_heading, is_code = kinds == _TITLE, kinds >= _HEADING, kinds == _CODE
    is_plain = (kinds == _OTHER) & (links <= outside)
    # Between a label and running text a punctuation mark decides; only texts of such regions are searched for one.
    may_be_prose = is_plain & (outside >= _LABEL_CHARS * unit) & (outside < _PROSE_CHARS * unit)
    short = (length > _LEAST_MARKED) & (length < _PROSE_CHARS * unit) & (place & 1 == 0) & may_be_prose[place >> 1]
    is_prose = is_plain & (outside >= _PROSE_CHARS * unit)
    is_prose[[place[text] >> 1 for text in np.flatnonzero(short).tolist() if _MARK.search(texts[text])]] = True
    factor = np.full(number, _WEIGHT_AMONG_LINKS)
    factor[is_plain] = _WEIGHT_OF_LABELS
    factor[is_prose] = _WEIGHT_OF_PROSE
    factor[is_heading] = _WEIGHT_OF_HEADINGS
    factor[is_code] = _WEIGHT_OF_CODE
    prose = np.where(is_prose | is_code, outside, 0)
    weight = factor * outside
    is_teaser = is_heading & ~is_title & (links > 0.8 * chars)
    if is_teaser.any():
        candidates = np.flatnonzero((is_heading & ~is_title & (chars > 0)) | (prose > 0)).tolist()
        weight[_teased(candidates, ends, is_teaser, is_heading, prose, unit)] //= _TEASED
    own = np.zeros((8, number), np.int64)
    own[CHARS], own[LINKS], own[PROSE] = chars, links, prose
    own[WEIGHT] = weight + _WEIGHT_OF_LINKS * links
    own[TITLES] = is_title
    own[TEASERS] = is_teaser
    return own


def _teased(
    regions: list[int], ends: list[int], is_teaser: np.ndarray, is_heading: np.ndarray, prose: np.ndarray, unit: float
) -> list[int]:
    """Those of the regions, headings and running text, that stand behind a heading that is a link."""
    found = []
    left = 0.0
    for region in sorted(regions, key=lambda region: (ends[region], -region)):
        if is_heading[region]:
            left = _TEASER_CHARS * unit if is_teaser[region] else 0.0
        elif left > 0:
            left -= prose[region]
            found.append(region)
    return found
