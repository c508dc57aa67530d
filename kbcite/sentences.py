"""Sentences of Chinese and English text, as spans, so that a piece can always be traced to where it stood.

A mark that may end a sentence is found first; then what stands around it decides. In doubt the two halves stay
together: half a sentence says something else than its author did, two sentences at once do no harm. A line end always
ends a sentence. Closing quotes and brackets after the stop belong to the sentence, and so do notes like `[1]`.
"""

from __future__ import annotations

import re

_MARK = re.compile(
    r"(?P<line>[\n\r]+)|(?P<full>[。！？｡]+[。！？｡!?…]*)|(?P<half>[!?]+)|(?P<dots>…+|\.{3,})|(?P<dot>\.)"
)
_CLOSERS = "”’」』）)】》〉］]*_"
_TITLE_CLOSERS = "）)】》〉］]"
_NOTES = re.compile(r"(?:[ \t]?\[\d{1,3}(?:[-–,，]\d{1,3})*\])+")
_SPEAKS = re.compile(r"[^。！？，,；;：:\n]{0,12}?(?:说|表示|称|道|问|指出|认为|介绍|强调|坦言|透露|补充|回答|答|写)")
"""Who said what was just quoted: `“……！”他说。` is one sentence."""

_NUMBERING = re.compile(r"\s*[(（]?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivx]{1,4}|[IVX]{1,4})")
_WORD_BEFORE = re.compile(r"[\w.]+$")
_INITIALS = re.compile(r"[A-Za-z](?:\.[A-Za-z])*")
_WORD_AFTER = re.compile(r"[\s\"'“”‘’「『《（(\[【*_`]*(\w+)")
_TITLES = frozenset("Mr Mrs Ms Dr Prof St Mt Gen Sen Rep Rev Gov Capt Col Lt Sgt Hon Messrs".split())
_JOINING = frozenset("vs cf ca approx viz incl e.g i.e eg ie resp".split())
_COUNTED = frozenset("no nos fig figs eq eqs vol vols ch sec secs art pp par ver ed tab al".split()) | frozenset(
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_FIRMS = frozenset("inc ltd co corp jr sr bros dept univ ph.d".split())
_STARTERS = frozenset(
    "the a an this that these those it its he she they we i you his her their our in on at as for to from by with after "
    "before since when while if but and so however there here what who how why no not many most some all one both each "
    "although because during now then".split()
)
"""Words that often begin a sentence, and seldom follow an abbreviation inside one."""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, white space around them left out; together they hold every other character."""
    spans: list[tuple[int, int]] = []
    start = 0
    for mark in _MARK.finditer(text):
        if mark.start() >= start and (end := _sentence_end(text, start, mark)) is not None:
            spans.append((start, end))
            start = end
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))]


def _sentence_end(text: str, start: int, mark: re.Match[str]) -> int | None:
    """Where the sentence that began at `start` ends if this mark ends it, else None."""
    kind = mark.lastgroup
    if kind == "line":
        return mark.end()
    closed = _after_closers(text, start, mark.end())
    notes = _NOTES.match(text, closed)
    end = notes.end() if notes else closed
    if kind == "full":
        ends = _full_stop_ends(text, mark.end(), closed, end)
    elif notes or end == len(text) or text[end].isspace():
        ends = _may_stop_before_blank(text, start, mark, end)
    else:
        ends = kind != "dots" and _between_han(text, mark, end)
    return end if ends else None


def _after_closers(text: str, start: int, end: int) -> int:
    """The end of the closing quotes and brackets at `end`; a straight quote closes if one is open or a blank follows."""
    while end < len(text):
        straight = text[end] in "\"'" and (text.count(text[end], start, end) % 2 or not text[end + 1 : end + 2].strip())
        if not straight and text[end] not in _CLOSERS:
            break
        end += 1
    return end


def _full_stop_ends(text: str, stop: int, closed: int, end: int) -> bool:
    """False inside a title or a bracket that the sentence goes on after, and before the words that say who spoke."""
    if closed == stop or end == len(text) or text[end].isspace():
        return True
    if text[closed - 1] in _TITLE_CLOSERS:
        return end > closed
    return not _SPEAKS.match(text, end) and text[end] not in "，,、；;：:"


def _between_han(text: str, mark: re.Match[str], end: int) -> bool:
    """Half-width stops in Chinese text, which has no blank after them: `真的吗?他说`."""
    before = text[mark.start() - 1 : mark.start()]
    return _is_han(before) and (_is_han(text[end]) or text[end] in "“「『《")


def _is_han(character: str) -> bool:
    """Compared, not matched: to compile such a class takes 2 ms at every start."""
    return (
        "\u3400" <= character <= "\u9fff"
        or "\uf900" <= character <= "\ufaff"
        or "\U00020000" <= character <= "\U0003ffff"
    )


def _may_stop_before_blank(text: str, start: int, mark: re.Match[str], end: int) -> bool:
    following = _WORD_AFTER.match(text, end)
    if following is None or "\n" in text[end : following.start(1)]:
        return True
    word_after = following.group(1)
    goes_on = word_after[0].islower()
    if mark.lastgroup != "dot":
        return not goes_on
    if _NUMBERING.fullmatch(text, start, mark.start()):
        return False
    before = _WORD_BEFORE.search(text, max(start, mark.start() - 40), mark.start())
    word = before.group() if before else ""
    plain = word.lower()
    if word in _TITLES or plain in _JOINING or (plain in _COUNTED and word_after[0].isdecimal()):
        return False
    if plain in _FIRMS or (_INITIALS.fullmatch(word) and word != "I"):
        return word_after.lower() in _STARTERS and not goes_on
    return not goes_on or len(word) > 5 or word.isdecimal()


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if end > start else None
