"""Whether a page has changed, and whether two pages say nearly the same.

A changed page is told by a hash of its title and main text in which counters and clocks are masked (SPEC 61). The masks are
narrow, for each of them hides real edits as well: only a short line that is no sentence, no table row and no code is
looked at, and only what is named as a count of readers or reactions, an age (`3分钟前`), or the clock time of a time stamp.
`营业时间 9:00-18:00` and `共有 3 人` are never masked.

Simhash is for near-duplicates and never for change: it missed 73 to 98 % of edits of one sentence or number.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import numpy as np

from kbcite.words import CJK, normalise, terms

NEAR_DUPLICATE_BITS = 3
"""Of 64 (Manku, Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007)."""

_MAX_MASKED_LINE_CHARS = 80
_SENTENCE = re.compile(r"[。！？!?；;]|[.,，](?:\s|$)")
_COUNT = r"\d[\d,.]*\s?(?:万|亿|[kKmMwW](?![a-zA-Z]))?\+?"
_COUNTED_ZH = r"(?:阅读|浏览|点击|观看|播放|评论|点赞|收藏|转发|围观|跟帖|人气|热度)"
_COUNTED_IF_NAMED_A_COUNT = r"(?:访问|下载|分享|回复|查看|参与|喜欢|粉丝)(?:次数|人数|数量|数|量)"
_COUNTED_EN = r"(?:views?|reads?|hits|visits|comments?|likes?|shares?|replies|reactions?|upvotes?|claps?|followers)"
_COUNTERS = re.compile(
    rf"(?P<label>(?:{_COUNTED_ZH}(?:次数|人数|数量|数|量)?|{_COUNTED_IF_NAMED_A_COUNT})\s*[:：(（\[]?\s*){_COUNT}(?P<unit>\s*[次人条篇]?)(?![\d年月日号:：])"
    rf"|{_COUNT}\s*[次人条个]?\s*(?P<after>{_COUNTED_ZH})(?![{CJK}])"
    rf"|(?P<english>\b{_COUNTED_EN}\s*[:(]\s*){_COUNT}"
    rf"|(?<![\w.]){_COUNT}\s+(?P<plural>{_COUNTED_EN})\b",
    re.IGNORECASE,
)
_AGE = re.compile(
    r"(?:\d+|几)\s*(?:秒钟?|分钟|个?小时|天|日|周|个?星期|个?月|年)(?:之?前|以前)(?![往后端])"
    rf"|(?<![{CJK}])刚刚(?![{CJK}])"
    r"|\b(?:\d+|an?|a few|few)\s+(?:sec(?:ond)?|min(?:ute)?|hour|hr|day|week|month|year)s?\s+ago\b|\bjust now\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_AGE_WORDS = ("前", "刚", "ago", "now")
"""One of them stands in every match of `_AGE`; most lines have neither a digit nor such a word, and are not searched further."""
_CLOCK = r"\d{1,2}[:：]\d{2}(?:[:：]\d{2})?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_DATE = (
    r"(?:\d{4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?"
    r"|(?:[A-Z][a-z]{2,8}\.?\s\d{1,2},?\s\d{4})|(?:\d{1,2}\s[A-Z][a-z]{2,8}\.?\s\d{4}))"
)
_STAMP = re.compile(
    rf"(?P<before>^\W*(?:[^\d\W]{{1,12}}[:：]?\s*)?{_DATE}[\s,T]*(?:(?:星期|周)[一二三四五六日天]\s*|[A-Z][a-z]+day,?\s*)?"
    rf"|^\W*(?:当前时间|现在时间|现在是|北京时间|更新于|更新时间|发布时间|发布于|刷新时间|生成时间|[Uu]pdated(?: at)?|[Pp]ublished(?: at)?"
    rf"|[Gg]enerated(?: at)?|[Ll]ast modified|[Nn]ow)\s*[:：]?\s*|^\W*){_CLOCK}(?=\s*(?:$|[|｜·•/]|来源|作者|编辑|责编|阅读|浏览|UTC|GMT|CST))"
)


def masked_fingerprint(title: str, text: str) -> str:
    """SHA-256, hexadecimal, of a page's title and main text without blank lines, blanks at line ends, counters and clocks."""
    lines = [" ".join(title.split())]
    in_code = False
    for line in text.splitlines():
        stripped = line.rstrip()
        fence = stripped.lstrip().startswith(("```", "~~~"))
        in_code ^= fence
        if stripped:
            lines.append(stripped if in_code or fence else mask_line(stripped))
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def mask_line(line: str) -> str:
    """A line with `#` for its counters, ages and the clock time of a time stamp; unchanged if it is text of the page itself."""
    if len(line) > _MAX_MASKED_LINE_CHARS or line.lstrip().startswith("|") or _SENTENCE.search(line):
        return line
    masked = line
    has_digit = _DIGIT.search(line) is not None
    if has_digit:
        masked = _STAMP.sub(lambda match: f"{match['before'] or ''}#", masked)
    lowered = line.lower()
    if any(word in lowered for word in _AGE_WORDS):
        masked = _AGE.sub("#", masked)
    return _COUNTERS.sub(_mask_counter, masked) if has_digit else masked


def _mask_counter(match: re.Match[str]) -> str:
    found = match.groupdict(default="")
    return f"{found['label']}{found['english']}#{found['unit']}{found['after']}{found['plural']}"


def simhash(text: str) -> int:
    """64 bits that are close for texts with nearly the same terms: each bit is the majority of the terms' hash bits."""
    counts = Counter(terms(normalise(text)))
    if not counts:
        return 0
    digests = b"".join(
        hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest() for term in counts
    )
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(-1, 64).astype(np.int64)
    weights = np.fromiter(counts.values(), dtype=np.int64)
    majority = weights @ (2 * bits - 1) > 0
    return int.from_bytes(np.packbits(majority).tobytes(), "big")


def is_near_duplicate(one: int, other: int, max_bits: int = NEAR_DUPLICATE_BITS) -> bool:
    """Whether two simhashes differ in at most `max_bits` bits."""
    return (one ^ other).bit_count() <= max_bits
