"""A claim against its evidence without a model: figures, negation, names, slots and words, each a named check (SPEC 41).

Words say whether the evidence is about the claim at all; figures, negation, names and what fills the claim's slots say whether it
says the same thing. A figure must not only occur: the evidence's figure that stands among the same words must be the same one.
Words of names tell more than others, words of any text (`include`, `several`) less; a word of whose class the evidence has another
(`American`, `English`) speaks against the claim, and so does a denial in the one sentence that is nearest to it. A claim is as weak
as its weakest clause. Where the question is known, words that it says itself prove nothing and are left out, and what answers it has
to be there. The measures are added up with fixed weights and brought to 0 to 1 by a logistic curve.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from kbcite.answer.claim_answer import AnswerSaid, answer_said
from kbcite.answer.evidence import Evidence, best_window, read_evidence, words_around
from kbcite.answer.figures import Figure, find_figures, find_pairs, is_in, is_part_of, same_figure
from kbcite.answer.polarity import lacks_absolute, negation_differs, opposes
from kbcite.answer.questions import Question
from kbcite.answer.slots import swapped_runs
from kbcite.answer.weights import Weigh, base_weight, fold, idf_over, is_stop, share, stems
from kbcite.answer.word_classes import LIGHT, exclusive_words
from kbcite.patterns import pattern
from kbcite.records import Verdict
from kbcite.words import normalise

Similarity = Callable[[str, str], float]

SUPPORTED = 0.5
PARTIAL = 0.3
ON_TOPIC = 0.5
"""Share of the claim's words from which a differing figure is a contradiction and not another subject."""
ALIKE = 0.6
"""Share of the claim's words from which one sentence speaks of the same, so that a denial in it is one of the claim."""

LITTLE = 0.3
"""What a word of any text (`include`, `several`) counts, against another content word."""
NAMED = 1.6
"""What a word of a name counts, and a figure."""

OF_A_DATE = 0.5
"""What the words around a date count, against those around a number: the date at the head of a page dates all that follows."""
CLEARLY = 0.4
"""By how much a rival value must fit the claim's words better before a figure that does occur counts as another's."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What is measured of a claim and its evidence, and, as WEIGHTS, what each counts."""

    words: float = 0.0
    """Share of the claim's words that the evidence says, by `_said`."""
    weakest_clause: float = 0.0
    """Share that two sentences say of the clause that is said least: one false part makes a claim false."""
    missing_words: float = 0.0
    """How many words are not said: of a long claim the same share leaves more open."""
    sentences: float = 0.0
    """Logarithm of the evidence's sentences: among many of them words are found by chance."""
    verbatim: float = 0.0
    goes_on: float = 0.0
    """The nearest sentence speaks of `it` where the claim has a name."""
    negated: float = 0.0
    opposite: float = 0.0
    other_of_class: float = 0.0
    absolute: float = 0.0
    swapped: float = 0.0
    """Names and figures in whose place the nearest sentence has others."""
    figures_differ: float = 0.0
    any_figure_missing: float = 0.0
    out_of_place: float = 0.0
    scores_differ: float = 0.0
    names_lost: float = 0.0
    answer_figure: float = 0.0
    answer_name: float = 0.0
    answer_person: float = 0.0
    answer_run: float = 0.0


BIAS = -3.2
WEIGHTS = Measures(
    words=5.8,
    weakest_clause=1.2,
    missing_words=-0.05,
    sentences=-0.35,
    verbatim=2.0,
    goes_on=0.8,
    negated=-4.0,
    opposite=-6.0,
    other_of_class=-2.0,
    absolute=-0.6,
    swapped=-1.2,
    figures_differ=-1.2,
    any_figure_missing=-0.8,
    out_of_place=-3.5,
    scores_differ=-3.5,
    names_lost=-1.0,
    answer_figure=2.8,
    answer_name=0.7,
    answer_person=2.6,
    answer_run=0.9,
)
"""Set by hand from what each is, then checked by two halves of 6,071 claim-evidence pairs of eight public sets (contrastive facts, changed
figures, attribution judged by people, Chinese and English): a fit on either half ranks the other no better. Measured again by
`python -m tests.bench.qa_run support DATA OUT`."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    verdict: Verdict
    score: float
    checks: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Findings:
    """What speaks for and against a claim, to be shown."""

    figures: Sequence[Figure]
    missing: Sequence[Figure]
    differing: Sequence[Figure]
    scores: Sequence[str]
    names: Sequence[str]
    lost: Sequence[str]
    negated: bool
    exclusive: Sequence[str]
    opposite: bool
    swapped: Sequence[tuple[str, str]]
    window: float
    nearest: str


def check_claim(
    claim: str,
    evidence: str,
    weigh: Weigh | None = None,
    similarity: Similarity | None = None,
    question: Question | None = None,
) -> ClaimCheck:
    """Whether the evidence supports a claim, with each check's outcome.

    similarity: 0 to 1 for two texts, where an encoder is at hand; it helps paraphrases and never outweighs a figure.
    question: what the claim answers; its words count for nothing, what it asks for must stand in the evidence.
    """
    measures, found = measure(claim, evidence, weigh, question)
    z = BIAS + sum(getattr(measures, field.name) * getattr(WEIGHTS, field.name) for field in fields(Measures))
    score = 1 / (1 + math.exp(-z))
    checks = _shown(measures, found)
    if similarity is not None:
        near = similarity(claim, found.nearest)
        score = 0.8 * score + 0.2 * near
        checks.append(("similarity", f"{near:.2f}"))
    contradicted = found.negated or (
        found.window > ON_TOPIC and bool(found.differing or found.scores or found.opposite)
    )
    return ClaimCheck(_verdict(score, contradicted and not measures.verbatim), round(score, 4), tuple(checks))


def measure(claim: str, text: str, weigh: Weigh | None, question: Question | None) -> tuple[Measures, _Findings]:
    figures = find_figures(claim)
    terms = stems(claim)
    evidence = read_evidence(text, terms, figures)
    weigh = weigh or idf_over([claim, *evidence.sentences])
    claim_terms = _telling(terms, question)
    window, start, end = best_window(claim_terms, evidence, weigh)
    nearest = " ".join(evidence.sentences[start:end])
    alone, at, _ = best_window(claim_terms, evidence, weigh, widest=1)
    sentence = evidence.sentences[at]
    named = {term for match in _NAME.finditer(claim) for term in stems(match.group())}

    def by_rarity(term: str) -> float:
        return _tells(term) * weigh(term) * (NAMED if term in named or term[:1].isdigit() else 1)

    missing = [figure for figure in figures if not is_in(figure, evidence.figures)]
    rivals = [figure for figure in missing if _has_rival(figure, find_figures(nearest) or evidence.figures)]
    misplaced = {figure: _out_of_place(claim, figure, evidence) for figure in figures}
    given_scores = find_pairs(text)
    scores = [pair for pair_of, pair in find_pairs(claim).items() if given_scores and pair_of not in given_scores]
    names = _names(claim)
    lost = {name: gone for name in names if (gone := _share_lost(name, evidence)) > 0}
    further = [name for name in names if not claim.startswith(name)]
    swapped = swapped_runs(claim, sentence, evidence.own)
    asked = normalise(question.text) if question else ""
    negated = alone > ALIKE and negation_differs(claim, sentence)
    answer = answer_said(question, claim, figures, evidence) if question else AnswerSaid()
    exclusive = exclusive_words(claim, nearest, text)
    opposite = opposes(claim, nearest)
    measures = Measures(
        words=_said(claim_terms, evidence, by_rarity),
        weakest_clause=min((best_window(part, evidence, _plainly)[0] for part in _clauses(claim)), default=1.0),
        missing_words=sum(by_rarity(t) for t in set(claim_terms) - evidence.everything if not is_stop(t)),
        sentences=math.log(1 + len(evidence.sentences)),
        verbatim=float(fold(claim) in fold(text)),
        goes_on=float(_speaks_of_it(claim, sentence)),
        negated=float(negated),
        opposite=opposite * window,
        other_of_class=float(min(2, len(exclusive))),
        absolute=float(lacks_absolute(claim, nearest)),
        swapped=alone * sum(_is_name(mine) and _is_name(other) and normalise(mine) not in asked for mine, other in swapped),
        figures_differ=len(rivals) / (len(figures) or 1),
        any_figure_missing=float(bool(missing)),
        out_of_place=max((OF_A_DATE * v if f.kind == "date" else v for f, v in misplaced.items()), default=0.0),
        scores_differ=float(bool(scores)),
        names_lost=sum(lost.get(name, 0.0) for name in further) / (len(further) or 1),
        answer_figure=answer.figure,
        answer_name=answer.name,
        answer_person=answer.person,
        answer_run=answer.run,
    )  # fmt: skip
    differing = rivals or [f for f in figures if f not in missing and misplaced[f] > CLEARLY]
    found = _Findings(
        figures, missing, differing, scores, names, list(lost), negated, exclusive, opposite, swapped, window, nearest
    )
    return measures, found


def _shown(measures: Measures, found: _Findings) -> list[tuple[str, str]]:
    checks = [("words", f"{measures.words:.2f}")]
    if found.figures:
        outcome = "ok"
        if found.differing or found.scores:
            outcome = _listed("differs", found.differing, found.scores)
        elif found.missing:
            outcome = _listed("missing", found.missing)
        checks.append(("figures", outcome))
    if found.names:
        checks.append(("names", "missing: " + ", ".join(found.lost[:3]) if found.lost else "ok"))
    checks.append(("negation", "differs" if found.negated else "ok"))
    if found.exclusive:
        checks.append(("class", "missing: " + ", ".join(found.exclusive[:3])))
    if found.opposite:
        checks.append(("direction", "differs"))
    if found.swapped:
        checks.append(("slot", "differs: " + "; ".join(f"{a} / {b}" for a, b in found.swapped[:2])))
    return checks


def _verdict(score: float, contradicted: bool) -> Verdict:
    if contradicted:
        return Verdict.CONTRADICTED
    if score >= SUPPORTED:
        return Verdict.SUPPORTED
    return Verdict.PARTIAL if score >= PARTIAL else Verdict.UNSUPPORTED


def _telling(claim_terms: Sequence[str], question: Question | None) -> Sequence[str]:
    """The claim's terms that the question does not say itself, where any of weight are left."""
    if question is None:
        return claim_terms
    asked = frozenset(stems(question.text))
    rest = [term for term in claim_terms if term not in asked]
    return rest if any(not is_stop(term) for term in rest) else claim_terms


def _said(claim_terms: Sequence[str], evidence: Evidence, by_rarity: Weigh) -> float:
    """How much of the claim the evidence says, 0 to 1: anywhere and in two sentences, names and figures above all, by rarity and plainly."""
    anywhere = share(claim_terms, evidence.everything, by_rarity)
    together = best_window(claim_terms, evidence, by_rarity)[0]
    return 0.35 * anywhere + 0.35 * together + 0.3 * share(claim_terms, evidence.everything, _plainly)


def _tells(term: str) -> float:
    return LITTLE if term in LIGHT else 1.0


def _plainly(term: str) -> float:
    return _tells(term) * base_weight(term)


def _clauses(claim: str) -> list[list[str]]:
    """The terms of each clause of a claim that says something."""
    parts = [stems(part) for part in _JOINTS.split(claim)]
    return [part for part in parts if sum(not is_stop(term) for term in part) > 1]


def _speaks_of_it(claim: str, sentence: str) -> bool:
    """True where the sentence goes on about what was named before it, and the claim names that."""
    subject = _NAME.match(claim.lstrip())
    if subject is None or not _GOES_ON.match(sentence):
        return False
    return not set(stems(subject.group())) <= set(stems(sentence))


def _has_rival(figure: Figure, others: Sequence[Figure]) -> bool:
    """True where another value stands for the figure, and none that says a part of it."""
    return any(_of_a_kind(figure, other) for other in others) and not any(is_part_of(other, figure) for other in others)


def _of_a_kind(figure: Figure, other: Figure) -> bool:
    """True where another value could stand in the figure's place: the same kind and unit."""
    return other.kind == figure.kind and (figure.kind in ("date", "percent") or other.unit == figure.unit)


def _out_of_place(claim: str, figure: Figure, evidence: Evidence) -> float:
    """How much better another value fits the words around the claim's figure than the same value does, -1 to 1."""
    around = words_around(claim, figure, 25)
    same = rival = 0.0
    for other, beside in zip(evidence.figures, evidence.around, strict=True):
        if same_figure(figure, other):
            same = max(same, share(around, beside, base_weight))
        elif _of_a_kind(figure, other):
            rival = max(rival, share(around, beside, base_weight))
    return rival - same


_NAME = pattern(
    r"\b[A-Z][A-Za-z0-9’'-]*(?:\s+(?:of|the|de|van|von|and)\s+(?=[A-Z])|\s+)?(?:[A-Z][A-Za-z0-9’'-]*\s*)*", re.ASCII
)
_GOES_ON = pattern(r"\W*(?:it|he|she|they|his|her|its|their|the|this|these)\b", re.IGNORECASE)
"""A sentence about what was named before it: its name need not stand in it again."""
_JOINTS = pattern(r"[,;，；]|\b(?:and|who|which|while|after|before|because|but)\b", re.IGNORECASE)
_QUOTED = pattern(r"[《“「『\"]([^》”」』\"]{2,30})[》”」』\"]")
_NAME_OR_FIGURE = pattern(r"[A-Z\u4e00-\u9fff\d]")


def _is_name(run: str) -> bool:
    return bool(_NAME_OR_FIGURE.search(run))


def _names(claim: str) -> list[str]:
    found = [match.group(1) for match in _QUOTED.finditer(claim)]
    for match in _NAME.finditer(claim):
        name = match.group().strip()
        first = match.start() == 0 or claim[: match.start()].rstrip().endswith((".", "!", "?", "\n"))
        if (first and " " not in name and name.isalpha()) or is_stop(name.lower()):
            continue
        found.append(name)
    return list(dict.fromkeys(found))


def _share_lost(name: str, evidence: Evidence) -> float:
    """Share of a name's words that the evidence does not have."""
    if normalise(name) in normalise(evidence.text):
        return 0.0
    return 1 - share(
        [term for term in stems(name) if not is_stop(term)] or stems(name), evidence.everything, base_weight
    )


def _listed(word: str, figures: Sequence[Figure], scores: Sequence[str] = ()) -> str:
    return f"{word}: " + ", ".join([*scores, *(figure.text for figure in figures)][:3])
