"""Datelines: when and where a report was written, in front of its first sentence. They are no part of what it says."""

from __future__ import annotations

from kbcite.patterns import pattern

_DATELINE = pattern(
    r"^(?:(?:发布)?时间[:：]\s*[\d-]+(?:\s+[\d:]+)?(?:\s*来源[:：]\s*\S+)?(?:\s*分享到\S+)?\s+|原标题[:：]\S+\s+(?:来源[:：]\S+\s+)?)"
    r"|^(?:[A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}|\d{4}年\d{1,2}月\d{1,2}日|\d{4}-\d{1,2}-\d{1,2}|\d{1,2} (?:hour|day)s? ago)\s*(?:\.\.\.|…|·|—|–|-)\s*"
    r"|^(?:据)?[\u4e00-\u9fff]{1,6}(?:社|网|报|科技|财经|新闻)[\u4e00-\u9fff]{0,4}\s?(?:\d{1,2}月\d{1,2}日)?[上下]?[午]?\s?(?:电|讯|消息|报道)"
    r"(?:\s?\d{1,2}月\d{1,2}日[上下]?[午]?消息)?\s?(?:[（(]记者[^）)]{2,20}[）)][，,：:\s]*|[，,：:\s]+)"
)


def dateline_end(text: str) -> int:
    """Where the text goes on after its dateline, `Mar 3, 2014 … ` or `新华社3月5日电 `; 0 where it has none."""
    match = _DATELINE.match(text)
    return match.end() if match else 0
