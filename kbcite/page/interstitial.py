"""Pages that stand in front of a page: bot challenges, cookie walls, "continue" pages, refreshes (SPEC 7).

All of them say little. What is asked first is how many words a reader would see; only a page of few words is then searched for
the marks of the known products and for the sentences such pages use. A long article about captchas is so never taken for one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kbcite.page.links import Refresh
from kbcite.words import count_words

MAX_WORDS = 120
MAX_REFRESH_WORDS = 60
MAX_REFRESH_S = 15
"""A page that reloads itself later than this is meant to be read first."""

_STEP = 2_000
"""Characters looked at before asking whether that was enough."""
_HIDDEN_START = re.compile(r"<(?:(script|style|noscript|template)(?![\w-])|!--)", re.IGNORECASE)
_HIDDEN_END = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "noscript", "template")} | {
    "": re.compile("-->")
}
_MARKUP = re.compile(r"<[^>]*>|&\w+;")
_MARKS = re.compile(
    r"_cf_chl_opt|cf-chl-|cf-browser-verification|/cdn-cgi/challenge-platform/h/|acw_sc__v2|__jsl_clearance|_Incapsula_Resource"
    r"|px-captcha|captcha-delivery\.com|ddos-guard|sucuri_cloudproxy|TCaptcha|turing\.captcha|geetest|awsWafCookieDomainList"
    r"|aliyun_waf|waf_captcha|g-recaptcha|h-captcha|hcaptcha\.com/1/api",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"just a moment|checking (?:if the site|your browser)|verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot"
    r"|attention required|enable javascript and cookies|unusual traffic|pardon our interruption|access (?:to this page )?(?:is|has been) denied"
    r"|安全验证|访问验证|人机验证|滑动验证|拖动滑块|验证码|访问过于频繁|请求过于频繁|异常访问|检测到异常|安全检查",
    re.IGNORECASE,
)
_COOKIE_WALL = re.compile(
    r"(?:enable|turn on|accept|allow) (?:your |all )?(?:browser(?:'s)? )?cookies|cookies (?:are|must be) (?:disabled|enabled|required)"
    r"|(?:启用|开启|打开|允许)\s*(?:浏览器)?(?:的)?\s*cookie|禁用了?\s*cookie",
    re.IGNORECASE,
)
_CONTINUE = re.compile(
    r"click (?:here )?to (?:continue|proceed|enter)|you (?:are being|will be) redirected|redirecting|continue to (?:the )?(?:site|article)"
    r"|(?:页面|正在|自动)\s*跳转|即将(?:离开|跳转|访问)|点击(?:这里|此处)?(?:继续|进入|跳转)",
    re.IGNORECASE,
)
_SCRIPTED = re.compile(r"location(?:\.href)?\s*=\s*[\"'`]|location\.(?:replace|assign)\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Interstitial:
    kind: str
    """`meta_refresh`, `bot_challenge`, `cookie_wall`, `continue_page` or `script_redirect`."""
    detail: str
    """The mark or sentence that gave it away."""
    target: str | None = None
    """Where a refresh leads."""


def recognise(text: str, refresh: Refresh | None) -> Interstitial | None:
    """What stands in front of the page, None if it is the page itself."""
    seen, words = _first_words(text)
    if refresh is not None and refresh.url and refresh.delay_s <= MAX_REFRESH_S and words <= MAX_REFRESH_WORDS:
        return Interstitial("meta_refresh", f"to {refresh.url} after {refresh.delay_s} s", refresh.url)
    if words > MAX_WORDS:
        return None
    for kind, pattern, where in (
        ("bot_challenge", _MARKS, text),
        ("bot_challenge", _CHALLENGE, seen),
        ("cookie_wall", _COOKIE_WALL, seen),
        ("continue_page", _CONTINUE, seen),
    ):
        if found := pattern.search(where):
            return Interstitial(kind, found.group())
    if words <= 10 and (found := _SCRIPTED.search(text)):
        return Interstitial("script_redirect", found.group())
    return None


def _first_words(text: str) -> tuple[str, int]:
    """What a reader sees, read until it is clearly more than `MAX_WORDS`, and how many words that is."""
    seen: list[str] = []
    words = position = 0
    while position < len(text) and words <= MAX_WORDS:
        hidden = _HIDDEN_START.search(text, position)
        stop = hidden.start() if hidden else len(text)
        tag = text.find("<", position + _STEP, stop)
        piece = " ".join(_MARKUP.sub(" ", text[position : stop if tag < 0 else tag]).split())
        seen.append(piece)
        words += count_words(piece[: _STEP // 2])
        if tag >= 0:
            position = tag
        elif hidden is None:
            break
        else:
            end = _HIDDEN_END[(hidden[1] or "").lower()].search(text, hidden.end())
            position = end.end() if end else len(text)
    return " ".join(seen), words
