"""Links that open a page at the quoted words: text fragments (https://wicg.github.io/scroll-to-text-fragment/).

A browser looks for the words in the page as shown, so the marks of our Markdown are left out, and a link is made only where
the words are found once: a link that lights up another passage is worse than none.
"""

from __future__ import annotations

import re
from urllib.parse import quote as percent_encode

from kbcite.words import normalise

WHOLE = 60
"""Quotes up to this many characters stand whole in the link; longer ones by their first and last clause."""
_CLAUSE = re.compile(r"[^，,。.；;：:！!？?、（）()]+")
_MARKUP = re.compile(r"^[ \t]*(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)]\s+)+|\*\*|`+", re.MULTILINE)
_CELLS = re.compile(r"\s*(?<!\\)\|\s*")


def deep_link(url: str, quote: str, document_text: str) -> str | None:
    """The page's URL with a text fragment for the quote, or None where the quoted words are not unique in the document."""
    page = [_shown(line) for line in _lines(document_text)]
    pieces = _lines(quote)
    if not pieces:
        return None
    flat = "\n".join(page)
    for directive in _directives(pieces):
        if _finds(flat, directive, _shown(pieces[0])):
            return f"{url.partition('#')[0]}#:~:text={','.join(percent_encode(part, safe='').replace('-', '%2D') for part in directive)}"
    return None


def _lines(text: str) -> list[str]:
    """Lines as a page shows them: each table cell is a line of its own."""
    cells = (
        cell for line in text.splitlines() for cell in (_CELLS.split(line) if line.lstrip().startswith("|") else [line])
    )
    return [
        line
        for line in (" ".join(_MARKUP.sub("", cell).split()) for cell in cells)
        if line and not set(line) <= set("-: ")
    ]


def _shown(line: str) -> str:
    return normalise(line)


def _directives(pieces: list[str]) -> list[tuple[str, ...]]:
    """Ways to name the quote, shortest first: whole, or from a first to a last clause."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) > 1:
        return [(first, last)] if first != last else [(first,)]
    whole = first.rstrip("。.；;！!？?…")
    if len(whole) <= WHOLE:
        return [(whole,)]
    clauses = [match.group().strip() for match in _CLAUSE.finditer(whole) if len(match.group().strip()) >= 4]
    if len(clauses) < 2:
        return [(whole,)]
    return [(clauses[0], clauses[-1]), (whole,)]


def _finds(flat: str, directive: tuple[str, ...], line: str) -> bool:
    """True where the words stand once in the page, inside the quoted line."""
    start = normalise(directive[0])
    if not start or flat.count(start) != 1 or start not in line:
        return False
    return len(directive) == 1 or flat.find(normalise(directive[1]), flat.index(start) + len(start)) >= 0
