"""What a heading says of a question: how much of it, and whether it asks it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kbcite.answer.passages import Passage
from kbcite.answer.questions import Question, subject_of
from kbcite.answer.said_as import with_said
from kbcite.answer.weights import Weigh, fold, is_stop, share, stems
from kbcite.patterns import pattern
from kbcite.records import RetrievedBlock

ASKED_BY = 0.9
"""Share of the question from which the heading asks it: then the first sentence need not say it again."""
ASKED_AGAIN = 0.8
"""Likeness of a heading that is the same question with its words in another order."""
ASKED_AGAIN_ZH = 0.9
"""The same in characters shared."""
_NUMBERING = pattern(r"[\d.]+")
_SIGNATURE = pattern(r"\w\(")
_ASKS = pattern(r"[\d.\s]*(?:how|why|what|怎么|怎样|如何|为什么|什么是)\b", re.IGNORECASE)


def wanted_terms(question: Question) -> list[str]:
    found = list(dict.fromkeys(stems(subject_of(question) or question.text)))
    content = [term for term in found if not is_stop(term)]
    return content or found


def heading_of(passage: Passage, block: RetrievedBlock) -> str:
    """The heading that a passage stands under; a function's signature, whose definition it is part of, is none."""
    own = "" if _SIGNATURE.search(passage.context) else passage.context
    return f"{' '.join(block.place.heading_chain[-1:])} {own}".strip()


def asked_by_heading(wanted: Sequence[str], passage: Passage, block: RetrievedBlock, weigh: Weigh) -> float:
    """Share of the question that the heading over a passage says."""
    return share(wanted, with_said(wanted, frozenset(stems(heading_of(passage, block)))), weigh)


def likeness(wanted: Sequence[str], heading: str, weigh: Weigh) -> float:
    """How much a heading is the question, 0 to 1: the harmonic mean of what each says of the other."""
    own = [term for term in dict.fromkeys(stems(heading)) if not is_stop(term) and not _NUMBERING.fullmatch(term)]
    recall = share(wanted, with_said(wanted, frozenset(own)), weigh)
    precision = share(own, with_said(own, frozenset(wanted)), weigh)
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def is_asked_again(question: Question, wanted: Sequence[str], heading: str, weigh: Weigh) -> bool:
    """True for a heading that is the question with its words in another order, which breaks the pairs of Chinese characters."""
    if not is_question(heading):
        return False
    if question.language == "zh":
        asked, own = Counter(fold(question.text)), Counter(fold(heading))
        return 2 * (asked & own).total() >= ASKED_AGAIN_ZH * (asked.total() + own.total())
    return likeness(wanted, heading, weigh) >= ASKED_AGAIN


def is_question(heading: str) -> bool:
    return heading.endswith(("?", "？")) or bool(_ASKS.match(heading))
