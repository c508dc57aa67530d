"""What kind of page a page is, as far as a rule depends on it."""

from __future__ import annotations

import re
from functools import cached_property

from lxml import etree

_PRODUCT_MARKS = (
    ('"Product"', re.compile(r'"@type"\s*:\s*"Product"')),
    ("schema.org/Product", re.compile(r"schema\.org/Product\b")),
    ('property="og:type"', re.compile(r'property="og:type"\s+content="(?:og:)?product')),
)
"""What the source of a product page holds; the text before each pattern stands in all its matches and is found faster."""
_QUESTION_MARK = "QAPage"
_FORUM_MARKS = ("DiscussionForumPosting", _QUESTION_MARK)
_FORUM_WORD = re.compile(
    r"(?<![a-z])(?:forums?|threads?|topics?|bbs|discussions?|discuss|questions?|answers?|qa|bbpress|community|(?:view|show)(?:topic|thread))(?![a-z])"
    r"|/comments/",
    re.IGNORECASE,
)


class PageKind:
    """The kinds of one page. Each is looked up when it is first asked for: most pages need none, and a look is through it all."""

    def __init__(self, url: str, body: etree._Element, source: str) -> None:
        self._names = f"{url} {body.get('class', '')} {body.get('id', '')}"
        self._source = source

    @cached_property
    def is_forum(self) -> bool:
        """True where its address, body or schema says that people talk to each other on it: replies are its text."""
        return _FORUM_WORD.search(self._names) is not None or any(mark in self._source for mark in _FORUM_MARKS)

    @cached_property
    def is_question(self) -> bool:
        """True where its schema says that it is a question with answers: what is said below them are comments."""
        return _QUESTION_MARK in self._source

    @cached_property
    def is_product(self) -> bool:
        """True where its schema says that it offers one product."""
        return any(text in self._source and mark.search(self._source) for text, mark in _PRODUCT_MARKS)
