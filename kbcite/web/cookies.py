"""Cookies of one run: few and short ones of a site, so that none can make every further request grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import Any
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


class Cookies:
    """What the sites of a run have set; safe to use from several threads."""

    def __init__(self) -> None:
        self._jar = CookieJar(BoundedCookies())
        self._is_empty = True

    def header_for(self, url: str) -> str | None:
        """What a request for the URL is to carry; None without any."""
        if self._is_empty:
            return None
        request = Request(url)  # noqa: S310 - nothing is opened, and the URL is http or https
        self._jar.add_cookie_header(request)
        return request.get_header("Cookie")

    def take(self, url: str, headers: Sequence[str]) -> None:
        """Take in the `Set-Cookie` headers of an answer."""
        if headers:
            self._is_empty = False
            self._jar.extract_cookies(_SetCookies(headers), Request(url))  # type: ignore[arg-type]  # noqa: S310 - as above


class _SetCookies:
    """As much of an answer as a cookie jar looks at."""

    def __init__(self, headers: Sequence[str]) -> None:
        self._headers = headers

    def info(self) -> _SetCookies:
        return self

    def get_all(self, name: str, otherwise: Any) -> Any:
        return list(self._headers) if name == "Set-Cookie" else otherwise
