"""How fast the answer to a question goes out of date, and which sources are too old for it (SPEC 42, 49).

Four classes by how often such content changes: `volatile` (market prices, stock, seats, scores, what is up or down at this moment), `news`
(what was announced lately, current versions and offers), `product` (facts that change now and then: listed prices and fees, opening hours,
head counts, office holders, rates) and `reference` (what is fixed: history, definitions, standards). Rules and words decide; a caller's own
class beats them. `python -m tests.bench.qa_run timeclass` measures them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from kbcite.clock import from_text, seconds_between
from kbcite.patterns import pattern
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

_NOW = pattern(
    r"现在|此刻|当前|目前|眼下|实时|今天|今日|今晚|今早|正在|马上|\bright now\b|\bat (?:this|the) moment\b|\bcurrent(?:ly)?\b|\blive\b"
    r"|\bnow\b|\btoday(?:'s)?\b|\btonight(?:'s)?\b",
    re.IGNORECASE,
)
_MOVING = pattern(
    r"比分|第几分钟|几比几|有货|库存|余票|到哪儿?了|航班|路况|堵车|现在堵|天气|气温|空气质量|排队|挂了|宕机|故障|晚点|延误|在线人数|直播"
    r"|(?:还有|还剩|有没有|剩余?多少|剩下多少)[^，。？]{0,8}(?:票|座|空位|车位|床位|房(?!子)|名额|货)"
    r"|(?:现在|此刻|正|今天|今晚)[^，。？]{0,4}(?:下[雨雪]|停[运水电]|营业|开门|关门)"
    r"|\bin stock\b|\bsold out\b|\bscore (?:of|in|at|between)\b|\bscores?\b.*\b(?:now|tonight|today)\b"
    r"|\bleading the (?:race|game|match)\b|\bwho(?:'s| is) (?:winning|ahead)\b"
    r"|\b(?:tickets?|seats?|rooms?|places|spaces|spots|copies)\b.*\b(?:left|still (?:free|available)|remaining)\b"
    r"|\bweather\b|\btemperature (?:is it|in|now)\b|\btraffic\b|\bflight status\b|\bwhat time is(?: it)?\b"
    r"|\b(?:is|are) .* (?:down|up|online|offline|open|closed|running|working|delayed)\b.*\bnow\b"
    r"|^(?:is|are) [^?,]{1,60} (?:down|offline|delayed)\W*$"
    r"|\b(?:available|free)\b.*\b(?:now|at the moment|today|tonight)\b"
    r"|\b(?:queue|wait(?:ing time)?|line)\b.*\b(?:now|at the moment)\b",
    re.IGNORECASE,
)
_GOODS = r"(?:gold|silver|platinum|(?:crude )?oil|brent|bitcoin|ethereum|btc|eth)"
_MONEY = r"(?:usd|eur|gbp|jpy|cny|rmb|chf|dollars?|euros?|pounds?|yen|yuan|francs?)"
_MARKET = pattern(
    r"股价|股票|钱一股|每股|汇率|行情|金价|银价|油价|币价|开盘|收盘|涨了?还是跌|涨跌|指数|多少点"
    r"|(?:黄金|白银|铂金|原油|布伦特|比特币|以太坊|期货)(?!会员|套餐|版|卡|周).{0,10}(?:价|多少)"
    r"|(?:美元|欧元|英镑|日元|港[元币]|韩元|卢布|澳元|加元|人民币).{0,4}(?:兑|换)"
    r"|\b(?:stock|share|spot) price\b|\bexchange rate\b|\btrading at\b"
    r"|\b(?:price|worth|value) of (?:one |an? )?(?:(?:ounce|gram|kilo|barrel|share) of )?" + _GOODS + r"\b"
    r"|\bhow much is (?:one |an? )?(?:(?:ounce|gram|kilo|barrel) of )?" + _GOODS + r"\b(?! (?:plan|card|member))"
    r"|\bbitcoin\b.*\bworth\b|\b(?:nasdaq|nikkei|ftse|dax|dow jones|s&p 500)\b.*\b(?:now|today|close[ds]?|points)\b"
    r"|\b" + _MONEY + r"\b.{0,12}\b(?:to|in|into|against|for|versus)\b.{0,9}\b" + _MONEY + r"\b",
    re.IGNORECASE,
)
"""What a market sets, minute by minute; a shop's or a town's own prices are those of `_PRICE`."""
_RECENT = pattern(
    r"最新|最近|近期|近来|刚刚|新近|这次更新|本次更新|新版本|今天|今日|昨天|昨日|前天|本周|这周|下周|明天|后天|下个?月|这个?周末|上周|本月|这个月|上个?月|今年|本季|公告|通知|快讯|头条|放假|放几天假|新闻|发布了|更新了|调整了"
    r"|\blatest\b|\bnewest\b|\brecent(?:ly)?\b|\bmost recent\b|\bthis (?:week|month|year|season)(?:'s)?\b"
    r"|\blast (?:week|month|night)(?:'s)?\b|\byesterday(?:'s)?\b|\btoday(?:'s)?\b"
    r"|\bheadlines?\b|\bnews\b|\bannounce(?:d|ments?)?\b|\bjust (?:released|launched)\b|\bupcoming\b"
    r"|\bnew (?:version|release|feature)s?\b|\bnext (?:episode|game|match|season|week|month|election|year)\b"
    r"|\bwhen (?:is|does|do|will|are) (?:the )?(?:next|new)\b|\bhas .* changed\b",
    re.IGNORECASE,
)
_OFFER = pattern(r"促销|优惠|折扣|打折|\b(?:on sale|special offers?|discounts?|promotions?)\b", re.IGNORECASE)
_PRICE = pattern(
    r"售价|价格|定价|报价|票价|房价|单价|收费|多少钱|年费|会费|会员费|手续费|服务费|\bprices?\b|\bpricing\b|\bcosts?\b"
    r"|\bhow much (?:does|do|is|are)\b|\bfees?\b",
    re.IGNORECASE,
)
_HOURS = pattern(
    r"营业时间|开放时间|服务时间|上班时间|办公时间|几点(?:开|关|上班|下班|结束营业)|\b(?:opening|office|business|visiting) hours\b"
    r"|\bwhat (?:time|hours|days) (?:is|are|does|do)\b.*\b(?:open|closed?)\b|\bwhen (?:is|are|does|do)\b.*\b(?:open|close)\b",
    re.IGNORECASE,
)
_STANDING = pattern(
    r"积分榜|排行榜|排名第一|榜首|冠军是哪部|\btop of the .*\b(?:table|league)\b|\bstandings\b|\bbest-?selling\b.*\b(?:this"
    r"|now)\b|\bleads? the\b|\bin the lead\b",
    re.IGNORECASE,
)
_PAST = pattern(
    r"(?<!\d)(?:1\d{3}|20[01]\d|202[0-4])(?:年|(?!\d))|去年|前年|世纪|朝|古代|第[一二三四五六七八九十\d]+[届次]|\b(?:1\d{3}|20[01]\d"
    r"|202[0-4])\b|\bcentury\b|\bfirst\b|\boriginal(?:ly)?\b|\bseason \d|\bepisode \d",
    re.IGNORECASE,
)
_HOLDER = pattern(
    r"(?:现任|首富|总统|总理|主席|市长|省长|部长|校长|首相|国王|女王|CEO|首席执行官|总裁|董事长|总监|经理|主任|院长|局长|书记|馆长|负责人|秘书长|教练|纪录保持者|世界纪录).{0,6}(?:是谁|[？?]|$)|谁(?:是|担任"
    r"|任).{0,12}(?:总统|总理|主席|市长|省长|部长|校长|首相|CEO|总裁|董事长|总监|经理|主任|院长|局长|书记|馆长|负责人|秘书长|教练)"
    r"|\bwho(?:'s| is| are| currently)\b.*\b(?:president|prime minister|minister|governor|mayor|ceo|chief"
    r"|chairman|chair|head|secretary|director|manager|coach|owner|king|queen|speaker|captain|"
    r"leader|champion|senator|commissioner|ambassador|justice|dean|chancellor)\b|\bwho (?:holds?|has|owns|runs"
    r"|leads|plays for|is in charge)\b|\brecord\b|\bworld champion\b",
    re.IGNORECASE,
)
_COUNT = pattern(
    r"(?:一共|总共|共)?有多少(?:名|个|条|家|位|人|种|所|座|辆|台|次|张|间|款|户)|员工|人口|会员国|成员国|版本|现行|受支持|税率|利率|最低工资|工资标准|起征点|线路|在校生|门店|用户数|市值|营收"
    r"|标准税率"
    r"|\bhow many\b(?!.* (?:does|has|in) an? ).*\b(?:are there|does|do|have|has|are in|exist|live|work|left)\b|\bpopulation\b|\bmembers?\b"
    r"|\bsupported\b|\bversions?\b|\bminimum wage\b|\btax rate\b|\binterest rate\b|\bnet worth\b|\bsalary\b"
    r"|\bgdp\b|\bdebt\b|\brate\b",
    re.IGNORECASE,
)
_SUPERLATIVE = pattern(
    r"最(?:大|高|长|多|快|富|贵|年长|畅销|受欢迎|先进)的?|\b(?:most|highest|largest|biggest|tallest|richest|longest|fastest|oldest"
    r"|youngest|best|top|last time|all[- ]time|fewest|worst|lowest|greatest)\b",
    re.IGNORECASE,
)
_LASTING = pattern(
    r"区别|是什么意思|什么是|作者|导演|谁写|谁画|谁发明|原理|定义|输出长度|如何工作|\bdifference between\b|\bdiffer\b|\bmean(?:s|ing)?\b"
    r"|\bwhat (?:is|are) an?\b|\bdefin|\bwho (?:wrote|painted|invented|directed|discovered|played|plays|sang"
    r"|sings|said|founded|created|composed|designed|built|voiced)\b"
    r"|\btheorem\b|\bhow (?:does|do|did) .* work\b",
    re.IGNORECASE,
)


_SMALL_TALK = pattern(
    r"你好|您好|早上好|晚上好|过得(?:怎么样|好吗)|心情|谢谢|再见|\bhello\b|\bhow are you\b|\bhow is your\b|\bhow was your\b|\bthanks?\b"
    r"|\bgood (?:morning|evening|night)\b",
    re.IGNORECASE,
)


_TITLE = pattern(r"""《[^《》]{1,60}》|〈[^〈〉]{1,60}〉|“[^“”]{1,60}”|「[^「」]{1,60}」|"[^"]{1,60}"|`[^`]{1,60}`""")
_CHANGE = pattern(
    r"公告|通知|(?:价格|费用|票价|油价)调整|[涨降调]价|停水|停电|停运|故障|\bannouncements?\b|\bnotices?\b|\bprice (?:change|increase|cut|rise)s?\b|\boutage\b"
    r"|\breleased?\b",
    re.IGNORECASE,
)
_RISK = pattern(
    r"合同|违约|赔偿|退款|押金|保修|条款|期限|起诉|诉讼|仲裁|剂量|用量|副作用|禁忌|药|疫苗|症状|诊断|治疗|孕妇|利率|贷款|利息|税率|个税|汇率|手续费|起征点|社保|公积金|保险|保费"
    r"|理赔|基金|股价|分红"
    r"|\bcontract|\bliabilit|\bpenalt(?:y|ies)\b|\brefund|\bdeposit\b|\bwarranty\b|\bdos(?:e|age)\b|\bside effects?\b|\bmedic(?:ine|ation)"
    r"|\bvaccin|\bsymptom|\btreatment\b|\binterest rates?\b|\bloans?\b|\bmortgage|\btax(?:es| rate)?\b|\bexchange rate|\binsurance\b"
    r"|\bpremium\b|\bdividend",
    re.IGNORECASE,
)


def without_titles(question: str) -> str:
    """The question with what stands in quotes left out: 最新 in a title says nothing of time."""
    return _TITLE.sub("《》", question)


def has_time_words(question: str) -> bool:
    """True where words of time, or of a change that is announced, speak of an event of these days, not of small talk or a title."""
    plain = simplify(without_titles(question))
    if _SMALL_TALK.search(plain) or (_PAST.search(plain) and not _RECENT.search(plain)):
        return False
    return bool(_NOW.search(plain) or _RECENT.search(plain) or _CHANGE.search(plain))


def asks_for_price(question: str) -> bool:
    """True where a price is asked for: what stands on the page today is today's, whenever the page was published."""
    return bool(_PRICE.search(simplify(without_titles(question))))


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
    is_moving = _MOVING.search(question) or _MARKET.search(question)
    if is_moving and (_NOW.search(question) or not past) and not _LASTING.search(question):
        return QuestionClass.VOLATILE
    if past and not _RECENT.search(question):
        return QuestionClass.REFERENCE
    if any(words.search(question) for words in (_RECENT, _OFFER, _STANDING)):
        return QuestionClass.NEWS
    if _PRICE.search(question):
        # A listed price changes now and then; who asks for the current one has heard of a new one.
        return QuestionClass.NEWS if _NOW.search(question) else QuestionClass.PRODUCT
    if _LASTING.search(question):
        return QuestionClass.REFERENCE
    if any(words.search(question) for words in (_HOURS, _HOLDER, _COUNT, _SUPERLATIVE, _NOW)):
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
