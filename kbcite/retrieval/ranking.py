"""Order, relevance and choice of the blocks found for a question.

The order goes by `DENSE_WEIGHT` x cosine + the rest x coverage, less a fine for each figure of the question that the
block lacks (2015 is not 2020), with a bonus where a date, an amount or a person is asked for and the block holds one: a day more
than a year, and what chance puts into any page of the question's language the less, the less the block says of the question.
Coverage is 0 by itself where question and block share no language, and cosine decides alone. What any block of the
question's own language covers by chance counts as nothing, or such blocks would stand before the right one in the other
language. Ranks are never mixed: reciprocal rank fusion halves the recall across languages.

Where age counts (off by default), an old page loses a part of its place in the order, never more than `MOST_DECAY` and
nothing of its relevance: the only page that says something is found however old it is. A page without a date loses nothing.

Relevance is a separate number, the estimate that the block answers the question at all: a logistic curve over cosine and
coverage, fitted on questions whose answer is and is not in the store.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations

from kbcite.clock import seconds_between
from kbcite.records import Block, Place, RetrievedBlock, Scores
from kbcite.retrieval.duplicates import DatedText, cluster_duplicates
from kbcite.retrieval.question import Question, holds_wanted, missing_figures, read_question
from kbcite.retrieval.reranker import Rerank
from kbcite.words import language_of

# Measured on 143 questions over 3,549 Chinese search snippets (Hit@1 .867, nDCG@10 .847; word search alone .66 and .74),
# 2 x 432 over Wikipedia paragraphs (.965 zh, .981 en; across languages .69 and .71), 94 with near-miss snippets (.63):
# python -m tests.bench.qa_run retrieval DATA OUT
DENSE_WEIGHT = 0.7
CHANCE_COVERAGE = 0.15
MISSING_FIGURE_FINE = 0.1
"""In the order; in relevance it counts twice."""
WANTED_BONUS = 0.1
TRUSTED_COVERAGE = 0.5
"""Of the question, from which a date or a name in a block counts in full: any page holds some."""
MOST_DECAY = 0.1
"""Share of its place in the order that a page loses to age at most, half of it after one half-life.

With a cosine weight of .65, dates drawn at random over five years and a half-life of one, Hit@1 on the sets above went from .839 .965 .981 to .867
.968 .981;
with a share of .2 Chinese paragraphs come to .961, with .3 to .949 and the snippets to .818.
"""

BELOW_THRESHOLD = "below_threshold"
FIGURE_MISMATCH = "figure_mismatch"
PAGE_CROWDED = "page_crowded"
OVER_TOP_K = "over_top_k"
NEAR_DUPLICATE = "near_duplicate"
COMPARED = 4
"""Times top_k: how many of the best blocks are looked through for near-duplicates of one another."""


@dataclass(frozen=True, slots=True)
class Decay:
    """How fast pages age, and as of when."""

    half_life_days: float
    now: str

    def kept(self, places: tuple[Place, ...]) -> float | None:
        """1 to 1 - MOST_DECAY, by the newest publish date among the places of a text; None where none has one."""
        dates = [place.published_at for place in places if place.published_at]
        if not dates:
            return None
        days = min(max(0, seconds_between(date, self.now)) for date in dates) / 86_400
        return 1 - MOST_DECAY * (1 - math.exp2(-days / self.half_life_days))


@dataclass(frozen=True, slots=True)
class RankingOptions:
    top_k: int = 5
    threshold: float = 0.45
    """Relevance below which a block is not used."""
    per_page: int = 3
    """Blocks of one page that are used while another page still has something over the threshold."""
    decay: Decay | None = None
    """None: age does not count."""


@dataclass(frozen=True, slots=True)
class Candidate:
    block: Block
    places: tuple[Place, ...]
    """Where it stands, the one to cite first in front; never empty."""
    dense: float
    """Cosine of the centred vectors."""
    coverage: float


def fuse(dense: float, coverage: float) -> float:
    """What candidates are ordered by before their text is looked at."""
    return DENSE_WEIGHT * dense + (1 - DENSE_WEIGHT) * max(0.0, coverage - CHANCE_COVERAGE)


def rank(
    question: str, candidates: list[Candidate], options: RankingOptions, rerank: Rerank | None = None
) -> list[RetrievedBlock]:
    """All candidates, best first; those not used carry the reason in `dropped`. rerank: puts the relevant ones in an order of its own, first."""
    asked = read_question(question)
    language = language_of(question)
    scored = [_score(asked, language, candidate, options) for candidate in candidates]
    scored.sort(key=lambda found: (-found.scores.fused, found.block.id))
    relevant = [found for found in scored if found.scores.relevance >= options.threshold]
    if rerank and relevant:
        relevant = _reranked(question, relevant, rerank)
        ids = {found.block.id for found in relevant}
        scored = [*relevant, *(found for found in scored if found.block.id not in ids)]
    return _choose(_with_main_first(scored, relevant[: COMPARED * options.top_k]), options)


def _reranked(question: str, relevant: list[RetrievedBlock], rerank: Rerank) -> list[RetrievedBlock]:
    texts = ["\n".join([found.place.title, *found.place.heading_chain, found.block.text]) for found in relevant]
    judged = [
        replace(found, scores=replace(found.scores, rerank=score))
        for found, score in zip(relevant, rerank(question, texts), strict=True)
    ]
    return sorted(judged, key=lambda found: -(found.scores.rerank or 0.0))


def _score(question: Question, language: str, candidate: Candidate, options: RankingOptions) -> RetrievedBlock:
    """The candidate with its scores; one that is under the threshold only for want of a figure already says so."""
    missing = missing_figures(question, _with_context(candidate))
    dense, coverage = candidate.dense, candidate.coverage
    fused = fuse(dense, coverage) - MISSING_FIGURE_FINE * missing
    same_language = candidate.block.language == language
    trust = min(1.0, coverage / TRUSTED_COVERAGE) if same_language else 1.0
    fused += WANTED_BONUS * trust * holds_wanted(question, candidate.block.text)
    kept = options.decay.kept(candidate.places) if options.decay else None
    fused = min(1.0, max(0.0, fused)) * (1.0 if kept is None else kept)
    estimate = relevance(dense, coverage, missing, same_language=same_language)
    for_a_figure = estimate < options.threshold <= relevance(dense, coverage, same_language=same_language)
    return RetrievedBlock(
        candidate.block,
        candidate.places[0],
        Scores(dense, coverage, fused=fused, relevance=estimate, missing_figures=missing, kept=kept),
        also=candidate.places[1:],
        dropped=FIGURE_MISMATCH if for_a_figure else None,
    )


def _with_context(candidate: Candidate) -> str:
    place = candidate.places[0]
    year = (place.published_at or "")[:4]
    return "\n".join([candidate.block.text, place.title, *place.heading_chain, year])


def relevance(dense: float, coverage: float, missing: int = 0, *, same_language: bool) -> float:
    """0 to 1: how likely it is that a block with these scores answers the question; `missing` of its figures are not there.

    The scales put 0.45 where 0 to 5 % of answerable questions are refused, 20 to 30 % across languages, and 97 to 99 % of
    those off the topic, 70 to 83 % of those on it whose page was taken away.
    """
    fine = 2 * MISSING_FIGURE_FINE * missing
    if same_language:
        return _logistic(14 * (dense + 0.9 * coverage - fine - 0.68))
    return _logistic(25 * (dense - fine - 0.36))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _with_main_first(scored: list[RetrievedBlock], compared: list[RetrievedBlock]) -> list[RetrievedBlock]:
    """The same blocks; of those that say the same, the main one stands where the best of them stood, with the places of all."""
    texts = [DatedText(found.block.id, found.block.text, found.place.published_at) for found in compared]
    clusters = cluster_duplicates(texts, combinations(range(len(texts)), 2))
    by_id = {found.block.id: found for found in compared}
    place_of = {found.block.id: i for i, found in enumerate(scored)}
    ordered = list(scored)
    for cluster in clusters:
        places = sorted(place_of[name] for name in (cluster.main, *cluster.others))
        others = sorted((by_id[name] for name in cluster.others), key=lambda found: place_of[found.block.id])
        main = by_id[cluster.main]
        also = (*main.also, *(place for found in others for place in (found.place, *found.also)))
        merged = [replace(main, also=also), *(replace(found, dropped=NEAR_DUPLICATE) for found in others)]
        for i, found in zip(places, merged, strict=True):
            ordered[i] = found
    return ordered


def _choose(scored: list[RetrievedBlock], options: RankingOptions) -> list[RetrievedBlock]:
    """The same blocks, each with its reason where it is not among the top_k."""
    reasons: dict[str, str | None] = {}
    used_of_page: Counter[str] = Counter()
    crowded: list[str] = []
    room = options.top_k
    for found in scored:
        if found.scores.relevance < options.threshold:
            reasons[found.block.id] = found.dropped or BELOW_THRESHOLD
        elif found.dropped == NEAR_DUPLICATE:
            reasons[found.block.id] = NEAR_DUPLICATE
        elif used_of_page[found.place.url] >= options.per_page:
            reasons[found.block.id] = PAGE_CROWDED
            crowded.append(found.block.id)
        elif room == 0:
            reasons[found.block.id] = OVER_TOP_K
        else:
            reasons[found.block.id] = None
            used_of_page[found.place.url] += 1
            room -= 1
    # Room that no other page fills goes to the crowded page after all.
    reasons.update(dict.fromkeys(crowded[:room]))
    return [replace(found, dropped=reasons[found.block.id]) for found in scored]
