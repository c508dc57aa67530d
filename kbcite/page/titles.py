"""The title of a page without the names of its site, its channel and its separators.

`<title>` holds all of them in one line: `标题_频道_网站`, `Title - Section | Site`. Which piece is the title is read from what
else the page calls itself: a heading, og:title or a JSON-LD headline that agrees with a run of pieces is the title. Only
without any such agreement the last piece is dropped, and only where it is the site's own name or the pieces are joined
the way that Chinese sites do it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from kbcite.words import CJK

_SEPARATOR = re.compile(
    r"\s+[-–—‐|·•»«:/<>~]+\s+|\s*[|｜»«¦]+\s*|_+|\s*(?:——|--)+\s*|(?<=[\u3400-\u9fff）】”》!！?？])\s*[-–—]\s*(?=\S)"
)
_FINER_SEPARATOR = re.compile(rf"{_SEPARATOR.pattern}|[:：]\s*|\s+[-–—]\s*|\s*[@–—-]\s+")
_SITE_WORD = re.compile(
    r"(?:网|網|网站|新闻|资讯|频道|博客|论坛|社区|中心|在线|日报|晚报|时报|首页|官网|百科|知乎|专栏|财经|汽车|体育|娱乐|科技|文库"
    r"|\.com|\.cn|\.net|\.org)$",
    re.IGNORECASE,
)
"""What names of Chinese sites and channels end with."""
_ENGLISH_SITE_WORD = re.compile(r"\b(?:blog|news|forums?|wiki|docs|documentation)$", re.IGNORECASE)
_POWERED_BY = re.compile(r"\s*[-–|]*\s*Powered by\b.{0,40}$", re.IGNORECASE)
"""What forum software appends to titles."""
_LONGEST_SITE_NAME = 16
_MOST_PIECES = 20
_CJK = re.compile(f"[{CJK}]")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


def clean_title(
    title: str, site_names: Sequence[str], headings: Sequence[str], others: Sequence[str], slugs: Sequence[str] = ()
) -> str:
    """The title proper, white space folded, or an empty string if there is none.

    title: of the `title` element. site_names: what the site calls itself, and its host's name. headings: the page's
    headings and its JSON-LD headline, which never hold the site. others: og:title and its kin, which may. slugs: the words that
    the page's addresses end with; they only tell how far the title goes.
    """
    sites = {folded for name in site_names if (folded := fold(name))}
    own = {folded: heading for heading in reversed(headings) if (folded := fold(heading)) and folded not in sites}
    named = {folded: other for other in reversed(others) if (folded := fold(other)) and folded not in sites}
    title = _POWERED_BY.sub("", " ".join(title.split()))
    folded = fold(title)
    if not folded or folded in sites:
        first = next(reversed(named.values()), None) or next(reversed(own.values()), None)
        return _without_site(" ".join(first.split()), sites) if first else title
    if folded in own:
        return title
    return (
        _agreeing_run(title, own.keys() | named.keys())
        or _agreeing_run(title, own.keys(), _FINER_SEPARATOR)
        or _first_run(title, {fold(slug) for slug in slugs})
        or _without_site(title, sites)
    )


def _pieces(title: str, separator: re.Pattern[str] = _SEPARATOR) -> list[tuple[int, int]]:
    """Spans of the pieces between separators."""
    starts, ends = [0], []
    for match in separator.finditer(title):
        ends.append(match.start())
        starts.append(match.end())
    ends.append(len(title))
    return [(start, end) for start, end in zip(starts, ends, strict=True) if fold(title[start:end])]


def _agreeing_run(title: str, folded: Set[str], separator: re.Pattern[str] = _SEPARATOR) -> str | None:
    """The longest run of pieces, but not all of them, that is also a title of its own on the page."""
    pieces = _pieces(title, separator)
    if len(pieces) > _MOST_PIECES:
        return None
    runs = [
        title[pieces[first][0] : pieces[last][1]]
        for first in range(len(pieces))
        for last in range(first, len(pieces))
        if last - first + 1 < len(pieces)
    ]
    agreeing = [run for run in runs if fold(run) in folded]
    return max(agreeing, key=len).strip() if agreeing else None


def _first_run(title: str, folded: Set[str]) -> str | None:
    """The longest run of pieces from the first one on that is one of these words."""
    pieces = _pieces(title)[:_MOST_PIECES]
    runs = [title[pieces[0][0] : end].strip() for _, end in reversed(pieces[:-1])]
    return next((run for run in runs if fold(run) in folded), None)


def _without_site(title: str, sites: set[str]) -> str:
    """The title without pieces at its ends that name the site, or that a Chinese site would put behind a title."""
    pieces = _pieces(title)
    while 1 < len(pieces) <= _MOST_PIECES:
        first, last = (title[slice(*piece)] for piece in (pieces[0], pieces[-1]))
        if _names_site(fold(last), sites) or _is_suffix(title, pieces):
            pieces = pieces[:-1]
        elif _names_site(fold(first), sites):
            pieces = pieces[1:]
        else:
            break
    return title[pieces[0][0] : pieces[-1][1]].strip() if pieces else title


def _names_site(piece: str, sites: set[str]) -> bool:
    return any(
        piece == site
        or (len(site) > 3 and site in piece and len(piece) < 3 * len(site))
        or (len(piece) > 3 and piece in site)
        for site in sites
    )


def _is_suffix(title: str, pieces: Sequence[tuple[int, int]]) -> bool:
    """True if the last piece must be a site or a channel by its form: `… | Some Blog`, `…_频道`, `… - 某某网`, `… - 频道 - 某某网`."""
    first, last = (title[slice(*piece)] for piece in (pieces[0], pieces[-1]))
    if _ENGLISH_SITE_WORD.search(last):
        return len(last) < len(title) / 2
    if len(first) <= 4 or len(last) > _LONGEST_SITE_NAME or not _CJK.search(first):
        return False
    joint, behind = title[pieces[-2][1] : pieces[-1][0]], title[pieces[-1][1] :]
    return "_" in joint or bool(_SITE_WORD.search(last)) or (len(last) <= 6 and bool(_SITE_WORD.search(behind)))


def fold(text: str) -> str:
    """What two spellings of a title have in common: letters and digits, lower case."""
    return _NOT_ALPHANUMERIC.sub("", text.lower())
