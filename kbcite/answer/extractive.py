"""The best passages of the retrieved blocks as an answer: quoted, ordered, no model needed (SPEC 48).

A passage is scored by how much of the question it says itself (idf-weighted terms), then by how much its neighbours,
its headings and its page say, by whether it holds the kind of thing asked for (a figure, a date, a person), by how well its
block was ranked, and by whether its years and amounts agree with the question's. Further passages are taken only while they
add: words of the question that are still unsaid, or the same answer's other half in another document.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kbcite.answer.figures import Figure, find_figures, is_in
from kbcite.answer.passages import Passage, first_cell, split_passages
from kbcite.answer.questions import FOCUS, Kind, Question, answers_kind, defines, focus_terms, halves, keys, subject_of
from kbcite.answer.said_as import SAID_AS, with_said
from kbcite.answer.weights import Weigh, fold, idf_over, is_stop, share, stems
from kbcite.patterns import pattern
from kbcite.records import RetrievedBlock, SourceType
from kbcite.words import language_of

Nearness = Callable[[str, Sequence[str]], Sequence[float]]
"""Question and passages -> a similarity each, higher is nearer: across languages, where words say nothing."""

NEARNESS = 0.9
CODE_FINE = 0.4
"""Code is full of figures that answer no question for one."""
CODE_ALONE = 0.25
"""What a code block loses that no sentence leads in to: its names say words of the question by chance."""
CODE_LONG = 0.2
LONG_CODE = 600
"""Characters from which a code block is a program, not an example of one thing."""
DEFINES = 0.6
"""For a sentence that says what the thing asked about is."""
OPENING = 0.3
"""For the first sentence under a heading, by the share of the question that the heading says: a manual answers there."""
KEYED = 0.3
"""For the row of a table whose first cell is, letter by letter, a word of the question."""
TERSE = 40
"""Characters up to which the first sentence under a heading that asks is only the start of an answer: `Yes, there is.`"""
SAYS_LITTLE = 0.3
ASKED_BY = 0.9
"""Share of the question from which the heading asks it: then the first sentence need not say it again."""
ASKED_AGAIN = 0.8
"""Likeness of a heading that is the same question with its words in another order."""
ASKED_AGAIN_ZH = 0.9
"""The same in characters shared."""
OTHER_LANGUAGE = 0.15
"""What a sentence in another language than the question's loses beside those in its own."""
MOST_FOREIGN = 80
"""Passages in another language that are laid beside the question."""
NEIGHBOUR = 0.25
PAGE = 0.25
KIND_BONUS = 0.26
RANK_BONUS = 0.12
FIGURE_PENALTY = 0.35
ENTRY = 0.2
"""What the entry of one function in a reference, or a row without a command, loses where it is asked how something is done."""
HEADED = 0.4
"""For what stands under a heading that names what is asked for, and nothing else, where a section answers: how, and which things."""
LISTED = 0.2
"""For a row or item where several things are asked for, by the share of the question that its heading or lead-in says."""
_LISTED = frozenset({"row", "item"})
_LEANING = frozenset({"row", "item", "code", "list"})
"""Kinds of passage that say little by themselves: the words of their heading or lead-in are theirs."""
ALIKE = 0.8
"""Share of the best item's score from which all items of its list answer a question for several things."""
WANTED_ADDITION = 0.15
"""A further passage must add at least this share of the question, or answer a question for several things."""
GOOD_ADDITION = 0.6
"""And score at least this share of the best one."""
GOOD_STEP = 0.85
"""The same where one thing is asked for: what another page says beside it is no part of the answer."""
OWN_WEIGHT = 0.75
"""Weight, over that of the question's heaviest term, from which a term that a row or item says and its heading does not tells it
from those beside it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage of one retrieved block and how well it answers."""

    block: int
    """Index into the retrieved blocks."""
    passage: Passage
    score: float
    coverage: float
    """Share of the question's weight that the passage itself says."""
    kind: float
    """1 where it holds what was asked for, 0 where not."""
    said: frozenset[str]
    """The question's terms that it says, itself or through its context."""


def rank_passages(
    question: Question,
    blocks: Sequence[RetrievedBlock],
    weigh: Weigh | None = None,
    nearness: Nearness | None = None,
) -> list[Candidate]:
    """Every passage of the blocks, best first.

    weigh: how much a term matters, from the whole collection where the caller knows it; else from these blocks alone.
    nearness: what passages in another language than the question's are ranked by; without it, by kind and block alone.
    """
    texts = [block.place.text or block.block.text for block in blocks]
    weigh = focused(question.text, weigh or idf_over(texts))
    wanted = _wanted(question)
    subject = subject_of(question)
    looked_up = keys(question.text)
    found: list[Candidate] = []
    for index, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        page = " ".join((block.place.title, *block.place.heading_chain))
        page_terms = frozenset(stems(page))
        text_terms = frozenset(stems(text))
        block_figures = find_figures(f"{page} {block.place.published_at or ''} {text}")
        passages = [p for p in split_passages(text, block.place.context) if p.kind != "table"]
        own = [with_said(wanted, frozenset(stems(_without_arguments(passage)))) for passage in passages]
        is_first = [
            (passage.kind == "sentence" or (passage.kind == "code" and bool(_lead_in(passage))))
            and (not i or passages[i - 1].context != passage.context)
            for i, passage in enumerate(passages)
        ]
        for i, passage in enumerate(passages):
            if passage.kind == "list" and question.kind not in (Kind.LIST, Kind.HOW, Kind.REASON):
                continue
            if passage.kind == "code" and subject:
                continue  # a definition is a sentence
            after = passages[i + 1] if i + 1 < len(passages) else None
            if after is not None and after.kind == "code" and after.start <= passage.start and not subject:
                continue  # the code that it announces is part of it
            context = with_said(wanted, frozenset(stems(passage.context)) | page_terms)
            beside = [] if passage.kind == "row" else [*own[max(0, i - 1) : i], *own[i + 1 : i + 2]]
            near = own[i].union(context, *beside)
            coverage = share(wanted, own[i] | context if passage.kind in _LEANING else own[i], weigh)
            kind = answers_kind(question, passage.shown)
            if subject:
                kind = defines(subject, passage.shown, passage.context or page)
                coverage = max(coverage, kind)  # it speaks of the subject, by whatever part of its name
            elif question.kind is Kind.HOW and passage.kind == "row":
                kind = 1.0 if _COMMAND.fullmatch(first_cell(passage)) else 0.2
            elif question.kind is Kind.HOW and passage.kind == "code" and _lead_in(passage):
                kind = 1.0
            is_keyed = first_cell(passage) in looked_up
            if is_keyed and question.kind is Kind.OTHER:
                kind = 1.0
            score = (
                coverage
                + NEIGHBOUR * share(wanted, near, weigh)
                + PAGE * share(wanted, text_terms | page_terms, weigh)
                + KIND_BONUS * kind
                + RANK_BONUS * _rank_prior(index, block)
                - FIGURE_PENALTY * _figures_missed(question.figures, find_figures(passage.text), block_figures)
            )
            score -= _poverty(passage, question, kind)
            if question.kind is Kind.HOW or (question.kind is Kind.LIST and passage.kind != "sentence"):
                score += HEADED * max(
                    _likeness(wanted, heading, weigh) for heading in (*block.place.heading_chain[-1:], passage.context)
                )
            if question.kind is Kind.HOW and (_CALL.match(passage.shown) or (passage.kind == "row" and kind < 1.0)):
                score -= ENTRY
            if question.kind is Kind.LIST and passage.kind in _LISTED:
                score += LISTED * _asked_by_heading(wanted, passage, block, weigh)
            score += DEFINES * kind if subject else KEYED if is_keyed else 0.0
            if passage.kind == "code":
                lead = _lead_in(passage)
                said_by_lead = share(wanted, with_said(wanted, frozenset(stems(lead))), weigh)
                score -= max(CODE_ALONE, coverage / 2) if not lead else max(0.0, coverage - said_by_lead) / 2
                score -= CODE_LONG if len(passage.text) > LONG_CODE else 0.0
                score -= CODE_FINE if question.asks_for_figure else 0.0
            if is_first[i]:
                asked = _asked_by_heading(wanted, passage, block, weigh)
                if subject or (question.kind is Kind.HOW and not _is_question(_heading(passage, block))):
                    asked *= kind
                score += OPENING * asked
                if not subject and (
                    asked >= ASKED_BY or _is_asked_again(question, wanted, _heading(passage, block), weigh)
                ):
                    score += max(0.0, 1.0 - coverage)
                    coverage = 1.0
            if block.block.language == question.language != language_of(passage.shown):
                score -= OTHER_LANGUAGE
            found.append(Candidate(index, passage, score, coverage, kind, frozenset(wanted) & (own[i] | context)))
    found = _by_nearness(question, found, blocks, nearness)
    return sorted(found, key=lambda c: (-round(c.score, 6), c.block, c.passage.start))


def _by_nearness(
    question: Question, found: list[Candidate], blocks: Sequence[RetrievedBlock], nearness: Nearness | None
) -> list[Candidate]:
    """The candidates, those in another language than the question's with a score that does not go by words."""
    foreign = [c for c in found if blocks[c.block].block.language != question.language][:MOST_FOREIGN]
    if nearness is None or not foreign or blocks[0].block.language == question.language:
        return found  # a page in the question's own language came first: words tell
    near = nearness(question.text, [f"{c.passage.context} {c.passage.shown}".strip() for c in foreign])
    low, high = min(near), max(near)
    subject = subject_of(question)
    score = {
        id(c): c.score
        if subject and c.kind >= 0.4  # a definition is known by its form
        else NEARNESS * (value - low) / ((high - low) or 1.0)
        + (KIND_BONUS + (DEFINES if subject else 0.0)) * c.kind
        + RANK_BONUS * _rank_prior(c.block, blocks[c.block])
        - _poverty(c.passage, question, c.kind)
        - (CODE_FINE if c.passage.kind == "code" and question.asks_for_figure else 0.0)
        for c, value in zip(foreign, near, strict=True)
    }
    return [replace(c, score=score.get(id(c), c.score)) for c in found]


def choose(
    question: Question,
    ranked: Sequence[Candidate],
    blocks: Sequence[RetrievedBlock],
    weigh: Weigh,
    limit: int,
    nearness: Nearness | None = None,
) -> list[Candidate]:
    """The passages that make the answer, best first: few, from different documents where two facts are asked for."""
    chosen: list[Candidate] = []
    if not ranked:
        return chosen
    wanted = _wanted(question)
    total = sum(weigh(term) for term in wanted) or 1.0
    best = ranked[0]
    for half in halves(question)[:limit] if limit > 1 else []:
        # Each half has its own best passage; a passage that serves both stands for both.
        best_of_half = rank_passages(half, blocks, weigh, nearness)
        own = next(
            (c for c in best_of_half if c.kind == 1.0 and c.score >= 0.75 * best_of_half[0].score), best_of_half[0]
        )
        if not any(_is_same(own, c) for c in chosen):
            chosen.append(own)
    chosen = chosen or [best]
    if not question.is_joined:
        if best.passage.kind in ("list", "code"):
            return chosen  # the whole list or example is the answer
        if whole := _with_its_like(question, best, ranked, blocks, weigh):
            return whole[:limit]
        if (question.kind in _ONE_THING and best.kind == 1.0) or (subject_of(question) and best.kind >= 0.5):
            return [*_referred_to(best, blocks), best][-limit:]
        if section := _under_its_heading(question, best, blocks, weigh, limit):
            return section
    if len(chosen) > 1 and all(c.passage.kind == "row" for c in chosen):
        return chosen  # each thing has its row
    if condition := _condition_after(question, best, blocks):
        chosen.append(condition)
    wide = question.is_joined or question.kind in (Kind.LIST, Kind.REASON)
    while len(chosen) < limit:
        said = frozenset().union(*(c.said for c in chosen))
        pages = {blocks[c.block].place.url for c in chosen}
        top, gain = None, 0.0
        for c in ranked[:60]:
            if any(_is_same(c, o) for o in chosen) or _repeats(c, chosen):
                continue
            added = sum(weigh(term) for term in c.said - said) / total
            value = c.score + 1.5 * added + (0.15 if blocks[c.block].place.url not in pages else 0.0)
            good = GOOD_ADDITION if question.is_joined else GOOD_STEP
            enough = c.score >= good * best.score and (wide or added >= WANTED_ADDITION)
            if enough and value > gain:
                top, gain = c, value
        if top is None:
            break
        chosen.append(top)
    return chosen


def _with_its_like(
    question: Question, best: Candidate, ranked: Sequence[Candidate], blocks: Sequence[RetrievedBlock], weigh: Weigh
) -> list[Candidate]:
    """The whole list or the rows of a table, where the best item or row answers by its heading or lead-in alone; else nothing."""
    passage, place = best.passage, blocks[best.block].place
    if passage.kind not in ("row", "item") or subject_of(question):
        return []
    wanted = _wanted(question)
    page = " ".join((place.title, *place.heading_chain))
    common = with_said(wanted, frozenset(stems(f"{passage.context} {page}")))
    own = (set(wanted) & with_said(wanted, frozenset(stems(passage.text)))) - common
    heaviest = max(map(weigh, wanted))
    beside = [
        c.score
        for c in ranked
        if c.block == best.block and c.passage.context == passage.context and c.passage.kind == "item"
    ]
    are_alike = question.kind is Kind.LIST and passage.kind == "item" and min(beside) >= ALIKE * best.score
    if not are_alike and any(term in SAID_AS or weigh(term) >= OWN_WEIGHT * heaviest for term in own):
        return []
    if passage.kind == "item" or question.kind is Kind.LIST:
        lists = [p for p in split_passages(place.text, place.context) if p.kind in ("list", "table")]
        around = next((p for p in lists if p.start <= passage.start and passage.end <= p.end), None)
        if around or passage.kind == "item":
            return [replace(best, passage=around)] if around else []
    if question.kind in _ONE_THING:
        return []
    rows = [c for c in ranked if c.block == best.block and c.passage.kind == "row"]
    like = [c for c in rows if c.passage.context == passage.context and c.score >= 0.9 * best.score]
    return sorted(like, key=lambda c: c.passage.start) if len(like) > 1 else []


def _referred_to(best: Candidate, blocks: Sequence[RetrievedBlock]) -> list[Candidate]:
    """The sentence before one that starts with `this`: what it speaks of; else nothing."""
    if best.passage.kind not in ("sentence", "item") or not _REFERS.match(best.passage.shown):
        return []
    place = blocks[best.block].place
    before = [p for p in split_passages(place.text, place.context) if p.end <= best.passage.start]
    if not before or before[-1].kind != best.passage.kind or before[-1].context != best.passage.context:
        return []
    return [replace(best, passage=before[-1])]


def _condition_after(question: Question, best: Candidate, blocks: Sequence[RetrievedBlock]) -> Candidate | None:
    """What the next sentence says of the other case, `If you cancel later, …`, where the question is about a case."""
    if best.passage.kind != "sentence" or not _ON_A_CASE.search(question.text):
        return None
    place = blocks[best.block].place
    after = next((p for p in split_passages(place.text, place.context) if p.start >= best.passage.end), None)
    if after is None or after.kind != "sentence" or "\n" in place.text[best.passage.end : after.start]:
        return None
    return replace(best, passage=after) if _OTHER_CASE.match(after.shown) else None


def _under_its_heading(
    question: Question, best: Candidate, blocks: Sequence[RetrievedBlock], weigh: Weigh, limit: int
) -> list[Candidate]:
    """What stands under a heading that asks the question itself, from its first sentence on; nothing where that says all.

    A section that opens with a remark and an example is told from the sentence on that says most of the question.
    """
    place = blocks[best.block].place
    is_terse = len(best.passage.shown) <= TERSE
    if best.passage.kind != "sentence" or (question.kind not in (Kind.REASON, Kind.HOW) and not is_terse):
        return []
    wanted = _wanted(question)
    asked = _asked_by_heading(wanted, best.passage, blocks[best.block], weigh)
    if asked < ASKED_BY and not _is_asked_again(question, wanted, _heading(best.passage, blocks[best.block]), weigh):
        return []
    under = [p for p in split_passages(place.text, place.context) if p.context == best.passage.context]
    if not under or under[0].start != best.passage.start:
        return []
    whole = _without_leads(under)
    said = [share(wanted, with_said(wanted, frozenset(stems(p.text))), weigh) for p in whole]
    first = 0
    if question.kind is Kind.REASON and said[0] < SAYS_LITTLE and [p.kind for p in whole[1:2]] == ["code"]:
        first = max((i for i, p in enumerate(whole) if p.kind == "sentence"), key=lambda i: said[i])
    run: list[Passage] = []
    for passage in whole[first : first + limit]:
        run.append(passage)
        if passage.kind != "sentence":
            break
    return [replace(best, passage=passage) for passage in run] if len(run) > 1 else []


def _without_leads(passages: Sequence[Passage]) -> list[Passage]:
    """Sentences and code in order; a sentence that leads in to code only as part of it."""
    kept = [p for p in passages if p.kind in ("sentence", "code")]
    return [p for p, after in zip(kept, [*kept[1:], None], strict=True) if after is None or after.start > p.start]


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


def focused(text: str, weigh: Weigh) -> Weigh:
    """The weights with what a question asks for counted FOCUS times."""
    focus = focus_terms(text)
    return lambda term: weigh(term) * (FOCUS if term in focus else 1.0)


def _wanted(question: Question) -> list[str]:
    found = list(dict.fromkeys(stems(subject_of(question) or question.text)))
    content = [term for term in found if not is_stop(term)]
    return content or found


def _without_arguments(passage: Passage) -> str:
    """The text of a passage; `sort(*, key=None, reverse=False): Sort the list` does not speak of reversing."""
    if _CALL.match(passage.shown):
        return _ARGUMENTS.sub("", passage.shown, count=1)
    return passage.text


def _lead_in(passage: Passage) -> str:
    """The sentence before a code block that announces it; empty where none does."""
    return re.split(r"^[ \t]*(?:```|~~~)", passage.text, maxsplit=1, flags=re.MULTILINE)[0]


def _heading(passage: Passage, block: RetrievedBlock) -> str:
    """The heading that a passage stands under; a function's signature, whose definition it is part of, is none."""
    own = "" if _SIGNATURE.search(passage.context) else passage.context
    return f"{' '.join(block.place.heading_chain[-1:])} {own}".strip()


def _asked_by_heading(wanted: Sequence[str], passage: Passage, block: RetrievedBlock, weigh: Weigh) -> float:
    """Share of the question that the heading over a passage says."""
    return share(wanted, with_said(wanted, frozenset(stems(_heading(passage, block)))), weigh)


def _likeness(wanted: Sequence[str], heading: str, weigh: Weigh) -> float:
    """How much a heading is the question, 0 to 1: the harmonic mean of what each says of the other."""
    own = [term for term in dict.fromkeys(stems(heading)) if not is_stop(term) and not _NUMBERING.fullmatch(term)]
    recall = share(wanted, with_said(wanted, frozenset(own)), weigh)
    precision = share(own, with_said(own, frozenset(wanted)), weigh)
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def _is_asked_again(question: Question, wanted: Sequence[str], heading: str, weigh: Weigh) -> bool:
    """True for a heading that is the question with its words in another order, which breaks the pairs of Chinese characters."""
    if not _is_question(heading):
        return False
    if question.language == "zh":
        asked, own = Counter(fold(question.text)), Counter(fold(heading))
        return 2 * (asked & own).total() >= ASKED_AGAIN_ZH * (asked.total() + own.total())
    return _likeness(wanted, heading, weigh) >= ASKED_AGAIN


def _is_question(heading: str) -> bool:
    return heading.endswith(("?", "？")) or bool(_ASKS.match(heading))


def _rank_prior(index: int, block: RetrievedBlock) -> float:
    internal = 0.15 if block.place.source_type is SourceType.INTERNAL else 0.0
    return 1.0 / (1 + index) + internal


def _figures_missed(asked: Sequence[Figure], own: list[Figure], around: list[Figure]) -> float:
    """0 where each figure of the question stands in the passage; dearer where the passage has another of the same kind."""
    if not asked:
        return 0.0
    missed = 0.0
    for figure in asked:
        if is_in(figure, own):
            continue
        rivals = [f for f in own if f.kind == figure.kind and (f.year is None) == (figure.year is None)]
        if not is_in(figure, around):
            missed += 1.0
        elif rivals and figure.kind in ("date", "ordinal"):
            missed += 0.6
        else:
            missed += 0.15
    return missed / len(asked)


_ONE_THING = frozenset({Kind.PRICE, Kind.QUANTITY, Kind.TIME})
"""What one passage answers, where it holds a figure or a date."""
_REFERENCES = pattern(
    r"参考(?:文献|资料)|注释|引用|外部链接|references|notes|external links|further reading|bibliography", re.IGNORECASE
)
_NUMBERING = pattern(r"[\d.]+")
_SIGNATURE = pattern(r"\w\(")
_ASKS = pattern(r"[\d.\s]*(?:how|why|what|怎么|怎样|如何|为什么|什么是)\b", re.IGNORECASE)
_POINTS = pattern(
    r"\b(?:following|next) (?:table|list|figure)\b|\b(?:table|list|figure)s? below\b|[如以]?下[表图]", re.IGNORECASE
)
"""A sentence that says where the answer stands."""
_CHANGE_NOTE = pattern(
    r"^(?:(?:changed|new|deprecated|removed) (?:in|since) version|在? ?[\d.]+ ?版(?:本)?(?:更改|新增|移除))", re.I
)
_ON_CHANGE = pattern(r"chang|\bnew\b|version|added|since|deprecat|remov|when|更改|新增|版本|何时|变化", re.IGNORECASE)
_COMMAND = pattern(r"[a-z][a-z\d.+-]* \S.*")
_CALL = pattern(r"[\w.]+\([^)]*\):\s")
_ON_A_CASE = pattern(
    r"\b(?:if|happens?|unless|late|later)\b|如果|若|怎么办|会怎样|会怎么样|后果|逾期|超时|超过", re.IGNORECASE
)
_OTHER_CASE = pattern(
    r"(?:but )?if\b|otherwise\b|after that\b|in that case\b|如果|如|若|否则|逾期|超过|反之", re.IGNORECASE
)
_ARGUMENTS = pattern(r"\([^)]*\)(?=:\s)")
_REFERS = pattern(r"(?:this|these|that|those|it|they)\b|[这那此该它]", re.IGNORECASE)
_BOILERPLATE = pattern(r"©|copyright|all rights reserved|责任编辑|相关推荐|版权所有|点击查看|回复【", re.IGNORECASE)


def _poverty(passage: Passage, question: Question, kind: float) -> float:
    """What a passage loses that answers nothing by its form: a question, a fragment, a lead-in without the thing asked for."""
    text = passage.shown.rstrip("”’\"')）]】 ")
    if text.endswith(("?", "？")) or len(text) < 4 or text.casefold() == question.text.casefold():
        return 0.4
    if _BOILERPLATE.search(text) or text.startswith("^") or _REFERENCES.fullmatch(passage.context.strip()):
        return 0.4
    note = _CHANGE_NOTE.match(text) or _CHANGE_NOTE.match(passage.context)
    if _POINTS.search(text) or (note and not _ON_CHANGE.search(question.text)):
        return 0.3
    if text.count("）") + text.count(")") > text.count("（") + text.count("("):
        return 0.2  # the end of a sentence that is cut
    if text.endswith((":", "：")):
        return 0.05 if kind == 1.0 and question.asks_for_figure else 0.4
    return 0.0


def _is_same(one: Candidate, other: Candidate) -> bool:
    return one.block == other.block and one.passage.start == other.passage.start


def _repeats(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    own = set(stems(candidate.passage.shown))
    return any(len(own & (other := set(stems(c.passage.shown)))) > 0.75 * min(len(own), len(other)) for c in chosen)
