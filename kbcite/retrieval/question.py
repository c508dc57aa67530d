"""What the ranking reads from a question beside its meaning: exact figures, and whether it asks for a date or an amount."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from kbcite.datelines import dateline_end
from kbcite.words import simplify


class Wanted(StrEnum):
    DATE = "date"
    YEAR = "year"
    AMOUNT = "amount"
    PERSON = "person"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    figures: frozenset[str]
    """Years, numbers and Chinese ordinals, in digits: `2020`, `3.11`, 第六届 as `6`."""
    wanted: Wanted


_WANTED = (
    (Wanted.YEAR, re.compile(r"\b(?:what|which) year\b|哪一?年", re.IGNORECASE)),
    (
        Wanted.DATE,
        re.compile(
            r"^when\b|\bwhen (?:did|was|were|does|do|will)\b|\b(?:what|which) (?:day|month|(?:(?:is|was|are|were) )?(?:the )?(?:\w+ ){0,2}dates?)\b"
            r"|什么时候|什么时间|何时|哪一?天|几月|几号|日期|时间",
            re.IGNORECASE,
        ),
    ),
    (Wanted.AMOUNT, re.compile(r"\bhow (?:many|much)\b|多少|几[个位名年岁天次]", re.IGNORECASE)),
    (Wanted.PERSON, re.compile(r"\bwhom?\b", re.IGNORECASE)),
)
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?"
_DAY = re.compile(
    rf"\d{{1,2}}月\d{{1,2}}[日号]|\b{_MONTH} \d{{1,2}}(?!\d)|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b"
    r"|(?<!\d)(?:1[5-9]|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|(?<!\d)\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d(?!\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\d{4}年|\d{1,2}月|(?<![\d.,])(?:1[0-9]|20)\d\d(?!\d|[.,]\d)")
_PERSON = re.compile(r"\b[A-Z][a-z][\w’'-]*(?:\s(?:[A-Z]\.|[“\"]?[A-Z][a-z][\w’'-]*[”\"]?|[a-z]{2,3}(?=\s[A-Z]))){1,3}")
_ROUGHLY = 0.4
"""What a year, or a month, is worth where a day is asked for, and a name where the person is: most texts hold one."""
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL = re.compile("第([零〇一二三四五六七八九十]{1,4})")
_CHINESE_NUMBER = re.compile("[一二三四五六七八九]?十[一二三四五六七八九]?|[零〇一二三四五六七八九]+")
_NUMBER_WORDS = {
    word: str(1 + i // 2)
    for i, word in enumerate(
        "one first two second three third four fourth five fifth six sixth seven seventh eight eighth nine ninth ten tenth".split()
    )
}
_DIGIT = {character: str(i) for i, character in enumerate("零一二三四五六七八九")} | {"〇": "0"}


def read_question(text: str) -> Question:
    plain = _plain(text)
    ordinals = [_in_digits(number) for number in _ORDINAL.findall(plain)]
    wanted = next((kind for kind, pattern in _WANTED if pattern.search(plain)), Wanted.OTHER)
    return Question(text, frozenset([*_NUMBER.findall(plain), *ordinals]), wanted)


def missing_figures(question: Question, text: str) -> int:
    """How many of the question's figures the text does not hold; 第六 and `sixth` are read as digits."""
    if not question.figures:
        return 0
    plain = _plain(text)
    held = {*_NUMBER.findall(plain), *(_in_digits(number) for number in _CHINESE_NUMBER.findall(plain))}
    held.update(_NUMBER_WORDS[word] for word in _WORD.findall(plain.lower()) if word in _NUMBER_WORDS)
    return len(question.figures - held)


def holds_wanted(question: Question, text: str) -> float:
    """How far the text holds what the question asks for and does not say itself, a date, an amount or a person: 0 to 1."""
    text = text[dateline_end(text) :]
    if question.wanted is Wanted.PERSON:
        asked = set(_WORD.findall(question.text.lower()))
        is_other = any(asked.isdisjoint(_WORD.findall(name.lower())) for name in _PERSON.findall(text))
        return _ROUGHLY if is_other else 0.0
    plain = _plain(text)
    if question.wanted is Wanted.AMOUNT:
        return float(not question.figures.issuperset(_NUMBER.findall(plain)))
    if question.wanted in (Wanted.DATE, Wanted.YEAR):
        if question.wanted is Wanted.DATE and _holds_other(question, _DAY.findall(plain)):
            return 1.0
        is_dated = _holds_other(question, _YEAR.findall(plain))
        return (_ROUGHLY if question.wanted is Wanted.DATE else 1.0) * is_dated
    return 0.0


def _holds_other(question: Question, dates: list[str]) -> bool:
    return any(question.figures.isdisjoint(_NUMBER.findall(date)) for date in dates)


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", simplify(unicodedata.normalize("NFKC", text)))


def _in_digits(number: str) -> str:
    """二十一 → 21, 二〇二〇 → 2020."""
    tens, ten, ones = number.partition("十")
    if not ten:
        return "".join(_DIGIT[character] for character in number)
    return (_DIGIT.get(tens, "1")) + (_DIGIT.get(ones, "0"))
