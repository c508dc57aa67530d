"""Which pages are worth a look for a question: `live` pages of the sources by topic, and what a list page leads to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.answer.weights import is_stop, stems
from kbcite.patterns import pattern
from kbcite.urls import folder_of, is_within
from kbcite.words import simplify

_LIST_WORDS = pattern(
    r"最新|最近|近期|今天|今日|本周|公告|通知|新闻|消息|动态|发布|什么|哪些|有没有|有哪些|内容|版本|更新|多少|几|日志|the|latest|newest|recent|news|announce\w*"
    r"|notices?|release[sd]?|versions?|updates?|changelog|what|which|today|current|now|list",
    re.IGNORECASE,
)
"""What a question says when it asks for whatever is on top of the list."""
_TITLE_CHARS = 8
"""A link's text of so many characters is a title."""


@dataclass(frozen=True, slots=True)
class LiveEntry:
    """One `live` page of a source."""

    url: str
    topics: tuple[str, ...]
    title: str
    """As it was last read; empty where it never was."""


def is_topical(question: str, entry: LiveEntry) -> bool:
    """Whether a live page may speak of what is asked: by its topics, else by its title; one of which nothing is known may."""
    if entry.topics:
        plain = simplify(question).casefold()
        return any(simplify(topic).casefold() in plain for topic in entry.topics)
    return not entry.title or names_title(question, entry.title)


def names_title(question: str, title: str) -> bool:
    """Whether question and title share a word, or two characters of Chinese."""
    wanted = {term for term in stems(simplify(question)) if not is_stop(term) and len(term) > 1}
    return not wanted.isdisjoint(stems(simplify(title)))


def links_to_follow(question: str, list_url: str, links: Sequence[tuple[str, str]], limit: int) -> tuple[str, ...]:
    """The links one step below a list page whose texts speak of what is asked, best first, in the page's order among equals.

    A question for the latest of its kind, whatever it is, follows the first titles below the list's own folder.
    """
    wanted = {
        term
        for term in stems(_LIST_WORDS.sub(" ", simplify(question)))
        if not is_stop(term) and (len(term) > 1 or not term.isascii())
    }
    rated = []
    # What stands above a list in the site's tree is its trail and no entry of it.
    links = [(url, text) for url, text in links if not list_url.startswith(url)]
    for n, (url, text) in enumerate(links):
        shared = wanted.intersection(stems(simplify(text)))
        # A single character of Chinese says little.
        weight = sum(0.2 if len(term) == 1 else 1.0 for term in shared)
        if weight >= 1.0:
            rated.append((-weight, n, url))
    if rated or any(len(term) > 1 for term in wanted):
        return tuple(url for _, _, url in sorted(rated)[:limit])
    below = (folder_of(list_url),)
    titles = [url for url, text in links if len(text) >= _TITLE_CHARS and is_within(url, below)]
    return tuple(titles[:limit])
