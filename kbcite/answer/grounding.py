"""How well an answer rests on its sources: coverage and support, two numbers reported apart (SPEC 41)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.answer.claims import ClaimCheck, Similarity, check_claim
from kbcite.answer.weights import Weigh, fold
from kbcite.records import RetrievedBlock, Verdict
from kbcite.words import language_of

GOOD = frozenset({Verdict.SUPPORTED, Verdict.PARTIAL})
"""Verdicts a sentence may keep its place with; PARTIAL is shown as such."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer in the making: its words and the blocks it cites."""

    text: str
    blocks: tuple[int, ...]
    """Indices into the blocks that were put to use."""
    before: str = ""
    """What stands between the statement before and this one."""
    is_factual: bool = True
    check: ClaimCheck | None = None
    spans: tuple[tuple[int, int, int], ...] = ()
    """Known quotes: (block, start, end) in that block's text."""


def evidence_of(block: RetrievedBlock) -> str:
    """All that a block tells: its title, headings and table head beside its text."""
    place = block.place
    heads = [place.title, *place.heading_chain, place.context]
    return "\n".join([*(head for head in heads if head), place.text or block.block.text])


def check_statement(
    statement: Statement, blocks: Sequence[RetrievedBlock], weigh: Weigh | None, similarity: Similarity | None
) -> ClaimCheck:
    """The statement against all the blocks it cites together."""
    evidence = "\n".join(evidence_of(blocks[index]) for index in statement.blocks)
    if len(words := fold(statement.text)) >= 4 and words in fold(evidence):
        return ClaimCheck(Verdict.SUPPORTED, 1.0, (("words", "verbatim"),))
    if language_of(statement.text) == language_of(evidence):
        return check_claim(statement.text, evidence, weigh, similarity)
    return check_across_languages(statement.text, evidence, similarity)


def check_across_languages(claim: str, evidence: str, similarity: Similarity | None) -> ClaimCheck:
    """Words cannot be compared between languages; figures and names can, and a similarity where there is one."""
    check = check_claim(claim, evidence, None, similarity)
    outcomes = dict(check.checks)
    if outcomes.get("figures", "ok") != "ok":
        return ClaimCheck(Verdict.UNSUPPORTED, min(check.score, 0.3), check.checks)
    score = 0.5
    if similarity is not None:
        score = 0.3 + 0.5 * similarity(claim, evidence)
    verdict = Verdict.PARTIAL if score >= 0.4 else Verdict.UNSUPPORTED
    return ClaimCheck(verdict, round(score, 4), (*check.checks, ("language", "differs")))


def best_support(
    text: str, blocks: Sequence[RetrievedBlock], weigh: Weigh | None, similarity: Similarity | None
) -> tuple[int, ClaimCheck] | None:
    """The block that supports a sentence best, where one does."""
    found = [
        (index, check_statement(Statement(text, (index,)), blocks, weigh, similarity)) for index in range(len(blocks))
    ]
    good = [(index, check) for index, check in found if check.verdict is Verdict.SUPPORTED]
    return max(good, key=lambda pair: pair[1].score, default=None)


def coverage(statements: Sequence[Statement]) -> float:
    """Share of factual sentences with a citation; 1 where there is none to cite."""
    factual = [statement for statement in statements if statement.is_factual]
    return sum(bool(statement.blocks) for statement in factual) / len(factual) if factual else 1.0


def support(statements: Sequence[Statement]) -> float:
    """Share of cited sentences that their blocks support; a partial support counts half."""
    cited = [s for s in statements if s.is_factual and s.blocks and s.check]
    worth = {Verdict.SUPPORTED: 1.0, Verdict.PARTIAL: 0.5}
    return sum(worth.get(s.check.verdict, 0.0) for s in cited if s.check) / len(cited) if cited else 0.0
