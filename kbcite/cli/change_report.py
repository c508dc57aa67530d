"""The change report of a recheck: for each page that is not as it was, what happened, on what evidence, and which words differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kbcite.cli.differences import marked
from kbcite.records import PageState, Skipped
from kbcite.render import one_line, printable

if TYPE_CHECKING:
    from kbcite.stages.recheck_verdict import Rechecked

MAX_LINES = 12
"""Differing lines shown of a page."""
MAX_LINE_CHARS = 300
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
        lines[-1] += f"; {record.evidence.failures} visits in a row without an answer"
    if record.was is not PageState.ALIVE and record.was != record.outcome:
        lines[-1] += f"; was {record.was}"
    lines[-1] += f"; next visit {record.due_at[:10]} {record.due_at[11:16]} UTC"
    if record.difference is not None:
        lines += _differing(record)
    return lines


def _differing(record: Rechecked) -> list[str]:
    assert record.difference is not None
    shown = []
    for hunk in record.difference.hunks:
        is_edit = {"-", "+"} <= {line.side for line in hunk}
        # A line beside it says where something was put in or taken out; an edit shows that by itself.
        shown += [line for line in hunk if line.side != " " or (not is_edit and line is hunk[0])]
    lines = [f"    {line.side} {one_line(marked(line), MAX_LINE_CHARS)}" for line in shown[:MAX_LINES]]
    if len(shown) > MAX_LINES:
        lines.append(f"    … {len(shown) - MAX_LINES} more lines; --json lists all of them")
    return lines


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
