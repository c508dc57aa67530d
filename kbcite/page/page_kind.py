"""What kind of page a page is, as far as a rule depends on it."""

from __future__ import annotations

import re
from functools import cached_property

from lxml import etree

_PRODUCT = re.compile(r'"@type"\s*:\s*"Product"|schema\.org/Product\b|^og:type=product', re.MULTILINE)
_QUESTION = re.compile(r"QAPage|^itemtype=https?://schema\.org/Question$", re.MULTILINE)
_QUESTIONS_OF_A_SITE = "FAQPage"
"""Its questions are its own, each with the one answer."""
_FORUM_MARK = "DiscussionForumPosting"
_FORUM_WORD = re.compile(
    r"(?<![a-z])(?:forums?|threads?|topics?|bbs|discussions?|discuss|questions?|answers?|qa|bbpress|community|(?:view|show)(?:topic|thread))(?![a-z])"
    r"|/comments/",
    re.IGNORECASE,
)


_item_types = etree.XPath("descendant-or-self::*/@itemtype", smart_strings=False)


class PageKind:
    """The kinds of one page, each looked up when it is first asked for."""

    def __init__(self, url: str, root: etree._Element, body: etree._Element) -> None:
        """root: of the whole page, its scripts not stripped yet: what it says of its kind is gathered at once."""
        self._names = f"{url} {body.get('class', '')} {body.get('id', '')}"
        types = [f"itemtype={kind}" for kind in _item_types(root)]
        for element in root.iter("script", "meta"):
            if element.tag == "script":
                if "ld+json" in element.get("type", ""):
                    types.append(element.text or "")
            elif element.get("property") == "og:type":
                types.append(f"og:type={element.get('content', '').removeprefix('og:')}")
        self._types = "\n".join(types)

    @cached_property
    def is_forum(self) -> bool:
        """True where its address, body or schema says that people talk to each other on it: replies are its text."""
        return self.is_question or _FORUM_MARK in self._types or _FORUM_WORD.search(self._names) is not None

    @cached_property
    def is_question(self) -> bool:
        """True where its schema says that it is a question with answers: what is said below them are comments."""
        return _QUESTION.search(self._types) is not None and _QUESTIONS_OF_A_SITE not in self._types

    @cached_property
    def is_product(self) -> bool:
        """True where its schema says that it offers one product."""
        return _PRODUCT.search(self._types) is not None
