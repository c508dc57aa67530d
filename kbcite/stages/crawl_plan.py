"""What a crawl would do and why, without a request: the plan of a run, and all that is known of one URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbcite.clock import Clock, from_text, to_minute
from kbcite.fetch_records import RobotsCopy
from kbcite.settings import SourceSettings
from kbcite.stages.crawl_queue import CrawlQueue
from kbcite.store.clock_ahead import take_back_dates
from kbcite.store.database import Database
from kbcite.store.forgetting import forgotten_places
from kbcite.store.frontier import NEVER, FrontierRow, UrlState
from kbcite.store.pages import PageRow
from kbcite.urls import given_url, host_of, url_key
from kbcite.web.link_filter import LinkFilter
from kbcite.web.robots import Robots
from kbcite.web.scope import Scope


@dataclass(frozen=True, slots=True)
class Planned:
    """A URL that the run would come to."""

    url: str
    why: str
    """`seed`, `never fetched, linked on …`, `due since …`, `named` ..."""
    refusal: str = ""
    """Why it would be left out after all, as far as that is known without asking."""


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    rows: tuple[Planned, ...]
    """In the order of their hosts' queues."""
    not_due: int
    """URLs known whose time has not come."""


def plan_crawl(
    database: Database,
    sources: Sequence[SourceSettings],
    *,
    urls: Sequence[str] = (),
    everything: bool = False,
    clock: Clock,
    max_pages: int | None = None,
) -> CrawlPlan:
    """What `crawl_site` with the same arguments would begin with. What links on those pages would bring nobody knows yet.

    Nothing is requested, robots.txt neither: a kept copy is gone by, and where there is none that is said. The run's own steps are
    taken in a transaction that is rolled back. Raises UsageError for a URL that no source covers.
    """
    scope = Scope(sources, forgotten_places(database.connection, urls))
    queue = CrawlQueue(database.frontier, scope, sources, LinkFilter(scope, from_text(clock()).year), clock)
    seeds = queue.seeds_of(urls)
    named = {url_key(url) for url, _ in seeds} if urls else set()
    robots = _KeptRobots(database, clock())
    with Database(database.path) as before:  # sees what is stored, not what is planned
        database.connection.execute("BEGIN IMMEDIATE")
        try:
            take_back_dates(database.connection, clock())
            queue.begin(seeds, keep=bool(urls), everything=everything)
            rows: list[Planned] = []
            while taken := queue.take(lambda _: 0, max_pages):
                for row in taken:
                    why = "named" if row.url_key in named else _why(before, row, clock())
                    obeys = queue.sources[row.source].obey_robots
                    rows.append(Planned(row.url, why, robots.refusal(row.url) if obeys else ""))
            active = dict.fromkeys(source.url for _, source in seeds)
            states = (UrlState.DONE, UrlState.FAILED, UrlState.SKIPPED)
            not_due = sum(database.frontier.counts(source).get(state, 0) for source in active for state in states)
        finally:
            database.connection.rollback()
    return CrawlPlan(tuple(rows), not_due)


def _why(before: Database, row: FrontierRow, now: str) -> str:
    """Why a URL is fetched, by what was known of it before the run."""
    known = before.frontier.get(row.url_key)
    page = before.pages.get(row.url, row.url_key)
    if page is not None and page.marked_at is not None:
        return f"named out of date at {to_minute(page.marked_at)}"
    if page is not None and page.due_at <= now:
        return f"due since {to_minute(page.due_at)}"
    if page is not None:
        return (
            f"due at {to_minute(page.due_at)}, fetched all the same: everything is asked for, or the settings changed"
        )
    if known is None:
        return "seed, never fetched"
    if known.state in (UrlState.QUEUED, UrlState.IN_FLIGHT):
        tried = f", put back: {known.reason} {known.detail}" if known.reason else ""
        return f"never fetched, found on {known.discovered_from or 'the whitelist'}{tried}"
    return f"last time {known.state}: {known.reason} {known.detail}".rstrip()


class _KeptRobots:
    """Verdicts by the copies that are kept, without asking for any."""

    def __init__(self, database: Database, now: str) -> None:
        self._copies = database.frontier.robots()
        self._now = now
        self._robots: dict[str, Robots] = {}

    def copy_for(self, url: str) -> RobotsCopy | None:
        """The copy that a run would go by, if it is not too old."""
        copy = self._copies.get(host_of(url))
        return copy if copy is not None and copy.expires_at > self._now else None

    def of(self, url: str) -> Robots | None:
        copy = self.copy_for(url)
        return None if copy is None else self._robots.setdefault(copy.host, Robots(copy))

    def refusal(self, url: str) -> str:
        robots = self.of(url)
        return "" if robots is None else robots.refusal(url) or ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a URL is or is not fetched."""

    url: str
    verdict: str
    """One line for a person."""
    is_fetched: bool
    """Whether a run would fetch it now or later."""
    steps: tuple[tuple[str, str], ...]
    """What was asked, in the order of a run, and its answer: source, exclude, trap, robots, state, found on, page, next."""


def explain_url(database: Database, sources: Sequence[SourceSettings], url: str, clock: Clock) -> Explanation:
    """Each test that a crawl puts a URL to, with its answer. Nothing is requested. Raises UsageError for no address."""
    resolved = given_url(url)
    now = clock()
    scope = Scope(sources, forgotten_places(database.connection))
    key = url_key(resolved)
    row = database.frontier.get(key)
    page = database.pages.get(resolved, key)
    source = scope.source_of(resolved)
    steps: list[tuple[str, str]] = []
    refusal: str | None = None
    if key != resolved:
        steps.append(("key", f"{key}: what all its addresses have in common"))
    if source is None:
        refusal = f'no source covers it; "kbcite source add {resolved}" would'
        steps.append(("source", "none covers it"))
    else:
        steps.append(("source", f"{source.url}, depth {source.depth}"))
        depth = row.depth if row is not None else 0
        filtered = LinkFilter(scope, from_text(now).year).refusal(resolved, source, depth)
        steps.append(("filter", filtered or "no exclude pattern, trap or depth is in the way"))
        steps.append(("robots", _robots_step(_KeptRobots(database, now), resolved, source)))
        robots_refusal = _KeptRobots(database, now).refusal(resolved) if source.obey_robots else ""
        refusal = filtered or robots_refusal or None
    steps.append(("state", _state_step(row)))
    if row is not None and row.discovered_from:
        steps.append(("found on", f"{row.discovered_from}, {row.depth} link{'s' * (row.depth != 1)} from the seed"))
    if page is not None:
        steps.append(("page", f"{page.url}, {page.state}, last seen {to_minute(page.fetched_at)}"))
    next_ = _next(refusal, row, page, now, source)
    steps.append(("next", next_))
    return Explanation(
        resolved, f"{resolved}: {_verdict(refusal, row, next_)}", refusal is None and row is not None, tuple(steps)
    )


def _robots_step(kept: _KeptRobots, url: str, source: SourceSettings) -> str:
    if not source.obey_robots:
        return "not asked: the source says obey_robots = false"
    robots = kept.of(url)
    if robots is None:
        return f"{host_of(url)}/robots.txt is asked for first, no copy is younger than a day"
    verdict = "disallowed" if robots.refusal(url) else "allowed"
    return (
        f"{verdict}, {robots.decision(url)} ({robots.copy.host}/robots.txt as of {to_minute(robots.copy.fetched_at)})"
    )


def _state_step(row: FrontierRow | None) -> str:
    if row is None:
        return "not known: no page that was read links to it"
    why = f" {row.reason}" if row.reason else ""
    detail = f": {row.detail}" if row.detail else ""
    return f"{row.state}{why}{detail} (since {to_minute(row.updated_at)})"


def _next(
    refusal: str | None, row: FrontierRow | None, page: PageRow | None, now: str, source: SourceSettings | None
) -> str:
    """When it is fetched next."""
    if refusal is not None or source is None:
        return "not while that is so"
    if row is None:
        return "when a page within the source's depth links to it, or by name: kbcite crawl URL"
    if row.state in (UrlState.QUEUED, UrlState.IN_FLIGHT):
        return "by the next run"
    if row.state is UrlState.DONE and page is not None:
        is_next = page.due_at <= now or page.marked_at is not None
        return "by the next run" if is_next else f"by the first run after {to_minute(page.due_at)}"
    if row.not_before == NEVER:
        return "when the settings of its source change"
    return "by the next run" if row.not_before <= now else f"by the first run after {to_minute(row.not_before)}"


def _verdict(refusal: str | None, row: FrontierRow | None, next_: str) -> str:
    if refusal is not None:
        return f"not fetched; {refusal}"
    if row is None:
        return f"covered, but not known; fetched {next_}"
    if row.state is UrlState.DONE:
        return f"fetched; visited again {next_}"
    return f"{row.state.replace('_', ' ')}; fetched {next_}"
