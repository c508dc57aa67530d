"""What of a model's reply is its answer: without the wrappings that models put round it and the sentences that say nothing.

Small models think aloud, write JSON or a code fence round the answer, repeat the question or a heading, go on with a next question
of their own, end with a list of sources, or say one sentence again and again. None of that needs asking again; it is taken off
before the sentences are checked, and never makes a sentence right that was not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kbcite.answer.citations import ParsedReply, Sentence, parse_reply
from kbcite.answer.weights import base_weight, fold
from kbcite.patterns import pattern
from kbcite.records import RetrievedBlock
from kbcite.words import terms

_TAGS = r"think|thinking|thought|reasoning|reflection|scratchpad|analysis"
_THOUGHT = pattern(rf"<({_TAGS})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = pattern(rf"</(?:{_TAGS})>", re.IGNORECASE)
_THOUGHT_START = pattern(rf"<(?:{_TAGS})>", re.IGNORECASE)
_TURN = r"<\|[\w ]{1,40}\|>|</?s>|<(?:start|end)_of_turn>|<eos>|<bos>|\[/?INST\]"
_TURN_HEAD = pattern(rf"^\s*(?:(?:{_TURN})\s*(?:assistant\b)?\s*)+", re.IGNORECASE)
_TURN_ANY = pattern(_TURN, re.IGNORECASE)
_FENCED = pattern(
    r"^\s*(```|~~~)[ \t]*(?:json|markdown|md|text|txt|plaintext)?[ \t]*\n(.*?)\n?[ \t]*\1\s*$",
    re.DOTALL | re.IGNORECASE,
)
_BREAK = pattern(r"<br\s*/?>", re.IGNORECASE)
_LABEL = pattern(
    r"^\s*\**(?:(?:final |short )?answer|reply|response|回答|答案|答复|答)\**\s*[:：]\s*\**\s*", re.IGNORECASE
)
_QUESTION = pattern(
    r"^\s*\**(?:question|user question|q|问题|问|提问)\**\s*[:：]\s*\**\s*", re.IGNORECASE | re.MULTILINE
)
_HALF_MARK = pattern(r"\s*[\[【]\^?[\d,，\s]{0,8}$")
_NAMED = pattern(
    r"\b((?:according to|based on|(?:as )?(?:stated|described|noted|mentioned|shown|given|found) (?:in|by)|per|from|in)\s+)"
    r"(?:the\s+)?(?:(?:source|document|block)\s*#?\s*)?(?:\[(\d{1,2})\]|(?<=[a-z])\s*(\d{1,2})\b)(?=\s*[,:])",
    re.IGNORECASE,
)
_NAMED_ZH = pattern(
    r"(根据|依据|按照|参照|据|按)\s*(?:(资料|来源|文档)\s*)?(?:\[(\d{1,2})\]|(?<=[料源档])\s*(\d{1,2}))(?=\s*(?:[，,：:]|的|中|可知))"
)
"""A source named as a word of the sentence: `According to source 1, …`, `根据[1]，…`."""
_LITERAL = pattern(r"(?<=[.。!！?？])\s*\[[nN]\]")
_LISTED = pattern(r"^\s*(?:[-*]\s+)?(?:\[\^\d{1,3}\]:.*|(?:\[\d{1,3}\]|【\d{1,3}】|\d{1,3}[.)、]).*https?://\S+\s*)$")
_RULE = pattern(r"^\s*(?:[-*_]\s*){3,}$")
_PLEASANTRY = pattern(
    r"^(?:sure|certainly|of course|absolutely|okay|ok|great|thanks?)\b[^.!?]{0,60}[.!]*$|\blet me know if\b|\bhope (?:this|that|it) helps\b"
    r"|^(?:is there|if you have) any(?:thing)?\b|希望.{0,10}(?:帮助|帮到)|^如[果有需您].{0,16}(?:疑问|问题|需要|帮助).{0,20}(?:告诉|联系我|提问|随时|继续问)"
    r"|^(?:好的|当然|当然可以|没问题|您好|你好)[，,。！!]*$",
    re.IGNORECASE,
)
_TEXTS = ("answer", "text", "response", "content", "claim", "sentence", "statement", "回答", "答案", "内容")
_NUMBERS = ("citations", "citation", "sources", "source", "references", "refs", "ids", "id", "来源", "引用")
_NO_TEXT = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""What nobody writes: control characters and what stands for bytes that are no character. Escapes (0x1b) are made harmless on showing."""
CIRCLES_FROM, CIRCLES = 12, 4
"""From so many terms on, a sentence of which each is said this often on average says nothing."""


def read_reply(text: str, question: str, delimiter: str, blocks: Sequence[RetrievedBlock], is_cut: bool) -> ParsedReply:
    """The sentences of a reply that state something, with the numbers they cite.

    delimiter: the fence word of the request. is_cut: the reply reached its limit; then its last sentence is left out."""
    parsed = parse_reply(unwrap(text, question, delimiter))
    sentences = list(parsed.sentences)
    if is_cut and sentences and text.rstrip()[-1:] not in "]】":
        sentences.pop()
    heads = {fold(head) for block in blocks for head in _heads(block)}
    kept: list[Sentence] = []
    said: set[str] = set()
    for sentence in sentences:
        words = fold(sentence.text)
        if sentence.is_factual and (
            words in said or _says_nothing(sentence) or words in heads or words == fold(question)
        ):
            continue
        if sentence.is_factual:
            said.add(words)
        kept.append(sentence)
    return replace(parsed, sentences=_without_orphans(kept))


def _heads(block: RetrievedBlock) -> list[str]:
    """Titles and headings of a block that its text does not hold: an echo of them states nothing."""
    place = block.place
    body = fold(place.text or block.block.text)
    heads = [place.title, *place.heading_chain]
    parts = [part for head in heads for part in head.split(" › ")]
    joined = [" ".join(heads), " ".join(place.heading_chain)]
    return [head for head in (*heads, *parts, *joined) if head and fold(head) not in body]


def _says_nothing(sentence: Sentence) -> bool:
    if not sentence.numbers and _PLEASANTRY.search(sentence.text.strip()):
        return True
    if _NO_TEXT.search(sentence.text):
        return True
    found = terms(sentence.text)
    return all(base_weight(term) < 0.3 for term in found) or (
        len(found) >= CIRCLES_FROM and len(set(found)) * CIRCLES <= len(found)
    )


def _without_orphans(sentences: list[Sentence]) -> tuple[Sentence, ...]:
    """Without headings, lead-ins and rules that nothing follows; a refusal at the end stays."""
    end = len(sentences)
    while end and not sentences[end - 1].is_factual and _leads_in(sentences[end - 1].text):
        end -= 1
    return tuple(sentences[:end])


def _leads_in(text: str) -> bool:
    bare = text.strip(" *_")
    return bare.startswith("#") or bare.endswith((":", "：")) or not re.search(r"\w", bare)


def unwrap(text: str, question: str, delimiter: str) -> str:
    """The reply without thoughts, turns, fences, JSON, labels, echoes of the question, and its own list of sources."""
    text = _THOUGHT.sub("", text)
    if ends := list(_THOUGHT_END.finditer(text)):
        text = text[ends[-1].end() :]
    text = _before(_THOUGHT_START, text)
    text = _before(_TURN_ANY, _TURN_HEAD.sub("", text))
    if fenced := _FENCED.match(text):
        text = fenced[2]
    text = _from_json(text)
    for fence in (f"<{delimiter}>", f"</{delimiter}>") if delimiter else ():
        text = text.replace(fence, "")
    text = _BREAK.sub("\n", text)
    text = _before(_QUESTION, _without_question(text, question))
    text = _NAMED.sub(lambda m: f"{m[1]}the source [{m[2] or m[3]}]", text)
    text = _NAMED_ZH.sub(lambda m: f"{m[1]}{m[2] or '资料'}[{m[3] or m[4]}]", text)
    return _HALF_MARK.sub("", _LITERAL.sub("", _without_list(text))).strip()


def _before(stop: re.Pattern[str], text: str) -> str:
    found = stop.search(text)
    return text[: found.start()] if found else text


def _without_question(text: str, question: str) -> str:
    """Without the question said again at the head, and the label of the answer."""
    text = text.lstrip()
    labelled = _QUESTION.match(text)
    rest = text[labelled.end() :] if labelled else text
    wanted = question.strip()
    if rest.startswith(wanted):
        text = rest[len(wanted) :].lstrip(" *\n")
    return _LABEL.sub("", text)


def _without_list(text: str) -> str:
    """Without the list of addresses or footnotes that a reply ends with."""
    lines = text.rstrip().splitlines(keepends=True)
    end = len(lines)
    while end and (not lines[end - 1].strip() or _RULE.match(lines[end - 1]) or _LISTED.match(lines[end - 1])):
        end -= 1
    return "".join(lines[:end]) if end else text


def _from_json(text: str) -> str:
    """The sentences that a JSON reply holds; other text as it is, and nothing of JSON that cannot be read."""
    bare = text.strip()
    if not re.match(r"[{\[]\s*[{\"\[]", bare):
        return text
    try:
        value = json.loads(bare)
    except json.JSONDecodeError:
        return "" if re.match(r"[{\[]\s*[{\"]", bare) else text
    return "\n".join(_texts(value))


def _texts(value: Any) -> list[str]:
    """The texts of a JSON value, each with the numbers that its own object gives it."""
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if not isinstance(value, dict):
        return [value] if isinstance(value, str) else []
    own = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
    if own is None:
        return [text for item in value.values() if isinstance(item, list | dict) for text in _texts(item)]
    numbers: Any = next((value[name] for name in _NUMBERS if name in value), [])
    marks = "".join(f"[{n}]" for n in re.findall(r"\d+", json.dumps(numbers)))
    return [own if re.search(r"[\[【]\d", own) else f"{own} {marks}".rstrip()]
