"""What a page says about itself: title, dates, author, site, language, canonical URL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote

from lxml import etree

from kbcite.page.head import Head, is_article, text_of, types_of
from kbcite.page.publication import read_publication
from kbcite.page.titles import clean_title, fold
from kbcite.records import Metadata
from kbcite.urls import resolve, split
from kbcite.words import CJK, language_of

_BY = re.compile(r"^\s*(?:作者|文|撰文|记者|通讯员|by|written by|author|von|par|por)\s*[:：/／|\s]\s*", re.IGNORECASE)
_AUTHOR_LINE = re.compile(r"(?:作者|撰文|(?<![\u4e00-\u9fff])文字?)\s?[:：/／]\s*([^\s:：|,，。;；()（）]{2,20})")
_AUTHOR_HINT = re.compile(r"\b(?:author|byline|writer)(?:[-_ ]?name)?\b", re.IGNORECASE)
_OTHER_AUTHOR = re.compile(r"\b(?:review|comment|reply)[-_]?author", re.IGNORECASE)
"""Who wrote what stands below the text."""
_AUTHOR_METAS = (
    "author",
    "article:author",
    "og:article:author",
    "parsely-author",
    "sailthru.author",
    "dc.creator",
    "citation_author",
    "byl",
)
_LONGEST_BYLINE_SEARCH = 150
_LONGEST_NAME = 40
_DEEPEST_NAME = 4
_MOST_HEADINGS = 30
_NOT_A_NAME = re.compile(
    r"https?:|www\.|[@/\\{}<>\[\]]|\.(?:com|cn|net|org)\b|^\d+$|^(?:admin|administrator|root|editor|unknown|null|none|no author|佚名|未知|匿名)$",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"\.\w{2,5}$")
_HOME = re.compile(r"(?:https?:)?//[^/]+/?|\.?/|(?:\.?/)?(?:index|default)\.\w{3,5}", re.IGNORECASE)
_KANA = re.compile("[\u3041-\u30fa]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_IDEOGRAPHS = re.compile(f"[{CJK}]")
_LANGUAGE_SAMPLE, _LONGEST_SAMPLE_PIECE, _MOST_SAMPLED = 1000, 200, 200
_SCRIPT = "script of the text"
_COUNTRY_SUFFIXES = frozenset(("com", "net", "org", "gov", "edu", "co", "ac", "or", "ne", "go"))


Placed = tuple[str, str]
"""What a page says, and the place that says it: `meta:author`, `json-ld`, `h1` ..."""


def read_metadata(root: etree._Element, head: Head, url: str, fetched_at: str | None = None) -> Metadata:
    """The metadata of a whole page, nothing stripped from it yet, with what `read_head` gives of it.

    url: where the page was found; relative links are resolved against it. fetched_at: when; a later date is not
    believed. Without it any date is.
    """
    return read_with_places(root, head, url, fetched_at)[0]


def read_with_places(
    root: etree._Element, head: Head, url: str, fetched_at: str | None = None
) -> tuple[Metadata, tuple[Placed, ...]]:
    """`read_metadata`, and for each of its fields that was found the place it was read from, as (field, place)."""
    site_name, site_place = _site_name(head) or (None, "")
    canonical_url, canonical_place = _canonical_url(head, url) or (None, "")
    # A page found under another address, `?p=12`, still names the one with its day.
    addresses = [parts for address in (url, canonical_url or "") if (parts := split(address))]
    host_name = _host_name(addresses[0].host) if addresses else ""
    articles = [item for item in head.items if is_article(item)]
    headlines = [item["headline"] for item in articles if isinstance(item.get("headline"), str)]
    headings = [(element, text_of(element)) for element in head.headings[:_MOST_HEADINGS] if not _is_logo(element)]
    og_title = head.meta("og:title", "twitter:title")
    title = clean_title(
        head.title,
        [site_name or "", host_name],
        [*headlines, *(text for _, text in headings)],
        [og_title],
        [_slug(parts.path) for parts in addresses],
    )
    if (paper := head.meta("citation_title")) and fold(paper) in fold(title):
        title = " ".join(paper.split())  # without the number of the paper, as `[2605.01234]`
    heading = _page_heading(headings, title)
    paths = " ".join(parts.path for parts in addresses)
    publication = read_publication(root, head, paths, fetched_at, heading)
    author, author_place = _author(head, heading) or (None, "")
    language, language_place = _language(root, head, title) or (None, "")
    metadata = Metadata(
        raw_title=head.title or og_title,
        title=title,
        published_at=publication.published_at,
        published_from=publication.published_from,
        modified_at=publication.modified_at,
        author=author,
        site_name=site_name,
        language=language,
        canonical_url=canonical_url,
    )
    places = (
        ("title", _title_place(title, head, headings, headlines)),
        ("published_at", publication.published_from or ""),
        ("modified_at", publication.modified_from or ""),
        ("author", author_place),
        ("site_name", site_place),
        ("language", language_place),
        ("canonical_url", canonical_place),
    )
    return metadata, tuple((field, place) for field, place in places if place)


def _slug(path: str) -> str:
    """The words that a path ends with, without `.html` and the like."""
    return _SUFFIX.sub("", unquote(path.rstrip("/").rpartition("/")[2]))


def _title_place(
    title: str, head: Head, headings: Sequence[tuple[etree._Element, str]], headlines: Sequence[str]
) -> str:
    """Where the title stands: in the `title` element, in another place, or in both: `title and h1`."""
    wanted = fold(title)
    if not wanted:
        return ""
    places = ["title"] if wanted in fold(head.title) else []
    others = [(str(element.tag), text) for element, text in headings]
    others += [("json-ld", text) for text in headlines]
    others += [(f"meta:{name}", head.meta(name)) for name in ("og:title", "twitter:title")]
    places += islice((place for place, text in others if fold(text) == wanted), 1)
    return " and ".join(places)


# ---------------------------------------------------------------- site and address


def _site_name(head: Head) -> Placed | None:
    for meta in ("og:site_name", "application-name", "al:android:app_name"):
        if name := head.meta(meta):
            return name, f"meta:{meta}"
    for item in head.items:
        if "WebSite" in types_of(item) and isinstance(item.get("name"), str):
            name = item["name"].strip()
            return (name, "json-ld") if name else None
    for item in head.items:
        if names := list(_names(item.get("publisher"))):
            return names[0], "json-ld"
    return None


def _host_name(host: str) -> str:
    """The label of a host that names the site: `example` of `news.example.com.cn`."""
    labels = host.split(".")[:-1]
    if len(labels) > 1 and labels[-1] in _COUNTRY_SUFFIXES:
        labels.pop()
    return labels[-1] if labels else ""


def _page_heading(headings: Sequence[tuple[etree._Element, str]], title: str) -> etree._Element | None:
    """The heading that says the title, else one that says a good part of it, else the first `h1`."""
    wanted = fold(title)
    first = partial = None
    for heading, text in headings:
        folded = fold(text)
        if not folded:
            continue
        if folded == wanted:
            return heading
        if (
            partial is None
            and (folded in wanted or wanted in folded)
            and len(wanted) < 2 * len(folded) < 4 * len(wanted)
        ):
            partial = heading
        if first is None and heading.tag == "h1":
            first = heading
    return partial if partial is not None else first


def _is_logo(heading: etree._Element) -> bool:
    """True for a first heading that links to the start page: it names the site, not the page."""
    if heading.tag != "h1":
        return False
    links = [*heading.iter("a"), *islice(heading.iterancestors("a"), 1)]
    return any(_HOME.fullmatch((link.get("href") or "-").strip()) for link in links)


def _canonical_url(head: Head, url: str) -> Placed | None:
    for href, place in ((head.links.get("canonical"), "link:canonical"), (head.meta("og:url"), "meta:og:url")):
        if href and (absolute := resolve(url, href)):
            return absolute, place
    return None


# ---------------------------------------------------------------- author


def _author(head: Head, heading: etree._Element | None) -> Placed | None:
    stated: tuple[tuple[str, Iterable[str]], ...] = (
        ("json-ld", (name for item in head.items if is_article(item) for name in _names(item.get("author")))),
        *((f"meta:{name}", head.metas.get(name, ())) for name in _AUTHOR_METAS),
    )
    for place, candidates in stated:
        if names := _distinct(candidates):
            return ", ".join(names), place
    near = _author_near(heading) if heading is not None else None
    return (near, "text") if near else None


def _author_near(heading: etree._Element) -> str | None:
    """Who is named right behind the heading, by the element's class or by words such as 作者."""
    area = heading
    for area in islice(heading.iterancestors(), 3):
        if area.tag == "body":
            break
    reached = False
    for element in islice(area.iter(), _LONGEST_BYLINE_SEARCH):
        reached = reached or element is heading
        if not reached or not isinstance(element.tag, str):
            continue
        for text in (element.text, element.tail):
            if not text or text.isascii():
                continue
            if (match := _AUTHOR_LINE.search(text)) and (names := _distinct([match[1]])):
                return names[0]
        if _OTHER_AUTHOR.search(element.get("class") or ""):
            continue
        if _AUTHOR_HINT.search(f"{element.get('class')} {element.get('rel')} {element.get('itemprop')}"):
            named = next((inner for inner in element.iter() if inner.get("itemprop") == "name"), element)
            names = _distinct([named.get("content") or text_of(named)])
            if names and len(names[0]) <= _LONGEST_NAME and not any(character.isdigit() for character in names[0]):
                return names[0]
    return None


def _distinct(candidates: Iterable[str]) -> list[str]:
    names: list[str] = []
    for candidate in candidates:
        name = _BY.sub("", " ".join(candidate.split())).strip(" ,;|·")
        if 2 <= len(name) <= 60 and not _NOT_A_NAME.search(name) and name not in names:
            names.append(name)
    return names


def _names(value: Any, depth: int = 0) -> Iterator[str]:
    """Names of the people or organisations in a JSON-LD value: a name, an object with one, or a list of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST_NAME:
        for member in value:
            yield from _names(member, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST_NAME:
        yield from _names(value.get("name"), depth + 1)


# ---------------------------------------------------------------- language


def _language(root: etree._Element, head: Head, title: str) -> Placed | None:
    """The language that the page declares, where its text does not say otherwise.

    Templates declare `en` on Chinese pages and the other way round; the script of the text is a fact.
    """
    declared = re.split(r"[-_,]", (head.language or head.meta("content-language", "og:locale")).strip().lower())[0]
    by_declaration = declared, "html lang" if head.language else "meta"
    sample = _sample(root, title)
    if not sample.strip():
        return by_declaration if declared else None
    if not sample.isascii():
        letters = sum(map(str.isalpha, sample))
        if len(_HANGUL.findall(sample)) > 0.2 * letters:
            return "ko", _SCRIPT
        ideographs = len(_IDEOGRAPHS.findall(sample))
        if len(_KANA.findall(sample)) > 0.15 * ideographs and ideographs > 0.2 * letters:
            return "ja", _SCRIPT
    by_script = language_of(sample)
    if by_script == "zh" or not declared or declared in ("zh", "ja", "ko"):
        return by_script, _SCRIPT
    return by_declaration


def _sample(root: etree._Element, title: str) -> str:
    """Title and first paragraphs, or what stands in lists, tables and blocks on a page without them."""
    parts, length = [title], 0
    for tags in (("p",), ("li", "td", "div", "span")):
        for element in islice(root.iter(*tags), _MOST_SAMPLED):
            text = (element.text or "")[:_LONGEST_SAMPLE_PIECE].strip()
            if len(text) > 1:
                parts.append(text)
                length += len(text)
                if length > _LANGUAGE_SAMPLE:
                    return " ".join(parts)
        if length > _LANGUAGE_SAMPLE / 8:
            break
    return " ".join(parts)
