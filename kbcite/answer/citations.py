"""Citation marks in a reply: read in every style that models use, checked against the candidate blocks, and renumbered.

Models write `[1]`, but also `[1, 2]`, `[1-3]`, `【1】`, `[^1]`, `[来源1]`, `[[1]](url)` or `(Smith et al., 2020)`. The numeric
styles are read as what they mean; names and years cannot be, and are reported. Marks inside code are code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kbcite.answer.wording import is_refusal
from kbcite.patterns import pattern
from kbcite.sentences import split_sentences

_LIST = r"\d{1,3}(?:\s*(?:[-–—~～至,，、;；]|and|和)\s*\d{1,3})*"
_WORD = r"(?:(?:来源|资料|出处|参考|引用|文献|sources?|refs?|blocks?|citations?|doc(?:ument)?s?|id)\s*[:：#]?\s*)?"
_MARK = pattern(
    rf"\[\[\s*(?P<double>{_LIST})\s*\]\](?:\([^)\s]*\))?"
    rf"|\[\s*\^?\s*{_WORD}(?P<square>{_LIST})\s*\](?:\((?:https?://)[^)\s]*\))?"
    rf"|【\s*{_WORD}(?P<lenticular>{_LIST})(?:†[^】]*)?\s*】|［\s*{_WORD}(?P<wide>{_LIST})\s*］"
    r"|(?P<superscript>[¹²³⁴-⁹⁰]+)(?![\w])",
    re.IGNORECASE,
)
_ROUND = pattern(rf"[(（]\s*{_WORD}(?P<round>{_LIST})\s*[)）](?=[。.！!？?；;\s]|$)", re.IGNORECASE)
_WRAPPED = pattern(
    rf"[(（]\s*(?:see|cf\.?|见|参见)?\s*((?:\[\s*\^?{_WORD}{_LIST}\s*\][\s,，、;；]*)+)[)）]"
    rf"|\*{{1,2}}((?:\[{_WORD}{_LIST}\]\s*)+)\*{{1,2}}|(?<=[.。!！?？])\s*`((?:\[{_LIST}\]\s*)+)`"
    rf"|\\(\[{_LIST})\\\]|<sup>\s*((?:\[{_LIST}\]\s*)+)\s*</sup>|(?<=[.。!！?？,，;；])<sup>\s*({_LIST})\s*</sup>",
    re.IGNORECASE,
)
"""Marks in brackets, bold, code or superscript of their own: `([1], [2])`, `**[1]**`, `\\[1\\]`, `<sup>[1]</sup>`."""
_ITEM = pattern(r"(?:[-*+•]|\d{1,2}[.)、])[ \t]+")
_AUTHOR_YEAR = pattern(
    r"[(（]\s*(?:see\s+|cf\.?\s+)?[A-Z][\w’'-]+(?:\s+(?:et\s+al\.?|(?:and|&)\s+[A-Z][\w’'-]+))?,?\s+(?:19|20)\d\d[a-z]?\s*[)）]"
    r"|\b[A-Z][\w’'-]+\s+et\s+al\.?\s*[(（](?:19|20)\d\d[a-z]?[)）]|[(（][\u4e00-\u9fff]{2,8}等?[，,]\s*(?:19|20)\d\d[)）]"
)
_URL = pattern(r"https?://[^\s\[\]<>()（）\"'，。；、】》]+", re.IGNORECASE)
_CODE = pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`", re.DOTALL)
_FENCE = pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
SOURCE_HEADING = pattern(
    r"^\s*(?:[#*]+\s*)?(?:来源|资料来源|信息来源|参考资料|参考文献|参考来源|引用来源|引用|sources?|references?|citations?|bibliography)"
    r"\s*(?:列表|list)?\s*[:：]?\s*\**\s*$",
    re.IGNORECASE,
)
_SOURCE_LINE = pattern(
    r"^\s*(?:[-*]\s*)?(?:\[\^?\d{1,3}\]|【\d{1,3}】|\d{1,3}[.)])?\s*:?\s*(?:(?:source|来源|url|link|链接)\s*[:：]\s*\S.*|https?://\S+\s*)$",
    re.IGNORECASE,
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a reply and the numbers it cites, as written by the model."""

    text: str
    numbers: tuple[int, ...]
    before: str
    """What stands between the sentence before and this one: white space, list marks."""
    is_factual: bool
    """False for headings, questions, lead-ins and refusals: they need no citation."""


@dataclass(frozen=True, slots=True)
class ParsedReply:
    sentences: tuple[Sentence, ...]
    foreign: tuple[str, ...]
    """Citations in a style that names no block: `(Smith, 2020)`."""
    urls: tuple[str, ...]
    is_refusal: bool


def parse_reply(text: str) -> ParsedReply:
    """A model's reply as sentences with the block numbers they cite; its own source list is left out."""
    body = _without_source_list(text)
    plain, marks = _take_marks(_WRAPPED.sub(_bare, body))
    foreign = tuple(match.group() for match in _AUTHOR_YEAR.finditer(plain))
    urls = tuple(match.group().rstrip(".,;:!?") for match in _URL.finditer(plain))
    spans = _spans(plain)
    numbers: list[list[int]] = [[] for _ in spans]
    for position, values in marks:
        index = _owner(plain, spans, position)
        if index is not None:
            numbers[index].extend(value for value in values if value not in numbers[index])
    sentences = []
    previous = 0
    for (start, end), own in zip(spans, numbers, strict=True):
        if not plain[plain.rfind("\n", 0, start) + 1 : start].strip() and (item := _ITEM.match(plain, start, end)):
            start = item.end()
        piece = plain[start:end]
        sentences.append(Sentence(piece, tuple(own), plain[previous:start], is_factual(piece)))
        previous = end
    factual = [sentence for sentence in sentences if sentence.is_factual]
    refusing = any(is_refusal(sentence.text) for sentence in sentences)
    return ParsedReply(tuple(sentences), foreign, urls, refusing and not factual)


def is_factual(sentence: str) -> bool:
    """True for a sentence that states something and so needs a citation."""
    body = re.sub(r"^[\s\-*+>•]+|^\d{1,3}[.)、]\s*", "", sentence).strip(" *_")
    if len(re.sub(r"\W", "", body)) < 4 or body.startswith("#"):
        return False
    return not body.endswith(("?", "？", ":", "：")) and not is_refusal(body)


def _without_source_list(text: str) -> str:
    """The reply up to its own list of sources; single lines that only name a source go too."""
    kept = []
    code = [match.span() for match in _FENCE.finditer(text)]
    position = 0
    for line in text.splitlines(keepends=True):
        inside = any(start <= position < end for start, end in code)
        position += len(line)
        if not inside and SOURCE_HEADING.match(line):
            break
        if inside or not _SOURCE_LINE.match(line):
            kept.append(line)
    return "".join(kept).strip()


def _bare(match: re.Match[str]) -> str:
    """The marks of a wrapping alone."""
    found = next(group for group in match.groups() if group)
    return found if found.rstrip().endswith("]") else f"[{found.lstrip('[')}]"


def _take_marks(text: str) -> tuple[str, list[tuple[int, tuple[int, ...]]]]:
    """The text without its marks, and for each mark its place in that text and its numbers."""
    code = [match.span() for match in _CODE.finditer(text)]
    found = [match for match in _MARK.finditer(text) if not any(start <= match.start() < end for start, end in code)]
    if not found:
        found = [
            match for match in _ROUND.finditer(text) if not any(start <= match.start() < end for start, end in code)
        ]
    plain: list[str] = []
    marks: list[tuple[int, tuple[int, ...]]] = []
    length = cursor = 0
    for match in found:
        piece = text[cursor : match.start()]
        following = text[match.end() : match.end() + 1]
        before_end = text[match.end() :].lstrip()[:1]
        if before_end in "。.，,；;！!？?" or not before_end or following.isspace():
            piece = piece.rstrip(" ")
        plain.append(piece)
        length += len(piece)
        written = next(value for value in match.groupdict().values() if value)
        marks.append((length, _numbers(written)))
        cursor = match.end()
        if following in (":", "：") and not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" -*"):
            cursor += 1  # `[1]: It is so.`
    plain.append(text[cursor:])
    return "".join(plain), marks


def _numbers(written: str) -> tuple[int, ...]:
    """The numbers of one mark: `1, 3-5` is 1, 3, 4, 5."""
    values: list[int] = []
    for part in re.split(r"[,，、;；]|and|和", written.translate(_SUPERSCRIPTS)):
        ends = [int(value) for value in re.findall(r"\d+", part)]
        if len(ends) == 2 and 0 < ends[1] - ends[0] < 20:
            values.extend(range(ends[0], ends[1] + 1))
        else:
            values.extend(ends)
    return tuple(dict.fromkeys(values))


def _spans(plain: str) -> list[tuple[int, int]]:
    """Sentences of the text; a fenced code block is one piece."""
    spans: list[tuple[int, int]] = []
    cursor = 0
    for fence in _FENCE.finditer(plain):
        spans.extend((cursor + s, cursor + e) for s, e in split_sentences(plain[cursor : fence.start()]))
        spans.append(fence.span())
        cursor = fence.end()
    spans.extend((cursor + s, cursor + e) for s, e in split_sentences(plain[cursor:]))
    return spans


def _owner(plain: str, spans: list[tuple[int, int]], position: int) -> int | None:
    """The sentence a mark belongs to: the one it stands in or after, or, at the head of a line, the one it stands before."""
    line = plain.rfind("\n", 0, position) + 1
    owner = None
    for index, (start, _) in enumerate(spans):
        if start < position and (owner is None or start >= spans[owner][0]):
            owner = index
        if start >= position:
            at_head = not plain[line:position].strip(" -*>•")
            return index if owner is None or (at_head and spans[owner][1] <= line) else owner
    return owner


def renumber(cited: list[list[int]]) -> dict[int, int]:
    """Old to new numbers, from 1 by first use."""
    order = dict.fromkeys(number for numbers in cited for number in numbers)
    return {old: new for new, old in enumerate(order, start=1)}
