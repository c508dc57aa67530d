"""Which way a sentence points: negation, opposite directions, and words that leave no exception."""

from __future__ import annotations

import re

from kbcite.answer.weights import is_stop, stems
from kbcite.patterns import pattern

_NEGATION_ZH = pattern(
    r"不(?!仅|但|过|管|论|同|断|久|少|错|如|得不|止|只|足)|没有|没(?=[能会被得])|未(?!来|知|必)|无(?!论|锡|疑|线|人机|限|数)|非(?!常|洲|凡|物质|遗)|禁止|并非|从未"
    r"|否认|拒绝|取消"
)
_NEGATION_EN = pattern(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|denied|denies|refus(?:e|es|ed|ing)|reject(?:s|ed)?|failed|fails|unable|incapable"
    r"|lacks?|turned down|declined)\b|n['’]t\b",
    re.IGNORECASE,
)
_ALMOST_NOT = pattern(
    r"\b(?:yet to|barely|hardly|scarcely|rarely|seldom|zero|other than|outside|against|disassociated|rather than|except|instead of|prevent\w*|avoid\w*"
    r"|ceased?|far from|anything but|un(?:related|involved|able|known|successful|married|aware)|false(?:ly)?)\b",
    re.IGNORECASE,
)
"""Words that leave out or deny without saying `not`."""
_OPPOSITES = tuple(
    (pattern(one, re.IGNORECASE), pattern(other, re.IGNORECASE))
    for one, other in (
        ("上升|增长|增加|提高|上涨|收涨|走高|扩大|回升|升至", "下降|减少|降低|下跌|收跌|走低|缩小|回落|降至|下滑"),
        ("高于|超过|多于", "低于|少于|不足"),
        ("击败|战胜|取胜|获胜", "负于|不敌|输给|告负|落败"),
        ("之前|以前", "之后|以后"),
        ("支持|赞成|同意", "反对|否决"),
        ("顺差|盈利", "逆差|亏损"),
        (
            r"\bincreas\w*|\brise|\brose|\bgrew|\bgrow\w*|\bhigher",
            r"\bdecreas\w*|\bfall|\bfell|\bdeclin\w*|\bdrop\w*|\blower|\breduc\w*",
        ),
        (r"\bmore than\b|\bover\b|\babove\b", r"\bless than\b|\bfewer than\b|\bunder\b|\bbelow\b"),
        (r"\bbefore\b", r"\bafter\b"),
        (r"\bwins?\b|\bwon\b|\bbeat\b", r"\blost\b|\bloses?\b"),
        (r"\bbest\b|\bsuccess\w*", r"\bworst\b|\bfail\w*|\bflop\w*"),
        (r"\balive\b|\bliving\b", r"\bdead\b|\bdied\b|\bdeceased\b"),
        (r"\bnorth\w*", r"\bsouth\w*"),
        (r"\beast\w*", r"\bwest\w*"),
    )
)
_ABSOLUTE = pattern(
    r"\b(?:only|exclusively|solely|never|all|every|always|entirely|none)\b|只有|唯一|仅|全部|所有|从未|从不|完全|都是",
    re.IGNORECASE,
)


_CLAUSE_END = pattern("[,;:.]")


def is_negated(text: str) -> bool:
    """True where a text says that something is not so; two negations cancel out."""
    return (len(_NEGATION_ZH.findall(text)) + len(_NEGATION_EN.findall(text))) % 2 == 1


def negation_differs(claim: str, sentence: str) -> bool:
    """True where one of them denies what the other says; a negation of what the other does not speak of tells nothing."""
    mine, theirs = frozenset(stems(claim)), frozenset(stems(sentence))
    return (_denials(claim, theirs) - _denials(sentence, mine)) % 2 == 1


def _denials(text: str, spoken_of: frozenset[str]) -> int:
    """How often a text denies one of the terms: in English the last word of the clause before a negation and three after it, in Chinese 2 and 5 characters."""
    count = 0
    for signs in (_NEGATION_EN, _ALMOST_NOT):
        for match in signs.finditer(text):
            after = [term for term in stems(text[match.end() : match.end() + 60]) if not is_stop(term)][:3]
            clause = _CLAUSE_END.split(text[max(0, match.start() - 30) : match.start()])[-1]
            before = [term for term in stems(clause) if not is_stop(term)]
            denied = {*after, *before[-1:]}
            count += not denied or not denied.isdisjoint(spoken_of)
    for match in _NEGATION_ZH.finditer(text):
        beside = stems(text[match.end() : match.end() + 5]) + stems(text[max(0, match.start() - 2) : match.start()])
        denied = {term for term in beside if len(term) > 1 and not is_stop(term)}
        count += not denied or not denied.isdisjoint(spoken_of)
    return count


def opposes(claim: str, evidence: str) -> bool:
    """True where the one says only `rise` and the other only `fall`, or another such pair."""
    for one, other in _OPPOSITES:
        mine = bool(one.search(claim)), bool(other.search(claim))
        theirs = bool(one.search(evidence)), bool(other.search(evidence))
        if mine != theirs and sorted(mine) == sorted(theirs) == [False, True]:
            return True
    return False


def lacks_absolute(claim: str, evidence: str) -> bool:
    """True where the claim leaves no exception (`only`, `all`, `never`) and the evidence does not say so."""
    return bool(_ABSOLUTE.search(claim)) and not _ABSOLUTE.search(evidence)
