"""The change report of a recheck: for each page that is not as it was, what happened, on what evidence, and which words differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kbcite.cli.differences import marked
from kbcite.clock import to_minute
from kbcite.records import PageState, Skipped
from kbcite.render import counted, one_line, printable

if TYPE_CHECKING:
    from kbcite.page.text_difference import Difference, DifferingLine
    from kbcite.stages.recheck_verdict import Rechecked

MAX_LINES = 12
"""Differing lines shown of a page."""
MAX_LINE_CHARS = 300
MOSTLY = 0.6
"""A line of which more than this share differs is shown as it is."""
_ORDER = ("changed", "unchanged", "moved", "dead", "unreachable")


def is_news(record: Rechecked) -> bool:
    """Whether a page is not as it was when it was last seen; a page that is still dead, or still out of reach, is no news."""
    if record.outcome == "unchanged":
        return record.is_revived
    return record.outcome == "changed" or record.outcome != record.was


def report_text(records: Sequence[Rechecked]) -> str:
    """A paragraph a page: changes first, then moves and deaths, then trouble; what is no news has a line."""
    news = [record for record in records if is_news(record) or record.outcome == "unreachable"]
    news.sort(key=lambda record: (_ORDER.index(record.outcome), record.url))
    return "\n\n".join("\n".join(_paragraph(record)) for record in news)


def _paragraph(record: Rechecked) -> list[str]:
    word = "revived" if record.is_revived else record.outcome
    title = f"  {one_line(record.title, 100)}" if record.title else ""
    lines = [f"{word:<12} {printable(record.url)}{title}", f"  {one_line(record.detail, 300)}"]
    if record.evidence.failures > 1:
        lines[-1] += f"; {record.evidence.failures} visits in a row brought no page"
    if record.was is not PageState.ALIVE and record.was != record.outcome:
        lines[-1] += f"; was {record.was}"
    lines[-1] += f"; next visit {to_minute(record.due_at)}"
    if record.difference is not None:
        lines += _differing(record.difference)
    return lines


def _differing(difference: Difference) -> list[str]:
    """The lines that differ, at most some of each run; where a run is long, what is gone and what is new have equal room."""
    shown: list[str] = []
    left_out = 0
    for hunk in difference.hunks:
        gone, new = ([line for line in hunk if line.side == side] for side in "-+")
        room = max(0, MAX_LINES - len(shown))
        if room < 2:
            left_out += len(gone) + len(new)
            continue
        # A line beside it says where something was put in or taken out; an edit shows that by itself.
        beside = [] if gone and new else [line for line in hunk[:1] if line.side == " "]
        each = room if not gone or not new else max(room // 2, room - min(len(gone), len(new)))
        shown += map(_line, [*beside, *gone[:each], *new[:each]])
        left_out += len(gone[each:]) + len(new[each:])
    return shown if not left_out else [*shown, f"    … {counted(left_out, 'more line')}; --json lists all of them"]


def _line(line: DifferingLine) -> str:
    """One line, what differs in it marked where that is a part of it."""
    differing = sum(len(part.text) for part in line.parts if part.changed)
    text = line.text if differing > MOSTLY * len(line.text) else marked(line)
    return f"    {line.side} {one_line(text, MAX_LINE_CHARS)}"


def report_record(records: Sequence[Rechecked], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """The same for machines: every page that is not plainly unchanged, and every page that was not visited."""
    return {
        "pages": [_row(record) for record in records if record.outcome != "unchanged" or record.is_revived],
        "skipped_pages": [{"url": row.url, "reason": row.reason, "detail": row.detail} for row in skipped],
    }


def _row(record: Rechecked) -> dict[str, Any]:
    difference = record.difference
    return {
        "url": record.url,
        "title": record.title,
        "outcome": record.outcome,
        "was": record.was,
        "is_news": is_news(record),
        "revived": record.is_revived,
        "detail": record.detail,
        "misses": record.evidence.misses,
        "missing_since": record.evidence.missing_since,
        "failures": record.evidence.failures,
        "moved_to": record.moved_to,
        "due_at": record.due_at,
        "digest": record.digest,
        "former_digest": record.former_digest,
        "difference": difference
        and {
            "words": difference.words,
            "missing": difference.missing,
            "superfluous": difference.superfluous,
            "marks": difference.marks,
            "lines": [
                {"side": line.side, "parts": [{"text": part.text, "changed": part.changed} for part in line.parts]}
                for hunk in difference.hunks
                for line in hunk
                if line.side != " "
            ],
        },
    }
