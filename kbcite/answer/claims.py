"""A claim against its evidence without a model: figures, negation, names, slots and words, each a named check (SPEC 41).

Words say whether the evidence is about the claim at all; figures, negation, names and what fills the claim's slots say whether it
says the same thing. A figure must not only occur: the evidence's figure that stands among the same words must be the same one.
Words of names tell more than others, words of any text (`include`, `several`) less; a word of whose class the evidence has another
(`American`, `English`) speaks against the claim. Where the question is known, words that it says itself prove nothing and are left out,
and the name that answers it has to be there. The measures are added up with fixed weights and brought to 0 to 1 by a logistic curve.

Weights were set on half of 6,071 claim-evidence pairs of eight public sets (contrastive facts, changed figures, attribution
judged by people, Chinese and English) and checked on the other half; those of classes, names and runs were then chosen on the first half,
the kinds by five-fold cross-validation. `python -m tests.bench.qa_run support DATA OUT` measures them again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbcite.answer.figures import Figure, find_figures, find_pairs, is_in, same_figure
from kbcite.answer.persons import SURNAMES
from kbcite.answer.polarity import is_negated, lacks_absolute, opposes
from kbcite.answer.questions import Kind, Question, asked_elements
from kbcite.answer.slots import swapped_runs
from kbcite.answer.weights import Weigh, base_weight, fold, idf_over, is_stop, share, stems
from kbcite.answer.word_classes import LIGHT, exclusive_words
from kbcite.patterns import pattern
from kbcite.records import Verdict
from kbcite.sentences import split_sentences
from kbcite.words import normalise

Similarity = Callable[[str, str], float]

SUPPORTED = 0.5
PARTIAL = 0.3
ON_TOPIC = 0.5
"""Share of the claim's words from which a differing figure is a contradiction and not another subject."""
CLOSE = 0.75
"""Share of the claim's words from which two sentences are one statement, so that a negation or a swapped word turns it round."""

LITTLE = 0.3
"""What a word of any text (`include`, `several`) counts, against another content word."""
NAMED = 1.6
"""What a word of a name counts, and a figure."""

CLEARLY = 0.4
"""By how much a rival value must fit the claim's words better before a figure that does occur counts as another's."""

_BIAS = -3.4
_WORDS = 5.8
_FIGURES_OK = 0.4
_FIGURE_MISSING = -0.8
_FIGURE_DIFFERS = -1.2
_FIGURE_OUT_OF_PLACE = -2.4
_NAMES_LOST = -0.7
_NEGATION = -3.0
_SWAPPED = -0.5
_SWAPPED_CLOSE = -1.0
_RAREST_MISSING = -0.5
_OPPOSITE = -2.0
_ABSOLUTE = -0.4
_VERBATIM = 2.0
_ANSWER_FIGURE = 1.6
_ANSWER_NAME = 0.3
_ANSWER_PERSON = 0.7
_ANSWER_RUN = 0.5
_EXCLUSIVE = -1.2
_PRONOUN = 0.4
_ANY_FIGURE_MISSING = -0.3
_FURTHER_NAMES_LOST = -0.5


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    verdict: Verdict
    score: float
    checks: tuple[tuple[str, str], ...]


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
    sentences = [evidence[start:end] for start, end in split_sentences(evidence)] or [evidence]
    weigh = weigh or idf_over([claim, *sentences])
    everything = frozenset(stems(evidence))
    claim_terms = _telling(stems(claim), question)
    window, nearest = _best_window(claim_terms, sentences, weigh)
    words = _said(claim, claim_terms, sentences, everything, weigh)

    figures = find_figures(claim)
    given = find_figures(evidence)
    missing = [figure for figure in figures if not is_in(figure, given)]
    rivals = [figure for figure in missing if _has_rival(figure, find_figures(nearest) or given)]
    misplaced = max((_out_of_place(claim, figure, evidence, given) for figure in figures), default=0.0)
    scores_given = find_pairs(evidence)
    scores = [text for pair, text in find_pairs(claim).items() if scores_given and pair not in scores_given]
    names = _names(claim)
    lost = {name: gone for name in names if (gone := _share_lost(name, evidence, everything)) > 0}
    further = [name for name in names if not claim.startswith(name)]
    exclusive = exclusive_words(claim, nearest, evidence)
    negated = window > CLOSE and is_negated(claim) != is_negated(nearest)
    swapped = swapped_runs(claim, nearest, everything)
    opposite = opposes(claim, nearest)
    verbatim = fold(claim) in fold(evidence)
    unheard = max(
        (weigh(term) for term in set(claim_terms) if term not in everything and not is_stop(term)), default=0.0
    )

    z = _BIAS + _WORDS * words + _RAREST_MISSING * unheard
    z += _SWAPPED * min(2, len(swapped)) / 2 + _ABSOLUTE * lacks_absolute(claim, nearest)
    z += _NEGATION * negated + _SWAPPED_CLOSE * (bool(swapped) and window > CLOSE)
    z += _OPPOSITE * opposite * window + _EXCLUSIVE * min(2, len(exclusive))
    z += _FIGURE_OUT_OF_PLACE * bool(scores)
    z += _PRONOUN * bool(_GOES_ON.match(nearest))
    z += _VERBATIM * verbatim
    if figures:
        z += _FIGURES_OK * (len(figures) - len(missing)) / len(figures)
        z += _FIGURE_MISSING * (len(missing) - len(rivals)) / len(figures) + _FIGURE_DIFFERS * len(rivals) / len(
            figures
        )
        z += _FIGURE_OUT_OF_PLACE * misplaced + _ANY_FIGURE_MISSING * bool(missing)
    if names:
        z += _NAMES_LOST * sum(lost.values()) / len(names)
    if further:
        z += _FURTHER_NAMES_LOST * sum(lost.get(name, 0.0) for name in further) / len(further)
    if question is not None:
        z += _asked_for(question, claim, figures, evidence, given)
    score = 1 / (1 + math.exp(-z))

    checks = [("words", f"{words:.2f}")]
    differing = rivals or [
        f for f in figures if f not in missing and _out_of_place(claim, f, evidence, given) > CLEARLY
    ]
    if figures:
        checks.append(
            (
                "figures",
                _listed("differs", differing, scores)
                if differing or scores
                else _listed("missing", missing)
                if missing
                else "ok",
            )
        )
    if names:
        checks.append(("names", "missing: " + ", ".join(list(lost)[:3]) if lost else "ok"))
    checks.append(("negation", "differs" if negated else "ok"))
    if exclusive:
        checks.append(("class", "missing: " + ", ".join(exclusive[:3])))
    if opposite:
        checks.append(("direction", "differs"))
    if swapped:
        checks.append(("slot", "differs: " + "; ".join(f"{a} / {b}" for a, b in swapped[:2])))
    if similarity is not None:
        near = similarity(claim, nearest)
        score = 0.8 * score + 0.2 * near
        checks.append(("similarity", f"{near:.2f}"))
    contradicted = negated or (window > ON_TOPIC and bool(differing or scores or opposite))
    return ClaimCheck(_verdict(score, contradicted and not verbatim), round(score, 4), tuple(checks))


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


def _said(
    claim: str, claim_terms: Sequence[str], sentences: Sequence[str], everything: frozenset[str], weigh: Weigh
) -> float:
    """How much of the claim the evidence says, 0 to 1: anywhere and in two sentences, names and figures above all, by rarity and plainly."""
    names = {term for match in _NAME.finditer(claim) for term in stems(match.group())}

    def by_rarity(term: str) -> float:
        return _tells(term) * weigh(term) * (NAMED if term in names or term[:1].isdigit() else 1)

    def plainly(term: str) -> float:
        return _tells(term) * base_weight(term)

    anywhere = share(claim_terms, everything, by_rarity)
    together, _ = _best_window(claim_terms, sentences, by_rarity)
    return 0.35 * anywhere + 0.35 * together + 0.3 * share(claim_terms, everything, plainly)


def _tells(term: str) -> float:
    return LITTLE if term in LIGHT else 1.0


def _best_window(claim_terms: Sequence[str], sentences: Sequence[str], weigh: Weigh) -> tuple[float, str]:
    """The best share of the claim's words in one or two neighbouring sentences, and those sentences."""
    sets = [frozenset(stems(sentence)) for sentence in sentences]
    best, text = -1.0, ""
    for i in range(len(sentences)):
        for width in (1, 2):
            value = share(claim_terms, frozenset().union(*sets[i : i + width]), weigh) - 0.03 * (width - 1)
            if value > best:
                best, text = value, " ".join(sentences[i : i + width])
    return max(0.0, best), text


def _has_rival(figure: Figure, others: Sequence[Figure]) -> bool:
    return any(_of_a_kind(figure, other) for other in others)


def _of_a_kind(figure: Figure, other: Figure) -> bool:
    """True where another value could stand in the figure's place: the same kind and unit."""
    return other.kind == figure.kind and (figure.kind in ("date", "percent") or other.unit == figure.unit)


def _out_of_place(claim: str, figure: Figure, evidence: str, given: Sequence[Figure]) -> float:
    """How much better another value fits the words around the claim's figure than the same value does, -1 to 1."""
    around = _around(claim, figure, 25)
    fits = [(share(around, frozenset(_around(evidence, other, 35)), base_weight), other) for other in given]
    same = max((fit for fit, other in fits if same_figure(figure, other)), default=0.0)
    rival = max(
        (fit for fit, other in fits if not same_figure(figure, other) and _of_a_kind(figure, other)), default=0.0
    )
    return rival - same


def _around(text: str, figure: Figure, reach: int) -> list[str]:
    return stems(text[max(0, figure.start - reach) : figure.start] + " " + text[figure.end : figure.end + reach])


def _asked_for(
    question: Question, claim: str, figures: Sequence[Figure], evidence: str, given: Sequence[Figure]
) -> float:
    """Whether what the question asks for, as the claim has it, stands in the evidence: a figure tells more than a name."""
    if question.asks_for_figure:
        own = [figure for figure in figures if not is_in(figure, question.figures)]
        right_kind = [figure for figure in own if (figure.kind == "date") == question.asks_for_date] or own
        if not right_kind:
            return 0.0
        return _ANSWER_FIGURE * (1 if any(is_in(figure, given) for figure in right_kind) else -1)
    text = normalise(evidence)
    told = 0.0
    if elements := asked_elements(question, claim):
        told += _ANSWER_NAME * (1 if any(normalise(element) in text for element in elements) else -1)
    if question.kind is Kind.PERSON and (people := _people(normalise(claim), normalise(question.text))):
        told += _ANSWER_PERSON * (1 if any(name in text for name in people) else -1)
    return told + _ANSWER_RUN * _longest_run(normalise(claim), text, normalise(question.text))


def _people(claim: str, asked: str) -> set[str]:
    """What may be a person's name in a Chinese claim, that the question does not say."""
    names = {match.group() for match in _PERSON.finditer(claim)}
    names |= {name[:2] for name in names if len(name) == 3 and name[0] in SURNAMES}
    return {name for name in names if name not in asked}


def _longest_run(claim: str, evidence: str, asked: str) -> int:
    """Characters, up to four, of the longest run of Chinese that claim and evidence share and that has none of the question's."""
    runs = _HAN_RUN.findall("".join(c if c not in asked else " " for c in claim))
    return next(
        (
            size
            for size in (4, 3, 2)
            if any(run[i : i + size] in evidence for run in runs for i in range(len(run) - size + 1))
        ),
        0,
    )


_NAME = pattern(
    r"\b[A-Z][A-Za-z0-9’'-]*(?:\s+(?:of|the|de|van|von|and)\s+(?=[A-Z])|\s+)?(?:[A-Z][A-Za-z0-9’'-]*\s*)*", re.ASCII
)
_GOES_ON = pattern(r"\W*(?:it|he|she|they|his|her|its|their|the|this|these)\b", re.IGNORECASE)
"""A sentence about what was named before it: its name need not stand in it again."""
_PERSON = pattern(rf"[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|[\u4e00-\u9fff]{{1,5}}(?:[·•‧][\u4e00-\u9fff]{{1,6}})+")
_HAN_RUN = pattern(r"[\u4e00-\u9fff]{2,}")
_QUOTED = pattern(r"[《“「『\"]([^》”」』\"]{2,30})[》”」』\"]")


def _names(claim: str) -> list[str]:
    found = [match.group(1) for match in _QUOTED.finditer(claim)]
    for match in _NAME.finditer(claim):
        name = match.group().strip()
        first = match.start() == 0 or claim[: match.start()].rstrip().endswith((".", "!", "?", "\n"))
        if (first and " " not in name and name.isalpha()) or is_stop(name.lower()):
            continue
        found.append(name)
    return list(dict.fromkeys(found))


def _share_lost(name: str, evidence: str, everything: frozenset[str]) -> float:
    """Share of a name's words that the evidence does not have."""
    if normalise(name) in normalise(evidence):
        return 0.0
    return 1 - share([term for term in stems(name) if not is_stop(term)] or stems(name), everything, base_weight)


def _listed(word: str, figures: Sequence[Figure], scores: Sequence[str] = ()) -> str:
    return f"{word}: " + ", ".join([*scores, *(figure.text for figure in figures)][:3])
