"""Settings of a store: one frozen dataclass of options per stage, with the defaults. `settings_reading.py` reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any

from kbcite.records import LiveMode, RenderMode, SourceType, Tier

SETTINGS_NAME = "kbcite.toml"
USER_AGENT = "kbcite/{version} (+{contact})"


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One whitelisted source: a seed, its scope and its limits."""

    url: str
    """The seed."""
    scope: tuple[str, ...] = ()
    """URL prefixes that belong to it; empty means the seed's folder."""
    exclude: tuple[str, ...] = ()
    """Regular expressions; a URL that matches one is left out."""
    type: SourceType = SourceType.WEB
    depth: int = 5
    """Links followed from the seed; 0 is the seed alone."""
    max_pages: int = 1000
    allow_private: bool = False
    """Loopback, private and link-local addresses may be fetched."""
    obey_robots: bool = True
    tier: Tier = Tier.MONTHLY
    """How often its pages are visited again."""
    labels: tuple[str, ...] = ()
    render: RenderMode = RenderMode.AUTO
    wait_selector: str = ""
    """CSS selector of what a rendered page has to show before it is read."""
    live: tuple[str, ...] = ()
    """Pages to look at while answering: announcement lists, price pages, release notes."""
    topics: tuple[str, ...] = ()
    """Words of questions that its `live` pages are for; without any, the words of the pages' titles."""


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    contact: str = "https://pypi.org/project/kbcite/"
    """Goes into the User-Agent, so that a site's owner can find you."""
    interval_s: float = 1.0
    """Seconds between two requests to one host."""
    private_interval_s: float = 0.0
    """The same for hosts of sources with `allow_private`."""
    jitter: float = 0.3
    """The interval varies by up to this share."""
    threads: int = 8
    connect_timeout_s: float = 10.0
    total_timeout_s: float = 30.0
    max_bytes: int = 10_000_000
    max_redirects: int = 10
    retries: int = 2
    run_pages: int = 0
    """Most pages of one run; 0 is no limit, here and below. What is left waits for the next run."""
    run_bytes: int = 0
    """Most bytes on the wire of one run."""
    run_minutes: float = 0.0
    host_pages: int = 0
    """Most pages of one host in a run."""
    host_bytes: int = 0
    host_minutes: float = 0.0
    """From the first answer of a host on."""
    browser: str = ""
    """Chromium's program, by path or name; empty means the first that is found on PATH."""


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    min_words: int = 256
    max_words: int = 512
    overlap_words: int = 40
    """Used only where a page has no headings."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    encoder: str = "builtin"
    """`builtin`, `st:NAME_OR_FOLDER`, or `litellm:PROVIDER/MODEL`."""
    threads: int = 0
    """0 means as many as there are cores."""


@dataclass(frozen=True, slots=True)
class AskSettings:
    model: str = ""
    """Any litellm name; empty means the extractive answer, without a model."""
    api_base: str = ""
    rerank: str = ""
    """Cross-encoder, a folder or a name on the Hugging Face hub, that orders the relevant blocks; empty means none."""
    top_k: int = 5
    threshold: float = 0.45
    """Relevance from 0 to 1 below which a block is not used (SPEC 50)."""
    half_life_days: float = 0.0
    """Days in which a page loses half of what age can cost it in the order; 0: age does not count."""
    min_coverage: float = 0.8
    min_support: float = 0.5
    max_quote_chars: int = 600
    timeout_s: float = 60.0
    max_tokens: int = 1024
    """Of a model's reply; one that thinks first needs more."""
    classifier: str = "rules"
    """Who tells a question's class: `rules`, or `model`, the one of `model`, with the rules where it fails."""


@dataclass(frozen=True, slots=True)
class RecheckSettings:
    interval_days: float = 7.0
    dead_after_checks: int = 3
    dead_after_days: float = 3.0


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """Fetching while answering (SPEC 49-60)."""

    mode: LiveMode = LiveMode.AUTO
    """What `kbcite ask --live` overrides."""
    answer_within_s: float = 8.0
    """How long an answer waits for pages."""
    fetch_within_s: float = 30.0
    """How long a fetch may go on after that, to fill the pool."""
    max_pages: int = 3
    """Pages of one question; up to two below a list are looked at beside."""
    volatile_entities: tuple[str, ...] = ()
    """Names whose facts never count as known: a question that holds one is looked up."""
    risk_words: tuple[str, ...] = ()
    """Words that make a question high-risk, beside the built-in ones for contract, health and finance."""
    promote: str = "propose"
    """What is done with a page that keeps being fetched live: `propose` it as a source, `add` it, or `never`."""
    promote_after: int = 5
    """Fetches within 30 days."""
    fetcher: str = "builtin"
    """Who fetches: kbcite itself, or `mcp:NAME`, a tool server of a section [mcp.NAME]."""
    search: str = ""
    """`mcp:NAME`: a search tool that proposes pages; those outside the whitelist are left out."""


@dataclass(frozen=True, slots=True)
class ClassSettings:
    """A class of questions: how fast their answers go out of date and what is done about it. Times are texts: `60s`, `1h`, `3d`."""

    window: str = "7d"
    """Evidence seen longer ago is stale; `none` for what does not change."""
    ttl: str = "1h"
    """How long a page that was fetched live is read from the pool for this class; never beyond its window."""
    live: LiveMode = LiveMode.AUTO
    high_risk: bool = False
    """Two or three sources are compared."""
    max_age: str = "none"
    """Live pages published longer ago are dropped."""
    min_chars: int = 200
    """Live pages with less prose are dropped; tables and code count apart."""
    min_relevance: float = 0.4
    """Live pages less relevant are dropped."""
    words: tuple[str, ...] = ()
    """A question with one of them is of this class, before any rule is asked."""

    @property
    def window_s(self) -> int | None:
        return duration_s(self.window)

    @property
    def ttl_s(self) -> int:
        """The time to live, within the window: a price of the moment goes past a page of half an hour ago (SPEC 49, 54)."""
        ttl_s, window_s = duration_s(self.ttl) or 0, self.window_s
        return ttl_s if window_s is None else min(ttl_s, window_s)

    @property
    def max_age_s(self) -> int | None:
        return duration_s(self.max_age)


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    """Where the trace of each answer is sent, beside being kept."""

    endpoint: str = ""
    """A collector of OpenTelemetry (OTLP over HTTP), like `http://127.0.0.1:4318`; empty means that nothing is sent."""
    timeout_s: float = 3.0


@dataclass(frozen=True, slots=True)
class ToolServerSettings:
    """An MCP server that fetches or searches for kbcite: a program that is started, or an address."""

    command: tuple[str, ...] = ()
    """Program and arguments; it is spoken to over its standard input and output."""
    url: str = ""
    """Of a server that speaks streamable HTTP."""
    tool: str = ""
    arguments: tuple[tuple[str, str | int | float | bool], ...] = (("url", "{url}"),)
    """The tool's argument → its value; `{url}`, `{query}` and `{selector}` in a text are filled in."""
    environment: tuple[str, ...] = ()
    """Names of environment variables that the program gets, beside PATH, HOME and the like; values never stand in the file."""
    token: str = ""
    """Name of the environment variable with the bearer token for `url`."""
    timeout_s: float = 30.0
    """Of connecting, and of each call."""

    @property
    def is_search(self) -> bool:
        return any(isinstance(value, str) and "{query}" in value for _, value in self.arguments)


BUILTIN_CLASSES: tuple[tuple[str, ClassSettings], ...] = (
    ("volatile", ClassSettings(window="60s")),
    ("news", ClassSettings(window="3d", max_age="30d")),
    ("product", ClassSettings(window="7d")),
    ("reference", ClassSettings(window="none", live=LiveMode.NEVER)),
)
"""By the name that `answer/freshness.py` gives; a section [classes.NAME] changes one or adds another."""
_DURATION = re.compile(r"(\d{1,9})\s*(s|m|h|d|w)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def duration_s(text: str) -> int | None:
    """Seconds of `60s`, `15m`, `1h`, `3d` or `2w`; None for `none`. Raises ValueError for anything else."""
    if text == "none":
        return None
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time like 60s, 15m, 1h, 3d, 2w or none")
    return int(match[1]) * _UNITS[match[2]]


@dataclass(frozen=True, slots=True)
class Settings:
    sources: tuple[SourceSettings, ...] = ()
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    ask: AskSettings = field(default_factory=AskSettings)
    recheck: RecheckSettings = field(default_factory=RecheckSettings)
    live: LiveSettings = field(default_factory=LiveSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    classes: tuple[tuple[str, ClassSettings], ...] = BUILTIN_CLASSES
    mcp: tuple[tuple[str, ToolServerSettings], ...] = ()
    """Tool servers by name."""


SECTIONS: dict[str, type[Any]] = {
    f.name: type(getattr(Settings(), f.name)) for f in fields(Settings) if f.name not in ("sources", "classes", "mcp")
}
"""The sections of the file that are one table, by name."""
