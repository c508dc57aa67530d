"""Settings of a store: one frozen dataclass of options per stage, read from `kbcite.toml`.

Precedence: option > environment (`KBCITE_*`) > `kbcite.toml` > the defaults here. An unknown key is an error, never ignored.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from kbcite.errors import UsageError
from kbcite.frozen import dataclass
from kbcite.records import LiveMode, RenderMode, SourceType, Tier

T = TypeVar("T")

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


def load_settings(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in a file, overlaid by `KBCITE_SECTION_KEY` variables. Raises UsageError naming file, key and reason."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        table = {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}; mend it there") from error
    return settings_from_table(table, str(path), environment)


def settings_from_table(table: Mapping[str, Any], where: str, environment: Mapping[str, str]) -> Settings:
    unknown = set(table) - set(SECTIONS) - {"source", "classes", "mcp"}
    if unknown:
        raise UsageError(
            f"{where}: unknown section [{sorted(unknown)[0]}]; known are source, classes, mcp, {', '.join(sorted(SECTIONS))}"
        )
    sources = table.get("source", [])
    if not isinstance(sources, list):
        raise UsageError(f"{where}: sources are written as [[source]], with two brackets")
    settings = Settings(sources=tuple(_build(SourceSettings, row, f"{where} [[source]]") for row in sources))
    for name, cls in SECTIONS.items():
        section = table.get(name, {})
        if not isinstance(section, dict):
            raise UsageError(f"{where}: {name} is a section, written [{name}]")
        built = _build(cls, section, f"{where} [{name}]", _overlay(cls, name, environment))
        settings = replace(settings, **{name: built})
    return replace(
        settings, classes=_classes(table.get("classes", {}), where), mcp=_tool_servers(table.get("mcp", {}), where)
    )


def _classes(table: Any, where: str) -> tuple[tuple[str, ClassSettings], ...]:
    """The built-in classes as the file changes them, then its own."""
    if not isinstance(table, dict):
        raise UsageError(f"{where}: classes are sections, written [classes.NAME]")
    known = dict(BUILTIN_CLASSES)
    for name, row in table.items():
        place = f"{where} [classes.{name}]"
        plain = {f.name: getattr(known.get(name, ClassSettings()), f.name) for f in fields(ClassSettings)}
        given = _build(ClassSettings, row, place)
        known[name] = replace(given, **{key: value for key, value in plain.items() if key not in row})
        for key in ("window", "ttl", "max_age"):
            try:
                duration_s(getattr(known[name], key))
            except ValueError as error:
                raise UsageError(f"{place}: {key}: {error}") from error
    return tuple(known.items())


def _tool_servers(table: Any, where: str) -> tuple[tuple[str, ToolServerSettings], ...]:
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise UsageError(f"{where}: MCP servers are sections, written [mcp.NAME]")
    return tuple((name, _tool_server(row, f"{where} [mcp.{name}]")) for name, row in table.items())


def _tool_server(row: Mapping[str, Any], where: str) -> ToolServerSettings:
    arguments = row.get("arguments", dict(ToolServerSettings().arguments))
    if not isinstance(arguments, dict) or not all(isinstance(v, str | int | float | bool) for v in arguments.values()):
        raise UsageError(f'{where}: arguments: a table of texts, numbers, true and false, like {{ url = "{{url}}" }}')
    plain = {key: value for key, value in row.items() if key != "arguments"}
    server = replace(_build(ToolServerSettings, plain, where), arguments=tuple(arguments.items()))
    if bool(server.command) == bool(server.url):
        raise UsageError(f'{where}: either command = ["program", "argument"] or url = "https://…" is needed')
    if not server.tool:
        raise UsageError(f"{where}: tool is missing: the name of the tool that is called")
    if (wrong := [name for name in server.environment if "=" in name]) or "=" in server.token:
        name = (wrong or [server.token])[0].partition("=")[0]
        raise UsageError(f"{where}: only the names of variables belong here, not their values: write {name!r}")
    return server


def _overlay(cls: type, section: str, environment: Mapping[str, str]) -> dict[str, str]:
    names = {f.name: variable_of(section, f.name) for f in fields(cls)}
    return {name: environment[variable] for name, variable in names.items() if environment.get(variable)}


def variable_of(section: str, key: str) -> str:
    """`ask`, `model` → `KBCITE_ASK_MODEL`."""
    return f"KBCITE_{section}_{key}".upper()


def _build(cls: type[T], row: Any, where: str, texts: Mapping[str, str] | None = None) -> T:
    """A section from its table, with the texts of the environment over it."""
    hints = get_type_hints(cls)
    if not isinstance(row, dict):
        raise UsageError(f"{where}: a table is needed, not {row!r}")
    if unknown := set(row) - set(hints):
        raise UsageError(f"{where}: unknown key {sorted(unknown)[0]!r}; known are {', '.join(hints)}")
    values = {}
    for key, value in {**row, **(texts or {})}.items():
        try:
            values[key] = _from_text(value, hints[key]) if texts and key in texts else _checked(value, hints[key])
            limits = _RANGES.get(f"{cls.__name__}.{key}") or _RANGES.get(key)
            if limits and not limits[0] <= values[key] <= limits[1]:
                raise ValueError(f"{value!r} is not between {limits[0]:g} and {limits[1]:g}")
            words = _ONE_OF.get(f"{cls.__name__}.{key}")
            if words and values[key] not in words:
                raise ValueError(f"{value!r} is none of {', '.join(words)}")
        except (ValueError, OverflowError) as error:
            # A value of the environment is not to be looked for in the file.
            section = where.rpartition("[")[2].rstrip("]")
            place = f"{variable_of(section, key)} in the environment" if texts and key in texts else f"{where}: {key}"
            raise UsageError(f"{place}: {error}") from error
    if cls is SourceSettings and not values.get("url"):
        raise UsageError(f"{where}: url is missing")
    if values.get("type") is SourceType.LIVE:
        raise UsageError(
            f"{where}: type: 'live' is what kbcite calls pages fetched while answering; choose internal or web"
        )
    return cls(**values)


_RANGES: dict[str, tuple[float, float]] = {
    "depth": (0, 1000),
    "max_pages": (1, 10_000_000),
    "interval_s": (0, 86_400),
    "private_interval_s": (0, 86_400),
    "jitter": (0, 1),
    "threads": (1, 256),
    "IndexSettings.threads": (0, 256),
    "connect_timeout_s": (0.1, 3600),
    "total_timeout_s": (0.1, 86_400),
    "max_bytes": (1, 10**10),
    "max_redirects": (0, 50),
    "retries": (0, 20),
    "run_pages": (0, 10**9),
    "run_bytes": (0, 10**15),
    "run_minutes": (0, 10**6),
    "host_pages": (0, 10**9),
    "host_bytes": (0, 10**15),
    "host_minutes": (0, 10**6),
    "min_words": (1, 10_000),
    "max_words": (1, 10_000),
    "overlap_words": (0, 10_000),
    "top_k": (1, 20),
    "threshold": (0, 1),
    "half_life_days": (0, 36_500),
    "min_coverage": (0, 1),
    "min_support": (0, 1),
    "max_quote_chars": (20, 100_000),
    "timeout_s": (1, 86_400),
    "max_tokens": (16, 1_000_000),
    "answer_within_s": (0.1, 600),
    "fetch_within_s": (0.1, 3600),
    "LiveSettings.max_pages": (1, 20),
    "promote_after": (1, 10_000),
    "min_chars": (0, 100_000),
    "min_relevance": (0, 1),
    "interval_days": (0.01, 3650),
    "dead_after_checks": (1, 100),
    "dead_after_days": (0, 3650),
}
"""Least and most of each number; a value outside is refused, not bent."""


_ONE_OF: dict[str, tuple[str, ...]] = {
    "AskSettings.classifier": ("rules", "model"),
    "LiveSettings.promote": ("propose", "add", "never"),
}


def _checked(value: Any, wanted: Any) -> Any:
    """A TOML value that is of the wanted type; nothing but a whole number for a decimal one is converted."""
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if wanted in (bool, int, float, str):
        if type(value) is not wanted:
            raise ValueError(f"{value!r} is not {_KINDS[wanted]}")
        return value
    if wanted in _CHOICES:
        return wanted(value)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{value!r} is not a list of texts")
    return tuple(value)


def _from_text(text: str, wanted: Any) -> Any:
    """A text of the environment as the wanted type; lists are separated by commas."""
    if wanted is bool:
        if text.lower() not in _TRUE + _FALSE:
            raise ValueError(f"{text!r} is not true or false")
        return text.lower() in _TRUE
    if wanted in (int, float):
        try:
            return wanted(text)
        except ValueError as error:
            raise ValueError(f"{text!r} is not {_KINDS[wanted]}") from error
    if wanted in (str, *_CHOICES):
        return wanted(text)
    return tuple(text.split(","))


_CHOICES = (SourceType, RenderMode, LiveMode, Tier)
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_TRUE, _FALSE = ("1", "true", "yes"), ("0", "false", "no")
