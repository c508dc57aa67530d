"""Changes to `kbcite.toml` that keep its comments and order."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbcite.errors import NotFound, UsageError
from kbcite.settings import SourceSettings

if TYPE_CHECKING:
    import tomlkit


def add_source(path: Path, source: SourceSettings) -> None:
    """Append a source; only what differs from the defaults is written. Raises UsageError if its URL is there already."""
    import tomlkit
    from tomlkit.items import AoT

    document = _read(path)
    rows = document.get("source")
    if rows is None:
        rows = AoT([])
    if any(row.get("url") == source.url for row in rows):
        raise UsageError(f"{source.url} is a source already; edit it in {path}, or remove it first")
    table = tomlkit.table()
    defaults = SourceSettings(url="")
    for name in SourceSettings.__slots__:
        value = getattr(source, name)
        if name == "url" or value != getattr(defaults, name):
            table[name] = _plain(value)
    rows.append(table)
    document["source"] = rows
    _write(path, document)


def remove_source(path: Path, url: str) -> None:
    """Take a source out. Raises NotFound if there is none with this URL."""
    document = _read(path)
    rows = document.get("source") or []
    for i, row in enumerate(rows):
        if row.get("url") == url:
            del rows[i]
            if not rows:
                del document["source"]
            _write(path, document)
            return
    raise NotFound(f'{url} is not a source in {path}; "kbcite source list" shows them')


def set_value(path: Path, section: str, key: str, value: float) -> None:
    """Set a number of a section; the line that shows the key's default, commented out, gives way to it, every other stays."""
    import tomlkit

    document = _read(path)
    table = document.get(section)
    if table is None:
        table = document[section] = tomlkit.table()
    if key in table:
        table[key] = value
        _write(path, document)
        return
    text = tomlkit.dumps(document)
    begin = text.index(f"[{section}]")
    commented = re.compile(rf"^# *{re.escape(key)} = [^#\n]*?(?= *(?:#.*)?$)", re.MULTILINE)
    end = text.find("\n[", begin)
    head, body, tail = text[:begin], text[begin : end if end >= 0 else None], text[end:] if end >= 0 else ""
    body, found = commented.subn(f"{key} = {value:g}", body, count=1)
    if not found:
        body = body.replace(f"[{section}]", f"[{section}]\n{key} = {value:g}", 1)
    _write(path, tomlkit.parse(head + body + tail))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, str) else value


def _read(path: Path) -> tomlkit.TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    except TOMLKitError as error:
        raise UsageError(f"{path} is not valid TOML: {error}; mend it there") from error


def _write(path: Path, document: tomlkit.TOMLDocument) -> None:
    """Replace the file in one step, so that a crash leaves the old or the new one."""
    import tomlkit

    beside = path.with_suffix(".toml.new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(tomlkit.dumps(document))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
