"""Pages that stand where a page was: a form to log in, the notice that the domain is for sale, or that the page is not there.

Either says little. A long page is never taken for one, and neither is one whose own address is a login; the caller asks only where
the page's former text is gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kbcite.urls import split
from kbcite.words import count_words

MAX_WORDS = 150

_HIDDEN = re.compile(r"<(script|style|noscript|template)\b.*?(?:</\1|$)|<!--.*?(?:-->|$)", re.IGNORECASE | re.DOTALL)
_MARKUP = re.compile(r"<[^>]*>|&\w+;")
_PASSWORD = re.compile(r"<input\b[^>]*\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_LOGIN_PART = re.compile(
    r"(?:user_?|wp-)?(?:log[-_]?(?:in|on)|sign[-_]?in)|sso|passport|cas|oauth2?|auth(?:enticate|orize)?", re.IGNORECASE
)
_LOGIN_HOST = re.compile(r"(?:login|signin|sso|passport|auth|accounts?|id)\.", re.IGNORECASE)
_PARKED_MARK = re.compile(
    r"sedoparking\.com|parkingcrew\.net|bodis\.com|cashparking|hugedomains\.com|afternic\.com|parklogic\.com|above\.com/marketplace"
    r"|dan\.com/buy-domain|undeveloped\.com",
    re.IGNORECASE,
)
_PARKED_SENTENCE = re.compile(
    r"domain(?: name)? (?:is|may be|might be) (?:still )?(?:for sale|parked|available for (?:purchase|sale))"
    r"|buy this domain|domain(?: name)? (?:has )?expired|this domain is registered at|parked (?:free|domain)"
    r"|域名(?:正在|可|已|现|诚意)?(?:出售|转让|停放|过期|到期)|(?:出售|购买|转让)(?:此|该|本)域名",
    re.IGNORECASE,
)


_NOT_FOUND = re.compile(
    r"\b404\b|\bnot found\b|\b(?:page|document|article|file) (?:is |was |does |could )?(?:not|n['’]t) (?:be found|available|exist)"
    r"|(?:页面|网页|文章|内容|页).{0,4}(?:不存在|未找到|找不到|已(?:被)?删除)|(?:未找到|找不到).{0,6}(?:页面|网页|文章|内容)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StandIn:
    kind: str
    """`login_wall`, `parked_domain` or `not_found`."""
    detail: str
    """What gave it away."""


def recognise_stand_in(text: str, url: str, asked_url: str) -> StandIn | None:
    """What a decoded page at `url` is instead of the page that was at `asked_url`; None if it may be the page itself."""
    if is_login(url) and not is_login(asked_url):
        return StandIn("login_wall", f"sent to {url}")
    seen = " ".join(_MARKUP.sub(" ", _HIDDEN.sub(" ", text)).split())
    if count_words(seen[: MAX_WORDS * 20]) > MAX_WORDS:
        return None
    if found := _PARKED_SENTENCE.search(seen) or _PARKED_MARK.search(text):
        return StandIn("parked_domain", found.group())
    if _PASSWORD.search(text) and not is_login(asked_url):
        return StandIn("login_wall", "a form with a password")
    return None


def recognise_not_found(title: str, text: str, former_title: str) -> StandIn | None:
    """The notice that a page is not there, by its title and main text; None for a page that may be the former one, said anew.

    A page that says as much as an article is none, and neither is one whose former title spoke of such notices.
    """
    found = _NOT_FOUND.search(title)
    if found is None or _NOT_FOUND.search(former_title) or count_words(text) > MAX_WORDS:
        return None
    return StandIn("not_found", f'titled "{title}"')


def is_login(url: str) -> bool:
    """Whether an address is by its name one to log in."""
    parts = split(url)
    if parts is None:
        return False
    names = [part.partition(".")[0] for part in parts.path.split("/")]
    return bool(_LOGIN_HOST.match(parts.host)) or any(_LOGIN_PART.fullmatch(name) for name in names)
