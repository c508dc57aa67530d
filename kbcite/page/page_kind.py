"""What kind of page a page is, as far as a rule depends on it."""

from __future__ import annotations

import re
from functools import cached_property

from lxml import etree

from kbcite.page.head import Head, is_article

_PRODUCT = re.compile(
    r'"@type"\s*:\s*"Product"|schema\.org/Product\b|^og:type=product(?!.?group)|(?<![\w-])(?:single-product|template-product|catalog-product-view)(?![\w])',
    re.MULTILINE,
)
_PRICES = ("product:price:amount", "og:price:amount")
_QUESTION = re.compile(r"QAPage|^itemtype=https?://schema\.org/Question$", re.MULTILINE)
_QUESTIONS_OF_A_SITE = "FAQPage"
"""Its questions are its own, each with the one answer."""
_FORUM_MARK = "DiscussionForumPosting"
_FORUM_WORD = re.compile(
    r"(?<![a-z])(?:forums?|threads?|topics?|bbs|discussions?|discuss|questions?|answers?|qa|bbpress|community|(?:view|show)(?:topic|thread))(?![a-z])"
    r"|/comments/|/t/(?:[^/?#\s]+/)?\d+",
    re.IGNORECASE,
)
_THREAD = re.compile(
    r"(?:view|show)(?:topic|thread)|/threads?[-/][^/?#\s]*\w|/topics?/[^/?#\s]+[/-]|/t/(?:[^/?#\s]+/)?\d+|/d/\d+|/questions?/[^/?#\s]+",
    re.IGNORECASE,
)
"""Addresses of one thread, and not of a list of them."""
_LISTING = re.compile(
    r"/(?:product-)?categor(?:y|ies)/|/collections?/[^/?#\s]+/?(?=[?#\s]|$)|/tags?/|/browse/|/search\b|/genre/"
    r"|(?<![\w-])(?:(?:post-type-)?archive|tax-product_cat|catalog-category-view|template-(?:collection|search)|search-results)(?![\w])",
    re.IGNORECASE,
)
_FORUM_SOFTWARE = re.compile(
    r"discourse|phpbb|vbulletin|xenforo|discuz|mybb|smf|flarum|nodebb|vanilla|invision|bbpress|misago|lemmy",
    re.IGNORECASE,
)


class PageKind:
    """The kinds of one page, each looked up when it is first asked for."""

    def __init__(self, url: str, head: Head, body: etree._Element) -> None:
        self._names = f"{url} {body.get('class', '')} {body.get('id', '')}"
        types = [f"itemtype={kind}" for kind in head.item_types]
        types += [f"og:type={kind.removeprefix('og:')}" for kind in head.metas.get("og:type", ())]
        self._is_article = "article:published_time" in head.metas or any(map(is_article, head.items))
        self._has_price = any(name in head.metas for name in _PRICES)
        self._software = " ".join(head.metas.get("generator", ()))
        self._types = "\n".join([*types, *head.records])

    @cached_property
    def is_forum(self) -> bool:
        """True where its address, body or schema says that people talk to each other on it: replies are its text."""
        return (
            self.is_question
            or _FORUM_MARK in self._types
            or _FORUM_WORD.search(self._names) is not None
            or _FORUM_SOFTWARE.search(self._software) is not None
        )

    @cached_property
    def is_thread(self) -> bool:
        """True where its address or schema says that it is one thread of a forum: short as its posts may be, it is no list of links."""
        return (
            self.is_question
            or _FORUM_MARK in self._types
            or (self.is_forum and _THREAD.search(self._names) is not None)
        )

    @cached_property
    def is_question(self) -> bool:
        """True where its schema says that it is a question with answers: what is said below them are comments."""
        return _QUESTION.search(self._types) is not None and _QUESTIONS_OF_A_SITE not in self._types

    @cached_property
    def is_listing(self) -> bool:
        """True where its address or body says that it lists what else there is, and nothing says that it is an article."""
        return not self._is_article and _LISTING.search(self._names) is not None

    @cached_property
    def is_product(self) -> bool:
        """True where its schema, its body or a price in its head says that it offers one product."""
        said = f"{self._types}\n{self._names}"
        return self._has_price or ("roduct" in said and _PRODUCT.search(said) is not None)
