"""Files that people name to be read: texts, and answer records as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kbcite.errors import UsageError


def text_of(name: str) -> str:
    """The text of a file; `-` is standard input. Raises UsageError for what cannot be read as UTF-8."""
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {name}; check its name") from error
    except IsADirectoryError as error:
        raise UsageError(f"{name} is a folder; name files in it, like {Path(name) / '*.md'}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8") from error


def records_of(name: str, text: str) -> list[dict[str, Any]]:
    """Records of a JSON file: one, a list of them, or one a line. Raises UsageError for a file of something else."""
    try:
        loaded = json.loads(text)
    except ValueError:
        try:
            loaded = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise UsageError(f"{name} is neither JSON nor JSON lines: {error}") from error
    records = loaded if isinstance(loaded, list) else [loaded]
    if not all(isinstance(record, dict) for record in records):
        raise UsageError(f"{name} holds no answer records; save them with `kbcite export --format jsonl`")
    return records
