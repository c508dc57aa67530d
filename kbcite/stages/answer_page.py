"""What a page about an answer shows beside the record: each quote among its neighbours, and a copy of its archived page to open."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from kbcite.page.encoding import decode
from kbcite.records import Answer, CleanDocument, Source
from kbcite.sentences import split_sentences
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.layout import PAGE_COPIES_NAME

AROUND = 160
"""Characters shown before and after a quote at most."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri http: https:"
_DIRECTIVE = re.compile(r"http-equiv(?=\s*=)", re.IGNORECASE)
_DOCTYPE = re.compile(r"\s*(?:<!--.*?-->\s*)*<!doctype[^<>]*>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around a quote in its document, in Markdown; bounded, and empty where the document is not stored."""

    before: str = ""
    after: str = ""
    table_head: str = ""
    """The first row of the table that the quote is cut from."""


def surroundings(answer: Answer, database: Database) -> dict[int, Surroundings]:
    """By the number of each source."""
    return {source.n: _around(source, database) for source in answer.sources}


def _around(source: Source, database: Database) -> Surroundings:
    quote = source.quote
    documents = database.documents.of_digest(source.snapshot.digest)
    document = next((d for d in documents if d.text[quote.start : quote.end] == quote.text), None)
    if document is None:
        return Surroundings()
    if quote.text.lstrip().startswith("|"):
        head = _table_head(document, quote.start)
        return Surroundings(table_head="" if quote.text.lstrip().startswith(head) else head)
    return Surroundings(_before(document.text, quote.start), _after(document.text, quote.end))


def _before(text: str, start: int) -> str:
    """The sentence that ends right before, in the same paragraph."""
    paragraph = text.rfind("\n\n", 0, start) + 2 if "\n\n" in text[:start] else 0
    piece = text[paragraph:start]
    spans = split_sentences(piece)
    if not spans or piece.lstrip().startswith(("#", "|", "```")):
        return ""
    sentence = piece[spans[-1][0] :].strip()
    return sentence if len(sentence) <= AROUND else "…" + sentence[-AROUND:]


def _after(text: str, end: int) -> str:
    """The sentence that begins right behind, in the same paragraph."""
    stop = text.find("\n\n", end)
    piece = text[end : stop if stop >= 0 else len(text)]
    spans = split_sentences(piece)
    if not spans or piece.lstrip().startswith(("|", "```")):
        return ""
    sentence = piece[spans[0][0] : spans[0][1]]
    return sentence if len(sentence) <= AROUND else sentence[:AROUND] + "…"


def _table_head(document: CleanDocument, start: int) -> str:
    lines = document.text[: document.text.find("\n", start) if "\n" in document.text[start:] else None].splitlines()
    i = len(lines) - 1
    while i > 0 and lines[i - 1].lstrip().startswith("|"):
        i -= 1
    return lines[i].strip()


def write_archived_page(store: Path, digest: str, database: Database, archive: Archive) -> Path:
    """A copy of an archived page that can be opened in a browser: no script of it runs, nothing is loaded, nothing is sent.

    Links lead to where they led on the page. Raises StoreError where the archive has not got the bytes.
    """
    path = store / PAGE_COPIES_NAME / f"{digest}.html"
    body = archive.get(digest)
    if not path.is_file():
        snapshot = database.pages.snapshot_by_digest(digest)
        text = decode(body, snapshot.content_type if snapshot else None).text
        path.parent.mkdir(exist_ok=True)
        path.write_text(_disarmed(text, snapshot.final_url if snapshot else ""), encoding="utf-8")
    return path


def _disarmed(text: str, url: str) -> str:
    """The page under a policy of ours that stands before everything else; its own directives (refresh, cookies) mean nothing."""
    doctype = _DOCTYPE.match(text)
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    if url:
        head += f'<base href="{html.escape(url)}">'
    return (
        (doctype[0] if doctype else "")
        + head
        + _DIRECTIVE.sub("data-http-equiv", text[doctype.end() if doctype else 0 :])
    )
