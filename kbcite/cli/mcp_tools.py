"""The tools that `kbcite mcp` serves: what each is called, says of itself, takes and gives. No SDK here: a call is arguments → Reply.

Each call opens the store for itself, so that any number may run beside one another and each sees the newest state. What the server may
show is narrowed by its labels and source type on every way to a text: search, answers, blocks, pages, checks and live pages (SPEC 46).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from kbcite.cli.context import Context, OpenStore
from kbcite.cli.mcp_schemas import (
    ASK,
    ASK_TAKES,
    LIVE,
    LIVE_GIVES,
    LIVE_TAKES,
    SEARCH,
    SEARCH_GIVES,
    SEARCH_TAKES,
    SHOW,
    SHOW_GIVES,
    SHOW_TAKES,
    UNVERIFIED,
    VERIFY,
    VERIFY_GIVES,
    VERIFY_TAKES,
)
from kbcite.clock import to_minute
from kbcite.errors import NotFound, UsageError
from kbcite.plain_words import unfit_reason
from kbcite.records import LiveMode, SourceType
from kbcite.render import hit_lines, printable

if TYPE_CHECKING:
    from kbcite.stages.live import LiveBranch


class Stopped(Exception):
    """The call was cancelled or took too long: what it would give is no longer wanted."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool gives: for a reader, and for a program."""

    text: str
    record: dict[str, Any]
    after: ExitStack | None = None
    """To be closed once the reply is given: what it waits for need not be waited for by the caller."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    title: str
    description: str
    takes: dict[str, Any]
    """JSON Schema of the arguments."""
    gives: dict[str, Any]
    """JSON Schema of the record."""
    run: Callable[[Mapping[str, Any], threading.Event], Reply]
    reaches_out: bool = False
    """It talks to web sites."""


@dataclass
class Served:
    """A store as it is served; close it at the end.

    labels, source_type: nothing else is shown. allows_live: `fetch_live_data` is offered, and answers look at live pages.
    """

    context: Context
    labels: tuple[str, ...] = ()
    source_type: SourceType | None = None
    allows_live: bool = False
    _doors: ExitStack = field(default_factory=ExitStack)
    _branch: LiveBranch | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        self._doors.close()

    def tools(self) -> tuple[Tool, ...]:
        from kbcite.answer.record import schema

        tools = (
            Tool("search", "Search the knowledge base", SEARCH, SEARCH_TAKES, SEARCH_GIVES, self._search),
            Tool("ask", "Ask the knowledge base", ASK, ASK_TAKES, schema(), self._ask, self.allows_live),
            Tool("show", "Show what stands behind a citation", SHOW, SHOW_TAKES, SHOW_GIVES, self._show),
            Tool("verify", "Check citations", VERIFY, VERIFY_TAKES, VERIFY_GIVES, self._verify),
        )
        if not self.allows_live:
            return tools
        live = Tool("fetch_live_data", "Fetch a page now", LIVE, LIVE_TAKES, LIVE_GIVES, self._fetch_live, True)
        return (*tools, live)

    # ------------------------------------------------------------ tools

    def _search(self, given: Mapping[str, Any], stop: threading.Event) -> Reply:
        from kbcite.cli.search import open_find, open_store_encoder, ranking_options

        query = _text(given, "query")
        source_type, labels = self._narrowed(given)
        with self.context.reading() as store:
            _end_when(stop, store)
            encoder = open_store_encoder(self.context, store)
            ranking = ranking_options(self.context, store, given.get("top_k", 10), 0.05)
            hits = open_find(store, encoder, ranking, source_type, labels)(query).used
        record = {
            "query": query,
            "hits": [
                {
                    "block_id": hit.block.id,
                    "url": hit.place.url,
                    "title": hit.place.title,
                    "heading_chain": list(hit.place.heading_chain),
                    "text": hit.place.text or hit.block.text,
                    "score": round(hit.scores.relevance, 4),
                    "published_at": hit.place.published_at,
                    "fetched_at": hit.place.fetched_at,
                    "source_type": str(hit.place.source_type),
                }
                for hit in hits
            ],
        }
        return Reply(hit_lines(hits, explain=False) or f"nothing found for {printable(query)}", record)

    def _ask(self, given: Mapping[str, Any], stop: threading.Event) -> Reply:
        from kbcite.answer.record import to_record
        from kbcite.cli.answer_output import plain_text
        from kbcite.cli.ask import answer_anew
        from kbcite.cli.telemetry import open_telemetry
        from kbcite.stages.ask import save_answer

        question = " ".join(_text(given, "question").split())
        source_type, labels = self._narrowed(given)
        with ExitStack() as doors:
            store = doors.enter_context(self.context.reading())
            _end_when(stop, store)
            send_trace = open_telemetry(self.context, store)
            answered = answer_anew(
                self.context,
                store,
                question,
                top_k=given.get("top_k"),
                source_type=source_type,
                labels=labels,
                question_class=given.get("class"),
                live=store.settings.live.mode if self.allows_live else LiveMode.NEVER,
                doors=doors,
            )
            if stop.is_set():
                raise Stopped  # nobody gets this answer: it is not kept either
            if not save_answer(store.database, answered):
                self.context.say(f"{self.context.store} cannot be written, so the answer is not kept")
            store.database.connection.set_progress_handler(None, 0)
            doors.callback(send_trace, answered)
            after = doors.pop_all()
        answer = answered.answer
        return Reply(f"{plain_text(answer)}\n\nanswer {answer.id}", to_record(answer), after)

    def _show(self, given: Mapping[str, Any], stop: threading.Event) -> Reply:
        from kbcite.answer.record import from_record
        from kbcite.cli.answer_output import plain_text
        from kbcite.cli.saved_answers import find_answer
        from kbcite.cli.show import is_answer, shown

        what = given.get("id", "").strip() or None
        with self.context.reading() as store:
            _end_when(stop, store)
            if is_answer(what):
                record = find_answer(store, what)
                self._require(store, _urls_of(record), f"answer {record['id']}")
                return Reply(plain_text(from_record(record)), {"kind": "answer", "shown": record})
            assert what is not None, "nothing is the last answer"
            found = shown(store, what, lambda url: self._allows(store, url))
            self._require(store, found.urls, f"{found.kind} {what!r}")
        return Reply(found.text, {"kind": found.kind, "shown": json.loads(json.dumps(found.record))})

    def _verify(self, given: Mapping[str, Any], stop: threading.Event) -> Reply:
        from kbcite.cli.rows import plain_rows
        from kbcite.cli.saved_answers import find_answer
        from kbcite.cli.verify import report_record, report_rows
        from kbcite.stages.verify import Verifier

        text, answer_id = given.get("text", ""), given.get("answer", "").strip() or None
        if text and answer_id:
            raise UsageError("give text, or the ID of an answer, not both")
        with self.context.reading() as store:
            _end_when(stop, store)
            verifier = Verifier(store.database, store.archive, lambda url: self._allows(store, url))
            if text:
                report = verifier.text("text", text)
            else:
                record = find_answer(store, answer_id)
                self._require(store, _urls_of(record), f"answer {record['id']}")
                report = verifier.answer(record)
        reports = (report,)
        return Reply(plain_rows(report_rows(reports, reports)), json.loads(json.dumps(report_record(reports))))

    def _fetch_live(self, given: Mapping[str, Any], stop: threading.Event) -> Reply:
        from kbcite.records import Skipped
        from kbcite.urls import resolve

        url = _text(given, "url").strip()
        branch = self._live_branch()
        address = resolve(url, url)
        source = branch.scope.source_of(address) if address else None
        if source is not None and not self._serves(source.type, source.labels):
            raise NotFound(f"{url} is of a source that is not served here")
        if stop.is_set():
            raise Stopped
        page = branch.fetch_live(url, given.get("selector", ""))
        if isinstance(page, Skipped):
            why = unfit_reason(": ".join(part for part in (page.reason, page.detail) if part), "en")
            raise UsageError(f"{url} was not fetched ({page.reason}): {why}")
        age = "from the pool of pages fetched within the hour" if page.is_pooled else "fetched now"
        dates = f"published {page.published_at}, " if page.published_at else ""
        head = f"{printable(page.title)}\n{printable(page.url)}\n{dates}{age}, {to_minute(page.fetched_at)}"
        cut = "\n\n(cut here)" if page.is_cut else ""
        return Reply(f"{head}\n{UNVERIFIED}\n\n{printable(page.text)}{cut}", {**asdict(page), "notice": UNVERIFIED})

    # ------------------------------------------------------------ what may be shown

    def _narrowed(self, given: Mapping[str, Any]) -> tuple[SourceType | None, tuple[str, ...]]:
        """The source type and labels of a call, never wider than those of the server."""
        labels = tuple(given.get("labels", ()))
        if self.labels and labels:
            labels = tuple(label for label in labels if label in self.labels)
            if not labels:
                raise UsageError(f"only pages with these labels are served: {', '.join(self.labels)}")
        wanted = SourceType(given["source_type"]) if "source_type" in given else None
        if self.source_type and wanted not in (None, self.source_type):
            raise UsageError(f"only pages of type {self.source_type} are served")
        return wanted or self.source_type, labels or self.labels

    def _serves(self, source_type: SourceType, labels: tuple[str, ...]) -> bool:
        has_label = not self.labels or not set(self.labels).isdisjoint(labels)
        return has_label and self.source_type in (None, source_type)

    def _allows(self, store: OpenStore, url: str) -> bool:
        from kbcite.urls import url_key

        if not self.labels and self.source_type is None:
            return True
        page = store.database.pages.get(url, url_key(url))
        return page is not None and self._serves(page.source_type, page.labels)

    def _require(self, store: OpenStore, urls: tuple[str, ...], what: str) -> None:
        """Raises NotFound where one of the pages is not served, or where there is none and not everything is."""
        is_narrowed = bool(self.labels) or self.source_type is not None
        if not all(self._allows(store, url) for url in urls) or (is_narrowed and not urls):
            raise NotFound(f"{what} is of pages that are not served here")

    def _live_branch(self) -> LiveBranch:
        """The one branch of all calls: hosts are asked at their pace however many calls there are."""
        from kbcite.cli.live import open_live

        with self._lock:
            if self._branch is None:
                store = self._doors.enter_context(self.context.reading())
                self._branch = self._doors.enter_context(open_live(self.context, store))
            return self._branch


def _end_when(stop: threading.Event, store: OpenStore) -> None:
    """Let SQLite give up whatever it is at when the call is to stop."""
    store.database.connection.set_progress_handler(stop.is_set, 10_000)


def _text(given: Mapping[str, Any], name: str) -> str:
    text: str = given[name]
    if not text.strip():
        raise UsageError(f"{name} is empty")
    return text


def _urls_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(source["url"] for kind in ("internal", "web") for source in record["sources"][kind])
