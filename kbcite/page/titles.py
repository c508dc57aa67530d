"""The title of a page without the names of its site, its channel and its separators.

`<title>` holds all of them in one line: `标题_频道_网站`, `Title - Section | Site`. Which piece is the title is read from what
else the page calls itself: a heading, og:title or a JSON-LD headline that agrees with a run of pieces is the title. Only
without any such agreement the last piece is dropped, and only where it is the site's own name or the pieces are joined
the way that Chinese sites do it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEPARATOR = re.compile(
    r"\s+[-–—‐|·•»«:/<>~]+\s+|\s*[|｜»«¦]+\s*|_+|\s*(?:——|--)+\s*|(?<=[\u3400-\u9fff）】”》!！?？])\s*[-–—]\s*(?=\S)"
)
_SITE_WORD = re.compile(
    r"(?:网|網|网站|新闻|资讯|频道|博客|论坛|社区|中心|在线|日报|晚报|时报|首页|官网|百科|知乎|专栏|com|cn|net|org|blog|news)$",
    re.IGNORECASE,
)
_SHORTEST = 2


def clean_title(title: str, site_names: Sequence[str], others: Sequence[str]) -> str:
    """The title proper, white space folded, or an empty string if there is none.

    title: of the `title` element. site_names: what the site calls itself, and its host's name. others: further titles
    that the page has, best first: og:title, headline, text of headings.
    """
    sites = {folded for name in site_names if (folded := _fold(name))}
    title = " ".join(title.split())
    others = [" ".join(other.split()) for other in others]
    named = [other for other in others if _fold(other) and _fold(other) not in sites]
    if not _fold(title) or _fold(title) in sites:
        return _without_site(named[0], sites) if named else title
    pieces = _pieces(title)
    agreed = _agreed(title, pieces, [_fold(other) for other in named])
    if agreed is not None:
        return agreed
    return _without_site(title, sites)


def _pieces(title: str) -> list[tuple[int, int]]:
    """Spans of the pieces between separators."""
    starts, ends = [0], []
    for match in _SEPARATOR.finditer(title):
        ends.append(match.start())
        starts.append(match.end())
    ends.append(len(title))
    return [(start, end) for start, end in zip(starts, ends, strict=True) if _fold(title[start:end])]


def _agreed(title: str, pieces: Sequence[tuple[int, int]], others: Sequence[str]) -> str | None:
    """The longest run of pieces, but not all of them, that another title of the page equals; else the whole title if one does."""
    runs = [
        title[pieces[first][0] : pieces[last][1]]
        for first in range(len(pieces))
        for last in range(first, len(pieces))
        if last - first + 1 < len(pieces)
    ]
    runs.sort(key=len, reverse=True)
    for run in runs:
        if _fold(run) in others:
            return run.strip()
    return title if _fold(title) in others else None


def _without_site(title: str, sites: set[str]) -> str:
    pieces = _pieces(title)
    while len(pieces) > 1:
        first, last = (_fold(title[start:end]) for start, end in (pieces[0], pieces[-1]))
        if _names_site(last, sites):
            pieces = pieces[:-1]
        elif _names_site(first, sites):
            pieces = pieces[1:]
        elif _is_chinese_chain(title, pieces):
            pieces = pieces[: max(1, len(pieces) - 1)]
        else:
            break
    return title[pieces[0][0] : pieces[-1][1]].strip() if pieces else title


def _names_site(piece: str, sites: set[str]) -> bool:
    return any(
        piece == site
        or (len(site) > 3 and (site in piece and len(piece) < 3 * len(site)))
        or (len(piece) > 3 and piece in site)
        for site in sites
    )


def _is_chinese_chain(title: str, pieces: Sequence[tuple[int, int]]) -> bool:
    """True for pieces joined by `_`, or ending in a word such as 网 or 频道, where the first is long enough to be a title."""
    last = title[pieces[-1][0] : pieces[-1][1]]
    joint = title[pieces[-2][1] : pieces[-1][0]]
    first_length = pieces[0][1] - pieces[0][0]
    return first_length > 4 and len(last) <= 16 and ("_" in joint or bool(_SITE_WORD.search(last)))


def _fold(text: str) -> str:
    """What two spellings of a title have in common: letters and digits, lower case."""
    return "".join(character for character in text.lower() if character.isalnum())
