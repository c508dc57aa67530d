"""What was looked at while answering, as the answer's record and its trace tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kbcite.answer.classifier import Classified
from kbcite.answer.live_decision import Decision, PageChoice, Way
from kbcite.answer.trace import LiveTrace, TracedFetch
from kbcite.live_records import LiveLoss, LivePage
from kbcite.records import LiveUse


@dataclass(slots=True)
class Seen:
    """One page that was looked at."""

    choice: PageChoice
    found: LivePage | LiveLoss
    reason: str = ""
    """Why it is not used."""
    detail: str = ""
    is_used: bool = False

    @property
    def fit(self) -> LivePage | None:
        """The page, where nothing speaks against it."""
        return self.found if isinstance(self.found, LivePage) and not self.reason else None


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Milliseconds since a question was begun."""

    began: float
    """On the monotonic clock."""

    def ms(self, at: float) -> float:
        return round((at - self.began) * 1000, 1)


def use_of(decision: Decision, seen: Sequence[Seen], elapsed_ms: float) -> LiveUse:
    """What the answer's record says of the look."""
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
    return LiveUse(True, decision.triggers, urls, elapsed_ms, outcome, filters)


def live_trace(
    classified: Classified,
    window_s: int | None,
    decision: Decision,
    retrieval_ms: tuple[float, float],
    seen: Sequence[Seen],
    invalid: Mapping[str, str],
    watch: Stopwatch,
) -> LiveTrace:
    """What the trace says of the look. invalid: reason by URL of stored pages that are not believed any more."""
    return LiveTrace(
        classified.name,
        window_s,
        decision.way.value,
        decision.reason,
        decision.triggers,
        retrieval_ms,
        tuple(_traced(one, watch) for one in seen),
        tuple(invalid.items()),
        decision.refused,
        classified.by,
    )


def _traced(one: Seen, watch: Stopwatch) -> TracedFetch:
    found = one.found
    began, ended = (0.0, 0.0) if found.is_pooled else (watch.ms(found.began_at), watch.ms(found.ended_at))
    way = "pool" if found.is_pooled else "fetch"
    return TracedFetch(
        found.requested_url, one.choice.why, way, began, ended, one.reason or "page", one.detail, one.is_used
    )
