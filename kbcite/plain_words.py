"""The record's machine words as a reader reads them, in the language of the question: classes, reasons, and how fresh an answer is."""

from __future__ import annotations

import re

from kbcite.patterns import pattern
from kbcite.records import Answer, LiveUse, RefusalReason

CLASSES = {
    "en": {
        "volatile": "volatile (changes by the minute)",
        "news": "news (what was announced lately)",
        "product": "product (changes now and then)",
        "reference": "reference (does not change)",
    },
    "zh": {
        "volatile": "实时信息（volatile）",
        "news": "近期消息（news）",
        "product": "可变信息（product）",
        "reference": "固定知识（reference）",
    },
}
"""The built-in ones; a class of one's own has no other name than that of the settings."""
REFUSALS = {
    RefusalReason.EMPTY_RECALL: "nothing was found",
    RefusalReason.BELOW_THRESHOLD: "nothing found is close enough to the question",
    RefusalReason.CITATION_CHECK_FAILED: "no sentence passed the check against its source",
    RefusalReason.DOMAIN_NOT_ALLOWED: "the page asked about is not of the sources",
    RefusalReason.STALE_ONLY: "everything found is older than such questions allow",
    RefusalReason.NO_PERMISSION: "the pages are not for whoever asks",
}
RULINGS = {
    "en": {
        "internal": "the internal document is preferred",
        "live": "the page fetched live is preferred",
        "newer": "the newer source is preferred",
        "rank": "their dates do not decide",
        "majority": "the value of most sources is preferred",
        "disagree": "no two sources agree",
    },
    "zh": {
        "internal": "以内部资料为准",
        "live": "以实时抓取的页面为准",
        "newer": "以较新的来源为准",
        "rank": "发布时间分不出先后",
        "majority": "以多数来源为准",
        "disagree": "没有两个来源一致",
    },
}
"""What decided between sources that differ, by `Conflict.ruling`."""
DROPPED = {
    "below_threshold": "not close enough to the question",
    "page_crowded": "their page has enough passages among the others",
    "figure_mismatch": "a figure of the question is not in them",
    "near_duplicate": "another one says the same",
    "over_top_k": "more than are used",
    "superseded": "the page was fetched again and stands in front",
    "page_gone": "the server says that the page is gone",
    "corrected": "another page corrects theirs",
    "stale": "older than such questions allow",
}
"""Why a candidate was left out."""
_OUTCOMES = {
    "en": {
        "live": "fetched live",
        "pool": "from pages fetched lately",
        "fell_back": "fetched live, nothing fit for use",
        "stored": "not fetched live",
    },
    "zh": {
        "live": "已实时抓取",
        "pool": "用了刚抓取过的页面",
        "fell_back": "实时抓取没有可用内容",
        "stored": "未实时抓取",
    },
}
_WHY: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (pattern(r"asked"), "it was asked for", "按要求"),
    (pattern(r"named_page\b.*"), "the question names the page", "问题指名该页面"),
    (pattern(r"time_words"), "the question is about these days", "问题涉及近期情况"),
    (pattern(r"volatile_entity: (.+)"), r"what is said of \1 changes quickly", r"关于\1的内容变化快"),
    (pattern(r"low_score: nothing was found"), "nothing stored was found", "没有找到已存内容"),
    (
        pattern(r"low_score: ([\d.]+), ([\d.]+) is needed"),
        r"what is stored reaches a relevance of \1, \2 is needed",
        r"已存内容相关度 \1，需要 \2",
    ),
    (
        pattern(r"stale: (.+), the window is (.+)"),
        r"what is stored was seen \1 ago, the window is \2",
        r"已存内容见于 \1前，时效为 \2",
    ),
    (
        pattern(r"what is stored was seen (.+) ago, the window is (.+)"),
        r"what is stored was seen \1 ago, the window is \2",
        r"已存内容见于 \1前，时效为 \2",
    ),
    (pattern(r"page_gone\b.*"), "a stored page is gone", "原页面已不存在"),
    (pattern(r"corrected\b.*"), "a stored page was corrected", "原页面已有更正"),
    (pattern(r"live fetching is turned off"), "live fetching is turned off", "实时抓取已关闭"),
    (pattern(r"such answers do not go out of date"), "such answers do not go out of date", "这类内容不会过时"),
    (
        pattern(r"no page of the sources to look at(.*)"),
        r"no page of the sources to look at\1",
        r"来源中没有可看的页面\1",
    ),
    (pattern(r"nothing asks for it"), "nothing asks for it", "没有需要"),
    (pattern(r"the class (.+) does not ask for it"), r"the class \1 does not ask for it", r"\1 类问题不需要"),
    (pattern(r"--offline"), "offline", "离线"),
    (pattern(r"the store cannot be written"), "the store cannot be written", "知识库不可写"),
    (pattern(r"(\S+) is not on the whitelist"), r"\1 is not on the whitelist", r"\1 不在来源白名单中"),
)
"""How a reason of `LiveUse.why` reads, and what it is in both languages."""
_UNFIT = {
    "gave_up": ("too slow", "太慢"),
    "timeout": ("no answer in time", "超时"),
    "too_short": ("says too little", "内容过少"),
    "too_old": ("too old", "过旧"),
    "off_topic": ("not on the subject", "与问题无关"),
    "bot_challenge": ("a wall against robots", "被反爬页面拦截"),
    "robots_disallowed": ("robots.txt forbids it", "robots.txt 不允许"),
    "needs_javascript": ("its words are written by scripts", "内容由脚本生成"),
    "list": ("only a list", "只是列表"),
    "noindex": ("not for keeping", "不供保存"),
    "content_type": ("not a web page", "不是网页"),
    "too_large": ("too large", "过大"),
    "selector": ("nothing to choose", "没有所选内容"),
    "dns": ("its host is not known", "域名无法解析"),
    "connect": ("its host cannot be reached", "无法连接"),
    "scheme": ("not an address of the web", "不是网页地址"),
    "tls": ("no secure connection", "无法建立安全连接"),
    "private_address": ("at a private address", "位于内网地址"),
    "out_of_scope": ("not on the whitelist", "不在来源白名单中"),
    "internal_error": ("cannot be read", "无法读取"),
    "refused_encoding": ("in an encoding that browsers do not read either", "编码连浏览器也不支持"),
    "replacement_characters": ("characters of it are lost", "部分字符已丢失"),
    "mojibake": ("its characters are garbled", "乱码"),
    "binary_data": ("not a text", "不是文本"),
}
_DETAILS_ZH = (
    (pattern(r"(\d+) characters, (\d+) are needed"), r"\1 字，需要 \2 字"),
    (pattern(r"published (\S+), (\d+) days ago"), r"发布于 \1，\2 天前"),
    (pattern(r"relevance ([\d.]+), ([\d.]+) is needed"), r"相关度 \1，需要 \2"),
    (pattern(r"not there after ([\d.]+) s"), r"\1 秒内未取得"),
    (pattern(r"a page below it is used"), "用了其下的页面"),
)
_HTTP = pattern(r"http_(\d{3})")
_UNITS = {"day": "天", "hour": "小时", "minute": "分钟", "s": "秒"}
_SPAN = pattern(r"(\d+) (day|hour|minute|s)s?(?![a-z])")


def class_name(name: str, language: str) -> str:
    """What a class of questions is called."""
    return CLASSES[_one_of(language)].get(name, name)


def window(seconds: int | None, language: str) -> str:
    """`within 3 days`, `3 天内`."""
    if seconds is None:
        return "不限时" if language == "zh" else "no window"
    unit, size = next(
        (u, s) for u, s in (("day", 86_400), ("hour", 3600), ("minute", 60), ("s", 1)) if seconds % s == 0
    )
    count = seconds // size
    if language == "zh":
        return f"{count} {_UNITS[unit]}内"
    return f"within {count} {unit}{'s' if count != 1 and unit != 's' else ''}"


def live_reason(reason: str, language: str) -> str:
    """Why pages were looked at while answering, or why not; what has no words of its own stands as it is."""
    for form, en, zh in _WHY:
        if match := form.fullmatch(reason):
            if language != "zh":
                return match.expand(en)
            return _SPAN.sub(lambda span: f"{span[1]} {_UNITS[span[2]]}", match.expand(zh))
    return reason


def unfit(filtered: str, language: str) -> str:
    """`URL: reason: detail` of a page that was not used, as `URL (reason, detail)`."""
    url, _, why = filtered.partition(": ")
    return f"{url}（{unfit_reason(why, language)}）" if language == "zh" else f"{url} ({unfit_reason(why, language)})"


def unfit_reason(why: str, language: str) -> str:
    """`reason: detail` of a page that was not used, in words."""
    reason, _, detail = why.partition(": ")
    is_zh = language == "zh"
    if status := _HTTP.fullmatch(reason):
        return f"状态 {status[1]}" if is_zh else f"status {status[1]}"
    said = _UNFIT[reason][is_zh] if reason in _UNFIT else reason.replace("_", " ")
    if is_zh:
        found = ((form.fullmatch(detail), meaning) for form, meaning in _DETAILS_ZH)
        detail = next((match.expand(meaning) for match, meaning in found if match), detail)
    return said + ("，" if is_zh else ", ") * bool(detail) + detail


def freshness_line(answer: Answer) -> str:
    """Class, window, newest evidence, and why pages were or were not fetched while answering; empty where none of that matters."""
    fresh, live = answer.freshness, answer.freshness.live
    if live is None or (fresh.window_s is None and not live.triggered):
        return ""
    is_zh = answer.lang == "zh"
    newest = fresh.newest_source[:10] if fresh.newest_source else ""
    name, within = class_name(fresh.question_class, answer.lang), window(fresh.window_s, answer.lang)
    parts = [f"时效：{name}，{within}" if is_zh else f"Freshness: {name}, {within}"]
    if newest:
        parts.append(f"最新依据 {newest}" if is_zh else f"newest evidence {newest}")
    return ("；" if is_zh else "; ").join([*parts, *_live_parts(live, answer.lang)])


def _live_parts(live: LiveUse, language: str) -> list[str]:
    is_zh = language == "zh"
    between = "；" if is_zh else "; "
    outcome = _OUTCOMES[_one_of(language)][live.outcome]
    why = between.join(live_reason(one, language) for one in live.why)
    parts = [f"{outcome}（{why}）" if is_zh else f"{outcome} ({why})"]
    if live.filters:
        told = ("、" if is_zh else ", ").join(unfit(one, language) for one in live.filters)
        parts.append(f"未采用 {told}" if is_zh else f"not used {told}")
    return parts


def _one_of(language: str) -> str:
    return "zh" if language == "zh" else "en"
