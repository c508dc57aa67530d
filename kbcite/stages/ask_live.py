"""Looking at pages while a question is answered: the decision's inputs, the fetches beside the retrieval, what they give to the answer.

Light by itself: the branch that fetches is opened only once there is something to fetch; the pool is read without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kbcite.answer.classifier import Classified
from kbcite.answer.freshness import asks_for_price, has_time_words, is_high_risk
from kbcite.answer.live_decision import NO_PAGE, Decision, PageChoice, Situation, Way, decide
from kbcite.answer.live_filters import why_unfit
from kbcite.answer.live_pages import links_to_follow
from kbcite.answer.trace import LiveTrace
from kbcite.clock import Clock, seconds_between
from kbcite.errors import KbciteError
from kbcite.live_records import LiveLoss, LivePage
from kbcite.records import LiveMode, LiveUse, PageState, RefusalReason, RetrievedBlock, SourceType, Tier
from kbcite.settings import ClassSettings, Settings, SourceSettings
from kbcite.stages.ask_choice import LIVE_PAGE, PageChoices, addresses
from kbcite.stages.ask_merge import BELOW, CORRECTED, PAGE_GONE, Judge, corrections, merged, without
from kbcite.stages.ask_seen import Seen, Stopwatch, live_trace, use_of
from kbcite.store.archive import Archive
from kbcite.store.database import Database
from kbcite.store.pooled_page import pooled_page
from kbcite.words import simplify

NEAR_BEST = 0.8
"""Share of the best block's score from which the page of another one is worth a look as well."""
MAX_BELOW = 2
"""Pages below list pages, beside the `max_pages` of a question."""
GAVE_UP = "gave_up"

Classify = Callable[[str], Classified]
Search = Callable[[str, float], Sequence[str]]
"""A question and seconds → addresses that a search tool proposes; raises KbciteError."""
MAX_PROPOSED = 10


class Branch(Protocol):
    """What fetches: `LiveBranch`."""

    @property
    def under_way(self) -> dict[str, float]: ...

    def start(self, url: str) -> None: ...

    def collect(self, until: float) -> Iterator[LivePage | LiveLoss]: ...


@dataclass(frozen=True, slots=True)
class Looked:
    """What looking at pages gave to an answer."""

    blocks: tuple[RetrievedBlock, ...]
    """The live blocks, then the stored ones; those that are not believed any more say why in `dropped`."""
    use: LiveUse
    trace: LiveTrace
    refusal: RefusalReason | None = None


class LiveLook:
    """The look of one question: `begin` before the retrieval, `finish` after it, `fill` once the answer is given.

    classify: the class of a question among those of the settings. judge: ranks live blocks as the index ranks its own. barred: why
    nothing can be fetched, empty where it can. search: asked where the sources themselves name no page to look at; what it proposes
    outside the whitelist is left out.
    """

    def __init__(
        self,
        database: Database,
        archive: Archive,
        settings: Settings,
        clock: Clock,
        classify: Classify,
        open_branch: Callable[[], Branch],
        judge: Judge,
        *,
        mode: LiveMode,
        barred: str = "",
        threshold: float = 0.45,
        source_type: SourceType | None = None,
        labels: Collection[str] = (),
        search: Search | None = None,
    ) -> None:
        self._database = database
        self._archive = archive
        self._settings = settings
        self._clock = clock
        self._classify = classify
        self._open_branch = open_branch
        self._judge = judge
        self._mode = mode
        self._barred = barred
        self._threshold = threshold
        self._search = search
        self._branch: Branch | None = None
        self._watch = Stopwatch(time.monotonic())
        self._now = clock()
        self._choices = PageChoices(database, settings.sources, self._now, source_type, labels)
        self._question = ""
        self._classified = Classified("", "")
        self._class = ClassSettings()
        self._situation: Situation | None = None
        self._fetched: list[str] = []
        self._retrieval_began_ms = 0.0

    @property
    def question_class(self) -> str:
        """Of the question that was begun."""
        return self._classified.name

    @property
    def usage(self) -> tuple[tuple[str, int], ...]:
        """Tokens of a model that was asked for the class."""
        return self._classified.usage

    @property
    def is_high_risk(self) -> bool:
        """Whether sources are to be compared for the question that was begun."""
        return self._class.high_risk or is_high_risk(self._question, self._settings.live.risk_words)

    # ------------------------------------------------------------ before the retrieval

    def begin(self, question: str) -> None:
        """Read the question, and start what is to be fetched whatever the retrieval will find."""
        self._watch = Stopwatch(time.monotonic())
        self._question = question
        self._classified = self._classify(question)
        self._class = dict(self._settings.classes)[self._classified.name]
        plain = simplify(question).casefold()
        entity = next((e for e in self._settings.live.volatile_entities if simplify(e).casefold() in plain), "")
        choices = tuple(self._choices.live_pages(question, self._class.ttl_s))
        ages = [self._choices.age_of(choice.url) for choice in choices]
        self._situation = Situation(
            question_class=self._classified.name,
            window_s=self._class.window_s,
            class_mode=self._class.live,
            mode=self._mode,
            has_time_words=has_time_words(question),
            volatile_entity=entity,
            named=tuple(self._choice(url, "named") for url in addresses(question)),
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
        self._retrieval_began_ms = self._watch.ms(time.monotonic())

    def _choice(self, url: str, why: str, fresh_s: int | None = None) -> PageChoice:
        return self._choices.choice(url, why, self._class.ttl_s, fresh_s)

    @property
    def _under_way(self) -> dict[str, float]:
        return self._branch.under_way if self._branch is not None else {}

    def _opened(self) -> Branch:
        if self._branch is None:
            self._branch = self._open_branch()
        return self._branch

    # ------------------------------------------------------------ after it

    def finish(self, retrieved: Sequence[RetrievedBlock]) -> Looked:
        """What was retrieved with what the pages say now in front of it."""
        assert self._situation is not None, "begin comes first"
        retrieval_ms = (self._retrieval_began_ms, self._watch.ms(time.monotonic()))
        blocks, invalid = self._believed(retrieved)
        situation = self._with_hits(self._situation, blocks, invalid)
        decision = decide(situation, self._settings.live.max_pages)
        if self._search is not None and decision.reason == NO_PAGE:
            situation, decision = self._searched(self._search, situation, decision)
        if reason := self._refusal(situation, blocks):
            use = LiveUse(False, (f"{situation.named[0].url} is not on the whitelist",), outcome="stored")
            return Looked(tuple(blocks), use, self._traced(decision, retrieval_ms, [], invalid), reason)
        seen = [] if decision.way is Way.STORED else self._look(decision)
        if seen:
            blocks = merged(
                self._question,
                seen,
                blocks,
                invalid,
                self._judge,
                min_relevance=self._class.min_relevance,
                window_s=self._class.window_s,
                now=self._now,
            )
        use = use_of(decision, seen, self._watch.ms(time.monotonic()))
        return Looked(tuple(blocks), use, self._traced(decision, retrieval_ms, seen, invalid))

    def _traced(
        self,
        decision: Decision,
        retrieval_ms: tuple[float, float],
        seen: Sequence[Seen],
        invalid: Mapping[str, str],
    ) -> LiveTrace:
        window_s = self._class.window_s
        return live_trace(self._classified, window_s, decision, retrieval_ms, seen, invalid, self._watch)

    def _searched(self, search: Search, situation: Situation, decision: Decision) -> tuple[Situation, Decision]:
        """The situation with the pages that a search tool proposes, and what is decided then. Half of the time left is the tool's."""
        left_s = self._settings.live.answer_within_s - (time.monotonic() - self._watch.began)
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
        invalid = corrections(used)
        if self._class.window_s is not None:
            doubtful = [place.url for place in used if place.state is PageState.UNREACHABLE]
            seen = self._database.pool.seen_at(list(dict.fromkeys(doubtful)))
            invalid |= {url: PAGE_GONE for url, (_, misses) in seen.items() if misses}
        return without(retrieved, invalid), invalid

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

    def _look(self, decision: Decision) -> list[Seen]:
        """The pages of a decision, from the pool or fetched, with those below a list; what is not there in time is given up."""
        until = self._watch.began + self._settings.live.answer_within_s
        choices = {page.url: page for page in decision.pages}
        seen: dict[str, Seen] = {}
        waiting: list[PageChoice] = list(decision.pages)
        while waiting or self._under_way:
            while waiting:
                choice = waiting.pop(0)
                found = self._pooled(choice)
                if found is None:
                    self._opened().start(choice.url)
                else:
                    waiting += self._take(found, choices, seen)
            found = next(self._opened().collect(until), None) if self._under_way else None
            if found is None:
                break
            self._fetched.append(found.requested_url)
            waiting += self._take(found, choices, seen)
        for url, began in self._under_way.items():
            choice = choices.setdefault(url, PageChoice(url, LIVE_PAGE))
            waited = time.monotonic() - self._watch.began
            loss = LiveLoss(url, GAVE_UP, f"not there after {waited:.1f} s", began_at=began, ended_at=time.monotonic())
            seen[url] = Seen(choice, loss, GAVE_UP, loss.detail)
        return list(seen.values())

    def _pooled(self, choice: PageChoice) -> LivePage | LiveLoss | None:
        """What the pool holds of a page, with the links of one that may be a list."""
        source = self._choices.scope.require_source(choice.url)
        found = pooled_page(self._database, choice.url, source, self._clock(), self._class.ttl_s)
        if choice.why != LIVE_PAGE or not isinstance(found, LivePage):
            return found
        # What reads links is imported only here: most answers need none.
        from kbcite.page.encoding import decode
        from kbcite.page.link_texts import link_texts

        snapshot = self._database.pages.snapshot_by_digest(found.document.digest)
        content_type = snapshot.content_type if snapshot is not None else None
        page = decode(self._archive.get(found.document.digest), content_type)
        return replace(found, links=link_texts(page, found.url))

    def _take(
        self, found: LivePage | LiveLoss, choices: dict[str, PageChoice], seen: dict[str, Seen]
    ) -> list[PageChoice]:
        """Note what a page brought; the pages below it that are to be looked at as well."""
        url = found.requested_url
        choice = choices.setdefault(url, PageChoice(url, LIVE_PAGE))
        if isinstance(found, LiveLoss):
            seen[url] = Seen(choice, found, found.reason, found.detail)
            return []
        text, published_at = found.document.text, found.document.metadata.published_at
        max_age_s = None if asks_for_price(self._question) else self._class.max_age_s
        unfit = why_unfit(text, published_at, self._now, min_chars=self._class.min_chars, max_age_s=max_age_s)
        seen[url] = Seen(choice, found, *(unfit or ("", "")))
        room = MAX_BELOW - sum(one.why.startswith(BELOW) for one in choices.values())
        if choice.why != LIVE_PAGE or room <= 0:
            return []
        # Links of menus and footers are not in the main text.
        links = [(link, said) for link, said in found.links if said in text]
        below = [self._choice(link, f"{BELOW}{url}") for link in links_to_follow(self._question, url, links, room)]
        new = [page for page in below if page.refusal is None and page.url not in choices]
        choices.update({page.url: page for page in new})
        return new

    # ------------------------------------------------------------ once the answer is given

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Pages whose fetches were given up and go on."""
        return tuple(self._under_way)

    def fill(self) -> list[str]:
        """Wait for the fetches that were given up, so that they fill the pool; pages that were fetched often enough to be promoted."""
        if self._branch is None:
            return []
        for found in self._branch.collect(self._watch.began + self._settings.live.fetch_within_s):
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
        own = self._choices.scope.require_source(url)
        return replace(own, url=url, scope=(url,), depth=0, max_pages=1, tier=Tier.LIVE, live=(), topics=())
