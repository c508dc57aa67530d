"""Which cookies of a site are kept: few and short ones, so that no site can make every further request grow."""

from __future__ import annotations

from collections import defaultdict
from http.cookiejar import Cookie, DefaultCookiePolicy
from urllib.request import Request

MAX_COOKIES = 50
"""Of one domain in one run; RFC 6265, 6.1 asks for at least as many."""
MAX_COOKIE_CHARS = 8_000
"""Of all cookies of a domain: servers take about as much in one header."""


class BoundedCookies(DefaultCookiePolicy):
    """The usual rules, and bounds. Belongs to one cookie jar, whose lock is held whenever it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self._lengths: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)

    def set_ok(self, cookie: Cookie, request: Request) -> bool:
        if not super().set_ok(cookie, request):
            return False
        lengths = self._lengths[cookie.domain]
        name, length = (cookie.path, cookie.name), len(cookie.name) + len(cookie.value or "")
        after = {**lengths, name: length}
        if len(after) > MAX_COOKIES or sum(after.values()) > MAX_COOKIE_CHARS:
            return False
        lengths[name] = length
        return True
