"""What a question asks for: the kind of answer, its figures, and whether it asks for several things."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from kbcite.answer.figures import Figure, find_figures
from kbcite.answer.weights import is_stop, stems
from kbcite.patterns import pattern
from kbcite.words import language_of, normalise, simplify


class Kind(StrEnum):
    PRICE = "price"
    QUANTITY = "quantity"
    TIME = "time"
    PERSON = "person"
    PLACE = "place"
    HOW = "how"
    REASON = "reason"
    LIST = "list"
    DEFINITION = "definition"
    OTHER = "other"


_KINDS: tuple[tuple[Kind, str], ...] = (
    (Kind.PRICE, r"多少钱|多少元|价格|费用|[股房油金票售定报单原现地电水]价(?!值)|how much (?:does|do|is|are|did).*(?:cost|pay|charge)|\bprices?\b|\bcosts?\b"
        r"|how expensive|how much (?:is|are|was|were) (?:an?|one|this|that|the [a-z]+(?: [a-z]+)?[?\s]*$)"),
    (
        Kind.TIME,
        r"什么时候|什么时间|何[时年月日]|哪一?年|哪一?天|哪一?日|几月|几号|几点|哪个月|哪个世纪|日期|年份|的?时间(?:是|为|[？?]|$|和|及|、)|时间$|生日"
        r"|^(?!.*\b(?:what|which|who|whose|how|why|where)\b.*\bwhen\b).*\bwhen\b"
        r"|\b(?:what|which|in what|in which) (?:year|date|day|month|century|decade|time)\b",
    ),
    (
        Kind.QUANTITY,
        r"多少|几(?:个|名|位|人|次|年|天|座|种|项|届|家|条|集|岁|枚|块|只|部|场|级|层)|多大|多高|多长|多远|多重|多快|多久|多宽|多深|人数|数量|百分比|比例|(?:率|比分|排名"
        r"|第几)(?:是|为|[？?]|$)|(?:票房|营收|收入|产值|面积|人口|市值|利润|(?<![质流力重])量|(?<![份名])额|增长率|增速|死亡率|失业率)[？?]*$"
        r"|\bhow (?:many|much|old|long|far|tall|high|big|large|often|fast|deep|heavy|wide)\b|\bweighs?\b|\bwhat (?:percentage|percent"
        r"|number|share|size|fraction)\b|\bpopulation of\b",
    ),
    (Kind.PERSON, r"谁|哪位|何人|什么人|作者|导演|(?:主演|编剧|主持人|创始人|主席|总统|总理|首相|校长|院长|市长|董事长)[？?]*$|\bwho\b|\bwhom\b|\bwhose\b"),
    (
        Kind.PLACE,
        r"哪里|哪儿|何处|何地|在哪|什么地方|哪一?个?(?:国家|城市|省|地区|县|州|大学)|哪国|地点|\bwhere\b|\b(?:what|which) (?:country|city|state"
        r"|place|region|town|continent|river|county|location|university|college)\b",
    ),
    (Kind.REASON, r"(?<![称名作改分变成认叫换以视])为什么|为何|原因|\bwhy\b|\breasons?\b"),
    (Kind.HOW, r"(?<!会)怎么|如何|(?<!会)怎样|步骤|方法|\bhow (?:do|does|can|to|should|did|is|are|was|were)\b"),
    (Kind.LIST, r"哪些|有哪|包括什么|分别|列出|\bwhich (?:\w+ )?\w+s (?:are|were|do|have)\b|\bwhat are\b|\bwhat (?:was|were|is"
        r"|has been) (?:fixed|changed|added|removed|improved|new|included|supported)\b|^list\b|\blist (?:of|all|the)\b(?=.*\b(?:all|every)\b)|\bwhat \w+s are\b"
        r"|\bwhat (?:is|are) (?:not )?\w+ed (?:by|in|for|with|to|on|from|under)\b|\bwhat (?:should|must|do) (?:i|you|we) (?:pack|bring|take|carry)\b"),
    (Kind.DEFINITION, r"什么是|有什么用|干什么用|是什么|是指什么|什么意思|定义|含义|\bwhat (?:is|are|was) (?:an?\s)?[\w\s./+*()`-]{1,40}\?*$|\bmeaning of\b"
        r"|\bdoes .* mean\b"
        r"|\bdefine\b"),
)  # fmt: skip
_KIND_PATTERNS = tuple((kind, pattern(signs, re.IGNORECASE)) for kind, signs in _KINDS)
_JOINED = pattern(
    r"和|与|及|以及|、|分别|各|[，,].*(?:什么|多少|谁|哪|几)|\band\b|\bboth\b|\brespectively\b|\bas well as\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    language: str
    kind: Kind
    figures: tuple[Figure, ...]
    """Years, rounds and amounts that an answer must agree with."""
    is_joined: bool
    """True where it may ask for two things at once: `A 和 B 的时间`."""

    @property
    def asks_for_date(self) -> bool:
        return self.kind is Kind.TIME

    @property
    def asks_for_figure(self) -> bool:
        return self.kind in (Kind.QUANTITY, Kind.TIME, Kind.PRICE)


def read_question(text: str) -> Question:
    plain = simplify(text)
    kind = next((kind for kind, signs in _KIND_PATTERNS if signs.search(plain)), Kind.OTHER)
    return Question(text, language_of(text), kind, tuple(find_figures(text)), bool(_JOINED.search(plain)))


_CLAUSES = pattern(r"(?P<joint>\?|,?\sand)\s+(?:and )?(?=(?:what|when|who|where|why|how|which)\b)", re.IGNORECASE)
_PRONOUN = pattern(r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|one)\b", re.IGNORECASE)
_ASKS_ZH = "(?:多少|多久|多长|多大|什么|谁|哪|几|怎么|如何|为什么)"
_CLAUSES_ZH = pattern(f"{_ASKS_ZH}[^，,？?；;]*(?P<joint>[，,？?；;])(?=.*{_ASKS_ZH})")
_ASKED_ZH = pattern(f"(?:要|需要|是|有|在)?{_ASKS_ZH}.*")
_CONJUNCT = r"\d+\s?年(?:\d+月)?|[\u4e00-\u9fff]{2}|[A-Za-z0-9.]+"
_CONJUNCTS = pattern(rf"(?P<before>{_CONJUNCT})\s*(?:(?:以及|和|与|及|、)\s*|\s+and\s+|[，,]\s*)(?P<after>{_CONJUNCT})")


def clauses(question: Question) -> list[Question]:
    """The two questions of `When does it open, and what does a ticket cost?`; nothing where there is one.

    What the second one calls `it`, or leaves out in Chinese, is taken from the first.
    """
    if match := _CLAUSES_ZH.search(question.text):
        first, second = question.text[: match.start("joint")], question.text[match.end("joint") :]
        about = _ASKED_ZH.sub("", first)
        return [read_question(first), replace(read_question(second), text=f"{about}{second}")]
    if match := _CLAUSES.search(question.text):
        first, second = question.text[: match.start()], question.text[match.end("joint") :].strip()
        about = re.sub(r"^\W*\w+", "", first) if _PRONOUN.search(second) else ""
        return [read_question(first), replace(read_question(second), text=f"{second} {about.strip()}".strip())]
    return []


def halves(question: Question) -> list[Question]:
    """A question for two things as one question for each: the words right after the joint are left out, then those before it.

    `上海和北京的面积` becomes `上海的面积` and `北京的面积`, near enough for the words that a passage should say.
    """
    if two := clauses(question):
        return two
    found = list(_CONJUNCTS.finditer(question.text)) if question.is_joined else []
    if not found:
        return []
    match, text = found[-1], question.text  # an earlier one stands in a name more often: `《战争与和平》的作者和译者`
    first = text[: match.end("before")] + " " + text[match.end("after") :]
    second = text[: match.start("before")] + " " + text[match.start("after") :]
    return [_of_its_kind(read_question(half), question) for half in (first, second)]


def _of_its_kind(half: Question, question: Question) -> Question:
    """The half with the kind that its own words ask for: of `时间和地点` one asks when, the other where."""
    return replace(half, kind=question.kind) if half.kind is Kind.OTHER else half


_FOCUS = pattern(
    r"\b(?:what|which)\s+(?:\w+\s+)?(\w+)\s+(?:is|are|was|were|does|do|did|has|have|can)\b"
    r"|\b(?:what|who) (?:is|are|was|were) (?:the )?(?:[\w-]+ ){0,3}?([\w-]+)(?: number| name| date)?(?: of\b| for\b| in\b| at\b|\W*$)"
    r"|\b(?:who|how (?:do|can|should) (?:i|you|we|one)|how to)\s+(\w+)|\bhow many \w+ ([\w-]+)",
    re.IGNORECASE,
)
_FOCUS_ZH = pattern(
    r"([\u4e00-\u9fff]{2})(?:是|为|有|在)?(?:谁|什么|多少|多久|哪|几|怎|如何)|(?:以|被|由|因)?(?:什么|谁)([\u4e00-\u9fff]{2})"
)
FOCUS = 1.5
"""A word that says what is asked for, against another content word."""


def focus_terms(text: str) -> frozenset[str]:
    """Terms of the words that say what is asked for: the noun before `是多少`, the verb after `who`."""
    plain = normalise(text)
    words = [g for asks in (_FOCUS, _FOCUS_ZH) for match in asks.finditer(plain) for g in match.groups() if g]
    return frozenset(term for word in words for term in stems(word) if len(term) > 1)


_SUBJECT = pattern(
    r"^\s*(?:what (?:is|are) (?!not\b|new\b|wrong\b|different\b|\w+ed\b (?:by|in|for|with|to|on|from|when|under)\b)"
    r"(?:an? |the )?(?P<en>(?:(?! of ).)+?)(?: in [a-z]+)?|what does (?:the )?(?P<en2>.+?) mean"
    r"|(?:请问)?什么(?:是|叫)(?P<zh>.+?)|(?P<zh2>.+?)(?:的(?:作用|用途|用处|功能|含义|意思))?(?:是什么意思|是什么|是指什么|指什么|有什么用|有什么用处|是干什么用的))\s*[?？。]*$",
    re.IGNORECASE,
)
_WHOSE = pattern(r"^[A-Za-z][\w.+-]*\s*[的里中]+\s*(?=\S{2})")
"""`Debian 的 testing`: whose it is, every page of the manual says or leaves out."""
_KIND_OF_SUBJECT = pattern(
    r"(?<=[a-z])\s*(?:文件|命令|工具|字段|目录|模块|函数|发行版本?|版本?|软件包|系统|机制|协议|格式|file|command|module|function|directive|field"
    r"|package|protocol)$",
    re.IGNORECASE,
)
_AFTER_SUBJECT = r"(?:\s*[（(][^（）()]{1,60}[)）])?(?![\s`'’”\")）]*(?:[和与及或、]|(?:and|or)\b))[\w\s`'’\"“”()（）/.-]{0,24}?[\s`'’”\")）]*"
_SAYS_WHAT = (
    r"(?P<kind>(?:\b(?:is|are) (?:an?|the|one)\b|(?<![总都还但只也可不就若要正])是|指|[:：](?=\s?\S))(?!\s?(?:否|由于|因为|为了))|\brefers? to\b|\bmeans?\b)"
    r"|\b(?:is|are) (?!often|not|also|considered)|\b(?:contains?|consists?|represents?|provides?|describes?|lets?|allows?)\b"
    r"|用于|用来|包含|包括|提供|代表|会运行|检查"
)
_OTHER_THING = pattern(
    r"[\s`”]*的?(?!文件|命令|工具|字段|目录|模块|函数|发行|版|软件|系统|机制|协议|格式|项目|计划|程序|语言|服务|事实|实际|其实|主要|通常|本身|本来|也|都|就|则|又|还"
    r"|是|指|用|包|提供|代表|会|检查|能|可)[\u4e00-\u9fff]{2,}(?<!的)(?:是|指)"
)
_CALLED = r"(?:\b(?:known as|called|named|referred to as)\s+(?:an? |the )?|称为|称作|称之为|叫做|叫作|又称|简称)"
_IT = pattern(r"(?:但是?|而|不过|but\s|and\s)?(?:它|it\b)", re.IGNORECASE)
"""`It is still called testing`: a name that the thing has, not what it is."""
_MANUAL_PAGE = r"`?\(\d\w?\)`?\s?[:：-]"
"""`lvm(8): ` heads a list of what to read, most of all."""
_QUOTES = r"[\s`*“”‘’「\"']*"
_FIRST_CLAUSE = pattern(r"[^，,。;；:：]{2,30}[，,]\s?")
"""`从 2.6 版开始，`: what may stand before the subject."""
_IT_IS = pattern(
    r"^(?:(?:这|这个(?:文件|命令|工具|软件包)|它)(?:事实上|实际上|其实|就)?是|it is (?:an?|the) |this is (?:an?|the) )",
    re.IGNORECASE,
)


_ASKS_NAME = pattern(
    r"叫什么|称为什么|称作什么|名为(?:什么|[？?]*$)|叫做什么|别名|又名|别称|名字(?:是|[？?]*$)|名称(?:是|[？?]*$)|同义词|贬义词|缩写|全称|原名"
    r"|\b(?:called|known as|named|referred to as)\W*$|\b(?:another|other|alternative|former) names?\b"
    r"|\b(?:nickname|synonym|term|word|abbreviation)s? (?:\w+ )?for\b|\banother (?:way|term|word)\b",
    re.IGNORECASE,
)
_ASKS_DEFAULT = pattern(
    r"^(?:what|which) (?:is|are|\w+ is|\w+ are)\b.*\bdefaults?\b|\bdefault to\b|默认[^，。]*(?:是|为)(?:什么|多少|哪|几)|默认值",
    re.IGNORECASE,
)


def asks_name(question: Question) -> bool:
    """True where it is asked what a thing is called."""
    return bool(_ASKS_NAME.search(simplify(question.text)))


def asks_default(question: Question) -> bool:
    """True where the value is asked for that something has by itself."""
    return bool(_ASKS_DEFAULT.search(simplify(question.text)))


_ATTRIBUTE = pattern(r"[\u4e00-\u9fff”》）)]的[\u4e00-\u9fff]{2,}$")
"""`这座桥的主要材料`: something of a thing, which is told, not defined."""


def subject_of(question: Question) -> str:
    """What a question asks the meaning of, without `文件` and the like; empty where it asks for something else."""
    plain = simplify(question.text)
    is_asked = question.kind is Kind.DEFINITION and not asks_default(question) and not asks_name(question)
    match = _SUBJECT.match(plain) if is_asked else None
    subject = next((group for group in match.groups() if group), "") if match else ""
    if _ATTRIBUTE.search(subject):
        return ""
    return _KIND_OF_SUBJECT.sub("", _WHOSE.sub("", subject.strip()))


def defines(subject: str, sentence: str, heading: str) -> float:
    """1 where a sentence says of the subject what kind of thing it is, .5 where it says what it does or holds, else 0."""
    last = subject.rpartition("/")[2]
    words = [re.escape(word) + (r"(?:e?s|\d)?(?![\w-])" if word[-1].isascii() else "") for word in last.split()]
    name = r"[\s`*-]+".join(words)
    opening = rf"^\W*(?:(?:an?|the|python['’]s|一个|每一个|所谓)\s*)?\W*(?:[\w.]+/)*{name}"
    cells = re.split(r"(?:^|; )[^;:：]{1,30}: ", sentence)
    if any(cell.strip("` ") == last.split()[-1] for cell in cells[1:2]):
        return 1.0  # a row of a table, told by its first cell
    says = f"{opening}{_AFTER_SUBJECT}(?:{_SAYS_WHAT})"
    plain = simplify(sentence)
    if re.match(f"{opening}{_MANUAL_PAGE}", plain, re.IGNORECASE):
        return 0.6
    if match := re.match(says, plain, re.IGNORECASE):
        named = re.match(opening, plain, re.IGNORECASE)
        if named and last[-1:].isascii() and _OTHER_THING.match(plain, named.end()):
            return 0.3  # SELinux 策略 is not SELinux
        return 1.0 if match["kind"] else 0.5
    if (clause := _FIRST_CLAUSE.match(plain)) and (match := re.match(says, plain[clause.end() :], re.IGNORECASE)):
        return 0.8 if match["kind"] else 0.4
    if re.search(rf"{_CALLED}{_QUOTES}{name}(?![\w-])", plain, re.IGNORECASE):
        return 0.3 if _IT.match(plain) else 0.7
    if re.match(rf"{opening}(?![\w./-]|['’]s\b)", plain, re.IGNORECASE):
        return 0.2  # at least it is what the sentence speaks of
    return 0.8 if _IT_IS.match(sentence) and re.search(name, simplify(heading), re.IGNORECASE) else 0.0


_TOKEN = pattern(r"(?P<quote>[`'\"‘“]?)(?P<token>[A-Za-z0-9_%@/+-]+(?:\.[A-Za-z0-9_]+)*)", re.ASCII)


def keys(text: str) -> frozenset[str]:
    """What a question may look up in a table: its names, signs and numbers letter by letter, plain function words only in quotes."""
    return frozenset(
        match["token"] for match in _TOKEN.finditer(text) if match["quote"] or not is_stop(match["token"].lower())
    )


_ELEMENT = pattern(
    r"[\u4e00-\u9fff]{1,6}(?:[·•][\u4e00-\u9fff]{1,6})+|[《“「]([^》”」]{2,20})[》”」]"
    r"|\b[A-Z][A-Za-z’'-]+(?:\s+[A-Z][A-Za-z’'-]+)*"
)


def asked_elements(question: Question, text: str) -> list[str]:
    """Names in a text that could be the answer: those that the question does not say itself."""
    asked = question.text.lower()
    return [match.group() for match in _ELEMENT.finditer(text) if match.group().lower() not in asked]
