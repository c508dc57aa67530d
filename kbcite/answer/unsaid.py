"""Which words of a question no passage says: what tells `Does it run on Windows?` from a question that the pages answer.

Cosine and coverage see that a page is on the subject; they do not see that 热水器 is not 净水器 and a K5 is not a K2. So the content
words of the question are looked for in the chosen passages, their blocks, headings and titles. English words are
stems; Chinese has no blanks, so the question is cut at the words that only ask, and a character is said where one of its pairs within
such a piece is, or where the passage itself holds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from kbcite.answer.figures import find_figures, is_in
from kbcite.answer.questions import Kind, Question, focus_terms
from kbcite.answer.said_as import is_said
from kbcite.answer.weights import Weigh, fold, is_stop, stems
from kbcite.patterns import pattern
from kbcite.words import CJK, normalise, simplify

_EMPTY = frozenset(
    stems(
        "long old far tall high big large often fast deep wide heavy name kind type sort group happen get use make take go come "
        "need want give tell mean meaning call known year day month week hour minute time date number way thing one cost price "
        "pay much many people person place country region nation say know look like does where there these those please exactly "
        "currently usually previously initially first possible now today new latest different difference differ compare comparison notable main located"
    )
)
"""Words that ask for a kind of thing; whether it is there is seen by its form, a figure or a date."""
_ASKING = pattern(
    "请问|什么时候|什么时间|什么地方|什么样|什么|为什么|为何|多少钱|多少|多久|多长时间|[多有]大|多高|多远|多快|多长|多重|多宽|多深"
    "|几[个名位点月号天年次条级层岁种项]?|哪[些里个种儿年天位家]?|谁|怎么样|怎么|怎样|如何|是否|能否|能不能|可不可以|有没有|可以|需要|应该|应当|现在|目前|最新"
    "|包括|属于|分别|位于|时间|日期|时候|地方|意思|国家|区域|领域|名字|具体|总共|大约|开始|通常|时|我们|你们|您|我|你|吗|呢|吧|啊|是|的|了|在|有|和|与|及|或|被|把|将|对|从|到|由|于|为|以|之|其|这|那|该|此|每|都|也|还"
    "|叫|做|让|使|就|要|区别|差别"
)
_RUN = pattern(f"[{CJK}]{{2,}}")


_ASKED = "(?:谁|哪|什么|多少|多久|多[大高长远快重宽深]|几|怎|如何)"
_HAN = "[\u4e00-\u9fff]"
_NOUN = pattern(
    f"(?:(?P<of>{_HAN}{{2,9}}?)|[\\da-z年月]\\s*)的\\s*(?P<head>{_HAN}{{2,6}}?)(?:是|为|有|在|叫){_ASKED}"
    f"|谁是(?P<of2>{_HAN}{{2,9}}?)的(?P<head2>{_HAN}{{2,6}})$|谁是(?P<head3>{_HAN}{{2,12}})$"
    f"|^(?P<head4>{_HAN}{{2,12}}?)(?:是|有){_ASKED}"
)
"""`栖岚热水器的保修期是多久`: of what, and what is asked for."""
_VERB = pattern(
    "申请|办理|购买|预订|预约|取消|使用|更换|修改|安装|参加|加入|注册|登录|提交|支付|缴纳|退还|归还|查询|联系|开通|关闭|下载|出发|到达|抵达|举行|举办"
    "|成立|创立|创办|建立|发布|发行|出版|获得|赢得|担任|出任|年满|每年|每月|每天|最|第|当时|当前|目前|现任|前任|首任|首位|整个|全部|所有|其他|其它|任何|一般|普通"
)
"""What a Chinese noun phrase may open with that is no name."""
_JOINS = pattern("[的在和了将与从离被把之后前中对向到于]")
_ADVERB = pattern(
    "(?:旁边|附近|周围|当中|里面)$|^(?:大约|一共|总共|目前|现在)|^(?:[一二两三四五六七八九十]+[个种位项名])|^(?:主要|常用|官方|最[长短大小多少高低早晚终])|(?:分别|各自|一共|总共|最[先早初后]|[都也先又均曾共各])+$"
)
_KINDS_OF_THING = tuple(
    "时间 日期 地点 地方 名字 名称 意思 数量 人数 总数 比例 原因 方法 步骤 国家 城市 含义 定义 年份 术语 称谓 称呼 排名 别名 作用 用途 用处 功能"
    " 例子 来源 理论 同义词 原名 观点 看法"
    " 主张 期限 种族 类型 种类 特点 特征 目标 目的 结果 影响 问题 情况 条件 说法 过程 尺度 单位".split()
)
_YES_OR_NO = pattern(
    r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|may|should|must)\b|吗[？?]?$|是否|能否|能不能|有没有|可不可以",
    re.IGNORECASE,
)
_NAME = pattern(
    r"(?:(?<=[\w,;:\u4e00-\u9fff] )|(?<=[\u4e00-\u9fff]))(?!I\b)[A-Z][A-Za-z\d.+-]*|^[A-Z][A-Za-z\d.+-]*(?=\s?[\u4e00-\u9fff])"
    r"|\b[A-Za-z]+-?\d[A-Za-z\d.-]*|\b[A-Z]{2,}\b|\b\d+(?:\.\d+)+\b",
    re.ASCII,
)
_OF_A_PLACE = pattern(r"(?<=[a-z]{4})(?:n|ese)$|(?<=[a-z]{3})ish$")
_PEOPLE = pattern("(?:ish|[ie]an|ese)$|^(?:Dutch|French|Greek|Swiss|Arab|Czech|Thai)$")
"""`British`: a people or a language, which an answer seldom says again."""
_SURROUNDINGS = pattern(r"\b[Ii]n (?:the |degrees )?(?:[A-Z][a-z]+ ?)+")
"""`in Germany`: what a whole page may be about without naming it."""
_NUMBERED = pattern(
    r"第?\d+\s?[号期届章条代版]|\b(?:version|release|chapter|section|article|phase|line|route|protocol|part) \d+", re.I
)
ASKED = 1.5
"""A word that says what is asked for, against another content word."""
_DEED = pattern(
    r"\bhow (?:do|can|should|would) (?:i|you|we|one) (?P<verb>[a-z]+)|^how to (?P<to>[a-z]+)", re.IGNORECASE
)
DEED = 3.0
"""What is to be done: `How do I install it?` is not answered where nothing is installed."""
NAMED = 0.4
"""A name: that a page is on the subject does not say that it answers."""
NEEDED = {"en": 1.0, "zh": 0.8}
"""Confidence that is needed, over the share of a question's content that nothing says; less for Chinese, whose content is cut
without a dictionary and holds more that only asks.

Set on a sample of 450 questions of rgb_zh_ctx5, xquad_en_removed and xquad_zh_removed, half of them without an answer
(`python -m tests.bench.qa_run answers DATA OUT`): 9 % of those with an answer are refused; where the page was taken out, 96 % (en)
and 86 % (zh) are. With 1.25 Chinese refuses 93 % of those, and 23 % instead of 14 % of the ones with an answer.
"""
MISSPELT = 0.88
"""Likeness, as difflib measures it, from which a name in the evidence is the one meant: `Sheeshanks` for Sheepshanks."""
NEVER = 2.0
"""More than any confidence."""
MOST_UNSAID = 0.7
"""Share of a question's content beyond which the rest is its subject alone, and no confidence is enough."""
NEEDED_OF_YES_OR_NO = 5.0
"""The same for a question that only asks whether it is so: nothing but its own words tells what would answer it."""


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What of a question nothing says."""

    words: tuple[str, ...]
    needed: float
    """Confidence from which the question may be answered all the same; over 1 where it may not."""
    share: float = 0.0
    """Of the weight of the question's content words."""


def find_unsaid(
    question: Question, passages: Sequence[str], evidence: Sequence[str], everything: str, weigh: Weigh
) -> Unsaid:
    """What the passages, and the evidence they stand in, leave unsaid of a question in their own language.

    everything: the text of all that was retrieved, to tell what is unknown from what only stands elsewhere.
    """
    text = question.text
    near, around = normalise("\n".join(passages)), normalise("\n".join(evidence))
    said = frozenset(stems(around))
    decisive = [
        *_unknown_names(text, around, everything),
        *_missing_figures(question, around),
        *_other_nouns(question, said, near, around, simplify(normalise(everything))),
        *_missing_object(question, said, everything),
        *_missing_literals(text, "\n".join(passages), "\n".join(evidence)),
    ]
    words = contents(text, said, near, weigh)
    total = sum(content.weight for content in words)
    missing = [content for content in words if not content.is_said]
    share = sum(content.weight for content in missing) / total if total else 0.0
    if decisive:
        return Unsaid(tuple(dict.fromkeys(decisive)), NEVER, share)
    names = tuple(dict.fromkeys(content.word for content in missing))
    if share > MOST_UNSAID:
        return Unsaid(names, NEVER, share)
    factor = NEEDED_OF_YES_OR_NO if _YES_OR_NO.search(text) else NEEDED[question.language]
    return Unsaid(names, factor * share, share)


def find_unsaid_across(question: Question, evidence: Sequence[str], everything: str) -> Unsaid:
    """What the evidence in another language leaves unsaid: figures, and what is written in Latin letters in both.

    An English name has a Chinese one, so on Chinese pages only a version or model number is looked for.
    """
    around = normalise("\n".join(evidence))
    names = _unknown_names(question.text, around, everything)
    if question.language == "en":
        names = [name for name in names if any(c.isdigit() for c in name)]
    decisive = tuple(dict.fromkeys([*names, *_missing_figures(question, around)]))
    return Unsaid(decisive, NEVER if decisive else 0.0)


def _unknown_names(text: str, around: str, everything: str) -> list[str]:
    """Latin names and model numbers that the evidence lacks, initials of names that anything retrieved holds apart."""
    initials = "".join(re.findall(r"\b([A-Z])[a-z]", everything))
    around = _unaccented(around)
    words = frozenset(re.findall(r"[a-z]{5,}", around))
    surroundings = [match.span() for match in _SURROUNDINGS.finditer(text)]
    found = []
    for match in _NAME.finditer(text):
        if _PEOPLE.search(match.group()) or any(start <= match.start() < end for start, end in surroundings):
            continue  # it still weighs as a word
        name = _unaccented(normalise(match.group())).rstrip(".-")
        has_digit = any(c.isdigit() for c in name)
        ending = "(?:e?s)?"
        if not has_digit:
            plain = name.partition("-")[0]
            name = _OF_A_PLACE.sub("", plain)  # an Indian school is one in India
            ending = "[a-z]*" if (len(name) >= 4 and name != plain) or len(name) >= 5 else ending
        is_known = re.search(rf"(?<![a-z\d]){re.escape(name)}{ending}(?![a-z\d])", around) or name.upper() in initials
        if not is_known and (has_digit or not _is_misspelt(name, words)):
            found.append(match.group())
    return found


def _is_misspelt(name: str, words: Collection[str]) -> bool:
    """True where a word is the name but for a slip in it; one that only goes on, or stops, is another word."""
    near = get_close_matches(name, words, 3, MISSPELT)
    return any(not word.startswith(name) and not name.startswith(word) for word in near)


def _unaccented(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _missing_figures(question: Question, around: str) -> list[str]:
    held = find_figures(around)
    ordinals = [f.text for f in question.figures if f.kind == "ordinal" and f.value != 1 and not is_in(f, held)]
    years = [str(f.year) for f in question.figures if f.year and str(f.year) not in around]
    folded = fold(around)
    return [*ordinals, *years] + [
        m.group() for m in _NUMBERED.finditer(normalise(question.text)) if fold(m.group()) not in folded
    ]


_LITERAL = pattern(
    r"['\"`‘“「](?P<quoted>[\w.+%/-]{1,20})['\"`’”」]|(?<![\w.'’%+-])(?P<letter>%?[B-HJ-Z])(?=[\s?？]|$)(?!\s+[A-Z])"
    r"|(?<![\w-])(?P<option>--?[A-Za-z][\w-]*)"
    r"|\bthe (?P<named>[a-z][\w.-]*) (?:command|directive|flag|option)\b|(?<![\w.,])(?P<number>\d{3,})(?= mean\b| ?是什么意思)",
    re.ASCII,
)


def _missing_literals(text: str, near: str, around: str) -> list[str]:
    """What the question writes as a page writes it, a sign in quotes, one letter, a command, and the evidence does not hold so.

    A number whose meaning is asked for must stand in the passage itself.
    """
    found = []
    for match in _LITERAL.finditer(text):
        word = next(group for group in match.groups() if group)
        is_exact = len(word) == 1 or match["letter"] or match["named"] or match["option"]
        held = near if match["number"] else f"{near}\n{around}"
        if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", held, 0 if is_exact else re.IGNORECASE):
            found.append(word)
    return found


_OBJECT = pattern(f"(?:安装|卸载|升级|下载|购买|使用|注册|打开|配置|启动|关闭|启用)(?P<zh>{_HAN}{{2,6}})[?？。]*$")
_HEAD = pattern(r"^what (?:is|are|was|were) the (?P<en>[a-z]+) of\b", re.IGNORECASE)


def _missing_object(question: Question, said: Collection[str], everything: str) -> list[str]:
    """What is to be done something with, that nothing retrieved names (`安装微信`), or what is asked of it, that the evidence does not (`the salary of`)."""
    if question.kind is Kind.HOW and (match := _OBJECT.search(simplify(question.text))):
        return [match["zh"]] if match["zh"][:2] not in simplify(normalise(everything)) else []
    if match := _HEAD.search(question.text):
        term = stems(match["en"])[0]
        return [match["en"]] if term not in _EMPTY and not is_said(term, said) else []
    return []


def _other_nouns(question: Question, said: Collection[str], near: str, around: str, everything: str) -> list[str]:
    """Chinese nouns a question turns on of which the evidence knows a part only: 热水器 where it speaks of 净水器."""
    found = []
    for match in _NOUN.finditer(normalise(question.text).rstrip("?？。 ")):
        for name, noun in match.groupdict().items():
            noun = _ADVERB.sub("", noun or "")
            if len(noun) < 2 or _JOINS.search(noun):
                continue
            pairs = [noun[i : i + 2] for i in range(len(noun) - 1)]
            held = [is_said(pair, said) for pair in pairs]
            alone = (c for i, c in enumerate(noun) if not any(held[max(0, i - 1) : i + 1]))
            is_other = name not in ("head3", "head4") and any(held) and any(c not in around for c in alone)
            if name.startswith("head") and not held[-1]:
                is_other |= question.kind is Kind.PERSON or any(c not in near for c in noun[-2:])
            is_named = len(noun) > 4 and not any(c in everything for c in noun[:2]) and not _VERB.match(noun)
            is_other |= is_named and any(held[2:])  # 钻石卡年费 where only other cards have one
            if is_other and not noun.endswith(_KINDS_OF_THING):
                found.append(noun)
    return found


@dataclass(frozen=True, slots=True)
class Content:
    """One content word of a question, or a character of a Chinese one."""

    word: str
    """As the question writes it; the whole piece for a character."""
    weight: float
    is_said: bool


def contents(text: str, said: Collection[str], near: str, weigh: Weigh) -> list[Content]:
    """The content words of a question, each with whether it is among the terms said by the evidence, or `near` by a passage."""
    focus = focus_terms(text)
    deed = frozenset(stems(match["verb"] or match["to"])) if (match := _DEED.search(text)) else frozenset()
    names = frozenset(stems(" ".join(match.group() for match in _NAME.finditer(text))))
    found = []
    plain = _RUN.sub(" ", normalise(text))
    shown = {term: word for word in re.findall(r"[^\W_][\w.+'-]*", plain)[::-1] for term in stems(word)}
    for term in dict.fromkeys(stems(plain)):
        if not is_stop(term) and term not in _EMPTY and not re.fullmatch(f"[{CJK}]", term):
            word = shown.get(term, term).rstrip(".-'")
            factor = DEED if term in deed else ASKED if term in focus else NAMED if term in names else 1.0
            found.append(Content(word, weigh(term) * factor, is_said(term, said)))
    for run in _RUN.findall(_ASKING.sub(" ", normalise(text))):
        found.extend(_characters(run, said, near, weigh))
    return found


def _characters(run: str, said: Collection[str], near: str, weigh: Weigh) -> list[Content]:
    """Each character of a run, named by the run; it is said where a pair it is part of is."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    held = [is_said(pair, said) for pair in pairs]
    found = []
    for i, character in enumerate(run):
        own = range(max(0, i - 1), min(i + 1, len(pairs)))
        weight = max(weigh(pairs[j]) for j in own) / 2
        found.append(Content(run, weight, any(held[j] for j in own) or character in near))
    return found
