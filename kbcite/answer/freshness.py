"""How fast the answer to a question goes out of date, and which sources are too old for it (SPEC 42, 49).

Four classes by how often such content changes: `volatile` (prices of the moment, stock, scores), `news` (what was announced lately,
current versions and offers), `product` (facts that change now and then: head counts, office holders, rates) and `reference` (what is fixed:
history, definitions, standards). Rules and words decide; a caller's own class beats them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from kbcite.clock import from_text, seconds_between
from kbcite.records import Freshness, Place, Source, SourceType
from kbcite.words import simplify

DAY = 86_400
OLD_NEWS_S = 30 * DAY


class QuestionClass(StrEnum):
    VOLATILE = "volatile"
    NEWS = "news"
    PRODUCT = "product"
    REFERENCE = "reference"


WINDOWS: dict[QuestionClass, int | None] = {
    QuestionClass.VOLATILE: 60,
    QuestionClass.NEWS: 3 * DAY,
    QuestionClass.PRODUCT: 7 * DAY,
    QuestionClass.REFERENCE: None,
}
TIME_SENSITIVE = frozenset({QuestionClass.VOLATILE, QuestionClass.NEWS})

_NOW = re.compile(
    r"现在|此刻|当前|目前|眼下|实时|今天|今日|今晚|今早|正在|马上|\bright now\b|\bat (?:this|the) moment\b|\bcurrent(?:ly)?\b|\blive\b"
    r"|\bnow\b|\btoday(?:'s)?\b|\btonight(?:'s)?\b",
    re.IGNORECASE,
)
_MOVING = re.compile(
    r"股价|股票|汇率|行情|金价|油价|币价|开盘|收盘|涨了?还是跌|涨跌|指数|比分|第几分钟|几比几|有货|库存|余票|到哪儿?了|航班|路况|堵车|天气|气温|排队|挂了|宕机|故障|在线人数|直播"
    r"|\bstock price\b|\bshare price\b|\bexchange rate\b|\bin stock\b|\bscore of\b|\bscores?\b.*\b(?:now|tonight"
    r"|today)\b|\bleading the (?:race|game|match)\b"
    r"|\btickets? (?:are )?left\b|\bweather\b|\btemperature (?:is it|in|now)\b|\btraffic\b|\bflight status\b"
    r"|\bis .* (?:down|up|online|open)\b.*\bnow\b"
    r"|\b(?:price|worth|value) of (?:one |an? )?(?:gold|silver|oil|bitcoin|ethereum)|\bbitcoin\b.*\bworth\b"
    r"|\bwhat time is(?: it)?\b|\bspot price\b",
    re.IGNORECASE,
)
_RECENT = re.compile(
    r"最新|最近|近期|近来|刚刚|新近|今天|今日|昨天|昨日|前天|本周|这周|上周|本月|这个月|上个?月|今年|本季|公告|通知|快讯|头条|放假|新闻|发布了|更新了|调整了"
    r"|\blatest\b|\bnewest\b|\brecent(?:ly)?\b|\bmost recent\b|\bthis (?:week|month|year|season)(?:'s)?\b"
    r"|\blast (?:week|month|night)(?:'s)?\b|\byesterday(?:'s)?\b|\btoday(?:'s)?\b"
    r"|\bheadlines?\b|\bnews\b|\bannounce(?:d|ments?)?\b|\bjust (?:released|launched)\b|\bupcoming\b"
    r"|\bnext (?:episode|game|match|season|week|month|election|year)\b"
    r"|\bwhen (?:is|does|do|will|are) (?:the )?(?:next|new)\b|\bhas .* changed\b",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:官方)?售价|价格|定价|报价|票价|收费|多少钱|促销|优惠|\bprices?\b|\bpricing\b|\bcosts?\b|\bhow much (?:does|do|is|are)\b"
    r"|\bfees?\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"积分榜|排行榜|排名第一|榜首|冠军是哪部|\btop of the .*\b(?:table|league)\b|\bstandings\b|\bbest-?selling\b.*\b(?:this"
    r"|now)\b|\bleads? the\b|\bin the lead\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"(?<!\d)(?:1\d{3}|20[01]\d|202[0-4])(?:年|(?!\d))|去年|前年|世纪|朝|古代|第[一二三四五六七八九十\d]+[届次]|\b(?:1\d{3}|20[01]\d"
    r"|202[0-4])\b|\bcentury\b|\bfirst\b|\boriginal(?:ly)?\b|\bseason \d|\bepisode \d",
    re.IGNORECASE,
)
_HOLDER = re.compile(
    r"(?:现任|首富|总统|总理|主席|市长|省长|部长|校长|首相|国王|女王|CEO|首席执行官|总裁|董事长|秘书长|教练|纪录保持者|世界纪录).{0,6}(?:是谁|[？?]|$)|谁(?:是|担任"
    r"|任).{0,12}(?:总统|总理|主席|市长|省长|部长|校长|首相|CEO|总裁|董事长|秘书长|教练)"
    r"|\bwho(?:'s| is| are| currently)\b.*\b(?:president|prime minister|minister|governor|mayor|ceo|chief"
    r"|chairman|chair|head|secretary|director|manager|coach|owner|king|queen|speaker|captain|"
    r"leader|champion|senator|commissioner|ambassador|justice|dean|chancellor)\b|\bwho (?:holds?|has|owns|runs"
    r"|leads|plays for|is in charge)\b|\brecord\b|\bworld champion\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?:一共|总共|共)?有多少(?:名|个|条|家|位|人|种|所|座|辆|台|次)|员工|人口|会员国|成员国|版本|现行|受支持|税率|利率|最低工资|工资标准|起征点|线路|在校生|门店|用户数|市值|营收"
    r"|标准税率"
    r"|\bhow many\b.*\b(?:are there|does|do|have|has|are in|exist|live|left)\b|\bpopulation\b|\bmembers?\b"
    r"|\bsupported\b|\bversions?\b|\bminimum wage\b|\btax rate\b|\binterest rate\b|\bnet worth\b|\bsalary\b"
    r"|\bgdp\b|\bdebt\b|\brate\b",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"最(?:大|高|长|多|快|富|贵|年长|畅销|受欢迎|先进)的?|\b(?:most|highest|largest|biggest|tallest|richest|longest|fastest|oldest"
    r"|youngest|best|top|last time|all[- ]time|fewest|worst|lowest|greatest)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"区别|是什么意思|什么是|作者|导演|谁写|谁画|谁发明|原理|定义|输出长度|如何工作|\bdifference between\b|\bdiffer\b|\bmean(?:s|ing)?\b"
    r"|\bwhat (?:is|are) an?\b|\bdefin|\bwho (?:wrote|painted|invented|directed|discovered|played|plays|sang"
    r"|sings|said|founded|created|composed|designed|built|voiced)\b"
    r"|\btheorem\b|\bhow (?:does|do|did) .* work\b",
    re.IGNORECASE,
)


_SMALL_TALK = re.compile(
    r"你好|您好|早上好|晚上好|过得(?:怎么样|好吗)|心情|谢谢|再见|\bhello\b|\bhow are you\b|\bhow is your\b|\bhow was your\b|\bthanks?\b"
    r"|\bgood (?:morning|evening|night)\b",
    re.IGNORECASE,
)


_TITLE = re.compile(r"《[^《》]{1,60}》|〈[^〈〉]{1,60}〉")
_CHANGE = re.compile(
    r"公告|通知|(?:价格|费用|票价|油价)调整|[涨降调]价|停水|停电|停运|故障|\bannouncements?\b|\bnotices?\b|\bprice (?:change|increase|cut|rise)s?\b|\boutage\b"
    r"|\breleased?\b",
    re.IGNORECASE,
)
_RISK = re.compile(
    r"合同|违约|赔偿|退款|押金|保修|条款|期限|起诉|诉讼|仲裁|剂量|用量|副作用|禁忌|药|疫苗|症状|诊断|治疗|孕妇|利率|贷款|利息|税率|个税|汇率|手续费|起征点|社保|公积金|保险|保费"
    r"|理赔|基金|股价|分红"
    r"|\bcontract|\bliabilit|\bpenalt(?:y|ies)\b|\brefund|\bdeposit\b|\bwarranty\b|\bdos(?:e|age)\b|\bside effects?\b|\bmedic(?:ine|ation)"
    r"|\bvaccin|\bsymptom|\btreatment\b|\binterest rates?\b|\bloans?\b|\bmortgage|\btax(?:es| rate)?\b|\bexchange rate|\binsurance\b"
    r"|\bpremium\b|\bdividend",
    re.IGNORECASE,
)


def without_titles(question: str) -> str:
    """The question with what stands in book quotes left out: 最新 in a title says nothing of time."""
    return _TITLE.sub("《》", question)


def class_of(question: str, words: Mapping[str, Sequence[str]]) -> str:
    """The class of a question: the first whose own words it holds, else by the rules."""
    plain = simplify(question).casefold()
    for name, own in words.items():
        if any(simplify(word).casefold() in plain for word in own):
            return name
    return classify_question(question).value


def has_time_words(question: str) -> bool:
    """True where words of time, or of a change that is announced, speak of an event of these days, not of small talk or a title."""
    plain = simplify(without_titles(question))
    if _SMALL_TALK.search(plain) or (_PAST.search(plain) and not _RECENT.search(plain)):
        return False
    return bool(_NOW.search(plain) or _RECENT.search(plain) or _CHANGE.search(plain))


def is_high_risk(question: str, words: Sequence[str] = ()) -> bool:
    """True where a wrong answer costs: contract, health and finance, and the caller's own words (SPEC 57)."""
    plain = simplify(question)
    return bool(_RISK.search(plain)) or any(simplify(word).casefold() in plain.casefold() for word in words)


def classify_question(question: str) -> QuestionClass:
    """The class of a question by its words."""
    question = simplify(without_titles(question))
    if _SMALL_TALK.search(question):
        return QuestionClass.REFERENCE
    past = bool(_PAST.search(question))
    if _MOVING.search(question) and (_NOW.search(question) or not past) and not _LASTING.search(question):
        return QuestionClass.VOLATILE
    if past and not _RECENT.search(question):
        return QuestionClass.REFERENCE
    if _RECENT.search(question) or _OFFER.search(question) or _STANDING.search(question):
        return QuestionClass.NEWS
    if _LASTING.search(question):
        return QuestionClass.REFERENCE
    if _HOLDER.search(question) or _COUNT.search(question) or _SUPERLATIVE.search(question) or _NOW.search(question):
        return QuestionClass.PRODUCT
    return QuestionClass.REFERENCE


def is_stale(place: Place | Source, window_s: int | None, now: str) -> bool:
    """True where the page was last seen longer ago than the window allows; never for a live page or a class without window.

    What counts is when the page was last fetched and still said so: a price list of last year is good if it stood there today.
    """
    if window_s is None or place.source_type is SourceType.LIVE:
        return False
    return seconds_between(place.fetched_at, now) > window_s


def is_old_news(freshness: Freshness, now: str) -> bool:
    """True where the newest source of a news question was published over 30 days ago, so that a reader must be told."""
    if freshness.question_class != QuestionClass.NEWS or not freshness.newest_source:
        return False
    return seconds_between(freshness.newest_source, now) > OLD_NEWS_S


def report(sources: Sequence[Source], question_class: str, window_s: int | None, now: str) -> Freshness:
    """Class, window, newest source and stale sources, for the answer record."""
    newest = max((source.published_at or source.fetched_at for source in sources), key=from_text, default=None)
    stale = tuple(source.n for source in sources if is_stale(source, window_s, now))
    return Freshness(str(question_class), window_s, newest, stale)
