"""The records that flow between stages, in the order data flows.

Page bytes → DecodedPage → CleanDocument → Block and Occurrence → RetrievedBlock → Answer. Every record is frozen;
an outcome that is not success is a record too (`Skipped`, `Refusal`). What a server answered is in `fetch_records.py`, pages looked at
beside the store in `live_records.py`. Times are ISO 8601 in UTC with seconds
(`2026-11-30T15:48:21Z`), so that they sort as text. Offsets are Unicode code points, `end` exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class SourceType(StrEnum):
    """Who stands behind a page: the user's own documents, the web, or a page fetched while answering."""

    INTERNAL = "internal"
    WEB = "web"
    LIVE = "live"


class RenderMode(StrEnum):
    """Whether a source's pages go through a browser: those whose words are not in their HTML, none, or all."""

    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


class LiveMode(StrEnum):
    """Whether pages are fetched while answering: where the question asks for it, never, or always."""

    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


class PageState(StrEnum):
    """What the last visits said about a page. UNREACHABLE never becomes DEAD by itself."""

    ALIVE = "alive"
    CHANGED = "changed"
    """It says something else than the blocks that are searched; they are brought up to date by the next build."""
    MOVED = "moved"
    UNREACHABLE = "unreachable"
    DEAD = "dead"


class Tier(StrEnum):
    """How often a source's pages are visited again: the band in which each page's own interval moves."""

    LIVE = "live"
    """Between an hour and a day."""
    DAILY = "daily"
    WEEKLY = "weekly"
    """Between a day and a week."""
    MONTHLY = "monthly"
    """Between a day and thirty days."""


class Stage(StrEnum):
    CRAWL = "crawl"
    CLEAN = "clean"
    CHUNK = "chunk"
    INDEX = "index"
    ASK = "ask"
    RECHECK = "recheck"
    IMPORT = "import"
    LIVE = "live"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A piece of work that was left out, and why; the job goes on."""

    url: str
    stage: Stage
    reason: str
    """Short machine word, `robots_disallowed`, `too_large`, `needs_javascript` ..."""
    detail: str = ""
    """What a person needs to know beside the word: the rule, the size, the status."""


# ---------------------------------------------------------------- decoding and cleaning


@dataclass(frozen=True, slots=True)
class DecodedPage:
    text: str
    encoding: str
    """WHATWG name in lower case: utf-8, gb18030, big5, windows-1252 ..."""
    how: str
    """What decided: `bom`, `ascii`, `utf-8`, `declared`, `frequency`, `charset-normalizer`."""
    declared: tuple[tuple[str, str], ...] = ()
    """Declared labels as (place, label): place is `header`, `xml` or `meta`."""
    damage: float = 0.0
    """Share of characters that are U+FFFD, 0 to 1."""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """A run of a document's text and the place in the decoded page that it was read from."""

    start: int
    end: int
    source_start: int
    source_end: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A block of the page that cleaning removed, and the rule that did it."""

    rule: str
    text: str
    """The first characters of what was removed."""
    length: int
    """Characters of text removed."""
    link_density: float


@dataclass(frozen=True, slots=True)
class MainContent:
    """What extraction found in a page: its main text as Markdown, and where each run of it came from."""

    text: str
    spans: tuple[Span, ...]
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class Metadata:
    raw_title: str = ""
    """As the page has it."""
    title: str = ""
    """Site name and separators stripped, white space folded."""
    published_at: str | None = None
    """`YYYY-MM-DD` or a full time."""
    published_from: str | None = None
    """The place it was read from: `json-ld`, `meta:article:published_time`, `time`, `url`, `text` ..."""
    modified_at: str | None = None
    author: str | None = None
    site_name: str | None = None
    language: str | None = None
    """`zh`, `en`, or another BCP 47 primary tag."""
    canonical_url: str | None = None
    """Absolute `rel=canonical` (or og:url), where the page names one."""


@dataclass(frozen=True, slots=True)
class CleanDocument:
    """The main content of one snapshot."""

    url: str
    digest: str
    text: str
    spans: tuple[Span, ...]
    metadata: Metadata
    encoding: str
    fingerprint: str
    """SHA-256 of title and main text with counters and clock times masked (SPEC 61)."""
    id: int = 0
    """Set by the store."""


# ---------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text with an identity that depends on that text alone."""

    id: str
    text: str
    words: int
    language: str
    """`zh` or `en` by the share of CJK characters; what per-language centring goes by."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a block stands."""

    block_id: str
    start: int
    """In the document's text: `document.text[start:end]` is the block's text."""
    end: int
    heading_chain: tuple[str, ...]
    """Headings above the block, outermost first, without the page title."""
    ordinal: int
    """Position among the document's blocks, from 0."""
    context: str = ""
    """Header row or caption repeated for a piece of a table or code block; not part of the span."""


@dataclass(frozen=True, slots=True)
class Place:
    """An occurrence together with the page it stands on: what a citation needs beside the text."""

    document_id: int
    start: int
    end: int
    heading_chain: tuple[str, ...]
    url: str
    title: str
    published_at: str | None
    fetched_at: str
    source_type: SourceType
    state: PageState
    digest: str
    labels: tuple[str, ...] = ()
    ordinal: int = 0
    text: str = ""
    """The document's own text at the span, byte for byte what a quote is cut from."""
    context: str = ""
    """Header row or caption that belongs to the span and stands elsewhere in the document."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Each is a similarity: higher is better."""

    dense: float
    """Cosine of the centred vectors, -1 to 1."""
    coverage: float
    """Word-search score over the question's idf sum, 0 to about 1."""
    fused: float
    """What the order goes by, 0 to 1."""
    relevance: float = 0.0
    """Calibrated 0 to 1: what the refusal threshold is compared with."""
    missing_figures: int = 0
    """Figures of the question that the block lacks."""
    rerank: float | None = None
    """Score of a cross-encoder, which the order then goes by; None where none was asked."""
    kept: float | None = None
    """Share that the page's age left of `fused`, which has it already; None where age does not count or is not known."""


@dataclass(frozen=True, slots=True)
class RetrievedBlock:
    block: Block
    place: Place
    """The occurrence that is cited first."""
    scores: Scores
    also: tuple[Place, ...] = ()
    """Further places of the same text."""
    dropped: str | None = None
    """Why the candidate is not used: `below_threshold`, `page_crowded`, `figure_mismatch`, `near_duplicate`,
    `over_top_k`; None if it is."""


# ---------------------------------------------------------------- answers


class Verdict(StrEnum):
    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"


class RefusalReason(StrEnum):
    EMPTY_RECALL = "empty_recall"
    BELOW_THRESHOLD = "below_threshold"
    CITATION_CHECK_FAILED = "citation_check_failed"
    DOMAIN_NOT_ALLOWED = "domain_not_allowed"
    STALE_ONLY = "stale_only"
    NO_PERMISSION = "no_permission"


@dataclass(frozen=True, slots=True)
class Marker:
    """One `[n]` in the answer's text; `start` and `end` are of the marker itself."""

    n: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the answer: `start` and `end` in the answer's text, without its markers."""

    start: int
    end: int
    markers: tuple[Marker, ...]
    verdict: Verdict
    score: float
    checks: tuple[tuple[str, str], ...] = ()
    """Named checks and their outcomes: (`numbers`, `ok`), (`negation`, `differs`) ..."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The exact words a citation rests on: `document.text[start:end] == text`."""

    text: str
    start: int
    end: int
    exact: bool


@dataclass(frozen=True, slots=True)
class SnapshotReference:
    digest: str
    byte_start: int | None = None
    byte_end: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One entry of the numbered source list."""

    n: int
    block_id: str
    url: str
    title: str
    heading_chain: tuple[str, ...]
    published_at: str | None
    fetched_at: str
    age_s: int
    source_type: SourceType
    state: PageState
    quote: Quote
    deep_link: str | None
    snapshot: SnapshotReference
    also: tuple[str, ...] = ()
    """URLs of further pages that hold the same text."""
    scores: Scores | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Values that differ between sources, each with its source number."""

    what: str
    values: tuple[tuple[str, int], ...]
    ruling: str


@dataclass(frozen=True, slots=True)
class Grounding:
    coverage: float
    """Share of factual sentences with a citation, 0 to 1."""
    support: float
    """Share of cited sentences that their block supports, 0 to 1."""
    retries: int = 0
    dropped_markers: int = 0
    path: tuple[str, ...] = ()
    """What was done, in order: `asked`, `re-asked: [7] is not a source`, `stripped 1 sentence` ..."""
    confidence: float | None = None
    """How likely the blocks answer the question at all, 0 to 1, judged before anything was worded."""


@dataclass(frozen=True, slots=True)
class LiveUse:
    """What fetching while answering came to."""

    triggered: bool
    why: tuple[str, ...]
    """What asked for it, or why nothing did."""
    urls: tuple[str, ...] = ()
    """Pages that were asked for, from the pool or the web."""
    elapsed_ms: float = 0.0
    outcome: str = "stored"
    """What the answer could rest on: `stored`, `pool`, `live`, or `fell_back` where nothing of the fetched pages was fit."""
    filters: tuple[str, ...] = ()
    """`URL: reason: detail` of each page that was not used."""


@dataclass(frozen=True, slots=True)
class Freshness:
    question_class: str
    window_s: int | None
    newest_source: str | None
    stale_sources: tuple[int, ...] = ()
    live: LiveUse | None = None
    """None where fetching was not considered."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    candidates: int
    above_threshold: int
    used: int
    threshold: float
    best_score: float | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    reason: RefusalReason
    message: str
    best_score: float | None = None
    """The number that fell short of `needed`: relevance before anything was read, confidence after."""
    next: str = "clarify"
    """`clarify` or `human`."""
    needed: float | None = None
    """What `best_score` was held against; None where no number decided."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The record `kbcite.answer/1`: answered with sources, or refused with a reason; everything shown is rendered from it."""

    id: str
    trace_id: str
    created_at: str
    question: str
    lang: str
    text: str
    claims: tuple[Claim, ...]
    sources: tuple[Source, ...]
    grounding: Grounding
    retrieval: Retrieval
    freshness: Freshness
    refusal: Refusal | None = None
    conflicts: tuple[Conflict, ...] = ()
    method: str = "extractive"
    """`extractive`, or the name of the model that worded it."""
    usage: tuple[tuple[str, int], ...] = ()
    """Tokens of the model's calls."""
    timing_ms: tuple[tuple[str, float], ...] = field(default=())
    notices: tuple[str, ...] = ()
    """What a reader must know beside the text, in the question's language: stale sources, live pages, low coverage."""

    @property
    def status(self) -> str:
        return "refused" if self.refusal else "answered"
