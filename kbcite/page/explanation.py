"""How a page was read: what decided its encoding, what was mended, which places its metadata came from, and what was kept
and removed by which rule."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from kbcite.page.encoding import decode, strip_invisible
from kbcite.page.extraction import NoContent, Selection, select
from kbcite.page.head import read_head
from kbcite.page.markdown import write_markdown
from kbcite.page.metadata import read_with_places
from kbcite.page.readability_check import why_unreadable
from kbcite.page.regions import CHARS, THOUSANDTHS
from kbcite.page.tree import parse_with_notes, text_content
from kbcite.page.unseen import CONTROLS
from kbcite.records import Cut, DecodedPage

_UNSEEN_TAGS = frozenset((*CONTROLS, "noscript"))
_SCRIPTS = frozenset("script style template head".split())
_TEXT_CHARS = 200
"""Of what was kept or removed so much is shown."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of the metadata, and the place it was read from."""

    field: str
    value: str
    place: str


@dataclass(frozen=True, slots=True)
class KeptRegion:
    """A part of the page that is the main text, or its lead."""

    path: str
    """From the body to its element, by tag and first class: `body > main > div.article`."""
    score: float
    """Its weight: characters of running text count as one, labels and links as less."""
    share: float
    """Of the weight of all that no name had cut, 0 to 1."""
    length: int
    link_density: float
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    url: str
    encoding: str
    how: str
    """What decided the encoding, as in `DecodedPage.how`."""
    declared: tuple[tuple[str, str], ...]
    damage: float
    confidence: float
    notes: tuple[str, ...]
    """What had to be mended, and what kind of page it was taken for."""
    refused: str
    """Why there is no document; empty where there is one."""
    facts: tuple[Fact, ...] = ()
    kept: tuple[KeptRegion, ...] = ()
    cuts: tuple[Cut, ...] = ()
    """In the order of the page."""


def explain_page(data: bytes, url: str, content_type: str | None) -> Explanation:
    """How `clean_page` reads this page."""
    decoded = decode(data, content_type)
    if reason := why_unreadable(decoded):
        return _explanation(url, decoded, (), reason)
    text = strip_invisible(decoded.text)
    root, parse_notes = parse_with_notes(text)
    head = read_head(root)
    metadata, places = read_with_places(root, head, url)
    facts = tuple(Fact(field, str(getattr(metadata, field)), place) for field, place in places)
    # Kept alive, the elements can be told in the order of the page after some have been taken out of the tree.
    elements = [(element, str(element.tag)) for element in root.iter()]
    selection = select(root, head, text, url)
    notes = list(parse_notes)
    if hidden := len(decoded.text) - len(text):
        notes.append(f"{hidden} characters of invisible ones left out")
    if any(tag == "noscript" and element.tag == "div" for element, tag in elements):
        notes.append("the text of noscript was read, for the page holds little else")
    removed = {element: _cut(element, rule) for element, rule in _unseen(elements, root)}
    if isinstance(selection, NoContent):
        cuts = tuple(cut for cut in removed.values() if cut.length)
        return _explanation(url, decoded, tuple(notes), selection.reason, facts, (), cuts)
    notes += [f"taken for {kind}" for kind in selection.kinds]
    removed |= {element: _cut(element, rule) for element, rule in _left_out(selection)}
    cuts = tuple(removed[element] for element, _ in elements if element in removed and removed[element].length)
    kept = tuple(_kept(selection, part) for part in selection.parts)
    return _explanation(url, decoded, tuple(notes), "", facts, kept, cuts)


def _explanation(
    url: str,
    decoded: DecodedPage,
    notes: tuple[str, ...],
    refused: str,
    facts: tuple[Fact, ...] = (),
    kept: tuple[KeptRegion, ...] = (),
    cuts: tuple[Cut, ...] = (),
) -> Explanation:
    how, declared = decoded.how, decoded.declared
    return Explanation(
        url, decoded.encoding, how, declared, decoded.damage, decoded.confidence, notes, refused, facts, kept, cuts
    )


def _unseen(elements: list[tuple[etree._Element, str]], root: etree._Element) -> list[tuple[etree._Element, str]]:
    """What was taken out of the tree before anything was weighed, but scripts; the outermost elements, each with its rule."""
    return [
        (element, f"tag {tag}" if tag in _UNSEEN_TAGS else "hidden")
        for element, tag in elements
        if element is not root
        and element.getparent() is None
        and (tag in _UNSEEN_TAGS or element.tag != tag)
        and tag not in _SCRIPTS
    ]


def _left_out(selection: Selection) -> list[tuple[etree._Element, str]]:
    """What was weighed and not kept: the outermost regions, each with its rule."""
    page, parts = selection.page, selection.parts
    outside: list[int] = []
    inner = selection.main
    for around in page.ancestors(inner):
        outside += [region for region in page.children(around) if region != inner and region not in parts]
        inner = around
    inside = [cut for part in parts for cut in page.outermost_cuts(part)]
    return [
        (page.elements[region], page.cuts.get(region, "outside the main text"))
        for region in (*outside, *inside)
        if page.own[CHARS, region : page.ends[region]].any()
    ]


def _cut(element: etree._Element, rule: str) -> Cut:
    text = _text(element)
    links = sum(len(_text(link)) for link in element.iter("a"))
    return Cut(rule, text[:_TEXT_CHARS], len(text), min(links / len(text), 1.0) if text else 0.0)


def _kept(selection: Selection, part: int) -> KeptRegion:
    page = selection.page
    path = [_name(page.elements[region]) for region in (part, *page.ancestors(part))]
    total = page.weight[0] or 1
    text = " ".join(write_markdown([page.elements[part]], selection.dropped())[0].split())
    return KeptRegion(
        " > ".join(reversed(path)),
        page.weight[part] / THOUSANDTHS,
        page.weight[part] / total,
        page.chars[part],
        page.link_density(part),
        text[:_TEXT_CHARS],
    )


def _name(element: etree._Element) -> str:
    classes = element.get("class", "").split()
    name = element.get("id", "").strip()
    return f"{element.tag}{f'#{name}' if name else f'.{classes[0]}' if classes else ''}"


def _text(element: etree._Element) -> str:
    return " ".join(" ".join(element.itertext()).split()) if len(element) else " ".join(text_content(element).split())
