"""How much each term of a question or claim matters: stop words and idf over the texts at hand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from kbcite.words import normalise, stem, terms

Weigh = Callable[[str], float]

_STOP = frozenset(
    (
        "a an the and or but if of in on at to for from by with as is are was were be been being am do does did done have has "
        "had having it its this that these those there here he she they them his her their i you we us our your my me him who "
        "whom whose which what when where why how not no nor so than then too very can could will would shall should may might "
        "must about into over under between after before during also such any some all each both more most other only own same "
        "s t d ll re ve many much "
        "的 了 是 在 和 与 及 或 也 都 就 而 被 把 将 对 从 到 由 于 以 为 之 其 这 那 该 此 哪 谁 吗 呢 吧 啊 么 什 怎 几 个 "
        "有 多 少 些 各 每 等 着 过 会 能 可 要 请 问 我 你 他 她 它 们 您 地 得 所 并 且 但 又 很 更 最 不 没 无 一 "
        "什么 怎么 多少 哪些 哪里 哪个 如何 是否 为什 有哪 几个 谁是 是谁 何时 请问 一个 我们 你们 他们 这个 那个 以及 或者 "
        "是什 的是 是多 有多 是哪 在哪 么时 时候 么是"
    ).split()
)


def stems(text: str) -> list[str]:
    """Search terms of a text, stemmed, in order."""
    return [stem(term) for term in terms(text)]


def is_stop(term: str) -> bool:
    return term in _STOP


def base_weight(term: str) -> float:
    """What a term matters by its form alone: a function word next to nothing, one Chinese character less than a pair."""
    if term in _STOP:
        return 0.05
    if len(term) == 1 and not term.isascii():
        return 0.3
    if len(term) == 2 and not term.isascii() and (term[0] in _STOP or term[1] in _STOP):
        return 0.3
    return 1.0


def idf_over(texts: Iterable[str]) -> Weigh:
    """A weight for any term: its form times how rare it is among the texts."""
    count: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        count.update({stem(term) for term in set(terms(text))})
    return weigh_by(count, total)


def weigh_by(count: Mapping[str, int], total: int) -> Weigh:
    top = math.log(1 + (total + 0.5) / 0.5)

    def weigh(term: str) -> float:
        n = count.get(term, 0)
        rarity = math.log(1 + (total - n + 0.5) / (n + 0.5)) / top
        return base_weight(term) * (0.35 + 0.65 * rarity)

    return weigh


def share(wanted: Iterable[str], given: frozenset[str] | set[str], weigh: Weigh) -> float:
    """Weighted share of the wanted terms that are given, 0 to 1; 0 where nothing of weight is wanted."""
    total = found = 0.0
    for term in set(wanted):
        weight = weigh(term)
        total += weight
        if term in given:
            found += weight
    return found / total if total else 0.0


def fold(text: str) -> str:
    """Text as it is compared: NFKC, lower case, without white space and punctuation."""
    return re.sub(r"[\W_]+", "", normalise(text))
