"""Visits in threads, each under the whitelist, robots.txt and the pace of its host.

A `Visitor` makes one visit: before every hop, redirects included, it asks the scope, then the host's robots.txt (fetched under the
same guard where no copy younger than a day is known), then waits for the host's turn. A `VisitPool` runs many: one queue a host,
a few threads over all, retries with growing pauses. Both leave the database to their caller.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import Generic, Protocol, TypeVar

from kbcite.clock import Clock
from kbcite.fetch_records import FetchedPage, FetchFailure, RobotsCopy
from kbcite.settings import CrawlSettings
from kbcite.urls import host_of
from kbcite.web.fetch import HTML_TYPES
from kbcite.web.frontier import HostPace, is_trouble, retry_pause_s
from kbcite.web.robots import MAX_BYTES, MAX_REDIRECTS, Robots, copy_from
from kbcite.web.scope import FORGOTTEN, Scope

P = TypeVar("P")

COMMIT_PAGES = 100
COMMIT_AFTER_S = 0.5
COMMIT_BYTES = 20_000_000
REFILL_AFTER_S = 0.05
"""How often the caller is asked for more jobs while some wait."""
LAST_FETCHES_S = 5.0
"""How long a run that is told to stop waits for what is under way."""
INTERRUPTED = "interrupted"
HOST_CLOSED = "host_closed"
NOT_FETCHED = frozenset(
    {
        "out_of_scope",
        "excluded",
        FORGOTTEN,
        "robots_disallowed",
        "robots_unreachable",
        "content_type",
        INTERRUPTED,
        HOST_CLOSED,
    }
)
"""Reasons that say a page was left out, not that fetching it failed."""


class Fetch(Protocol):
    """What `Fetcher.fetch` is."""

    def __call__(
        self,
        url: str,
        *,
        is_allowed: Callable[[str], str | None] = ...,
        etag: str | None = None,
        last_modified: str | None = None,
        types: tuple[str, ...] | None = None,
        cut_at: int | None = None,
    ) -> FetchedPage | FetchFailure: ...


class Visitor:
    """Makes visits; safe to use from several threads.

    robots: the copies known so far, by host. types: the content types whose bodies are wanted.
    """

    def __init__(
        self,
        fetch: Fetch,
        scope: Scope,
        settings: CrawlSettings,
        robots: dict[str, RobotsCopy],
        clock: Clock,
        types: tuple[str, ...] = HTML_TYPES,
    ) -> None:
        self.stopping = threading.Event()
        self._fetch = fetch
        self._scope = scope
        self._settings = settings
        self._clock = clock
        self._types = types
        self._copies = dict(robots)
        self._robots: dict[str, Robots] = {}
        self._new_copies: queue.SimpleQueue[RobotsCopy] = queue.SimpleQueue()
        self._paces: dict[str, HostPace] = {}
        self._lock = threading.Lock()
        self._robots_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def visit(self, url: str, etag: str | None = None, last_modified: str | None = None) -> FetchedPage | FetchFailure:
        """The answer for a URL whose host's turn has been taken."""
        has_turn = True

        def is_allowed(hop: str) -> str | None:
            nonlocal has_turn
            took, has_turn = has_turn, False
            return self._refusal(hop, took)

        return self._fetch(url, is_allowed=is_allowed, etag=etag, last_modified=last_modified, types=self._types)

    def prepare(self, url: str) -> bool:
        """Fetch the robots.txt of a URL's host if it must be; True if that took the host's turn."""
        source = self._scope.source_of(url)
        if source is None or not source.obey_robots:
            return False
        robots, has_turn = self._robots_of(url, self.pace_of(url), has_turn=True)
        return robots is not None and not has_turn

    def pace_of(self, url: str) -> HostPace:
        """The pace of a URL's host."""
        host = host_of(url)
        with self._lock:
            if host not in self._paces:
                settings = self._settings
                interval = settings.private_interval_s if self._scope.allows_private(url) else settings.interval_s
                self._paces[host] = HostPace(interval, settings.jitter, settings.threads)
            return self._paces[host]

    def new_robots(self) -> list[RobotsCopy]:
        """The robots.txt copies made since the last call: for the database.

        A failure is not among them: what lies behind it may be a setting that is mended before the next run.
        """
        copies = []
        while not self._new_copies.empty():
            copies.append(self._new_copies.get())
        return [copy for copy in copies if copy.outcome != "disallow_all"]

    def _refusal(self, url: str, has_turn: bool) -> str | None:
        """Why a hop may not be requested, None once it may; waits for the host's turn where the caller has not taken it."""
        source = self._scope.source_of(url)
        if source is None:
            return f"out_of_scope: no source covers {url}"
        if excluded := self._scope.exclusion(url, source):
            return excluded
        pace = self.pace_of(url)
        if source.obey_robots:
            robots, has_turn = self._robots_of(url, pace, has_turn)
            if robots is None:
                return f"{INTERRUPTED}: the run was stopped"
            if refusal := robots.refusal(url):
                if robots.copy.outcome == "disallow_all":  # one URL says so, the others wait for the next run
                    pace.close(f"{robots.copy.host}/robots.txt gave {robots.copy.detail}")
                return refusal
            if pace.closed is not None:
                return f"{HOST_CLOSED}: {pace.closed}"
        if not has_turn and not self._wait_for_turn(pace):
            return f"{INTERRUPTED}: the run was stopped"
        pace.sent(time.monotonic())
        return None

    def _robots_of(self, url: str, pace: HostPace, has_turn: bool) -> tuple[Robots | None, bool]:
        """The host's rules, fetched if need be, and whether the turn is still there; None where the run stops meanwhile."""
        host = host_of(url)
        with self._lock:
            lock = self._robots_locks[host]
        with lock:
            known = self._robots.get(host)
            now = self._clock()
            if known is not None and known.copy.expires_at > now:
                return known, has_turn
            copy = self._copies.get(host)
            if copy is None or copy.expires_at <= now:
                if not has_turn and not self._wait_for_turn(pace):
                    return None, False
                has_turn = False
                answer = self._ask_for_robots(host, pace)
                if isinstance(answer, FetchFailure) and answer.reason == INTERRUPTED:
                    return None, False
                copy = copy_from(answer, host, now, copy)
                self._new_copies.put(copy)
                self._copies[host] = copy
            robots = self._robots[host] = Robots(copy)
            pace.slow_to(robots.crawl_delay_s)
            return robots, has_turn

    def _ask_for_robots(self, host: str, pace: HostPace) -> FetchedPage | FetchFailure:
        """The answer for a host's robots.txt, whose turn has been taken; its redirects lead anywhere, and each takes a turn."""
        hops = count()

        def is_allowed(hop: str) -> str | None:
            n = next(hops)
            if n > MAX_REDIRECTS:
                return f"redirect_loop: more than {MAX_REDIRECTS} redirects"
            target = self.pace_of(hop) if n else pace
            if n and not self._wait_for_turn(target):
                return f"{INTERRUPTED}: the run was stopped"
            target.sent(time.monotonic())
            return None

        return self._fetch(f"{host}/robots.txt", is_allowed=is_allowed, cut_at=MAX_BYTES)

    def _wait_for_turn(self, pace: HostPace) -> bool:
        """Wait until the host may be asked again; False if the run stops meanwhile."""
        wait = pace.reserve(time.monotonic())
        return not (self.stopping.wait(wait) if wait > 0 else self.stopping.is_set())


@dataclass(frozen=True, slots=True)
class Job(Generic[P]):
    """One URL to visit; `payload` is the caller's."""

    url: str
    payload: P
    etag: str | None = None
    last_modified: str | None = None
    tries: int = 0
    ready_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Done(Generic[P]):
    job: Job[P]
    result: FetchedPage | FetchFailure


@dataclass(frozen=True, slots=True)
class ClosedHost(Generic[P]):
    """A host that is left alone until the next run, and the jobs that waited for it."""

    host: str
    reason: str
    jobs: tuple[Job[P], ...]


@dataclass(frozen=True, slots=True)
class Batch(Generic[P]):
    done: tuple[Done[P], ...] = ()
    closed: tuple[ClosedHost[P], ...] = ()


@dataclass(frozen=True, slots=True)
class _Prepared(Generic[P]):
    """A job whose turn went into its host's robots.txt: it waits for the next one in the queue, not in a thread."""

    job: Job[P]


@dataclass(frozen=True, slots=True)
class _Fault:
    """What a thread could not bear: for the thread that waits for its result."""

    error: BaseException


@dataclass(slots=True)
class _HostQueue(Generic[P]):
    """The jobs of one host: those that may go out, in order, and those that wait for their next try, soonest first."""

    ready: deque[Job[P]] = field(default_factory=deque)
    later: list[tuple[float, int, Job[P]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ready) + len(self.later)

    def wait_s(self, now: float) -> float:
        return 0.0 if self.ready else max(0.0, self.later[0][0] - now)

    def pop(self, now: float) -> Job[P]:
        """The next job of a queue that has one: a try again whose time has come goes first."""
        if self.later and (self.later[0][0] <= now or not self.ready):
            return heappop(self.later)[2]
        return self.ready.popleft()

    def jobs(self) -> tuple[Job[P], ...]:
        return (*self.ready, *(job for _, _, job in sorted(self.later)))


class VisitPool(Generic[P]):
    """Runs jobs in threads. One thread adds jobs and takes results.

    Hosts stand in a heap by when each may be looked at next, so that neither a long queue nor many hosts cost anything while they
    wait.
    """

    def __init__(self, visitor: Visitor, threads: int, retries: int) -> None:
        self._visitor = visitor
        self._threads = threads
        self._retries = retries
        self._workers: list[threading.Thread] = []
        self._queues: dict[str, _HostQueue[P]] = {}
        self._turns: list[tuple[float, int, str]] = []
        self._turn_at: dict[str, float] = {}
        self._order = count()
        # Two bare queues: an executor's futures with their locks took a tenth of a crawl's time.
        self._started: queue.SimpleQueue[tuple[Job[P], HostPace] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Done[P] | _Prepared[P] | _Fault] = queue.SimpleQueue()
        self._under_way = 0
        self._finished: deque[Done[P]] = deque()
        self._finished_bytes = 0
        self._closed: list[ClosedHost[P]] = []

    def add(self, job: Job[P]) -> None:
        host = host_of(job.url)
        waiting = self._queues.setdefault(host, _HostQueue())
        if job.ready_at:
            heappush(waiting.later, (job.ready_at, next(self._order), job))
        else:
            waiting.ready.append(job)
        self._look_at(host, job.ready_at)

    def count_waiting(self, host: str) -> int:
        waiting = self._queues.get(host)
        return len(waiting) if waiting else 0

    def batches(self, should_stop: Callable[[], bool], refill: Callable[[], None] = lambda: None) -> Iterator[Batch[P]]:
        """Finished jobs in batches of a size worth a commit, until none is left or the run is to stop.

        refill: called every now and then, and whenever nothing waits; may add jobs. A run that is told to stop waits a few seconds
        for what is under way; what it did not get to is in no batch.
        """
        oldest = refill_at = 0.0
        while not should_stop():
            if not self._queues or time.monotonic() >= refill_at:
                refill()
                refill_at = time.monotonic() + REFILL_AFTER_S
            wait = self._start_ready()
            if self._closed:
                closed, self._closed = self._closed, []
                yield Batch(closed=tuple(closed))
            if not self._finished and not self._under_way and not self._queues:
                return
            had_some = bool(self._finished)
            self._collect(min(wait, COMMIT_AFTER_S if had_some else 1.0))
            now = time.monotonic()
            oldest = oldest if had_some else now
            if self._finished and (self._is_full() or not self._under_way or now - oldest >= COMMIT_AFTER_S):
                yield self._take_finished()
                refill_at, oldest = 0.0, time.monotonic()
        self._visitor.stopping.set()
        until = time.monotonic() + LAST_FETCHES_S
        while self._under_way and time.monotonic() < until:
            self._collect(until - time.monotonic())
        if self._finished:
            yield self._take_finished()

    def keep_going(self) -> None:
        """Start what may be started; to be called now and then while a batch is worked on, so that no host waits for that."""
        if not self._visitor.stopping.is_set():
            while self._under_way and self._collect(0.0):
                pass
            if not self._is_full():
                self._start_ready()

    def _is_full(self) -> bool:
        """Whether what is finished is a batch."""
        return len(self._finished) >= COMMIT_PAGES or self._finished_bytes >= COMMIT_BYTES

    def _take_finished(self) -> Batch[P]:
        done = tuple(self._finished)
        self._finished.clear()
        self._finished_bytes = 0
        return Batch(done)

    def _look_at(self, host: str, at: float) -> None:
        """Have a host looked at when `at` has come, or sooner if that was said before."""
        known = self._turn_at.get(host)
        if known is None or at < known:
            self._turn_at[host] = at
            heappush(self._turns, (at, next(self._order), host))

    def _start_ready(self) -> float:
        """Start every job whose turn it is; seconds until the next one's turn comes by time alone. Closed hosts are put aside."""
        now = time.monotonic()
        while self._turns and self._turns[0][0] <= now and self._under_way < self._threads:
            at, _, host = heappop(self._turns)
            if self._turn_at.get(host) != at:
                continue  # it was put forward
            del self._turn_at[host]
            waiting = self._queues.get(host)
            if waiting is None:
                continue
            pace = self._visitor.pace_of(f"{host}/")
            if pace.closed is not None:
                self._closed.append(ClosedHost(host, pace.closed, self._queues.pop(host).jobs()))
                continue
            wait = pace.wait_s(now)
            if wait is None:
                continue  # looked at again when one of its requests ends
            wait = max(wait, waiting.wait_s(now))
            if wait > 0:
                self._look_at(host, now + wait)
                continue
            job = waiting.pop(now)
            if waiting:
                self._look_at(host, now)
            else:
                del self._queues[host]
            pace.begin(now)
            self._under_way += 1
            if self._under_way > len(self._workers):
                worker = threading.Thread(target=self._work, daemon=True, name="kbcite-fetch")
                self._workers.append(worker)
                worker.start()
            self._started.put((job, pace))
        if self._under_way >= self._threads or not self._turns:
            return 60.0
        return max(0.0, self._turns[0][0] - now)

    def _collect(self, timeout_s: float) -> bool:
        """Take in the next job that comes back; True if one did in time. What is not tried again is finished."""
        try:
            done = self._results.get(timeout=timeout_s) if timeout_s > 0 else self._results.get_nowait()
        except queue.Empty:
            return False
        self._under_way -= 1
        if isinstance(done, _Fault):
            raise done.error
        job = done.job
        host = host_of(job.url)
        if isinstance(done, _Prepared):
            self._queues.setdefault(host, _HostQueue()).ready.appendleft(job)
        elif is_trouble(done.result) and job.tries <= self._retries and self._visitor.pace_of(job.url).closed is None:
            self.add(replace(job, ready_at=time.monotonic() + retry_pause_s(job.tries)))
        else:
            self._finished.append(done)
            self._finished_bytes += len(done.result.body) if isinstance(done.result, FetchedPage) else 0
        if host in self._queues:
            self._look_at(host, 0.0)
        return True

    def close(self) -> None:
        """Let go of the threads; those in a fetch end with it."""
        self._visitor.stopping.set()
        for _ in self._workers:
            self._started.put(None)

    def _work(self) -> None:
        while (start := self._started.get()) is not None:
            try:
                self._results.put(self._run(*start))
            except BaseException as error:
                self._results.put(_Fault(error))

    def _run(self, job: Job[P], pace: HostPace) -> Done[P] | _Prepared[P]:
        if self._visitor.prepare(job.url):
            pace.end(time.monotonic(), None)
            return _Prepared(job)
        job = replace(job, tries=job.tries + 1)
        result = self._visitor.visit(job.url, job.etag, job.last_modified)
        pace.end(time.monotonic(), result)
        return Done(job, result)
