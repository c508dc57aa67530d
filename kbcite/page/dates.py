"""Dates as people and machines write them, in Chinese, English and the larger European languages.

A date comes back as `2015-03-08`, or with the time of day as far as it was given: `2015-03-08T12:30:00+08:00`. Times keep the
zone they were written with, so that the day stays the day that readers of the page saw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

EARLIEST_YEAR = 1990
"""No web page was published before."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio janeiro januari",
            "february feb februar février fevrier febrero febbraio fevereiro februari",
            "march mar märz mrz mars marzo março maart",
            "april apr avril avr abril aprile",
            "may mai mayo maggio maio mei",
            "june jun juni juin junio giugno junho",
            "july jul juli juillet juil julio luglio julho",
            "august aug août aout agosto augustus",
            "september sep sept septembre septiembre settembre setembro",
            "october oct okt oktober octobre octubre ottobre outubro",
            "november nov novembre noviembre novembro",
            "december dec dez dezember décembre decembre diciembre dicembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_CHINESE_DIGITS = {digit: value for value, digits in enumerate("〇一二三四五六七八九") for digit in digits} | {
    "零": 0, "○": 0, "Ｏ": 0, "O": 0, "０": 0,
}  # fmt: skip
_NUMERAL = "[〇零○一二三四五六七八九十]"

_TIME = r"""
    (?: (?:日|号)? [\s,，|·T/@-]* (?:(?:星期|周)[一二三四五六日天])? \s* (?:at\s|um\s|à\s|[(（])? \s*
        (?P<{0}half>上午|下午|晚上?|中午|早上?)? \s*
        (?<!\d) (?P<{0}hour>[01]?\d|2[0-3]) \s? [:：时點点h] \s? (?P<{0}minute>[0-5]\d)
        (?: [:：分] (?P<{0}second>[0-5]\d) (?:[.,]\d+)? )?
        \s? (?P<{0}pm>[ap]\.?m\b)?
        \s? (?P<{0}zone>Z\b|(?:GMT|UTC)?[+-]\d\d:?\d\d(?!\d)|GMT\b|UTC\b)?
    )?"""
_DATE = re.compile(
    r"(?ix)"
    rf"""
    (?<![\d.,/-]) (?P<y1>(?:19|20)\d\d) \s? (?:[-/.．]|年\s?) \s? (?P<m1>1[0-2]|0?[1-9]) \s? (?:[-/.．]|月\s?) \s?
        (?P<d1>3[01]|[12]\d|0?[1-9]) (?![\d%]|\.\d) {_TIME.format("a")}
    | (?P<y2>[〇零○一二三四五六七八九OＯ]{{4}}) 年 (?P<m2>{_NUMERAL}{{1,2}}) 月 (?P<d2>{_NUMERAL}{{1,3}}) 日
    | \b (?P<m3>{_MONTH}) \s? (?P<d3>3[01]|[12]\d|0?[1-9]) (?:st|nd|rd|th)? ,? \s+ (?P<y3>(?:19|20)\d\d) (?!\d)
        {_TIME.format("c")}
    | (?<![\d.]) (?P<d4>3[01]|[12]\d|0?[1-9]) (?:st|nd|rd|th|\.|er|º)? [\s-]? (?:of\s|de\s)? \s? (?P<m4>{_MONTH})
        ,? [\s-]? (?:de\s|of\s)? \s? (?P<y4>(?:19|20)\d\d) (?!\d) {_TIME.format("d")}
    | (?<![\d./-]) (?P<a5>\d\d?) (?P<sep5>[./-]) (?P<b5>\d\d?) (?P=sep5) (?P<y5>(?:19|20)\d\d) (?![\d./-]) {_TIME.format("e")}
    """
)
_COMPACT = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])"
    r"(?:[T_]?(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?(?P<zone>Z|[+-]\d{4})?)?(?!\d)"
)
_URL_DATE = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)[/_-]?(?P<m>0[1-9]|1[0-2])[/_-]?(?P<d>0[1-9]|[12]\d|3[01])(?!\d)"
    r"|/(?P<y2>(?:19|20)\d\d)[/-](?P<m2>1[0-2]|[1-9])[/-](?P<d2>3[01]|[12]\d|[1-9])(?!\d)"
    rf"|/(?P<y3>(?:19|20)\d\d)/(?P<m3>{_MONTH})/(?P<d3>3[01]|[12]\d|0?[1-9])(?!\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    value: str
    start: int
    end: int

    @property
    def has_time(self) -> bool:
        return "T" in self.value


def find_dates(text: str, day_first: bool = False) -> Iterator[FoundDate]:
    """Every full date (year, month and day) of a text with its place, in order.

    day_first: read 03/08/2015 as the third of August. With points, 03.08.2015, the day always comes first.
    """
    for match in _DATE.finditer(text):
        if value := _value_of(match, day_first):
            yield FoundDate(value, match.start(), match.end())


def read_date(text: str, day_first: bool = False) -> str | None:
    """The first full date of a short text such as an attribute, also in the compact form 20150308T123000Z."""
    if found := next(find_dates(text, day_first), None):
        return found.value
    if match := _COMPACT.search(text):
        return _compose(
            match["y"], match["m"], match["d"], match["hour"], match["minute"], match["second"], match["zone"]
        )
    return None


def date_in_url(path: str) -> str | None:
    """The day that a URL's path names, `/2015/03/08/`, `/20150308/`, `t20150308_1.html`, or None."""
    for match in _URL_DATE.finditer(path):
        year = match["y"] or match["y2"] or match["y3"]
        month = match["m"] or match["m2"] or str(_MONTHS[match["m3"].lower().rstrip(".")])
        if value := _compose(year, month, match["d"] or match["d2"] or match["d3"]):
            return value
    return None


def _value_of(match: re.Match[str], day_first: bool) -> str | None:
    if match["y1"]:
        return _compose(match["y1"], match["m1"], match["d1"], *_time_of(match, "a"))
    if match["y2"]:
        year = "".join(str(_CHINESE_DIGITS[digit]) for digit in match["y2"])
        return _compose(year, _number(match["m2"]), _number(match["d2"]))
    if match["y3"]:
        return _compose(match["y3"], _MONTHS[match["m3"].lower().rstrip(".")], match["d3"], *_time_of(match, "c"))
    if match["y4"]:
        return _compose(match["y4"], _MONTHS[match["m4"].lower().rstrip(".")], match["d4"], *_time_of(match, "d"))
    first, second = int(match["a5"]), int(match["b5"])
    day, month = (first, second) if day_first or match["sep5"] == "." or first > 12 else (second, first)
    if month > 12:
        day, month = month, day
    return _compose(match["y5"], month, day, *_time_of(match, "e"))


def _time_of(match: re.Match[str], group: str) -> tuple[str | int | None, str | None, str | None, str | None]:
    hour = match[f"{group}hour"]
    if hour is None:
        return None, None, None, None
    half = (match[f"{group}pm"] or "").lower()[:1]
    afternoon = half == "p" or match[f"{group}half"] in ("下午", "晚", "晚上")
    number = int(hour)
    if afternoon and number < 12:
        number += 12
    elif half == "a" and number == 12:
        number = 0
    return number, match[f"{group}minute"], match[f"{group}second"], match[f"{group}zone"]


def _compose(
    year: str | int,
    month: str | int,
    day: str | int,
    hour: str | int | None = None,
    minute: str | None = None,
    second: str | None = None,
    zone: str | None = None,
) -> str | None:
    """The normal form, or None for a day that no calendar has or that is older than the web."""
    try:
        moment = date(int(year), int(month), int(day))
    except ValueError:
        return None
    if moment.year < EARLIEST_YEAR:
        return None
    if hour is None:
        return moment.isoformat()
    return f"{moment.isoformat()}T{int(hour):02}:{minute}:{second or '00'}{_zone(zone)}"


def _zone(text: str | None) -> str:
    if not text:
        return ""
    offset = text.upper().removeprefix("GMT").removeprefix("UTC").replace(":", "")
    return f"{offset[:3]}:{offset[3:]}" if offset[:1] in ("+", "-") else "Z"


def _number(numeral: str) -> int:
    """The value of a Chinese numeral from 一 to 三十一."""
    tens, ten, ones = numeral.rpartition("十")
    if not ten:
        return _CHINESE_DIGITS[numeral] if len(numeral) == 1 else 0
    return 10 * (_CHINESE_DIGITS[tens] if tens else 1) + (_CHINESE_DIGITS[ones] if ones else 0)
