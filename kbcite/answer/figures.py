"""Figures of a Chinese or English text, brought to one form so that they can be compared.

`1.2亿`, `120 million` and `120,000,000` are one value; `百分之三十`, `30%` and `30 percent` too; a date is its year, month
and day, as far as it names them. Full-width digits are read as plain ones without moving any offset.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.patterns import pattern

_PLAIN = str.maketrans("０１２３４５６７８９％．，－～", "0123456789%.,-~")
_SCALES = {
    "百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "億": 1e8, "万亿": 1e12, "兆": 1e12,
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3, "m": 1e6, "bn": 1e9,
}  # fmt: skip
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}
_ENGLISH = {
    word: float(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split()
    )
    if value > 1
} | {"thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0, "eighty": 80.0, "ninety": 90.0}
_ORDINALS = {
    word: float(value)
    for value, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)
}
_MONTHS = {name: i for i, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}

_MONTH_NAME = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_ZH = "零〇一二两兩三四五六七八九十百千万萬亿億"
_DATES = pattern(
    rf"(?P<y1>\d{{4}})\s?年\s?(?:(?P<m1>\d{{1,2}})\s?月(?:份)?(?:\s?(?P<d1>\d{{1,2}})\s?[日号號])?)?"
    rf"|(?P<m2>\d{{1,2}})\s?月\s?(?P<d2>\d{{1,2}})\s?[日号號]|(?<![\d.])(?P<m7>\d{{1,2}})\s?月(?:份)?(?!\d)"
    rf"|(?<![\d.])(?P<y3>(?:1\d|20)\d\d)[-/.](?P<m3>\d{{1,2}})[-/.](?P<d3>\d{{1,2}})(?!\d)"
    rf"|\b(?P<m4>{_MONTH_NAME})\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?:\s*,?\s+(?P<y4>\d{{4}}))?(?!\d)"
    rf"|\b(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m5>{_MONTH_NAME})(?:\s*,?\s*(?P<y5>\d{{4}}))?(?!\d)"
    rf"|\b(?P<m6>{_MONTH_NAME})\s*,?\s+(?P<y6>\d{{4}})(?!\d)"
    rf"|\b(?:[Ii]n|[Oo]f|[Ss]ince|[Bb]y|[Uu]ntil|early|late|mid)[ -](?P<m9>{_MONTH_NAME})(?!\s+(?:\d|[a-z]+ed\b))"
    rf"|(?P<y8>[一二][〇零一二三四五六七八九]{{3}})年"
)
_NUMBER = pattern(
    r"(?P<hundredth>百分之)(?P<zhpercent>[零〇一二两三四五六七八九十百点]+|\d+(?:\.\d+)?)"
    r"|(?<![A-Za-z\d.])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d])(?P<over>[余多])?"
    r"\s?(?P<scale>百万|千万|万亿|[百千万萬亿億兆](?![年月日分])|(?:hundred|thousand|million|billion|trillion|bn)\b|(?<=\d)[kKmM]\b)?"
    r"\s?(?P<percent>%|‰|个百分点|per\s?cent\b|percent\b|percentage points?\b)?"
    rf"|(?P<di>第)?(?P<zh>[{_ZH}]+)(?P<after>[\u4e00-\u9fff]?)"
    r"|\b(?P<word>" + "|".join(sorted({**_ENGLISH, **_ORDINALS}, key=len, reverse=True)) + r")\b"
    r"(?:[ -](?P<wscale>hundred|thousand|million|billion|trillion)\b)?",
    re.IGNORECASE,
)
_UNIT_AFTER = pattern(r"\s?-?([A-Za-z]+|[\u4e00-\u9fff℃°])")
_COUNTED = set(
    "个個名位人次年月日天倍岁歲项項种種家条條层層本部届屆期级級场場元块塊米里克吨噸度台艘架辆輛座只支张張号號轮輪章节節分秒时時周週季代国國省市县縣区區户戶枚颗顆集册冊页頁票席所"
)
_APPROXIMATE = pattern(
    r"(?:约|約|大约|近|超过|超過|逾|将近|左右|余|多|almost|about|around|nearly|approximately|roughly|over|more than|some|at least)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, share or date of a text, at `start` to `end` in it."""

    text: str
    start: int
    end: int
    kind: str
    """`number`, `percent`, `ordinal` or `date`."""
    value: float
    """The number, scale worked in; 0 for a date."""
    unit: str = ""
    """The word or character counted, lower case, English plural cut: `天`, `seat`."""
    year: int | None = None
    month: int | None = None
    day: int | None = None
    approximate: bool = False

    @property
    def is_year(self) -> bool:
        return self.kind == "date" and self.month is None


def find_figures(text: str) -> list[Figure]:
    """Every figure of a text, in order."""
    plain = text.translate(_PLAIN)
    found = [_date(match) for match in _DATES.finditer(plain)]
    taken = [(figure.start, figure.end) for figure in found]
    for match in _NUMBER.finditer(plain):
        if any(match.start() < end and start < match.end() for start, end in taken):
            continue
        if figure := _number(match, plain):
            found.append(figure)
    return sorted(found, key=lambda figure: figure.start)


_UNIT_AS_WRITTEN = pattern(
    r"\s?-?(?:[A-Za-z]+|个?(?:小时|分钟|星期|季度|公里|千米|平方米|立方米|公斤|千克|美元|欧元|英镑|日元|[\u4e00-\u9fff℃°]))"
)


def as_written(figure: Figure, text: str) -> str:
    """A figure with its unit as the text writes them: `two years`, `6个月`."""
    if figure.kind != "number" or not figure.unit or figure.text.endswith(figure.unit):
        return figure.text
    unit = _UNIT_AS_WRITTEN.match(text, figure.end)
    return text[figure.start : unit.end()] if unit else figure.text


def _date(match: re.Match[str]) -> Figure:
    parts: dict[str, int] = {}
    for name, value in match.groupdict().items():
        if value is not None:
            parts[name[0]] = _MONTHS[value[:3].lower()] if value[0].isalpha() and value[0] < "\x7f" else _year(value)
    return Figure(
        match.group(), match.start(), match.end(), "date", 0.0, "", parts.get("y"), parts.get("m"), parts.get("d")
    )


def _year(value: str) -> int:
    return int("".join(str(_DIGITS.get(c, c)) for c in value))


def _number(match: re.Match[str], plain: str) -> Figure | None:
    start, end = match.start(), match.end()
    approximate = (
        bool(_APPROXIMATE.search(plain, max(0, start - 14), start))
        or plain.startswith(("余", "多"), end)
        or match["over"] is not None
    )
    if match["hundredth"]:
        value = chinese_number(match["zhpercent"])
        return (
            None if value is None else Figure(match.group(), start, end, "percent", value, "%", approximate=approximate)
        )
    if match["number"]:
        value = float(match["number"].replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1.0)
        if match["percent"]:
            value = value / 10 if match["percent"] == "‰" else value
            return Figure(match.group().strip(), start, end, "percent", value, "%", approximate=approximate)
        bare = not match["scale"] and len(match["number"]) == 4 and match["number"].isdigit()
        unit = _unit(plain, end)
        names = _IN_YEAR.search(plain, max(0, start - 8), start) and _NAME_AFTER.match(plain, match.end("number"))
        if bare and 1000 <= value <= 2099 and (not unit or unit in _NO_UNIT or names):
            return Figure(match["number"], start, match.end("number"), "date", 0.0, "", int(value))
        kind = "ordinal" if plain[max(0, start - 1) : start] == "第" or unit in ("st", "nd", "rd", "th") else "number"
        return Figure(match.group().strip(), start, end, kind, value, unit, approximate=approximate)
    if match["zh"]:
        return _chinese(match, plain, approximate)
    word = match["word"].lower()
    if word in _ORDINALS:
        return Figure(match["word"], start, match.end("word"), "ordinal", _ORDINALS[word])
    value = _ENGLISH[word] * _SCALES.get((match["wscale"] or "").lower(), 1.0)
    return Figure(match.group(), start, end, "number", value, _unit(plain, end), approximate=approximate)


_IN_YEAR = pattern(r"\b(?:in|since|until|during|by)\s$", re.IGNORECASE)
_NAME_AFTER = pattern(r"\s[A-Z]")
"""`In 1857 John Weir sold it`: a name follows, no unit."""
_NO_UNIT = frozenset(
    "the and in at of to for with by on was is were as or a an from season 的 和 在 与 及 至 到 是 赛".split()
)


def _chinese(match: re.Match[str], plain: str, approximate: bool) -> Figure | None:
    digits, after = match["zh"], match["after"]
    value = chinese_number(digits)
    start, end = match.start(), match.end("zh")
    if value is None:
        return None
    if match["di"]:
        return Figure(plain[start:end], start, end, "ordinal", value, after)
    # 一 alone is mostly an article, and numerals stand in names (三星, 四川, 百度): a counted thing must follow.
    if after not in _COUNTED or (digits == "一" and after not in "月日倍"):
        return None
    if len(digits) == 1 and digits in "百千万亿":
        return None
    if after == "月" and 1 <= value <= 12:
        return Figure(plain[start:end] + after, start, end + 1, "date", 0.0, "", None, int(value))
    return Figure(plain[start:end], start, end, "number", value, after, approximate=approximate)


def _unit(plain: str, end: int) -> str:
    match = _UNIT_AFTER.match(plain, end)
    if not match:
        return ""
    unit = match[1].lower()
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") and not unit.endswith("ss") else unit


def chinese_number(text: str) -> float | None:
    """The value of a numeral such as `三十五`, `一千二百万`, `二点五` or `二〇一九`; None if it is none."""
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    whole, _, fraction = text.partition("点")
    if fraction and not all(c in _DIGITS for c in fraction):
        return None
    if len(whole) > 1 and all(c in _DIGITS for c in whole):
        value = float("".join(str(_DIGITS[c]) for c in whole))
    else:
        total = section = digit = 0
        for c in whole:
            if c in _DIGITS:
                digit = _DIGITS[c]
            elif (place := _PLACES[c]) >= 10_000:
                total = (total + section + digit) * place if place == 10**8 else total + (section + digit or 1) * place
                section = digit = 0
            else:
                section += (digit or 1) * place
                digit = 0
        value = float(total + section + digit)
    return value + float("0." + "".join(str(_DIGITS[c]) for c in fraction)) if fraction else value


def same_figure(claim: Figure, evidence: Figure) -> bool:
    """True where the evidence's figure says what the claim's does; a coarser claim may round it."""
    if (claim.kind == "date") != (evidence.kind == "date"):
        dated, other = (claim, evidence) if claim.kind == "date" else (evidence, claim)
        return dated.is_year and other.kind == "number" and other.value == dated.year
    if claim.kind == "date":
        return all(
            wanted is None or wanted == given
            for wanted, given in (
                (claim.year, evidence.year),
                (claim.month, evidence.month),
                (claim.day, evidence.day),
            )
        )
    if (claim.kind == "percent") != (evidence.kind == "percent"):
        return False
    if claim.value == evidence.value:
        return True
    return _rounds_to(evidence.value, claim)


def is_part_of(evidence: Figure, claim: Figure) -> bool:
    """True where the evidence's date is the claim's as far as it goes: `November 9` of `9 November 2018`."""
    pairs = (
        (evidence.year, claim.year),
        (evidence.month, claim.month),
        (evidence.day, claim.day),
    )
    return claim.kind == evidence.kind == "date" and all(given in (None, wanted) for given, wanted in pairs)


def _rounds_to(value: float, claim: Figure) -> bool:
    digits = re.sub(r"[^\d]", "", claim.text).strip("0")
    if not value or not claim.value or len(digits) < (1 if claim.approximate else 2):
        return False
    if abs(value - claim.value) / abs(value) >= (0.08 if claim.approximate else 0.005):
        return False
    places = max(0, len(digits) - 1)
    rounded, step = float(f"{value:.{places}e}"), 10.0 ** (math.floor(math.log10(abs(claim.value))) - places)
    # 127.52 is called 128 and, by newspapers, 127.
    return claim.value == rounded or math.isclose(claim.value, math.floor(value / step) * step)


_PAIR = pattern(r"(?<![\d:：.])(\d{1,3})\s?[:：比]\s?(\d{1,3})(?![\d:：.%])")


def find_pairs(text: str) -> dict[frozenset[int], str]:
    """Scores and ratios of a text, such as `86:48` and `2比1`, by their two numbers in whatever order."""
    return {frozenset(map(int, match.groups())): match.group() for match in _PAIR.finditer(text.translate(_PLAIN))}


def is_in(claim: Figure, evidence: Sequence[Figure]) -> bool:
    """True where the evidence says the claim's figure; a full date may stand in two parts (`2021年 … 1月3日`)."""
    if any(same_figure(claim, figure) for figure in evidence):
        return True
    if claim.kind != "date" or claim.year is None or claim.month is None:
        return False
    year_said = any(figure.year == claim.year for figure in evidence)
    return year_said and any(
        figure.year is None
        and figure.month == claim.month
        and figure.day in (claim.day, None if claim.day is None else -1)
        for figure in evidence
        if figure.kind == "date"
    )
