"""Where to set the threshold of one knowledge base: relevance of questions that it answers, and of such that it does not.

Questions of people are best. Without any they are made from the blocks themselves, without a model: the first part of a
sentence, up to about half of it, and the heading of a block with the title of its page. Such a question is answerable as
the store is, and unanswerable with every block held out that holds what it was made from: what is then nearest is on
the topic and does not say it. The words of such a question are those of the text, so that it is found more easily than what people
ask; a threshold made from them is rather too high than too low.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kbcite.records import Block, RetrievedBlock
from kbcite.sentences import split_sentences

THRESHOLDS = tuple(step / 20 for step in range(1, 20))
MIN_WORDS, MAX_WORDS = 8, 40
"""Of a sentence that a question is made from, Chinese characters counted by two."""
_UNITS = re.compile(r"[\u3400-\u9fff]{2}|[^\s\u3400-\u9fff]+|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what retrieval thought of it."""

    question: str
    answerable: bool
    relevance: float
    """Of the best block; 0 where nothing was found."""
    is_right: bool | None = None
    """Whether the best block stands on the page that was said to answer it; None where none was said."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a threshold would do to the questions."""

    threshold: float
    refused: float
    """Share of the answerable that would be refused."""
    answered: float
    """Share of the unanswerable that would be answered."""


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    question: str
    made_from: str
    """What a block that answers it holds."""


def own_questions(block: Block, context: str) -> list[OwnQuestion]:
    """Questions that a block answers: of its longest fit sentence, and of the heading above it. context: titles and headings, a line each."""
    fit = [
        sentence
        for sentence in (block.text[start:end] for start, end in split_sentences(block.text))
        if MIN_WORDS <= len(_UNITS.findall(sentence)) <= MAX_WORDS and "\n" not in sentence.strip()
    ]
    questions = []
    if fit:
        sentence = max(fit, key=len).strip()
        units = list(_UNITS.finditer(sentence))
        questions.append(OwnQuestion(sentence[: units[(len(units) + 1) // 2 - 1].end()], sentence))
    headings = [line for line in context.splitlines() if line.strip()]
    if len(headings) > 1:
        questions.append(OwnQuestion(f"{headings[0]} {headings[-1]}", block.text))
    return questions


def best_of(found: Sequence[RetrievedBlock], held_out: str | None = None) -> float:
    """Relevance of the best block, those left out that hold a text."""
    return max(
        (hit.scores.relevance for hit in found if held_out is None or held_out not in hit.block.text), default=0.0
    )


def table(asked: Iterable[Asked], thresholds: Sequence[float] = THRESHOLDS) -> list[Row]:
    """A row a threshold. Raises ValueError where there is not one question of each kind."""
    cases = list(asked)
    answerable = [case.relevance for case in cases if case.answerable]
    others = [case.relevance for case in cases if not case.answerable]
    if not answerable or not others:
        raise ValueError("questions of both kinds are needed, answerable and not")
    return [
        Row(
            threshold,
            sum(relevance < threshold for relevance in answerable) / len(answerable),
            sum(relevance >= threshold for relevance in others) / len(others),
        )
        for threshold in thresholds
    ]


def best_row(rows: Sequence[Row]) -> Row:
    """The row with the fewest faults of both kinds, each kind counted as a whole; the middle one of equals."""
    least = min(row.refused + row.answered for row in rows)
    equal = [row for row in rows if row.refused + row.answered <= least + 1e-9]
    return equal[len(equal) // 2]
