"""Whether the words of a page are in its HTML, or a script would have to write them (SPEC 8).

A scan over the bytes, before anything is decoded: markup is ASCII in every encoding that web pages use but UTF-16, and a Chinese
character is two or three bytes, about what it is worth in Latin letters. Text in links, menus and footers is not counted, for a
shell may bring its frame along. The scan ends as soon as enough was seen, which on most pages is soon.

Too strict a test costs a needless visit of the browser, too lax a one the page; so a page that says little and is made by scripts is
taken for a shell.
"""

from __future__ import annotations

import re

FULL_BYTES = 600
"""Bytes of running text, some hundred words, from which a page holds its own words whatever else it shows."""
LITTLE_BYTES = 400
"""The same where no empty element waits for a script. Of 1,174 static pages of 580 sites these numbers take 6 for shells, one of them rightly;
`python -m tests.bench.app_shells FOLDER` counts again."""
BARE_BYTES = 120
"""Bytes of text under which any script is enough to suspect that it writes the page."""

NOSCRIPT_BYTES = 3_000
"""A `noscript` that is longer holds the page itself, as forums do for search engines; the cleaner reads it."""

_UNSEEN_NAMES = b"script style noscript template svg textarea title iframe".split()
_FRAME_NAMES = b"select button nav footer a".split()
_UNSEEN, _SKIPPED = (
    re.compile(rb"<(?:!--|(" + b"|".join(names) + rb")(?=[\s>/]))", re.IGNORECASE)
    for names in (_UNSEEN_NAMES, _UNSEEN_NAMES + _FRAME_NAMES)
)
_END = {name: re.compile(b"</" + name + rb"(?=[\s>/])", re.IGNORECASE) for name in _UNSEEN_NAMES + _FRAME_NAMES}
_TAG = re.compile(rb"<[^<>]*>")
_NO_TEXT = re.compile(rb"&(?:\w+;)?|[\s\x00-\x25\x27-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+")
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_MOUNT_POINT = re.compile(
    rb"""<(?:div|main|section)\b[^<>]*\bid\s*=\s*["']?(?:root|app|main|main-app|react-root|__next|__nuxt|__layout|___gatsby|svelte|q-app"""
    rb"""|application|ember-app|mount|container|content)\b[^<>]*>\s*(?:<!--.{0,200}?-->\s*)*(?:<noscript\b.{0,600}?</noscript>\s*)?</""",
    re.IGNORECASE | re.DOTALL,
)
_CUSTOM_ROOT = re.compile(
    rb"<(?P<name>app-root|[a-z]{1,30}-app)\b[^<>]*>\s*(?:loading[^<]{0,40})?</(?P=name)>", re.IGNORECASE
)
_ASKS_FOR_JAVASCRIPT = re.compile(
    rb"<noscript\b(?:(?!</?noscript).){0,600}?java ?script"
    rb"|(?:enable|requires?|turn on|needs?|\xe5\x90\xaf\xe7\x94\xa8|\xe5\xbc\x80\xe5\x90\xaf)\s*java ?script",
    re.IGNORECASE | re.DOTALL,
)
_FRAMEWORK = re.compile(
    rb"__NEXT_DATA__|__NUXT__|__INITIAL_STATE__|__PRELOADED_STATE__|__APOLLO_STATE__|ng-version=|ng-app\b|v-cloak|data-reactroot"
    rb"|data-server-rendered|webpackJsonp|webpackChunk|/_next/static/|/_nuxt/|/@vite/client|<script[^<>]*\btype=[\"']?module",
    re.IGNORECASE,
)


def shell_sign(body: bytes) -> str | None:
    """What shows that scripts would write this page, None for a page that holds its words: the body check.

    `bare` (next to no text beside scripts), `mount_point` (an empty element that scripts fill), `noscript` (it asks for JavaScript) or
    `framework` (a framework's marks and little text).
    """
    if not _SCRIPT.search(body):
        return None
    count = text_bytes(body)
    if count >= FULL_BYTES:
        return None
    if _MOUNT_POINT.search(body) or _CUSTOM_ROOT.search(body):
        return "mount_point"
    if count >= LITTLE_BYTES:
        return None
    if _ASKS_FOR_JAVASCRIPT.search(body):
        return "noscript"
    if _FRAMEWORK.search(body):
        return "framework"
    return "bare" if count < BARE_BYTES else None


def text_bytes(body: bytes, enough: int = FULL_BYTES, *, is_frame_counted: bool = False) -> int:
    """Bytes of letters, digits and non-ASCII characters of a page's text, counted up to `enough`.

    Links, menus and footers count only with `is_frame_counted`.
    """
    count = position = 0
    unclosed: set[bytes] = set()
    while position < len(body) and count < enough:
        skipped = (_UNSEEN if is_frame_counted else _SKIPPED).search(body, position)
        stop = skipped.start() if skipped else len(body)
        count += len(_NO_TEXT.sub(b"", _TAG.sub(b" ", body[position:stop])))
        if skipped is None:
            break
        position = _end_of(skipped, body, unclosed)
    return count


def _end_of(skipped: re.Match[bytes], body: bytes, unclosed: set[bytes]) -> int:
    """Where to go on behind a skipped element; one that is never closed is skipped as a tag alone, but for raw text.

    unclosed: names of which no end follows any more; kept from one call to the next, so that each is looked for in vain once.
    """
    name = (skipped[1] or b"").lower()
    if not name:
        end = body.find(b"-->", skipped.end())
        return len(body) if end < 0 else end + 3
    found = None if name in unclosed else _END[name].search(body, skipped.end())
    if found is not None:
        is_page = name == b"noscript" and found.start() - skipped.end() > NOSCRIPT_BYTES
        return skipped.end() if is_page else found.start()
    unclosed.add(name)
    return len(body) if name in (b"script", b"style", b"textarea", b"title") else skipped.end()
