"""Pages that stand in front of a page: bot challenges, cookie and consent walls, logins, "continue" pages, refreshes (SPEC 7).

All of them say little, and what they say is about themselves. What is asked first is how many words a reader would see; only a page
of few words is then searched for marks that the known products leave in challenge pages alone, and for sentences that are spoken to a
visitor who is held up. Signs that honest pages bear too (a captcha beside a form, a consent banner, a login) count only where the page
has hardly a sentence about anything else. A long article about captchas is so never taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kbcite.page.links import Refresh
from kbcite.words import count_words

MAX_WORDS = 120
MAX_REFRESH_WORDS = 60
MAX_REFRESH_S = 15
"""A page that reloads itself later than this is meant to be read first."""

FEW_WORDS = 40
"""A page that says no more than this is a wall where a sign allows of both."""
NO_WORDS = 10
MIN_SENTENCE_WORDS = 8
MAX_WORDS_BESIDE = 20
"""Words of sentences about something else that a wall may hold."""

_STEP = 2_000
"""Characters looked at before asking whether that was enough."""
_HIDDEN_START = re.compile(r"<(?:(script|style|noscript|template)(?![\w-])|!--)", re.IGNORECASE)
_HIDDEN_END = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "noscript", "template")} | {
    "": re.compile("-->")
}
_INLINE = re.compile(
    r"</?(?:a|b|i|u|em|strong|span|code|small|label|abbr|time|mark|font|q)(?:\s[^>]*)?>|&\w+;", re.IGNORECASE
)
_REFERENCE = re.compile(r"&\w+;")
_MARKUP = re.compile(r"<[^>]*>")

_MARKS = re.compile(
    r"_cf_chl_opt|cf-chl-|cf-browser-verification|/cdn-cgi/challenge-platform/h/|acw_sc__v2|__jsl_clearance|px-captcha"
    r"|geo\.captcha-delivery\.com|sucuri_cloudproxy|AwsWafIntegration|awsWafCookieDomainList|anubis_challenge|aliyun_waf|waf_captcha"
    r"|<iframe[^>]*_Incapsula_Resource",
    re.IGNORECASE,
)
"""Left by challenge pages, and by nothing else."""
_WIDGETS = re.compile(
    r"g-recaptcha|h-captcha|hcaptcha\.com/1/api|cf-turnstile|geetest|TCaptcha|turing\.captcha|nocaptcha|_Incapsula_Resource|ddos-guard",
    re.IGNORECASE,
)
"""Stand beside the forms of honest pages too."""
_CHALLENGE = re.compile(
    r"just a moment(?:\.\.\.|…)|(?:checking|verifying) (?:if the site connection|your browser)"
    r"|verify(?:ing)? (?:that )?you(?:'re| are) (?:a |not a )?(?:human|ro?bot)"
    r"|mak(?:e|ing) sure you(?:'re| are) not a (?:ro)?bot|are you a robot\?|made us think you were a bot|attention required!"
    r"|enable (?:javascript|js) and (?:cookies|disable)"
    r"|detected unusual traffic|unusual traffic from your|pardon our interruption|you have been blocked|access to this page (?:is|has been) denied"
    r"|you don't have permission to access .{1,300} on this server|\A\W*access denied\b|press & hold to confirm"
    r"|正在验证您是否是真人|检查您的(?:浏览器|连接|网络)|(?:访问|请求|操作)过于频繁|拖动.{0,6}滑块|(?:环境|流量|访问)(?:存在)?异常.{0,40}验证|完成(?:安全)?验证后"
    r"|检测到(?:您的)?(?:网络|访问|请求|流量)?异常|异常访问",
    re.IGNORECASE,
)
"""Spoken to a visitor who is held up."""
_CHALLENGE_TITLE = re.compile(
    r"安全验证|访问验证|人机验证|滑动验证|验证码(?:拦截|验证)|请(?:先)?输入验证码|security check(?:point)?\b|human verification|robot check|one more step",
    re.IGNORECASE,
)
_COOKIE_WALL = re.compile(
    r"(?:enable|turn on|allow) (?:your |all )?(?:browser(?:'s)? )?cookies|cookies (?:are|must be) (?:disabled|enabled|required)"
    r"|(?:启用|开启|打开|允许)\s*(?:浏览器)?(?:的)?\s*cookie|禁用了?\s*cookie",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"we value your privacy|before you continue|(?:we|us) and our (?:\d[\d,.]* )?partners|(?:store|access) (?:and/?(?:or)? (?:access )?)?information on"
    r"|(?:accept|reject) all cookies|使用\s*cookie",
    re.IGNORECASE,
)
_CONSENT_BUTTON = re.compile(
    r"\b(?:accept|reject|agree to|allow) all\b|\bi agree\b|manage (?:options|preferences|choices)|akzeptieren|同意并|全部接受",
    re.IGNORECASE,
)
_CONSENT_TOPIC = re.compile(
    r"cookie|privacy|partners|consent|\bads?\b|tracking|personal data|werbung|datenschutz|隐私|同意", re.IGNORECASE
)
_PASSWORD_FIELD = re.compile(r"<input\b[^>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
_LOGIN = re.compile(r"\b(?:log|sign)[ -]?(?:in|on)\b|\blogin\b|\bpassword\b|anmelden|登[录陆入]", re.IGNORECASE)
_LOGIN_FIRST = re.compile(
    r"(?:please|must|need to|have to|required to) (?:be )?(?:log|logged|sign|signed)[ -]?in\b.{0,20}(?:continue|view|see|access|proceed|read)"
    r"|(?:需要|请先?|尚未|必须)登[录陆入].{0,12}(?:查看|访问|继续|浏览)",
    re.IGNORECASE,
)
_CONTINUE = re.compile(
    r"(?:if you are not|you (?:are being|will be)) (?:automatically )?redirected|redirecting(?:\.\.|…| (?:you|to)\b|\s*\Z)"
    r"|continue to (?:the )?(?:site|article)"
    r"|(?:正在|即将|秒后|页面)(?:自动)?\s*跳转|即将(?:离开|访问)|您将要访问",
    re.IGNORECASE,
)
_CLICK = re.compile(
    r"click (?:here )?to (?:continue|proceed|enter)|点击(?:这里|此处)?(?:继续|进入|跳转)", re.IGNORECASE
)
_SCRIPTED = re.compile(r"location(?:\.href)?\s*=(?!=)|location\.(?:replace|assign)\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Interstitial:
    kind: str
    """`meta_refresh`, `bot_challenge`, `cookie_wall`, `consent_wall`, `login_wall`, `continue_page` or `script_redirect`."""
    detail: str
    """The mark or sentence that gave it away."""
    target: str | None = None
    """Where a refresh leads."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a reader sees, cut at blocks."""

    lines: tuple[str, ...]
    words: int

    @property
    def text(self) -> str:
        return " ".join(self.lines)

    def words_beside(self, topic: re.Pattern[str]) -> int:
        """Words of the page's sentences that are not about the topic; menus and buttons have none."""
        counted = ((line, count_words(line)) for line in self.lines)
        return sum(words for line, words in counted if words >= MIN_SENTENCE_WORDS and not topic.search(line))


def recognise(text: str, refresh: Refresh | None) -> Interstitial | None:
    """What stands in front of the page, None if it is the page itself."""
    pieces, words = _first_words(text)
    if words > MAX_WORDS:
        return None
    seen = _Seen(tuple(_lines_of(pieces)), words)
    if refresh is not None and refresh.url and refresh.delay_s <= MAX_REFRESH_S and seen.words <= MAX_REFRESH_WORDS:
        return Interstitial("meta_refresh", f"to {refresh.url} after {refresh.delay_s} s", refresh.url)
    shown = seen.text.replace("’", "'")
    if found := _MARKS.search(text) or _CHALLENGE.search(shown):
        return Interstitial("bot_challenge", found.group()[:100])
    if seen.words <= FEW_WORDS and (found := _CHALLENGE_TITLE.search(shown) or _WIDGETS.search(text)):
        return Interstitial("bot_challenge", found.group())
    return (
        _consent(shown, seen)
        or _login(text, shown, seen)
        or _found("cookie_wall", _COOKIE_WALL, shown, seen.words <= FEW_WORDS)
        or _found("continue_page", _CONTINUE, shown, seen.words <= FEW_WORDS)
        or _found("continue_page", _CLICK, shown, seen.words <= FEW_WORDS // 2)
        or _found("script_redirect", _SCRIPTED, text, seen.words <= NO_WORDS)
    )


def _found(kind: str, pattern: re.Pattern[str], text: str, is_bare: bool) -> Interstitial | None:
    found = pattern.search(text) if is_bare else None
    return Interstitial(kind, found.group()) if found else None


def _consent(shown: str, seen: _Seen) -> Interstitial | None:
    found = _CONSENT.search(shown)
    if found is None or not _CONSENT_BUTTON.search(shown) or seen.words_beside(_CONSENT_TOPIC) > MAX_WORDS_BESIDE:
        return None
    return Interstitial("consent_wall", found.group())


def _login(text: str, shown: str, seen: _Seen) -> Interstitial | None:
    """A form that asks for a password, or a sentence that asks to log in first, and nothing else to read."""
    found = _LOGIN_FIRST.search(shown)
    if found is None and _PASSWORD_FIELD.search(text):
        found = _LOGIN.search(shown)
    if found is None or seen.words_beside(_LOGIN) > MAX_WORDS_BESIDE:
        return None
    return Interstitial("login_wall", found.group())


def _first_words(text: str) -> tuple[list[str], int]:
    """HTML of what a reader sees, read until it is clearly more than `MAX_WORDS`, and how many words that is."""
    pieces: list[str] = []
    words = position = 0
    while position < len(text) and words <= MAX_WORDS:
        hidden = _HIDDEN_START.search(text, position)
        stop = hidden.start() if hidden else len(text)
        tag = text.find("<", position + _STEP, stop)
        piece = text[position : stop if tag < 0 else tag]
        pieces.append(piece)
        shown = _MARKUP.sub(" ", _REFERENCE.sub(" ", piece) if "&" in piece else piece)
        words += count_words(" ".join(shown.split())[: _STEP // 2])
        if tag >= 0:
            position = tag
        elif hidden is None:
            break
        else:
            end = _HIDDEN_END[(hidden[1] or "").lower()].search(text, hidden.end())
            position = end.end() if end else len(text)
    return pieces, words


def _lines_of(pieces: list[str]) -> Iterator[str]:
    """The text of pieces of HTML, cut at blocks."""
    for piece in pieces:
        for line in _MARKUP.sub("\n", _INLINE.sub(" ", piece)).split("\n"):
            if folded := " ".join(line.split()):
                yield folded
