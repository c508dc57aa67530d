"""Looking at pages while a question is answered: the decision's inputs, the fetches beside the retrieval, what they give to the answer.

Light by itself: the branch that fetches is opened only once there is something to fetch or to read from the pool.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from kbcite.answer.corrections import corrected_pages
from kbcite.answer.freshness import class_of, has_time_words, is_high_risk, is_stale
from kbcite.answer.live_decision import NO_PAGE, Decision, PageChoice, Situation, Way, decide
from kbcite.answer.live_filters import off_topic, why_unfit
from kbcite.answer.live_pages import LiveEntry, is_topical, links_to_follow, names_title
from kbcite.answer.trace import LiveTrace, TracedFetch
from kbcite.clock import Clock, seconds_between
from kbcite.errors import KbciteError
from kbcite.records import (
    Block,
    LiveLoss,
    LiveMode,
    LivePage,
    LiveUse,
    PageState,
    Place,
    RefusalReason,
    RetrievedBlock,
    SourceType,
    Tier,
)
from kbcite.settings import ClassSettings, Settings, SourceSettings
from kbcite.store.database import Database
from kbcite.urls import resolve
from kbcite.web.scope import Scope
from kbcite.words import simplify

NEAR_BEST = 0.8
"""Share of the best block's score from which the page of another one is worth a look as well."""
PAGE_GONE = "page_gone"
SUPERSEDED = "superseded"
CORRECTED = "corrected"
STALE = "stale"
MAX_BELOW = 2
"""Pages below list pages, beside the `max_pages` of a question."""
GAVE_UP = "gave_up"
LIST = "list"
_GONE = ("http_404", "http_410")
_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s，。？！；：、）】》“”\"'<>]+[^\s，。？！；：、）】》“”\"'<>.,?!;:)\]]", re.IGNORECASE
)

Judge = Callable[[str, Sequence[tuple[Block, Place]]], list[RetrievedBlock]]
"""A question and blocks that are in no index → the blocks ranked, best first."""


Search = Callable[[str, float], Sequence[str]]
"""A question and seconds → addresses that a search tool proposes; raises KbciteError."""
MAX_PROPOSED = 10


class Branch(Protocol):
    """What fetches: `LiveBranch`."""

    @property
    def under_way(self) -> dict[str, float]: ...

    def start(self, url: str) -> None: ...

    def collect(self, until: float) -> Iterator[LivePage | LiveLoss]: ...

    def pooled(self, url: str, ttl_s: int) -> LivePage | LiveLoss | None: ...


@dataclass(frozen=True, slots=True)
class Looked:
    """What looking at pages gave to an answer."""

    blocks: tuple[RetrievedBlock, ...]
    """The live blocks, then the stored ones; those that are not believed any more say why in `dropped`."""
    use: LiveUse
    trace: LiveTrace
    refusal: RefusalReason | None = None


@dataclass(slots=True)
class _Seen:
    """One page that was looked at."""

    choice: PageChoice
    found: LivePage | LiveLoss
    reason: str = ""
    detail: str = ""
    is_used: bool = False


class LiveLook:
    """The look of one question: `begin` before the retrieval, `finish` after it, `fill` once the answer is given.

    barred: why nothing can be fetched, empty where it can. judge: ranks live blocks as the index ranks its own. search: asked where
    the sources themselves name no page to look at; what it proposes outside the whitelist is left out.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        open_branch: Callable[[], Branch],
        judge: Judge,
        *,
        mode: LiveMode,
        barred: str = "",
        threshold: float = 0.45,
        question_class: str | None = None,
        source_type: SourceType | None = None,
        labels: Collection[str] = (),
        search: Search | None = None,
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._open_branch = open_branch
        self._judge = judge
        self._mode = mode
        self._barred = barred
        self._threshold = threshold
        self._own_class = question_class
        self._source_type = source_type
        self._labels = labels
        self._search = search
        self._branch: Branch | None = None
        self._began = time.monotonic()
        self._now = clock()
        self._question = ""
        self._class = ClassSettings()
        self._situation: Situation | None = None
        self._fetched: list[str] = []

    @property
    def question_class(self) -> str:
        """Of the question that was begun."""
        assert self._situation is not None, "begin comes first"
        return self._situation.question_class

    @property
    def is_high_risk(self) -> bool:
        """Whether sources are to be compared for the question that was begun."""
        return self._class.high_risk or is_high_risk(self._question, self._settings.live.risk_words)

    @cached_property
    def _scope(self) -> Scope:
        return Scope(self._settings.sources)

    # ------------------------------------------------------------ before the retrieval

    def begin(self, question: str) -> None:
        """Read the question, and start what is to be fetched whatever the retrieval will find."""
        self._began = time.monotonic()
        self._question = question
        classes = dict(self._settings.classes)
        name = self._own_class or class_of(question, {name: one.words for name, one in classes.items()})
        self._class = classes[name]
        plain = simplify(question).casefold()
        entity = next((e for e in self._settings.live.volatile_entities if simplify(e).casefold() in plain), "")
        choices = tuple(self._live_pages())
        ages = [self._age_of(choice.url) for choice in choices]
        self._situation = Situation(
            question_class=name,
            window_s=self._class.window_s,
            class_mode=self._class.live,
            mode=self._mode,
            has_time_words=has_time_words(question),
            volatile_entity=entity,
            named=tuple(self._choice(url, "named") for url in _addresses(question)),
            live_pages=choices,
            live_page_age_s=next((age for age in ages if age is not None), None),
            threshold=self._threshold,
            barred=self._barred,
        )
        early = decide(self._situation, self._settings.live.max_pages)
        if early.way is Way.LIVE:
            branch = self._opened()
            for page in early.pages:
                if not page.is_pooled:
                    branch.start(page.url)

    def _live_pages(self) -> Iterator[PageChoice]:
        """The sources' `live` pages on the topic, those whose topics are named first."""
        chosen: list[LiveEntry] = []
        for source in self._settings.sources:
            if self._is_allowed(source):
                entries = [LiveEntry(url, source.topics, self._database.pool.title_of(url)) for url in source.live]
                topical = [entry for entry in entries if is_topical(self._question, entry)]
                # Topics are the source's: among several pages of one, the titles tell which is meant.
                chosen += [entry for entry in topical if names_title(self._question, entry.title)] or topical
        for entry in sorted(chosen, key=lambda entry: not entry.topics):
            yield self._choice(entry.url, "live page")

    def _is_allowed(self, source: SourceSettings) -> bool:
        """Whether the labels and the type that were asked for have room for a source (SPEC 46)."""
        is_type = self._source_type in (None, source.type) or self._source_type is SourceType.LIVE
        return is_type and (not self._labels or not set(self._labels).isdisjoint(source.labels))

    def _choice(self, url: str, why: str, fresh_s: int | None = None) -> PageChoice:
        """A page with what the whitelist, the pool and the store say of it. fresh_s: the time to live, where none is given."""
        url = resolve(url, url) or url
        source = self._scope.source_of(url)
        if source is None:
            return PageChoice(url, why, f"out_of_scope: no source covers {url}")
        if refusal := self._scope.exclusion(url, source):
            return PageChoice(url, why, refusal)
        if not self._is_allowed(source):
            return PageChoice(url, why, "label: the page is not among those that were asked for")
        ttl_s = self._class.ttl_s
        age = self._age_of(url)
        is_fresh = age is not None and age <= (ttl_s if fresh_s is None else fresh_s)
        return PageChoice(url, why, None, self._database.pool.get(url, self._now, ttl_s) is not None, is_fresh)

    def _age_of(self, url: str) -> int | None:
        seen = self._database.pool.seen_at([url]).get(url)
        return max(0, seconds_between(seen[0], self._now)) if seen else None

    def _opened(self) -> Branch:
        if self._branch is None:
            self._branch = self._open_branch()
        return self._branch

    # ------------------------------------------------------------ after it

    def finish(self, retrieved: Sequence[RetrievedBlock]) -> Looked:
        """What was retrieved with what the pages say now in front of it."""
        assert self._situation is not None, "begin comes first"
        retrieval_ms = (0.0, self._ms(time.monotonic()))
        blocks, invalid = self._believed(retrieved)
        situation = self._with_hits(self._situation, blocks, invalid)
        decision = decide(situation, self._settings.live.max_pages)
        if self._search is not None and decision.reason == NO_PAGE:
            situation, decision = self._searched(self._search, situation, decision)
        if reason := self._refusal(situation, blocks):
            use = LiveUse(False, (f"{situation.named[0].url} is not on the whitelist",), outcome="stored")
            return Looked((), use, self._traced(decision, retrieval_ms, [], invalid), reason)
        seen = [] if decision.way is Way.STORED else self._look(decision)
        if seen:
            blocks = self._merged(seen, blocks, invalid)
        return Looked(tuple(blocks), self._use(decision, seen), self._traced(decision, retrieval_ms, seen, invalid))

    def _searched(self, search: Search, situation: Situation, decision: Decision) -> tuple[Situation, Decision]:
        """The situation with the pages that a search tool proposes, and what is decided then. Half of the time left is the tool's."""
        left_s = self._settings.live.answer_within_s - (time.monotonic() - self._began)
        try:
            proposed = search(self._question, max(0.1, left_s / 2))[:MAX_PROPOSED]
        except KbciteError as error:
            return situation, replace(decision, reason=f"{NO_PAGE}; {error}")
        pages = tuple(self._choice(url, "found by search") for url in proposed)
        situation = replace(situation, live_pages=(*situation.live_pages, *pages))
        return situation, decide(situation, self._settings.live.max_pages)

    def _believed(self, retrieved: Sequence[RetrievedBlock]) -> tuple[list[RetrievedBlock], dict[str, str]]:
        """The blocks less those of pages that are gone or were corrected, and which pages these are."""
        used = [block.place for block in retrieved if block.dropped is None]
        invalid = {url: f"{CORRECTED} by {by}" for url, by in corrected_pages(used).items()}
        if self._class.window_s is not None:
            doubtful = [place.url for place in used if place.state is PageState.UNREACHABLE]
            seen = self._database.pool.seen_at(list(dict.fromkeys(doubtful)))
            invalid |= {url: PAGE_GONE for url, (_, misses) in seen.items() if misses}
        return _without(retrieved, invalid), invalid

    def _with_hits(self, situation: Situation, blocks: Sequence[RetrievedBlock], invalid: dict[str, str]) -> Situation:
        """The situation with what the retrieval says."""
        used = [block for block in blocks if block.dropped is None]
        window_s = situation.window_s
        ages = {block.place.url: seconds_between(block.place.fetched_at, self._now) for block in reversed(used)}
        best_age = ages[used[0].place.url] if used else None
        hits: tuple[PageChoice, ...] = ()
        gone = tuple(url for url, why in invalid.items() if why == PAGE_GONE)
        is_doubted = bool(situation.volatile_entity or gone or self._mode is LiveMode.ALWAYS)
        if is_doubted or (window_s is not None and any(age > window_s for age in ages.values())):
            fresh_s = self._class.ttl_s if is_doubted or window_s is None else window_s
            best = max(block.scores.fused for block in used) if used else 0.0
            urls = dict.fromkeys(block.place.url for block in used if block.scores.fused >= NEAR_BEST * best)
            hits = tuple(self._choice(url, "stale hit", fresh_s) for url in urls)
        scores = [block.scores.relevance for block in blocks if block.place.url not in invalid]
        return replace(
            situation,
            is_retrieved=True,
            best_score=max(scores, default=None),
            best_age_s=best_age,
            hits=hits,
            gone=gone,
            corrected=tuple(url for url, why in invalid.items() if why.startswith(CORRECTED)),
        )

    def _refusal(self, situation: Situation, blocks: Sequence[RetrievedBlock]) -> RefusalReason | None:
        """DOMAIN_NOT_ALLOWED where the question is about a page outside the whitelist that nothing stored speaks of."""
        outside = [page.url for page in situation.named if page.refusal]
        if not outside or len(outside) < len(situation.named):
            return None
        said = "\n".join(block.place.text for block in blocks if block.dropped is None)
        return (
            None
            if any(url.split("://")[-1].rstrip("/") in said for url in outside)
            else RefusalReason.DOMAIN_NOT_ALLOWED
        )

    def _look(self, decision: Decision) -> list[_Seen]:
        """The pages of a decision, from the pool or fetched, with those below a list; what is not there in time is given up."""
        branch = self._opened()
        until = self._began + self._settings.live.answer_within_s
        choices = {page.url: page for page in decision.pages}
        seen: dict[str, _Seen] = {}
        waiting: list[PageChoice] = list(decision.pages)
        while waiting or branch.under_way:
            while waiting:
                choice = waiting.pop(0)
                found = branch.pooled(choice.url, self._class.ttl_s)
                if found is None:
                    branch.start(choice.url)
                else:
                    waiting += self._take(found, choices, seen)
            found = next(branch.collect(until), None)
            if found is None:
                break
            self._fetched.append(found.requested_url)
            waiting += self._take(found, choices, seen)
        for url, began in branch.under_way.items():
            choice = choices.setdefault(url, PageChoice(url, "live page"))
            waited = time.monotonic() - self._began
            loss = LiveLoss(url, GAVE_UP, f"not there after {waited:.1f} s", began_at=began, ended_at=time.monotonic())
            seen[url] = _Seen(choice, loss, GAVE_UP, loss.detail)
        return list(seen.values())

    def _take(
        self, found: LivePage | LiveLoss, choices: dict[str, PageChoice], seen: dict[str, _Seen]
    ) -> list[PageChoice]:
        """Note what a page brought; the pages below it that are to be looked at as well."""
        url = found.requested_url
        choice = choices.setdefault(url, PageChoice(url, "live page"))
        if isinstance(found, LiveLoss):
            seen[url] = _Seen(choice, found, found.reason, found.detail)
            return []
        text, published_at = found.document.text, found.document.metadata.published_at
        unfit = why_unfit(
            text, published_at, self._now, min_chars=self._class.min_chars, max_age_s=self._class.max_age_s
        )
        seen[url] = _Seen(choice, found, *(unfit or ("", "")))
        room = MAX_BELOW - sum(one.why.startswith("below ") for one in choices.values())
        if choice.why != "live page" or room <= 0:
            return []
        # Links of menus and footers are not in the main text.
        links = [(link, said) for link, said in found.links if said in text]
        below = [self._choice(link, f"below {url}") for link in links_to_follow(self._question, url, links, room)]
        new = [page for page in below if page.refusal is None and page.url not in choices]
        choices.update({page.url: page for page in new})
        return new

    def _merged(
        self, seen: Sequence[_Seen], blocks: Sequence[RetrievedBlock], invalid: dict[str, str]
    ) -> list[RetrievedBlock]:
        """The blocks of the fit pages in front; stored ones of the same pages, and of pages that are gone, are not used."""
        pieces: list[tuple[Block, Place]] = []
        for one in seen:
            if isinstance(one.found, LivePage) and not one.reason:
                pieces += _placed(one.found)
            elif one.reason in _GONE:
                invalid[one.found.requested_url] = PAGE_GONE
        live = self._judge(self._question, pieces) if pieces else []
        for one in seen:
            if isinstance(one.found, LivePage) and not one.reason:
                own = [block for block in live if _stands_on(block, one.found.url)]
                if unfit := off_topic(own, self._class.min_relevance):
                    one.reason, one.detail = unfit
                else:
                    one.is_used = True
                    invalid.update({one.found.url: SUPERSEDED, one.found.requested_url: SUPERSEDED})
        _prefer_notices(seen)
        used = {one.found.url for one in seen if isinstance(one.found, LivePage) and one.is_used}
        seen_again = {
            one.found.document.digest: one.found.fetched_at for one in seen if isinstance(one.found, LivePage)
        }
        live = [block for block in live if block.place.url in used]
        names = {block.block.id for block in live}
        stored = [_as_seen(block, seen_again) for block in _without(blocks, invalid)]
        stored = [replace(b, dropped=SUPERSEDED) if b.dropped is None and b.block.id in names else b for b in stored]
        if used:
            stored = [
                replace(b, dropped=STALE)
                if b.dropped is None and is_stale(b.place, self._class.window_s, self._now)
                else b
                for b in stored
            ]
        merged = [*live, *stored]
        corrected = corrected_pages([block.place for block in merged if block.dropped is None])
        invalid |= {url: f"{CORRECTED} by {by}" for url, by in corrected.items()}
        return _without(merged, corrected, CORRECTED)

    # ------------------------------------------------------------ what is told

    def _use(self, decision: Decision, seen: Sequence[_Seen]) -> LiveUse:
        if decision.way is Way.STORED:
            return LiveUse(False, (decision.reason,))
        used = [one for one in seen if one.is_used]
        outcome = "fell_back"
        if used:
            outcome = "pool" if all(one.found.is_pooled for one in used) else "live"
        filters = tuple(
            ": ".join(part for part in (one.found.requested_url, one.reason, one.detail) if part)
            for one in seen
            if not one.is_used
        )
        urls = tuple(one.found.requested_url for one in seen)
        return LiveUse(True, decision.triggers, urls, self._ms(time.monotonic()), outcome, filters)

    def _traced(
        self,
        decision: Decision,
        retrieval_ms: tuple[float, float],
        seen: Sequence[_Seen],
        invalid: dict[str, str],
    ) -> LiveTrace:
        fetches = tuple(
            TracedFetch(
                one.found.requested_url,
                one.choice.why,
                "pool" if one.found.is_pooled else "fetch",
                0.0 if one.found.is_pooled else self._ms(one.found.began_at),
                0.0 if one.found.is_pooled else self._ms(one.found.ended_at),
                one.reason or "page",
                one.detail,
                one.is_used,
            )
            for one in seen
        )
        return LiveTrace(
            self.question_class,
            self._class.window_s,
            decision.way.value,
            decision.reason,
            decision.triggers,
            retrieval_ms,
            fetches,
            tuple(invalid.items()),
            decision.refused,
        )

    def _ms(self, at: float) -> float:
        return round((at - self._began) * 1000, 1)

    # ------------------------------------------------------------ once the answer is given

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Pages whose fetches were given up and go on."""
        return tuple(self._branch.under_way) if self._branch is not None else ()

    def fill(self) -> list[str]:
        """Wait for the fetches that were given up, so that they fill the pool; pages that were fetched often enough to be promoted."""
        if self._branch is None:
            return []
        for found in self._branch.collect(self._began + self._settings.live.fetch_within_s):
            self._fetched.append(found.requested_url)
        live, pool = self._settings.live, self._database.pool
        often = []
        with self._database.transaction():
            for url in dict.fromkeys(self._fetched):
                if pool.count_fetch(url, self._now) >= live.promote_after and not pool.is_scheduled(url):
                    often.append(url)
            pool.purge(self._now, max(one.ttl_s for _, one in self._settings.classes))
        return [] if live.promote == "never" else often

    def as_source(self, url: str) -> SourceSettings:
        """The source that a page of the whitelist is made of when it is promoted: itself alone, visited from hourly on."""
        own = self._scope.require_source(url)
        return replace(own, url=url, scope=(url,), depth=0, max_pages=1, tier=Tier.LIVE, live=(), topics=())


def _as_seen(block: RetrievedBlock, seen_again: dict[str, str]) -> RetrievedBlock:
    """The stored block, seen now where its page was fetched and has the same bytes: it still says so, fit for live use or not."""
    at = seen_again.get(block.place.digest)
    return replace(block, place=replace(block.place, fetched_at=max(at, block.place.fetched_at))) if at else block


def _prefer_notices(seen: Sequence[_Seen]) -> None:
    """A list says the title of what a page below it says in full: where that is used, the list is not."""
    above = {
        one.choice.why.removeprefix("below ") for one in seen if one.is_used and one.choice.why.startswith("below ")
    }
    for one in seen:
        if one.is_used and one.choice.url in above:
            one.is_used, one.reason, one.detail = False, LIST, "a page below it is used"


def _addresses(question: str) -> list[str]:
    """The web addresses that a question names, made absolute."""
    found = [match.group() for match in _ADDRESS.finditer(question)]
    return [url if "://" in url else f"https://{url}" for url in found]


def _placed(page: LivePage) -> list[tuple[Block, Place]]:
    """The blocks of a live page where they stand on it. A page of an internal source stays one: the lists are kept apart."""
    document = page.document
    kind = SourceType.INTERNAL if page.source_type is SourceType.INTERNAL else SourceType.LIVE
    return [
        (
            block,
            Place(
                document.id,
                o.start,
                o.end,
                o.heading_chain,
                page.url,
                document.metadata.title,
                document.metadata.published_at,
                page.fetched_at,
                kind,
                PageState.ALIVE,
                document.digest,
                page.labels,
                o.ordinal,
                document.text[o.start : o.end],
                o.context,
            ),
        )
        for block, o in page.pieces
    ]


def _stands_on(block: RetrievedBlock, url: str) -> bool:
    return any(place.url == url for place in (block.place, *block.also))


def _without(
    blocks: Sequence[RetrievedBlock], invalid: Collection[str] | dict[str, str], reason: str = ""
) -> list[RetrievedBlock]:
    """The blocks with those of invalid pages dropped, by the first word of their page's reason or the one given."""
    reasons = invalid if isinstance(invalid, dict) else {}
    return [
        replace(block, dropped=reason or reasons.get(block.place.url, "").partition(" ")[0])
        if block.dropped is None and block.place.url in invalid and block.place.source_type is not SourceType.LIVE
        else block
        for block in blocks
    ]
