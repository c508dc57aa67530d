"""`KBCITE_` variables of the environment that are no setting, because their names are misspelt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from kbcite.settings import SECTIONS, Settings
from kbcite.settings_reading import variable_of

GLOBAL_VARIABLES = (
    "KBCITE_STORE",
    "KBCITE_OFFLINE",
    "KBCITE_NOW",
    "KBCITE_LOG_FORMAT",
    "KBCITE_MCP_LIVE",
    "KBCITE_CACHE",
)
"""What the options of the command line, and the built-in encoder, read."""
PREFIX = "KBCITE_"
NEAR = 0.7
"""Likeness from 0 to 1, without the prefix, from which a name is taken for a misspelt one: `ASK_MODLE` has .89, `MODEL` .71."""


def misspelt_variables(environment: Mapping[str, str], settings: Settings) -> list[tuple[str, str]]:
    """Each variable that names nothing, with the one that was meant.

    A name that neither resembles a setting nor begins with a section's may be another program's, and is left alone.
    """
    known = {*GLOBAL_VARIABLES, *(variable_of(name, f.name) for name, cls in SECTIONS.items() for f in fields(cls))}
    named = {name for _, server in settings.mcp for name in (*server.environment, server.token)}
    unknown = sorted(name for name in set(environment) - known - named if name.startswith(PREFIX))
    meant = ((name, _nearest(name, known)) for name in unknown)
    return [(name, nearest) for name, nearest in meant if nearest]


def _nearest(name: str, known: set[str]) -> str | None:
    from difflib import get_close_matches

    section = next((start for start in (variable_of(one, "") for one in SECTIONS) if name.startswith(start)), None)
    rest = {one.removeprefix(PREFIX): one for one in sorted(known) if one.startswith(section or PREFIX)}
    near = get_close_matches(name.removeprefix(PREFIX), rest, 1, 0.0 if section else NEAR)
    return rest[near[0]] if near else None
