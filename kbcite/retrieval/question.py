"""What the ranking reads from a question beside its meaning: exact figures, and whether it asks for a date or an amount."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from kbcite.words import simplify


class Wanted(StrEnum):
    DATE = "date"
    AMOUNT = "amount"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    figures: frozenset[str]
    """Years, numbers and Chinese ordinals, in digits: `2020`, `3.11`, 第六届 as `6`."""
    wanted: Wanted


_WANTED = (
    (
        Wanted.DATE,
        re.compile(
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month)\b|什么时候|什么时间|何时|哪一?年|哪一?天|几月|几号|日期|时间",
            re.IGNORECASE,
        ),
    ),
    (Wanted.AMOUNT, re.compile(r"\bhow (?:many|much)\b|多少|几[个位名年岁天次]", re.IGNORECASE)),
)
_DATE = re.compile(
    r"\d{1,2}月\d{1,2}日|\d{4}年|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|(?<!\d)(?:1[5-9]|20)\d\d(?!\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL = re.compile("第([零〇一二三四五六七八九十]{1,4})")
_CHINESE_NUMBER = re.compile("[一二三四五六七八九]?十[一二三四五六七八九]?|[零〇一二三四五六七八九]+")
_DIGIT = {character: str(i) for i, character in enumerate("零一二三四五六七八九")} | {"〇": "0"}


def read_question(text: str) -> Question:
    plain = _plain(text)
    ordinals = [_in_digits(number) for number in _ORDINAL.findall(plain)]
    wanted = next((kind for kind, pattern in _WANTED if pattern.search(plain)), Wanted.OTHER)
    return Question(text, frozenset([*_NUMBER.findall(plain), *ordinals]), wanted)


def missing_figures(question: Question, text: str) -> int:
    """How many of the question's figures the text does not hold, Chinese numerals read as digits."""
    if not question.figures:
        return 0
    plain = _plain(text)
    held = {*_NUMBER.findall(plain), *(_in_digits(number) for number in _CHINESE_NUMBER.findall(plain))}
    return len(question.figures - held)


def holds_wanted(question: Question, text: str) -> bool:
    """True if the question asks for a date or an amount and the text holds one that the question does not."""
    plain = _plain(text)
    if question.wanted is Wanted.DATE:
        return any(not question.figures & set(_NUMBER.findall(date)) for date in _DATE.findall(plain))
    if question.wanted is Wanted.AMOUNT:
        return any(number not in question.figures for number in _NUMBER.findall(plain))
    return False


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", simplify(unicodedata.normalize("NFKC", text)))


def _in_digits(number: str) -> str:
    """二十一 → 21, 二〇二〇 → 2020."""
    tens, ten, ones = number.partition("十")
    if not ten:
        return "".join(_DIGIT[character] for character in number)
    return (_DIGIT.get(tens, "1")) + (_DIGIT.get(ones, "0"))
