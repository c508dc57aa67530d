"""Words of which a thing is mostly one only, such as nationalities, and words that tell little, such as `include`."""

from __future__ import annotations

from kbcite.answer.weights import stems
from kbcite.words import simplify, stem

_ENGLISH = """
    american british english scottish welsh irish french german italian spanish portuguese dutch belgian swiss austrian
    polish russian ukrainian swedish norwegian danish finnish greek turkish israeli egyptian iranian iraqi indian
    pakistani bangladeshi chinese japanese korean thai vietnamese indonesian malaysian filipino australian canadian
    mexican brazilian argentine argentinian chilean colombian cuban african european asian nigerian kenyan hungarian
    czech romanian bulgarian serbian croatian;
    america us usa britain uk england scotland wales ireland france germany italy spain portugal netherlands belgium
    switzerland austria poland russia ukraine sweden norway denmark finland greece turkey israel egypt iran iraq india
    pakistan bangladesh china japan korea thailand vietnam indonesia malaysia philippines australia canada mexico brazil
    argentina chile colombia cuba nigeria kenya hungary romania bulgaria serbia croatia;
    film book novel album song single series play musical magazine newspaper poem game painting opera;
    son daughter brother sister father mother wife husband uncle aunt nephew niece grandfather grandmother cousin;
    north south east west northern southern eastern western;
    city town village county state province country island continent river lake mountain;
    january february march april may june july august september october november december;
    monday tuesday wednesday thursday friday saturday sunday;
    red orange yellow green blue purple black white brown pink grey;
    spring summer autumn winter;
    morning afternoon evening night;
    first second third fourth fifth last;
    man woman boy girl;
    actor actress singer writer director politician player footballer cricketer;
    tv television theater theatre radio internet online;
    comedy horror drama documentary thriller western;
    real fictional;
    won lost
"""
_CHINESE = """
    美国 英国 法国 德国 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 奥地利 波兰 俄罗斯 乌克兰 瑞典 挪威 丹麦 芬兰 希腊 土耳其 以色列
    埃及 伊朗 伊拉克 印度 巴基斯坦 中国 日本 韩国 朝鲜 泰国 越南 印尼 马来西亚 菲律宾 澳大利亚 新西兰 加拿大 墨西哥 巴西 阿根廷
    智利 古巴 南非 尼日利亚;
    北京 上海 天津 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南
    陕西 甘肃 青海 台湾 香港 澳门 广西 西藏 宁夏 新疆 内蒙古;
    电影 小说 专辑 歌曲 电视剧 游戏 杂志 报纸;
    儿子 女儿 父亲 母亲 妻子 丈夫 哥哥 弟弟 姐姐 妹妹;
    东部 西部 南部 北部 东南 西南 东北 西北;
    春季 夏季 秋季 冬季;
    上午 中午 下午 晚上 凌晨;
    上半年 下半年;
    冠军 亚军 季军;
    金牌 银牌 铜牌;
    男子 女子
"""
_CLASSES_EN = tuple(frozenset(map(stem, row.split())) for row in _ENGLISH.split(";"))
_CLASSES_ZH = tuple(frozenset(row.split()) for row in _CHINESE.split(";"))

LIGHT = frozenset(
    stem(word)
    for word in (
        "become became include including included known know name named called several new many various certain other another "
        "role make made making take taken took use used using part while during within through throughout along among around "
        "across upon since until still yet again already even just well often usually primarily mainly mostly largely generally "
        "especially particularly additionally furthermore however therefore thus hence although though whereas because due "
        "according based related involved involving following followed follow seen see seem appear appeared appears found find "
        "considered described stated said says say saying told tell announced reported noted later early earlier late recent "
        "recently currently current former formerly previous previously subsequent subsequently eventually finally initially "
        "originally next same similar different way ways thing things number amount kind type form would could should did does "
        "done get got give given go went come came set put bring led help helped began begin begun start started continue "
        "continued remain remained serve served work worked held hold keep kept show shown being time times year years day days "
        "month months week weeks people person group member major main large small great good best high low long short old "
        "young full whole own general special important notable popular famous able available possible likely instead both "
        "either neither every each about approximately nearly almost over under more less than"
    ).split()
)
"""Stems of English words that stand in texts of any kind: whether they are there tells little."""


def exclusive_words(claim: str, sentence: str, evidence: str) -> list[str]:
    """Words of the claim in whose place the sentence has another of their class: `American` where it says `English`.

    The evidence must have the claim's word nowhere, and the claim the sentence's.
    """
    mine, near, everything = (frozenset(stems(text)) for text in (claim, sentence, evidence))
    found = []
    for words in _CLASSES_EN:
        if (lost := mine & words - everything) and near & words - mine and not mine & near & words:
            found.extend(sorted(lost))
    claim, sentence, evidence = simplify(claim), simplify(sentence), simplify(evidence)
    for words in _CLASSES_ZH:
        own = [word for word in words if word in claim and word not in evidence]
        if own and any(word in sentence and word not in claim for word in words):
            found.extend(sorted(own))
    return found
