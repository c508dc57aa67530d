"""Whether a sentence holds the kind of thing that a question asks for: a price, a date, a person, a way to do it."""

from __future__ import annotations

import re

from kbcite.answer.figures import Figure, find_figures
from kbcite.answer.persons import LIKE_A_PERSON, PERSON, has_role
from kbcite.answer.polarity import is_negated
from kbcite.answer.questions import Kind, Question, asks_default, asks_name
from kbcite.patterns import pattern
from kbcite.words import simplify

_NO_PLACE = "[全各多我两强三外本该此他别]国|[城上都股超夜]市|[地社园景灾市小专校]区|[各神]州|[网]站|[道铁公一思网出线套]路|江山|场馆|使馆|为中心|[不多少]山"
"""What ends as places do and names none."""
_SIGNS: dict[Kind, re.Pattern[str]] = {
    Kind.PLACE: pattern(
        rf"(?!{_NO_PLACE})[\u4e00-\u9fff](?:省|市(?![场民值长政委])|县(?![长委])|区(?![域别块间])|国(?![家际内外民有旗庆产务资防会王人])|州(?!长)|[镇乡村岛]|山(?![东西])"
        r"|路(?![线径上过透人演])|街|馆|大学|中心(?!化)|广场|机场|[教礼]堂|大厅|体育场|站(?![在稳]))|位于|地处|坐落|\b(?:in|at|near|from"
        r"|on)\s+(?:the\s+)?[A-Z]\w+"
    ),
    Kind.REASON: pattern(r"因为|由于|因此|所以|原因|为了|导致|because|due to|since|as a result|in order to|reason|so that", re.IGNORECASE),
    Kind.HOW: pattern(r"首先|然后|点击|通过|使用|步骤|需要|可以|方法|\b(?:by|using|use|first|then|click|run|must|need|can|through)\b", re.IGNORECASE),
    Kind.DEFINITION: pattern(r"是指|是一[种个款项门]|即为|指的是|又称|称为|是.{0,20}的|\b(?:is|are|was|were) (?:an?|the|one of)\b|\brefers to\b|\bmeans\b"
        r"|\bknown as\b", re.IGNORECASE),
    Kind.PRICE: pattern(r"\d[\d,.]*\s?(?:万|亿)?(?:元|块|美元|欧元|港元|日元|英镑)|[$€£¥￥]\s?\d|\d\s?[$€£¥￥]"
        r"|\b(?:dollars?|euros?|pounds?|cents?|crowns?|yuan|USD|EUR|GBP|RMB|CNY|CHF)\b|免费|\bfree\b"),
    Kind.LIST: pattern(r"、[^、。]{1,20}、|,[^,.]{1,40},|；|包括|include|such as|:|："),
}  # fmt: skip


_INSTRUCTS = pattern(
    r"^(?:若要|要|如需|如果[你您]?要|想要|为了)|[您你]可以?(?:用|使用|通过|运行|执行|输入)|运行|执行|输入|命令|步骤"
    r"|^(?:to|in order to) \w+|^(?:use|run|call|type|click|press|open|create|add|install|pass|set)\b"
    r"|\byou (?:can|may|should|must|need to|have to) (?:\w+ly )?(?:use|run|call|type|pass|set|add|create|write|convert)\b"
    r"|\b(?:use|run|call) (?:the |an? )?(?:[\w-]+ )?`",
    re.IGNORECASE,
)
_COMMAND = pattern(r"`[\w.+-]+ .+`")
"""A sentence that tells what to do, not what happens: in a manual it is the answer to `how`."""


_PRICED = pattern(r"价|费|\b(?:costs?|prices?|fees?|charges?|crowns)\b", re.IGNORECASE)
_COUNTED = pattern(r"(?:多少|几)\s?([\u4e00-\u9fff])|\bhow many\s+([a-z]+)", re.IGNORECASE)


_NAMES = pattern(
    r"称为|称作|称之为|被称|[又也旧原全简别俗]称|[命定取]名为|名为|缩写|叫做|叫作|更?改?名为|改名|别名|又名"
    r"|\b(?:known as|called|named|renamed|nicknamed|termed)\b",
    re.IGNORECASE,
)
"""`What is it called?` is answered where something is given a name."""


OTHER_ROLE = 0.7
"""Kind of a sentence that names a person, and not beside what that person is asked to be."""
LIKE_A = 0.5
"""Kind of a sentence that holds what only may be a person's name."""
ONLY_DATES = 0.3
"""Kind of a sentence whose only figures are dates, where a number is asked for."""
_SAYS_DEFAULT = pattern(r"\bdefaults?\b|默认|缺省", re.IGNORECASE)
_VALUE = pattern(r"`[^`]+`|[\"“「'‘][^\"”」'’]+[\"”」'’]|\d|\b[A-Z]{2,}\b")
"""`What is the default port?`: a value beside the word."""


CANNOT = 0.15
"""Kind of a sentence that says what cannot be done, where it is asked how: it is no way to do it."""


def answers_kind(question: Question, sentence: str) -> float:
    """1 where the sentence holds what the question's kind calls for beyond the question's own words, 0 where it cannot, .5 unknown."""
    kind, sentence = question.kind, simplify(sentence)
    if kind in (Kind.QUANTITY, Kind.TIME, Kind.PRICE):
        measure = _measure(question)
        asked = {(f.kind, f.value, f.year, f.month, f.day) for f in question.figures}
        new = [f for f in find_figures(sentence) if (f.kind, f.value, f.year, f.month, f.day) not in asked]
        if kind is Kind.TIME:
            if any(f.kind == "date" for f in new) or _ERA.search(sentence):
                return 1.0
            if _PAST.search(simplify(question.text)):
                return 0.0  # when a thing was opened is no hour of the day
            return 1.0 if any(f.unit in _TIME_UNITS for f in new) or _CLOCK.search(sentence) else 0.0
        if kind is Kind.PRICE and _SIGNS[Kind.PRICE].search(sentence):
            return 1.0
        if _HOW_OFTEN.search(simplify(question.text)):
            return 1.0 if _OFTEN.search(sentence) else ONLY_DATES if new else 0.0
        good = [f for f in new if f.kind in ("number", "percent", "ordinal")]
        if kind is Kind.PRICE and good:
            return 1.0 if _PRICED.search(sentence) else 0.3
        if counted := _COUNTED.search(simplify(question.text)):
            unit = next(group for group in counted.groups() if group).lower().rstrip("s")
            if good and re.search(rf"{unit}\w{{0,2}}\s?[:：]\s?\d", sentence, re.IGNORECASE):
                return 1.0  # a table's column tells the unit
            return 1.0 if any(f.unit.rstrip("s") == unit for f in good) else 0.5 if good else ONLY_DATES if new else 0.0
        if measure and good and not any(_unit(f, sentence) in measure for f in good):
            return 0.5 if any(not f.unit for f in good) else 0.2
        return 1.0 if good else ONLY_DATES if new else 0.0
    if kind in (Kind.OTHER, Kind.DEFINITION) and asks_name(question):
        return 1.0 if _NAMES.search(sentence) else 0.3
    if asks_default(question):
        is_told = any(match.group().strip("`") not in question.text for match in _VALUE.finditer(sentence))
        return (1.0 if is_told else 0.5) if _SAYS_DEFAULT.search(sentence) else 0.0
    if kind is Kind.OTHER:
        return 0.5
    if kind is Kind.HOW and (_INSTRUCTS.search(sentence) or _COMMAND.fullmatch(sentence)):
        return 1.0
    if kind is Kind.PERSON:
        if _names_another(PERSON, question, sentence):
            return 1.0 if has_role(question.text, sentence) else OTHER_ROLE
        return LIKE_A if _names_another(LIKE_A_PERSON, question, sentence) else 0.0
    if kind is Kind.PLACE:
        return 1.0 if _names_another(_SIGNS[kind], question, sentence) else 0.0
    match = _SIGNS[kind].search(sentence)
    if kind is Kind.HOW and match:
        return CANNOT if is_negated(sentence) and not is_negated(question.text) else 0.6
    return 1.0 if match else 0.0


def _names_another(names: re.Pattern[str], question: Question, sentence: str) -> bool:
    """True where the sentence holds such a name that the question does not."""
    asked = simplify(question.text).lower()
    return any(match.group().lower() not in asked for match in names.finditer(sentence))


_ERA = pattern(
    r"[\d一二三四五六七八九十]\s?(?:世纪|年代)|\b[12]\d\d0s\b|\bcentur(?:y|ies)\b|\d \(?B\.?(?:P|C|C\.?E)\b"
    r"|\b(?:in|of|since|by|until|from|after|before|early|late) (?:1\d{3}|20\d\d)\b(?! (?:years|people|men|km)\b)",
    re.IGNORECASE,
)
"""Times that are no dates: a century, the forties, the 1996 of `the Act of 1996 says`."""
_HOW_OFTEN = pattern(
    r"(?:多久|多长时间|几[天周个年]月?).{0,8}(?:一?次|一遍|一回)|\bhow (?:often|frequently)\b", re.IGNORECASE
)
_OFTEN = pattern(
    r"每|周期|频率|一次|\b(?:every|each|per|once|twice|times|daily|weekly|monthly|quarterly|yearly|annually|always|never|often|seldom)\b",
    re.IGNORECASE,
)
"""A period, not a time that passes once: `更换周期: 24 个月`."""
_PAST = pattern(r"\bwhen (?:did|was|were)\b|(?:什么时候|何时|哪一?[年天]).*的[？?]?$", re.IGNORECASE)
_CLOCK = pattern(r"(?<!\d)\d{1,2}:\d\d(?!\d)")
_DURATION = "年 月 天 日 周 时 小 分 秒 星 year month week day hour minute second night h min"
_LENGTH = "米 公 千 厘 毫 里 metre meter m km cm mm kilometre kilometer mile foot feet ft inch yard"
_MEASURES = tuple(
    (pattern(asked, re.IGNORECASE), frozenset(units.split()))
    for asked, units in (
        (r"\bhow long (?:does|do|did|will|would|can|must|should|may|ago)\b|多久|多长时间", _DURATION),
        (r"\bhow (?:long|tall|high|deep|wide|far)\b|多[长高深宽远]", f"{_LENGTH} {_DURATION}"),
        (r"\bhow heavy\b|\bweigh|多重", "克 千 公 吨 斤 kg g lb pound gram kilogram kilo ton tonne ounce oz"),
        (r"\bhow old\b|多大年纪|几岁", "岁 年 year month"),
        (r"增长率|增速|增幅|涨幅|占比|比例|百分|[死失出毕]\S率|增长了?多少|下降了?多少", "%"),
        (
            r"票房|营收|收入|GDP|生产总值|产值|利润|投资|市值|资产|经费|预算|金额|罚款|融资|收购|逃税",
            "元 美 欧 日 港 英 人 块",
        ),
        (r"产量", "吨 斤 公 千 万 辆 台 部 立 桶"),
    )
)


def _measure(question: Question) -> frozenset[str]:
    """The units in which a question is answered: hours for `how long does it take`; none where any will do."""
    plain = simplify(question.text)
    return next((units for asked, units in _MEASURES if asked.search(plain)), frozenset())


def _unit(figure: Figure, sentence: str) -> str:
    """The unit of a figure in its sentence, `月` of `6个月`."""
    after = sentence[figure.start :].partition("个")[2] if figure.unit == "个" else ""
    return after[:1] or figure.unit


_TIME_UNITS = frozenset("天 年 月 日 时 小 分 秒 周 点 day year month hour week minute century 世 pm am".split())
