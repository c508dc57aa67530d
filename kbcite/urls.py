"""URLs: resolving links, what counts as the same page, and what lies inside a source.

Parsing and joining follow the WHATWG URL standard through ada, which passed all 229 http(s) cases of the web-platform
tests; `urllib.parse.urljoin` passes 81. What ada gives back is in one normal form (lower-case punycode host, no default port,
dot segments and numeric addresses worked out), so that the functions here may take such a URL apart with one pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from kbcite.errors import UsageError
from kbcite.patterns import pattern

MAX_URL_LENGTH = 2048

_PARTS = pattern(r"(https?)://(?:[^/?#@]*@)?([^/?#:\[]+|\[[^\]]*\])(?::(\d+))?([^?#]*)(\?[^#]*)?")
_NON_ASCII_QUERY = pattern(r"[^\x00-\x7f]")
# Characters that stay as they are.
_PLAIN_LINK = pattern(r"[A-Za-z0-9_~./-]*(?:[?][A-Za-z0-9_=&.~/-]*)?")
_ESCAPE = pattern(r"%[0-9a-fA-F]{2}")
_TRACKING = pattern(
    r"(?:utm_\w+|gclid|gclsrc|dclid|fbclid|msclkid|yclid|igshid|mc_cid|mc_eid|_ga|spm|scm|share_token|phpsessid|jsessionid"
    r"|aspsessionid\w*|cfid|cftoken)",
    re.IGNORECASE,
)
# `sid` names a session on some sites and a story on others: only a long token is taken for a session.
_SESSION_NAME = pattern(r"(?:sid|sessionid|session_id|s_id|zenid|oscsid)", re.IGNORECASE)
_SESSION_TOKEN = pattern(r"[0-9a-zA-Z_\-]{16,}")
_PATH_SESSION = pattern(r";(?:jsessionid|phpsessid|sid)=[^/;?]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UrlParts:
    scheme: str
    host: str
    """Lower case, punycode, without a trailing dot; IPv6 in brackets."""
    port: str
    """Empty for the scheme's default."""
    path: str
    query: str
    """With its question mark, or empty."""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}{':' + self.port if self.port else ''}"


@lru_cache(maxsize=4096)
def split(url: str) -> UrlParts | None:
    """The parts of an absolute http or https URL; None for anything else."""
    href = _join(url, None)
    match = _PARTS.match(href) if href else None
    if match is None:
        return None
    scheme, host, port, path, query = match.groups()
    return UrlParts(scheme, host.rstrip("."), port or "", path, query or "")


def resolve(base: str, href: str, encoding: str = "utf-8") -> str | None:
    """The absolute http or https URL that a link on a page leads to, without fragment and credentials; None for any other.

    encoding: the page's own; browsers write the non-ASCII characters of a query in it (GBK pages do link that way).
    """
    if plain := resolve_plain(base, href):
        return plain
    if encoding not in ("utf-8", "utf-16le", "utf-16be") and _NON_ASCII_QUERY.search(href):
        href = _encode_query(href, encoding)
    joined = _join(href, base)
    return None if joined is None else without_credentials(joined.partition("#")[0])


def resolve_plain(base: str, href: str) -> str | None:
    """What `resolve` gives, for a link that needs no parser; None for any other.

    Nine links of ten are: no scheme but the base's own, no `//`, no dot segment, nothing to be escaped. A tenth of the parser's time.
    """
    places = _places_of(base)
    if places is None:
        return None
    root, folder, page = places
    path = href[len(root) - 1 :] if href.startswith(root) else href
    if not path or not _PLAIN_LINK.fullmatch(path) or path[0] == "." or "/." in path or "//" in path:
        return None
    return root + path[1:] if path[0] == "/" else (page if path[0] == "?" else folder) + path


@lru_cache(maxsize=256)
def _places_of(base: str) -> tuple[str, str, str] | None:
    """What a link without scheme or host is put behind: the root of the host, the folder, the page without its query.

    None for a base that is not written as the parser would write it.
    """
    match = _PARTS.match(base)
    if match is None or _join(base, None) != base or without_credentials(base) != base.partition("#")[0]:
        return None
    page = base[: match.end(4)]
    return base[: match.start(4)] + "/", page[: page.rfind("/") + 1], page


def without_credentials(url: str) -> str | None:
    """The URL without `user:password@`; None if it is not an http or https URL."""
    match = _PARTS.match(url)
    if match is None:
        return None
    scheme, host, port, path, query = match.groups()
    return f"{scheme}://{host}{':' + port if port else ''}{path}{query or ''}"


def given_url(text: str) -> str:
    """The absolute address that a person typed. Raises UsageError for what is not an http or https URL."""
    url = resolve(text, text)
    if url is None:
        raise UsageError(f"{text!r} is not an http or https URL; give it in full, like https://example.com/docs/")
    return url


def url_key(url: str) -> str:
    """What two URLs of the same page have in common.

    Fragment, default port, tracking and session names are dropped and escapes put in upper case; the case of the path and the
    order of the query stay. For comparing only: what is requested is always the URL as it was linked.
    Raises ValueError for what is not an http or https URL.
    """
    parts = split(url)
    if parts is None:
        raise ValueError(f"{url!r} is not an http or https URL")
    query = "&".join(field for field in parts.query[1:].split("&") if field and not _is_noise(field))
    path = _PATH_SESSION.sub("", parts.path)
    key = f"{parts.origin}{path}{'?' + query if query else ''}"
    return _ESCAPE.sub(lambda escape: escape.group().upper(), key) if "%" in key else key


def host_of(url: str) -> str:
    """Scheme, host and port: `https://example.com`, `http://127.0.0.1:8000`. Raises ValueError for other schemes."""
    parts = split(url)
    if parts is None:
        raise ValueError(f"{url!r} is not an http or https URL")
    return parts.origin


def folder_of(url: str) -> str:
    """The URL up to the last slash of its path: what a source covers where it names no scope. Raises ValueError."""
    parts = split(url)
    if parts is None:
        raise ValueError(f"{url!r} is not an http or https URL")
    return f"{parts.origin}{parts.path[: parts.path.rfind('/') + 1]}"


def is_within(url: str, prefixes: Iterable[str]) -> bool:
    """Whether a URL lies under one of the prefixes: same host and port, and a path that begins with the prefix's.

    Compared on parsed parts, so that `example.com.evil.net`, `example.com@evil.net` and `evil-example.com` are outside
    `https://example.com/`. http and https on their default ports count as one place. A prefix ends at a border: `/docs` covers
    `/docs/a` and `/docs?page=2`, not `/docs-old`.
    """
    parts = split(url)
    return parts is not None and any(_covers(prefix, parts) for prefix in map(split, prefixes) if prefix is not None)


def _covers(prefix: UrlParts, parts: UrlParts) -> bool:
    if (prefix.host, prefix.port) != (parts.host, parts.port) or (prefix.port and prefix.scheme != parts.scheme):
        return False
    wanted, given = prefix.path + prefix.query, parts.path + parts.query
    if not given.startswith(wanted):
        return False
    return not wanted[-1:].isalnum() or given[len(wanted) :][:1] in ("", "/", "?", "&", ";")


def _is_noise(field: str) -> bool:
    name, _, value = field.partition("=")
    if _TRACKING.fullmatch(name):
        return True
    return _SESSION_NAME.fullmatch(name) is not None and _SESSION_TOKEN.fullmatch(value) is not None


def _join(url: str, base: str | None) -> str | None:
    try:
        href: str = _ada().normalize_url(url) if base is None else _ada().join_url(base, url)
    except (ValueError, UnicodeEncodeError):
        return None
    return href if href.startswith(("http://", "https://")) else None


@cache
def _ada() -> Any:
    # Imported on first use: ada and cffi take 30 ms, which `kbcite --help` need not pay.
    import ada_url

    return ada_url


def _encode_query(href: str, encoding: str) -> str:
    """The link with the non-ASCII characters of its query percent-encoded in the page's encoding, as the URL standard says."""
    before, mark, fragment = href.partition("#")
    path, question, query = before.partition("?")
    return (
        path + question + _NON_ASCII_QUERY.sub(lambda c: _percent_encode(c.group(), encoding), query) + mark + fragment
    )


def _percent_encode(character: str, encoding: str) -> str:
    try:
        return "".join(f"%{byte:02X}" for byte in character.encode(encoding))
    except UnicodeEncodeError:
        # https://url.spec.whatwg.org/#percent-encode-after-encoding: a character the encoding lacks becomes a numeric reference
        return f"%26%23{ord(character)}%3B"
    except LookupError:
        return character
