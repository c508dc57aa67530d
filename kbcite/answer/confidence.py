"""How sure an extractive answer is, before and after what of the question it leaves unsaid is counted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kbcite.answer.passage_ranking import Candidate
from kbcite.answer.questions import Question
from kbcite.records import RetrievedBlock
from kbcite.words import language_of


def confidence(question: Question, ranked: Sequence[Candidate], blocks: Sequence[RetrievedBlock]) -> float:
    """How likely the blocks answer the question at all, 0 to 1: a logistic curve over the two best cosines, the best
    passage and retrieval's own relevance.

    Set on 926 questions whose blocks do or do not answer them: AUROC .80 where the others are on the subject too, .69 on
    passages judged by people, .93 to .98 where the page was taken out, .98 to 1.0 off the subject; measured again by
    `python -m tests.bench.qa_run answers DATA OUT`. Where question and blocks share no language, words say nothing and relevance
    stands alone.
    """
    if not ranked:
        return 0.0
    best = ranked[0]
    relevance = max(block.scores.relevance for block in blocks)
    if language_of(best.passage.text) != question.language:
        return relevance
    dense = sorted((block.scores.dense for block in blocks), reverse=True)
    z = 6 * dense[0] + 3 * dense[min(1, len(dense) - 1)] + 1.5 * best.score + 2 * min(best.score, 1.0) + 0.3 * best.kind
    z += 0.6 * min(2.5, _logit(relevance))
    return 1 / (1 + math.exp(-0.9 * (z - 8)))


UNSAID_COST = 1.5
"""What a question of which nothing is said loses of the logit of its confidence; set with the numbers of `confidence`."""


def less_sure(sure: float, unsaid: float) -> float:
    """A confidence with the share of the question taken into account that no chosen passage says."""
    return 1 / (1 + math.exp(UNSAID_COST * unsaid - _logit(sure)))


def _logit(share_of_one: float) -> float:
    p = min(max(share_of_one, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))
