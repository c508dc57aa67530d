"""Any text with `[n]` marks and a numbered list of sources at its end: its sentences, and the address behind each number.

Lists are read as people and models write them: `[1] Title https://…`, `[1]: https://…`, `[^1]: …`, `1. [Title](https://…)`,
`- [1] Title — <https://…>`, the address on a line of its own below, with or without a heading above; or no list, and each mark is a
link: `[1](https://…)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kbcite.answer.citations import SOURCE_HEADING, Sentence, parse_reply
from kbcite.patterns import pattern

_ENTRY = pattern(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:\[\^?(?P<square>\d{1,3})\]|【(?P<wide>\d{1,3})】|(?P<plain>\d{1,3})[.)、])[ \t]*[:：]?[ \t]*(?P<rest>.*)$"
)
_ADDRESS = pattern(r"https?://[^\s<>\"'，。；、】》]+", re.IGNORECASE)
_LINKED = pattern(r"\[\[?\^?(\d{1,3})\]?\]\((https?://[^)\s]+)\)", re.IGNORECASE)
"""A mark that is a link itself: `[1](https://…)`."""
_COMMENT = pattern(r"<!--.*?-->", re.DOTALL)
_INTERNAL = pattern(r"^\s*[#*]*\s*(?:internal documents|内部资料)\s*[:：]?\s*\**\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CitedText:
    """A part of a text and the list of sources that it ends with."""

    sentences: tuple[Sentence, ...]
    addresses: tuple[tuple[int, str], ...]
    """Number and URL of each source of the list, as written; a text fragment is left out."""


def parse_cited_text(text: str) -> tuple[CitedText, ...]:
    """The parts of a text, each with the list of sources below it; one part for a text with a single list or none."""
    lines = _COMMENT.sub("", text).splitlines(keepends=True)
    parts: list[CitedText] = []
    while True:
        start, end = _source_list(lines)
        addresses = _entries(lines[start:end])
        has_more = bool(addresses) and bool(_entries(lines[end:]))
        # What stands below the last list cites it, too.
        body = lines[:start] if has_more else [*lines[:start], *lines[end:]]
        linked = {int(n): _without_fragment(url) for n, url in _LINKED.findall("".join(body))}
        parts.append(CitedText(parse_reply("".join(body)).sentences, tuple((linked | addresses).items())))
        if not has_more:
            return tuple(parts)
        lines = lines[end:]


def _source_list(lines: list[str]) -> tuple[int, int]:
    """The lines of the list of sources: from its heading on, or without one the entries that the text ends with."""
    belongs = _list_lines(lines)
    for start in range(len(lines)):
        if _is_heading(lines[start]):
            end = next((i for i in range(start, len(lines)) if not belongs[i]), len(lines))
            if _entries(lines[start:end]):
                return start, end
    start = max((i + 1 for i in range(len(lines)) if not belongs[i]), default=0)
    while start < len(lines) and not _ENTRY.match(lines[start]):
        start += 1
    return start, len(lines)


def _list_lines(lines: list[str]) -> list[bool]:
    """For each line whether it may stand in a list of sources: headings, entries with an address, what belongs to them, blanks."""
    belongs = []
    is_inside = False
    for i, line in enumerate(lines):
        if _ENTRY.match(line):
            is_inside = bool(_ADDRESS.search(_entry_text(lines, i)))
            belongs.append(is_inside)
        elif _is_heading(line) or not line.strip():
            belongs.append(True)
        else:
            is_inside = is_inside and _is_continuation(line)
            belongs.append(is_inside)
    return belongs


def _is_heading(line: str) -> bool:
    return bool(SOURCE_HEADING.match(line) or _INTERNAL.match(line))


def _is_continuation(line: str) -> bool:
    return line[:1].isspace() or line.lstrip("<(").startswith("http")


def _entry_text(lines: list[str], i: int) -> str:
    """A numbered line and the indented or address lines below it."""
    text = lines[i]
    for line in lines[i + 1 :]:
        if _ENTRY.match(line) or not line.strip() or not _is_continuation(line):
            break
        text += line
    return text


def _entries(lines: list[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for i, line in enumerate(lines):
        match = _ENTRY.match(line)
        if match and (address := _ADDRESS.search(_entry_text(lines, i))):
            n = int(match["square"] or match["wide"] or match["plain"])
            found.setdefault(n, _without_fragment(_without_closer(address.group())))
    return found


def _without_fragment(url: str) -> str:
    """The address of the page itself, without the words that a deep link looks for."""
    return url.partition("#:~:")[0]


def _without_closer(url: str) -> str:
    """The address without the stop or bracket that the sentence around it ends with."""
    url = url.rstrip(".,;:!?*`")
    while url.endswith((")", "]", "）")) and url.count("(") < url.count(")") + url.count("）") + url.count("]"):
        url = url[:-1].rstrip(".,;:!?*`")
    return url
