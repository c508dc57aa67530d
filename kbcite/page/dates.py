"""Dates as people and machines write them, in Chinese, English and the larger European languages.

A date comes back as `2015-03-08`, or with the time of day as far as it was given: `2015-03-08T12:30:00+08:00`. Times keep the
zone they were written with, so that the day stays the day that readers of the page saw.
"""

from __future__ import annotations

import re
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
_DAY = r"3[01]|[12]\d|0?[1-9]"
_CHINESE_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | dict.fromkeys("零○OＯ", 0)

# Every date but one in Chinese numerals has a year in digits; what stands around it is only looked at there.
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_AFTER_YEAR = re.compile(
    rf"\s?(?:[-/.．]|年\s?)\s?(?P<month>1[0-2]|0?[1-9])\s?(?:[-/.．]|月\s?)\s?(?P<day>{_DAY})(?![\d%]|\.\d)(?:日|号)?"
)
_BEFORE_YEAR = re.compile(
    rf"""(?x)
    (?: (?P<name>[^\W\d_]{{3,10}}) \.? \s? (?P<day>{_DAY}) (?:st|nd|rd|th)? ,? \s+
      | (?<![\d.]) (?P<day2>{_DAY}) (?:st|nd|rd|th|\.|er|º)? [\s-]? (?:of\s|de\s)? \s?
        (?P<name2>[^\W\d_]{{3,10}}) \.? ,? [\s-]? (?:de\s|of\s)? \s?
      | (?<![\d./-]) (?P<first>\d\d?) (?P<separator>[./-]) (?P<second>\d\d?) (?P=separator)
    )$"""
)
_LONGEST_BEFORE_YEAR = 24
_VERSION_JOINTS = (".", ",", "/", "-")
"""Before a year they make it part of a version, a path or an amount."""
_TIME = re.compile(
    r"""(?ix)
    [\s,，|·T/@(（-]{0,12} (?:(?:星期|周)[一二三四五六日天][\s)）]{0,3})? (?:at\s|um\s|à\s)?
    (?P<half>上午|下午|晚上?|中午|早上?)? \s?
    (?<!\d) (?P<hour>2[0-3]|[01]?\d) \s? [:：时點点h] \s? (?P<minute>[0-5]\d) (?:[:：分](?P<second>[0-5]\d)(?:[.,]\d+)?)?
    (?:\s?(?P<pm>[ap]\.?m\b))? (?:\s?(?P<zone>Z\b|(?:GMT|UTC)?[+-]\d\d:?\d\d(?!\d)|GMT\b|UTC\b))?"""
)
_NUMERAL = "[〇零○一二三四五六七八九十]"
_IN_NUMERALS = re.compile(
    rf"(?P<year>[〇零○一二三四五六七八九OＯ]{{4}})年(?P<month>{_NUMERAL}{{1,2}})月(?P<day>{_NUMERAL}{{1,3}})日"
)
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?![0-9]{1,3}(?!\d))")
_COMPACT_TIME = re.compile(
    r"[T_]?(?P<half>)(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?(?P<pm>)(?P<zone>Z|[+-]\d{4})?(?!\d)"
)
_URL_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[/_-]?(0[1-9]|1[0-2])[/_-]?(0[1-9]|[12]\d|3[01])(?!\d)"
    r"|/((?:19|20)\d\d)[/-](1[0-2]|[1-9]|[a-z]{3,9})[/-](3[01]|[12]\d|0?[1-9])(?!\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    value: str
    start: int
    end: int
    """Behind the time of day, where there is one."""


def find_dates(text: str, day_first: bool = False) -> list[FoundDate]:
    """Every full date (year, month and day) of a text with its place, in order.

    day_first: read 03/08/2015 as the third of August. With points, 03.08.2015, the day always comes first.
    """
    found: list[FoundDate] = []
    for year in _YEAR.finditer(text):
        start, end = year.span()
        if after := _AFTER_YEAR.match(text, end):
            if text[start - 1 : start] in _VERSION_JOINTS:
                continue
            month, day, end = int(after["month"]), int(after["day"]), after.end()
        elif before := _BEFORE_YEAR.search(text, max(0, start - _LONGEST_BEFORE_YEAR), start):
            month, day = _month_and_day(before, day_first)
            start = before.start()
        else:
            continue
        time = _TIME.match(text, end)
        if value := _compose(int(year[0]), month, day, time):
            found.append(FoundDate(value, start, time.end() if time else end))
    if not found and "年" in text:
        for match in _IN_NUMERALS.finditer(text):
            digits = int("".join(str(_CHINESE_DIGITS[digit]) for digit in match["year"]))
            if value := _compose(digits, _number(match["month"]), _number(match["day"])):
                found.append(FoundDate(value, *match.span()))
    return found


def read_date(text: str, day_first: bool = False) -> str | None:
    """The first full date of a short text such as an attribute, also in the compact form 20150308T123000Z."""
    if found := find_dates(text, day_first):
        return found[0].value
    if match := _COMPACT.search(text):
        year, month, day = map(int, match.groups())
        return _compose(year, month, day, _COMPACT_TIME.match(text, match.end()))
    return None


def date_in_url(path: str) -> str | None:
    """The day that a URL's path names, `/2015/03/08/`, `/20150308/`, `t20150308_1.html`, or None."""
    for match in _URL_DATE.finditer(path):
        year, month, day = (part for part in match.groups() if part)
        number = int(month) if month.isdigit() else _MONTHS.get(month.lower(), 0)
        if value := _compose(int(year), number, int(day)):
            return value
    return None


def _month_and_day(match: re.Match[str], day_first: bool) -> tuple[int, int]:
    """Month and day before a year; month 0 for a word that is none."""
    if name := match["name"] or match["name2"]:
        return _MONTHS.get(name.lower(), 0), int(match["day"] or match["day2"])
    first, second = int(match["first"]), int(match["second"])
    if (day_first or match["separator"] == "." or first > 12) and second <= 12:
        return second, first
    return first, second


def _compose(year: int, month: int, day: int, time: re.Match[str] | None = None) -> str | None:
    """The normal form, or None for a day that no calendar has or that is older than the web."""
    try:
        value = date(year, month, day).isoformat()
    except ValueError:
        return None
    if year < EARLIEST_YEAR:
        return None
    if time is None:
        return value
    hour = int(time["hour"])
    is_afternoon = time["half"] in ("下午", "晚", "晚上") or (time["pm"] or "").lower().startswith("p")
    if is_afternoon and hour < 12:
        hour += 12
    elif hour == 12 and (time["pm"] or "").lower().startswith("a"):
        hour = 0
    return f"{value}T{hour:02}:{time['minute']}:{time['second'] or '00'}{_zone(time['zone'])}"


def _zone(text: str | None) -> str:
    if not text:
        return ""
    offset = text.upper().removeprefix("GMT").removeprefix("UTC").replace(":", "")
    return f"{offset[:3]}:{offset[3:]}" if offset[:1] in ("+", "-") else "Z"


def _number(numeral: str) -> int:
    """The value of a Chinese numeral from 一 to 三十一, 0 for anything that is none."""
    tens, ten, ones = numeral.rpartition("十")
    if not ten:
        return _CHINESE_DIGITS[numeral] if len(numeral) == 1 else 0
    if len(tens) > 1 or len(ones) > 1 or "十" in tens:
        return 0
    return 10 * (_CHINESE_DIGITS[tens] if tens else 1) + (_CHINESE_DIGITS[ones] if ones else 0)
