"""The scheduler: whether a question is answered from the store, from the pool, or by looking at pages now (SPEC 49-56).

One pure decision, taken twice: before the retrieval, with what is known without it, so that a fetch that is wanted in any case runs
beside it; and after it, with the scores and ages of what was found. The whitelist is enforced here: no other door gives
an address to the fetcher.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kbcite.records import LiveMode


class Way(StrEnum):
    STORED = "stored"
    POOL = "pool"
    LIVE = "live"


class Trigger(StrEnum):
    """What asks for a look."""

    ASKED = "asked"
    """By the caller."""
    NAMED_PAGE = "named_page"
    """The question names a page of the whitelist that is not stored, or stored too long ago."""
    TIME_WORDS = "time_words"
    VOLATILE_ENTITY = "volatile_entity"
    LOW_SCORE = "low_score"
    STALE = "stale"
    PAGE_GONE = "page_gone"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class PageChoice:
    """A page that may be looked at."""

    url: str
    why: str
    """`live page`, `stale hit`, `named`, `gone`."""
    refusal: str | None = None
    """Why the whitelist has no room for it, as `reason: detail`."""
    is_pooled: bool = False
    """Fetched within the class's time to live."""
    is_fresh: bool = False
    """Its stored bytes were seen within that time: there is nothing to look for."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the decision goes by."""

    question_class: str
    window_s: int | None
    class_mode: LiveMode
    mode: LiveMode
    """The caller's; NEVER and ALWAYS beat the class's."""
    has_time_words: bool = False
    volatile_entity: str = ""
    """The known volatile name that the question holds."""
    named: tuple[PageChoice, ...] = ()
    live_pages: tuple[PageChoice, ...] = ()
    """The sources' `live` pages on the topic."""
    live_page_age_s: int | None = None
    """Since the stored bytes of the first of them that is stored were last seen."""
    is_retrieved: bool = False
    """False before the retrieval: what follows is then not known."""
    best_score: float | None = None
    threshold: float = 0.45
    best_age_s: int | None = None
    """Of the best block that is used."""
    hits: tuple[PageChoice, ...] = ()
    """The pages of the blocks that are used, best first."""
    gone: tuple[str, ...] = ()
    """Pages among the hits whose server said that they are not there."""
    corrected: tuple[str, ...] = ()
    barred: str = ""
    """Why nothing can be fetched whatever asks for it: `--offline`, a store that cannot be written."""


NO_PAGE = "no page of the sources to look at"


@dataclass(frozen=True, slots=True)
class Decision:
    way: Way
    triggers: tuple[str, ...] = ()
    """`stale: 9 days, the window is 3 days` ..."""
    reason: str = ""
    """Why it is this way, for a reader of the trace."""
    pages: tuple[PageChoice, ...] = ()
    """What to read from the pool or fetch, in this order."""
    refused: tuple[tuple[str, str], ...] = field(default=())
    """(URL, reason) of pages that the whitelist keeps out."""


def decide(situation: Situation, max_pages: int) -> Decision:
    """The way of one question, its triggers and its pages."""
    s = situation
    refused = tuple((page.url, page.refusal) for page in (*s.named, *s.live_pages, *s.hits) if page.refusal)
    triggers = _triggers(s)
    told = tuple(f"{name}: {detail}" if detail else name.value for name, detail in triggers)
    if s.barred:
        return Decision(Way.STORED, told, s.barred, refused=refused)
    if s.mode is LiveMode.NEVER:
        return Decision(Way.STORED, told, "live fetching is turned off", refused=refused)
    if (
        s.mode is LiveMode.AUTO
        and s.class_mode is LiveMode.NEVER
        and not any(n is Trigger.NAMED_PAGE for n, _ in triggers)
    ):
        return Decision(Way.STORED, told, f"the class {s.question_class} does not ask for it", refused=refused)
    if not triggers:
        return Decision(Way.STORED, (), _why_not(s), refused=refused)
    pages = _pages(s, {name for name, _ in triggers})[:max_pages]
    if not pages:
        return Decision(Way.STORED, told, NO_PAGE, refused=refused)
    way = Way.POOL if all(page.is_pooled for page in pages) else Way.LIVE
    reason = "fetched lately" if way is Way.POOL else told[0]
    return Decision(way, told, reason, pages, refused)


def _triggers(s: Situation) -> list[tuple[Trigger, str]]:
    found: list[tuple[Trigger, str]] = []
    if s.mode is LiveMode.ALWAYS or (s.class_mode is LiveMode.ALWAYS and s.mode is LiveMode.AUTO):
        found.append((Trigger.ASKED, ""))
    if wanted := [page.url for page in s.named if not page.refusal and not page.is_fresh]:
        found.append((Trigger.NAMED_PAGE, wanted[0]))
    if s.volatile_entity:
        found.append((Trigger.VOLATILE_ENTITY, s.volatile_entity))
    if s.has_time_words:
        found.append((Trigger.TIME_WORDS, ""))
    age_s = max(s.live_page_age_s or 0, s.best_age_s or 0)
    if s.window_s is not None and age_s > s.window_s:
        found.append((Trigger.STALE, f"{span(age_s)}, the window is {span(s.window_s)}"))
    if s.gone:
        found.append((Trigger.PAGE_GONE, s.gone[0]))
    if s.corrected:
        found.append((Trigger.CORRECTED, s.corrected[0]))
    if s.is_retrieved and (s.best_score is None or s.best_score < s.threshold):
        best = "nothing was found" if s.best_score is None else f"{s.best_score:.2f}, {s.threshold:.2f} is needed"
        found.append((Trigger.LOW_SCORE, best))
    return found


def _pages(s: Situation, triggers: set[Trigger]) -> tuple[PageChoice, ...]:
    """The pages that the triggers are about, each once: those named, the `live` ones, then the hits that are out of date."""
    chosen = [*s.named, *s.live_pages]
    if triggers & {Trigger.STALE, Trigger.VOLATILE_ENTITY, Trigger.ASKED, Trigger.PAGE_GONE}:
        chosen += s.hits
    found: dict[str, PageChoice] = {}
    for page in chosen:
        if page.refusal is None and (page.is_pooled or not page.is_fresh or Trigger.ASKED in triggers):
            found.setdefault(page.url, page)
    return tuple(found.values())


def _why_not(s: Situation) -> str:
    if s.window_s is None:
        return "such answers do not go out of date"
    if s.best_age_s is not None:
        return f"what is stored was seen {span(s.best_age_s)} ago, the window is {span(s.window_s)}"
    return "nothing asks for it"


def span(seconds: int) -> str:
    """`40 s`, `15 minutes`, `3 hours`, `9 days`: in the largest unit that it fills."""
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{max(0, seconds)} s"
