"""Reading settings: `kbcite.toml` and the environment → Settings, or one line that names what is wrong.

Precedence: option > environment (`KBCITE_*`) > `kbcite.toml` > the defaults. An unknown key is an error, never ignored.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from kbcite.errors import UsageError
from kbcite.records import LiveMode, RenderMode, SourceType, Tier
from kbcite.settings import (
    BUILTIN_CLASSES,
    SECTIONS,
    ClassSettings,
    Settings,
    SourceSettings,
    ToolServerSettings,
    duration_s,
)

T = TypeVar("T")


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
