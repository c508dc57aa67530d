"""The sentences kbcite itself writes into an answer, in the language of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kbcite.patterns import pattern
from kbcite.records import RefusalReason

CANNOT_CONFIRM = {
    "zh": "我无法从提供的资料中确认这一点",
    "en": "I cannot confirm this from the sources provided",
}
DOMAIN_NOT_ALLOWED = {"zh": "暂未获取到相关信息", "en": "No information has been obtained from that site"}
LIVE_NOTICE = {
    "zh": "以下内容为实时抓取，可能包含未经验证的信息",
    "en": "The following was fetched live and may hold unverified information",
}

CONFLICT_NOTICE = {
    "zh": "多来源信息存在冲突，以下内容可能不完全准确",
    "en": "Sources contradict one another; the following may not be wholly accurate",
}

_RESPELT = {"zh": "按“{other}”理解“{word}”", "en": "“{word}” is read as “{other}”"}

_WAYS_ON = {
    "zh": {
        RefusalReason.EMPTY_RECALL: "知识库中没有找到相关内容：请换一种问法、补充关键词，或先收录相关页面；也可以转交人工处理。",
        RefusalReason.BELOW_THRESHOLD: "找到的内容与问题不够相关：请补充名称、时间或范围等细节；也可以转交人工处理。",
        RefusalReason.CITATION_CHECK_FAILED: "找到了相关资料，但没有一句话能通过引用核对：请把问题问得更具体；也可以转交人工处理。",
        RefusalReason.STALE_ONLY: "找到的资料已超过这类问题的时效：请先更新来源页面再问；也可以转交人工处理。",
        RefusalReason.NO_PERMISSION: "您没有查看相关资料的权限：请向资料管理员申请。",
        RefusalReason.DOMAIN_NOT_ALLOWED: "该网站不在来源白名单中：请先把它加入来源，或转交人工处理。",
    },
    "en": {
        RefusalReason.EMPTY_RECALL: "Nothing in the knowledge base matches: rephrase the question, add key words, or add pages on the "
        "subject first; or hand over to a person.",
        RefusalReason.BELOW_THRESHOLD: "What was found is not close enough to the question: add a name, a time or a scope; or hand over "
        "to a person.",
        RefusalReason.CITATION_CHECK_FAILED: "Related passages were found, but no sentence passed the citation check: ask more "
        "specifically; or hand over to a person.",
        RefusalReason.STALE_ONLY: "What was found is older than this kind of question allows: refresh the source pages and ask again; "
        "or hand over to a person.",
        RefusalReason.NO_PERMISSION: "You have no permission for the material concerned: ask its owner.",
        RefusalReason.DOMAIN_NOT_ALLOWED: "The site is not among the allowed sources: add it as a source first, or hand over to a person.",
    },
}  # fmt: skip

_REFUSAL = pattern(
    r"无法(?:从|根据|在)?.{0,14}(?:资料|材料|文档|内容|来源|信息|上下文).{0,8}(?:确认|证实|回答|得出|判断|找到)|无法(?:确认|回答)(?:这|该|此|您)"
    r"|(?:资料|材料|来源|文档|上下文|文中)(?:里|中|内)?(?:并)?(?:没有|未)(?:有)?(?:提到|提及|找到|提供|说明|包含|涉及)|我不知道"
    r"|(?:can ?not|can't|unable to|could not|couldn't) (?:be )?(?:confirm|answer|verif|determin|find)"
    r"|(?:sources?|context|documents?|passages?|text) (?:provided )?(?:do|does|did)(?: not|n't) (?:say|mention"
    r"|contain|provide|state|specify|include)"
    r"|not (?:mentioned|stated|specified|provided) in the (?:sources?|context|documents?)|not (?:enough"
    r"|sufficient) (?:information|evidence)"
    r"|no (?:relevant )?(?:information|evidence) (?:in|found)|\bI do(?: not|n't) know\b",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """True where a sentence says that the sources do not tell."""
    return bool(_REFUSAL.search(text))


def refusal_message(reason: RefusalReason, language: str) -> str:
    """The fixed sentence and a way on (SPEC 44)."""
    opening = (DOMAIN_NOT_ALLOWED if reason is RefusalReason.DOMAIN_NOT_ALLOWED else CANNOT_CONFIRM)[language]
    way_on = _WAYS_ON[language][reason]
    return f"{opening}。{way_on}" if language == "zh" else f"{opening}. {way_on}"


def difference_sentence(values: tuple[str, str], reason: str, language: str) -> str:
    """A sentence that says that sources differ, the preferred value first; reason as `conflicts.precedence` gives it."""
    first, second = values
    zh = {
        "internal": f"注意：来源之间存在差异，内部资料为“{first}”，网页为“{second}”。",
        "live": f"注意：来源之间存在差异，实时抓取的页面为“{first}”，已存页面为“{second}”。",
        "newer": f"注意：来源之间存在差异，较新的来源为“{first}”，较早的来源为“{second}”。",
        "rank": f"注意：来源之间存在差异，一处为“{first}”，另一处为“{second}”，发布时间分不出先后。",
    }
    en = {
        "internal": f"Note that sources differ: the internal document has “{first}”, a web page has “{second}”.",
        "live": f"Note that sources differ: the page fetched live has “{first}”, a stored page has “{second}”.",
        "newer": f"Note that sources differ: the newer one has “{first}”, an older one has “{second}”.",
        "rank": f"Note that sources differ: one has “{first}”, another has “{second}”, and their dates do not decide.",
    }
    return (zh if language == "zh" else en)[reason]


def cross_check_sentence(agreed: str, count: int, others: Sequence[str], language: str) -> str:
    """What comparing sources gave: how many agree on a value, and what others have; without an agreed value, what each has."""
    if language == "zh":
        quoted = "、".join(f"“{value}”" for value in others)
        if not agreed:
            return f"经核对，各来源说法不一：{quoted}。"
        rest = f"，另有来源为{quoted}" if others else ""
        return f"经核对，{count} 个来源一致为“{agreed}”{rest}。"
    quoted = ", ".join(f"“{value}”" for value in others)
    if not agreed:
        return f"Compared, the sources differ: {quoted}."
    rest = f"; another has {quoted}" if others else ""
    return f"Compared, {count} sources agree on “{agreed}”{rest}."


def newest_notice(when: str, language: str) -> str:
    return f"找到的最新来源日期为 {when}。" if language == "zh" else f"The newest source found is dated {when}."


def stale_notice(numbers: Sequence[int], language: str) -> str:
    marks = "".join(f"[{n}]" for n in numbers)
    if language == "zh":
        return f"来源 {marks} 已超过这类问题的时效，内容可能已变化。"
    return f"Source {marks} is older than this kind of question allows; it may have changed."


def unsaid_notice(words: Sequence[str], language: str) -> str:
    """What of the question was found nowhere."""
    if language == "zh":
        return "找到的段落没有说到：" + "、".join(words)
    return "No passage found speaks of: " + ", ".join(words)


def low_coverage_notice(coverage: float, language: str) -> str:
    if language == "zh":
        return f"只有 {coverage:.0%} 的事实句带有引用。"
    return f"Only {coverage:.0%} of the factual sentences carry a citation."


def respelt_notice(word: str, other: str, language: str) -> str:
    return _RESPELT[language].format(word=word, other=other)


_ABOUT_SOURCES = pattern(r"(?:经核对，|注意：来源之间存在差异|Compared, (?:the|\d+) sources|Note that sources differ)")
_VALUE = pattern("“([^”]+)”")


def values_of_sources(sentence: str) -> list[str]:
    """The values that a sentence of kbcite's own gives to its sources; none for any other sentence."""
    return _VALUE.findall(sentence) if _ABOUT_SOURCES.match(sentence.strip()) else []
