"""What the names in a page's templates say: words in `class` and `id` that give a region away, or vouch for it."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"(?<![0-9])(?:[A-Z][a-z]+|(?<![A-Za-z])[a-z]+|[A-Z]+(?![a-z]))")
"""Letters behind a digit are part of a hash, not a word, and so are those behind them: `call-fa729dad` is no `ad`."""

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
CARD_WORDS = frozenset(
    "author authors avatar categories label logo meta overlay tag tags teaser thumbs toolbar".split()
)
"""Of these, words that name a part of each card on a page that is an index: who, of what kind, with which picture."""
LINKING_WORDS = frozenset(
    "breadcrumb breadcrumbs categories follow latest links most popular prev previous ranking recent recommend recommendation "
    "recommendations recommended relate related share sharing similar social tags teaser trending tuijian xiangguan".split()
)
"""Words that name a block of links to other pages or sites."""
CONSENT_WORDS = frozenset("cookie cookies consent gdpr onetrust".split())
REVIEW_WORDS = frozenset(("reviews",))
"""What buyers say stands beside the text of a product, and is the text of other pages."""
_NAMING_WORDS = CONSENT_WORDS | REVIEW_WORDS | COMMENT_WORDS | frozenset(("header",)) | FURNITURE_WORDS | SIDE_WORDS

NO_WORDS: frozenset[str] = frozenset()
Hint = tuple[bool, frozenset[str]]
"""Whether a region is named as the text itself, and the words that speak against it."""
NO_HINTS: Hint = (False, NO_WORDS)


@lru_cache(maxsize=20_000)
def hints_of(name: str) -> Hint:
    """What the classes or the id of an element say; `NO_HINTS`, the same object, for nothing.

    Pages repeat their names, and sites those of their templates: hence the cache.
    """
    if ":" in name or "[" in name:  # utility classes (`md:hidden`, `[&>p]:mt-2`) say how a thing looks, not what it is
        name = " ".join(part for part in name.split() if ":" not in part and "[" not in part)
    lowered = name.lower()
    found = _WORD.findall(name)
    words = _NAMING_WORDS.intersection(found if lowered == name else map(str.lower, found))
    is_body = not CONTENT_NAMES.isdisjoint(lowered.replace("-", "").replace("_", "").split())
    return (is_body, words) if words or is_body else NO_HINTS


def joined(one: Hint, other: Hint) -> Hint:
    return (one[0] or other[0], one[1] | other[1])
