"""`kbcite verify --live`: the cited pages asked for now, and what became of each citation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from kbcite.cli.context import Context, OpenStore
from kbcite.cli.differences import change_pieces
from kbcite.cli.interrupt import Stop
from kbcite.cli.progress import progress
from kbcite.cli.rendering import fetching
from kbcite.cli.rows import Row, row
from kbcite.clock import to_minute
from kbcite.errors import ExitCode, Finding
from kbcite.render import counted, one_line

if TYPE_CHECKING:
    from kbcite.live_records import PageNow
    from kbcite.stages.verify import Verifier
    from kbcite.stages.verify_live import CitedToday
    from kbcite.stages.verify_report import Report

OUTCOMES = {
    "there": "there",
    "moved": "moved",
    "changed": "changed",
    "gone": "gone",
    "unreachable": "unreachable",
    "not_asked": "not asked",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A report and what it is about: a record, or a text."""

    report: Report
    record: dict[str, Any] | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Today:
    """What became of every citation, by the name of its answer or text."""

    cited: tuple[tuple[str, tuple[CitedToday, ...]], ...]

    @property
    def counts(self) -> Counter[str]:
        return Counter(one.outcome for _, citations in self.cited for one in citations)

    def rows(self, brief: bool) -> list[Row]:
        """brief: only what is not as it was."""
        rows = [row("", "")]
        for name, citations in self.cited:
            shown = [one for one in citations if not (brief and one.outcome == "there")]
            if shown:
                rows.append(row("", f"{name} today", "bold"))
            for one in shown:
                rows += _rows(one)
        told = ", ".join(f"{name} {self.counts[key]}" for key, name in OUTCOMES.items() if self.counts[key])
        return [*rows, row("", f"today: {told or 'nothing is cited'}")]

    def record(self) -> dict[str, Any]:
        return {
            **{name: self.counts[name] for name in OUTCOMES},
            "citations": [{"of": name, **asdict(one)} for name, citations in self.cited for one in citations],
        }

    def require_all_there(self) -> None:
        """Raises Finding where a citation does not stand on its page any more, or nothing can be said of it."""
        counts = self.counts
        if lost := counts["changed"] + counts["gone"]:
            raise Finding(
                f"{lost} of {counted(counts.total(), 'citation')} no longer on the pages as cited; "
                'the store is as it was: "kbcite recheck" takes the change up'
            )
        if counts["unreachable"]:
            raise Finding(
                f"{counted(counts['unreachable'], 'citation')} could not be looked at; try again later",
                ExitCode.NETWORK,
            )


def look_at_today(context: Context, store: OpenStore, verifier: Verifier, checked: Sequence[Checked]) -> Today:
    """Asks for each cited page once. The store is only read."""
    from kbcite.stages.verify_live import answer_today, cited_pages, text_today

    cited = [cited_pages(one.record, store.database) if one.record is not None else {} for one in checked]
    urls = [document.url for documents in cited for document in documents.values() if document is not None]
    urls += [url for one in checked for sentence in one.report.sentences for url in sentence.urls]
    pages = _ask(context, store, urls)
    documents = {url: page.document for url, page in pages.items() if page.document is not None}
    of_today = replace(verifier, today=documents)
    return Today(
        tuple(
            (
                one.report.name,
                text_today(one.report.sentences, of_today.text(one.report.name, one.text).sentences, pages)
                if one.record is None
                else answer_today(one.record, quoted_from, pages),
            )
            for one, quoted_from in zip(checked, cited, strict=True)
        )
    )


def _ask(context: Context, store: OpenStore, urls: Sequence[str]) -> dict[str, PageNow]:
    from kbcite.page.cleaning import clean_page
    from kbcite.stages.recheck_cited import ask_again

    settings, stop = store.settings, Stop()
    pages: dict[str, PageNow] = {}
    with (
        stop.listening(),
        fetching(context, store, is_kept=False) as render,
        progress(context, "verify") as advance,
    ):
        for page in ask_again(
            urls,
            store.database,
            store.archive,
            render.fetch,
            settings.sources,
            clean_page,
            settings.crawl,
            settings.recheck,
            context.clock,
            stop,
        ):
            pages[page.url] = page
            advance(page.url)
    return pages


def _rows(one: CitedToday) -> list[Row]:
    asked = f"  asked {to_minute(one.asked_at)}" if one.asked_at else ""
    rows = [
        row(
            f"  {OUTCOMES[one.outcome]:<12}",
            f"[{one.n}] {one.url}{asked}",
            label_style=_STYLES.get(one.outcome, "yellow"),
        )
    ]
    if one.detail:
        rows.append(row("              ", one_line(one.detail, 200), "dim"))
    if one.outcome != "changed":
        return rows
    rows.append(row("    cited     ", one.quoted))
    if one.difference:
        return [*rows, Row("    now       ", change_pieces(one.difference))]
    return [*rows, row("    now       ", "nothing like it is left on the page", "yellow")]


_STYLES = {"there": "green", "changed": "bold red", "gone": "bold red"}
