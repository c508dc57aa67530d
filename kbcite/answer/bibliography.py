"""Cited pages as entries of a bibliography: BibTeX and CSL-JSON.

BibTeX entries are `@misc`, which every style knows, with `url` and `urldate` for those that show them. CSL-JSON follows
https://github.com/citation-style-language/schema/blob/v1.0.2/schemas/input/csl-data.json.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from kbcite.patterns import pattern

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_LANGUAGES = {"zh": "chinese", "en": "english"}
_DATE = pattern(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_CONTROLS = pattern(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class CitedPage:
    """One version of a page that answers cite."""

    url: str
    title: str
    published_at: str | None
    fetched_at: str
    digest: str
    author: str | None = None
    site_name: str | None = None
    language: str = "en"

    @property
    def key(self) -> str:
        """`docs.example.com-2026-1f3a9c`: host, year and the start of the digest, so that it is the same in every export."""
        host = re.sub(r"[^a-z0-9.-]", "", (urlsplit(self.url).hostname or "page").lower())
        return f"{host}-{(self.published_at or self.fetched_at)[:4]}-{self.digest[:6]}"


def to_bibtex(pages: Iterable[CitedPage]) -> str:
    """BibTeX entries in UTF-8, one for each page; text is escaped, and titles keep their capitals."""
    return "\n\n".join(_entry(page) for page in pages)


def _entry(page: CitedPage) -> str:
    published = _parts(page.published_at)
    fields: dict[str, str] = {"title": f"{{{_escaped(page.title)}}}"}
    if page.author:
        # In braces, so that BibTeX takes no name for a first name and cuts none at `and`.
        fields["author"] = f"{{{_escaped(page.author)}}}"
    if page.site_name:
        fields["organization"] = f"{{{_escaped(page.site_name)}}}"
    if published:
        fields["year"] = str(published[0])
    if len(published) > 1:
        fields["month"] = _MONTHS[published[1] - 1]
    url = _url(page.url)
    fields |= {
        "howpublished": rf"\url{{{url}}}",
        "url": url,
        "urldate": page.fetched_at[:10],
        "langid": _LANGUAGES.get(page.language, "english"),
        "note": f"Accessed {page.fetched_at[:10]}. Archived as SHA-256 {page.digest}",
    }
    # A month is a macro of every style and stands without braces.
    lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'}" for name, value in fields.items()]
    return "@misc{" + page.key + ",\n" + ",\n".join(lines) + "\n}"


def _escaped(text: str) -> str:
    return _clean(text).translate(_SPECIAL)


def _clean(text: str) -> str:
    """The text on one line, NFC, without control characters."""
    return " ".join(_CONTROLS.sub(" ", unicodedata.normalize("NFC", text)).split())


def _url(url: str) -> str:
    """The URL with what would end a field or a macro, and every character outside ASCII, percent-encoded."""
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~-._")


def to_csl(pages: Iterable[CitedPage]) -> list[dict[str, Any]]:
    """CSL-JSON items, one for each page."""
    return [_item(page) for page in pages]


def _item(page: CitedPage) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": page.key,
        "type": "webpage",
        "title": _clean(page.title),
        "URL": page.url,
        "language": page.language,
        "accessed": {"date-parts": [_parts(page.fetched_at)]},
    }
    if page.author:
        item["author"] = [{"literal": _clean(page.author)}]
    if page.site_name:
        item["container-title"] = _clean(page.site_name)
    if issued := _parts(page.published_at):
        item["issued"] = {"date-parts": [issued]}
    return item | {"archive": "kbcite", "archive_location": f"sha256:{page.digest}"}


def _parts(date: str | None) -> list[int]:
    """Year, month and day as far as they are given."""
    match = _DATE.match(date or "")
    return [int(part) for part in match.groups() if part] if match else []
