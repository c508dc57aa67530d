"""A claim against its evidence without a model: figures, negation, names, slots and words, each a named check (SPEC 41).

Words say whether the evidence is about the claim at all; figures, negation and slots say whether it says the same thing.
The score is 0 to 1; the verdict is what a reader needs to know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbcite.answer.figures import Figure, find_figures, is_in
from kbcite.answer.slots import swapped_runs
from kbcite.answer.weights import Weigh, idf_over, is_stop, share, stems
from kbcite.records import Verdict
from kbcite.sentences import split_sentences
from kbcite.words import normalise

Similarity = Callable[[str, str], float]

SUPPORTED = 0.62
PARTIAL = 0.4


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    verdict: Verdict
    score: float
    checks: tuple[tuple[str, str], ...]


def check_claim(
    claim: str, evidence: str, weigh: Weigh | None = None, similarity: Similarity | None = None
) -> ClaimCheck:
    """Whether the evidence supports a claim, with each check's outcome.

    similarity: 0 to 1 for two texts, where an encoder is at hand; it helps paraphrases and never outweighs a figure.
    """
    sentences = [evidence[s:e] for s, e in split_sentences(evidence)] or [evidence]
    weigh = weigh or idf_over([claim, *sentences])
    claim_terms = stems(claim)
    everything = frozenset(stems(evidence))
    whole = share(claim_terms, everything, weigh)
    window, nearest = _best_window(claim_terms, sentences, weigh)
    words = 0.55 * whole + 0.45 * window

    claim_figures = find_figures(claim)
    evidence_figures = find_figures(evidence)
    missing = [figure for figure in claim_figures if not is_in(figure, evidence_figures)]
    rivals = [figure for figure in missing if _rival(figure, find_figures(nearest) or evidence_figures)]
    names = _names(claim)
    lost = [name for name in names if not _name_in(name, evidence, everything)]
    negated = is_negated(claim) != is_negated(nearest) and window > 0.5
    swapped = swapped_runs(claim, nearest, everything) if window > 0.45 else []

    score = words
    checks = [("words", f"{words:.2f}")]
    if claim_figures:
        score = score + 0.08 if not missing else score - 0.35 * len(missing) / len(claim_figures) - 0.1
        checks.append(
            ("figures", _list("differs", rivals) if rivals else _list("missing", missing) if missing else "ok")
        )
    if names:
        score -= 0.25 * len(lost) / len(names)
        checks.append(("names", "missing: " + ", ".join(lost[:3]) if lost else "ok"))
    if negated:
        score -= 0.2
    checks.append(("negation", "differs" if negated else "ok"))
    if swapped:
        score -= 0.2
        checks.append(("slot", "differs: " + "; ".join(f"{a} / {b}" for a, b in swapped[:2])))
    if similarity is not None:
        near = similarity(claim, nearest)
        score = 0.8 * score + 0.2 * near
        checks.append(("similarity", f"{near:.2f}"))
    score = max(0.0, min(1.0, score))
    return ClaimCheck(_verdict(score, words, bool(rivals), negated, bool(swapped)), round(score, 4), tuple(checks))


def _verdict(score: float, words: float, rivals: bool, negated: bool, swapped: bool) -> Verdict:
    if words >= 0.5 and (rivals or negated):
        return Verdict.CONTRADICTED
    if score >= SUPPORTED and not swapped:
        return Verdict.SUPPORTED
    return Verdict.PARTIAL if score >= PARTIAL else Verdict.UNSUPPORTED


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


def _rival(figure: Figure, others: Sequence[Figure]) -> bool:
    """True where the evidence holds another value in the claim's place: the same kind and unit."""
    return any(
        other.kind == figure.kind and (figure.kind in ("date", "percent") or other.unit == figure.unit)
        for other in others
    )


_NEGATION_ZH = re.compile(
    r"不(?!仅|但|过|管|论|同|断|久|少|错|如|得不|止|只)|没有|没(?=[能会被得])|未(?!来|知|必)|无(?!论|锡|疑|线|人机|限|数)|非(?!常|洲|凡|物质|遗)|禁止|并非|从未"
    r"|否认|拒绝|取消"
)
_NEGATION_EN = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|can't|won't|isn't|aren't|wasn't|weren't"
    r"|didn't|doesn't|don't"
    r"|hasn't|haven't|hadn't|couldn't|wouldn't|shouldn't|denied|denies|refused|failed|unable|incapable|lacks?)\b"
    r"|n't\b|n’t\b",
    re.IGNORECASE,
)


def is_negated(text: str) -> bool:
    """True where a text says that something is not so; two negations cancel out."""
    return (len(_NEGATION_ZH.findall(text)) + len(_NEGATION_EN.findall(text))) % 2 == 1


_NAME = re.compile(r"\b[A-Z][\w’'-]*(?:\s+(?:of|the|de|van|von|and)\s+(?=[A-Z])|\s+)?(?:[A-Z][\w’'-]*\s*)*")
_QUOTED = re.compile(r"[《“「『\"]([^》”」』\"]{2,30})[》”」』\"]")


def _names(claim: str) -> list[str]:
    found = [m.group(1) for m in _QUOTED.finditer(claim)]
    for match in _NAME.finditer(claim):
        name = match.group().strip()
        first = match.start() == 0 or claim[: match.start()].rstrip().endswith((".", "!", "?", "\n"))
        if first and " " not in name:
            continue
        if not is_stop(name.lower()):
            found.append(name)
    return list(dict.fromkeys(found))


def _name_in(name: str, evidence: str, everything: frozenset[str]) -> bool:
    if normalise(name) in normalise(evidence):
        return True
    return all(term in everything for term in stems(name) if not is_stop(term))


def _list(word: str, figures: Sequence[Figure]) -> str:
    return f"{word}: " + ", ".join(figure.text for figure in figures[:3])
