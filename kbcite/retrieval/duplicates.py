"""Which blocks say the same: a score for a pair, candidates among many, and clusters with a main block (SPEC 35).

Two texts are near-duplicates if most of their shingles are the same **and** no place says something else. Shingles alone
cannot tell: they merge every page whose one figure was changed. So the two are aligned word by word, and what differs is
looked at (`find_difference`):

- words put in place of other words: another name, figure, date or unit. Only words of one row of `_SAME_ZH` or `_SAME_EN`
  may stand for each other, which is what reprints exchange: 表示 and 称, said and told;
- a figure or a negation that comes or goes inside a sentence, and any word that does so next to a figure: 5 元 and 5 美元;
- a figure on each side that the other lacks, wherever it stands.

What comes or goes as whole sentences, and punctuation, case and line ends, make no difference in fact.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations, product

import numpy as np

from kbcite.words import CJK, language_of, normalise

DUPLICATE_THRESHOLD = 0.7
"""Shingle Jaccard from which a pair without a difference is merged. On 1,650 pairs in two languages the lightly edited
reprints stood at 0.74 and above. `python -m tests.bench.qa_run dedup DATA OUT` measures it again."""

DIFFERENT = 0.4
"""A pair with a difference in fact has its score cut to this share, so it never reaches the threshold."""

_SHINGLE_ZH, _SHINGLE_EN = 5, 3
"""Characters and words."""
_WORTH_ALIGNING = 0.3
"""Under this Jaccard a pair is no candidate, whatever differs."""
_MAX_SUBSTITUTION = 12
"""Words, or Chinese characters. A longer stretch on either side is another passage, such as a dateline or a credit."""
_MAX_INSERTION = 8
_MOST_COMPLETE = 0.9
"""A block with this share of the longest one's words counts as complete."""

_PERMUTATIONS, _BANDS = 128, 32
"""Four rows a band: a pair of Jaccard 0.7 is found with probability 0.9998, one of 0.3 with 0.23."""
_SEED = 1

_SAME_ZH = (
    "表示 称 说 指出 透露 介绍 告诉",
    "进行 开展 展开",
    "目前 当前 现在",
    "但是 但 不过 然而",
    "因此 所以 因而",
    "和 与 及 以及",
    "今天 今日",
    "昨天 昨日",
    "已经 已",
    "使用 采用",
    "此外 另外",
    "由于 因为",
)
_SAME_EN = ("said told says stated", "begin start", "but however", "also too", "while whereas", "use utilise utilize")
_REPLACEMENT_ZH = {word: row.split()[0] for row in _SAME_ZH for word in row.split()}
_REPLACEMENT_EN = {word: row.split()[0] for row in _SAME_EN for word in row.split()}
_REPLACED_ZH = re.compile("|".join(sorted(_REPLACEMENT_ZH, key=len, reverse=True)))

_TOKEN = re.compile(
    rf"\d+(?:[.,:]\d+)*|[{CJK}]|[^\W\d_{CJK}]+(?:'[^\W\d_]+)?|[%‰°$€£¥]|(?P<stop>[。！？!?；;]|\.(?=\s|$)|\n+)"
)
_STOP = "\n"
_NEGATIONS = frozenset("不没无未非勿莫否") | frozenset("not no never without cannot neither nor none".split())
_EMPTY_WORDS = frozenset("的了地得着过在于是等也都就其该此这那将把被之") | frozenset(
    "a an the of in to and that is was it its on at for by with as".split()
)
_FIGURE = re.compile(r"[\d零〇一二三四五六七八九十百千万亿两]")


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where two texts that are alike say something else."""

    kind: str
    """`words`: these stand for those; `insertion`: only one side has them; `figures`: figures the other side lacks."""
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class DatedText:
    """A block as clustering sees it."""

    id: str
    text: str
    published_at: str | None = None
    """Earliest of its occurrences."""


@dataclass(frozen=True, slots=True)
class Cluster:
    main: str
    """ID of the earliest published of the most complete blocks."""
    others: tuple[str, ...]
    """IDs of its near-duplicates."""


def duplicate_score(one: str, other: str) -> float:
    """How much two texts are the same, 0 to 1: shingle Jaccard, cut to `DIFFERENT` of it where they differ in fact."""
    return _score(_read(one), _read(other))


def find_difference(one: str, other: str) -> Difference | None:
    """The first place where two texts differ in fact, None if there is none; meant for texts that are mostly the same."""
    return _difference(_read(one).tokens, _read(other).tokens)


def find_candidates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of indices whose shingles are probably much the same (MinHash with banding), each once, smaller first."""
    random = np.random.default_rng(_SEED)
    factors = random.integers(0, 1 << 64, _PERMUTATIONS, dtype=np.uint64)[:, None] | np.uint64(1)
    offsets = random.integers(0, 1 << 64, _PERMUTATIONS, dtype=np.uint64)[:, None]
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        hashes = np.fromiter((zlib.crc32(" ".join(s).encode()) for s in _read(text).shingles), dtype=np.uint64)
        signature = ((factors * hashes + offsets) >> np.uint64(32)).min(axis=1)
        for band, rows in enumerate(signature.reshape(_BANDS, -1)):
            buckets[band, rows.tobytes()].append(index)
    return sorted({pair for bucket in buckets.values() for pair in combinations(bucket, 2)})


def cluster_duplicates(
    blocks: Sequence[DatedText], candidates: Iterable[tuple[int, int]], threshold: float = DUPLICATE_THRESHOLD
) -> list[Cluster]:
    """Clusters of two blocks and more, in which each block is a near-duplicate of **every** other.

    candidates: pairs of indices into `blocks`, from `find_candidates` or from neighbours in the vector index. Every pair is
    compared, for two blocks that both agree with a third may still contradict each other.
    """
    read = [_read(block.text) for block in blocks]
    scores: dict[tuple[int, int], float] = {}

    def score(i: int, j: int) -> float:
        pair = (min(i, j), max(i, j))
        if pair not in scores:
            scores[pair] = _score(read[i], read[j])
        return scores[pair]

    ranked = sorted(((-score(i, j), i, j) for i, j in {(min(pair), max(pair)) for pair in candidates} if i != j))
    members = {i: [i] for i in range(len(blocks))}
    home = list(range(len(blocks)))
    for negative, i, j in ranked:
        if -negative < threshold:
            break
        a, b = home[i], home[j]
        if a != b and all(score(x, y) >= threshold for x, y in product(members[a], members[b])):
            members[a] += members.pop(b)
            for moved in members[a]:
                home[moved] = a
    return [_with_main(blocks, read, group) for group in members.values() if len(group) > 1]


def _with_main(blocks: Sequence[DatedText], read: Sequence[_Read], group: Sequence[int]) -> Cluster:
    complete = _MOST_COMPLETE * max(len(read[i].tokens) for i in group)
    order = sorted(
        group,
        key=lambda i: (
            len(read[i].tokens) < complete,
            blocks[i].published_at or "9999",
            -len(read[i].tokens),
            blocks[i].id,
        ),
    )
    main, *others = (blocks[i].id for i in order)
    return Cluster(main, tuple(others))


# ---------------------------------------------------------------- one pair


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as its words; `_STOP` between sentences."""

    tokens: tuple[str, ...]
    shingles: frozenset[tuple[str, ...]]


def _read(text: str) -> _Read:
    folded = _REPLACED_ZH.sub(lambda match: _REPLACEMENT_ZH[match.group()], normalise(text))
    tokens: list[str] = []
    for match in _TOKEN.finditer(folded):
        if match["stop"] is None:
            token = match.group().replace(",", "")
            tokens.append(_REPLACEMENT_EN.get(token, token))
        elif tokens and tokens[-1] != _STOP:
            tokens.append(_STOP)
    size = _SHINGLE_ZH if language_of(text) == "zh" else _SHINGLE_EN
    words = [token for token in tokens if token != _STOP]
    shingles = frozenset(tuple(words[i : i + size]) for i in range(max(1, len(words) - size + 1)))
    return _Read(tuple(tokens), shingles)


def _score(one: _Read, other: _Read) -> float:
    jaccard = len(one.shingles & other.shingles) / len(one.shingles | other.shingles)
    if jaccard < _WORTH_ALIGNING or one.tokens == other.tokens or not _difference(one.tokens, other.tokens):
        return jaccard
    return DIFFERENT * jaccard


def _difference(one: Sequence[str], other: Sequence[str]) -> Difference | None:
    for a, b, inside in _changes(one, other):
        if found := _difference_of_change(a, b, inside):
            return found
    figures, others = ({token for token in tokens if token[0].isdecimal()} for tokens in (one, other))
    if figures - others and others - figures:
        return Difference("figures", " ".join(sorted(figures - others)), " ".join(sorted(others - figures)))
    return None


@dataclass(frozen=True, slots=True)
class _Inside:
    """Whether a change stands inside a sentence, and whether next to a figure."""

    sentence: bool
    figure: bool


def _changes(one: Sequence[str], other: Sequence[str]) -> Iterable[tuple[Sequence[str], Sequence[str], _Inside]]:
    """The stretches in which two texts differ, without what they begin and end with alike."""
    shorter = min(len(one), len(other))
    head = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    tail = next((i for i in range(shorter - head) if one[-1 - i] != other[-1 - i]), shorter - head)
    matcher = SequenceMatcher(None, one[head : len(one) - tail], other[head : len(other) - tail], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        i, j, k, m = i + head, j + head, k + head, m + head
        a, b = one[i:j], other[k:m]
        has_neighbours = i > 0 and k > 0 and j < len(one) and m < len(other)
        in_sentence = has_neighbours and _STOP not in a and _STOP not in b
        at_figure = in_sentence and bool(_FIGURE.match(one[i - 1]) or _FIGURE.match(one[j]))
        yield a, b, _Inside(in_sentence, at_figure)


def _difference_of_change(a: Sequence[str], b: Sequence[str], inside: _Inside) -> Difference | None:
    left = [token for token in Counter(a) - Counter(b) if token != _STOP and token not in _EMPTY_WORDS]
    right = [token for token in Counter(b) - Counter(a) if token != _STOP and token not in _EMPTY_WORDS]
    if left and right:
        return Difference("words", _shown(a), _shown(b)) if max(len(a), len(b)) <= _MAX_SUBSTITUTION else None
    changed = left or right
    if not changed or not inside.sentence or max(len(a), len(b)) > _MAX_INSERTION:
        return None
    if inside.figure or any(_FIGURE.search(token) or token in _NEGATIONS for token in changed):
        return Difference("insertion", _shown(a), _shown(b))
    return None


def _shown(tokens: Sequence[str]) -> str:
    joined = " ".join(token for token in tokens if token != _STOP)
    return re.sub(rf"(?<=[{CJK}]) (?=[{CJK}])", "", joined)
