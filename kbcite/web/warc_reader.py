"""WARC 1.0, 1.1 and WACZ files → the answers in them, as if they had just been fetched.

The file is a stranger's: every record is checked against its own digest, and nothing is read without a limit. A body ends at
`max_bytes`, a record's head at `MAX_HEAD_BYTES`, and all records together at `MAX_EXPANSION` times the file, which no honest page
reaches and a bomb does at once. A record that cannot be used is skipped with its reason, and the next one is read. Of the conversion
records only those are read in which kbcite keeps what a browser made of the answer before them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kbcite.clock import from_text, to_text
from kbcite.errors import UsageError
from kbcite.fetch_records import RENDERED_BY, FetchedPage
from kbcite.records import Skipped, Stage
from kbcite.urls import resolve, url_key
from kbcite.web.content_coding import PIECE, CodingError, undo
from kbcite.web.rendered_page import as_rendered

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord

MAX_HEAD_BYTES = 1_000_000
MAX_EXPANSION = 200
MIN_EXPANDED_BYTES = 200_000_000
MAX_PENDING_REDIRECTS = 100_000
MAX_HOPS = 20
ORIGINAL = "x-orig-"
"""Before the name of a header that describes bytes which the file does not hold any more, as Browsertrix writes it."""


@dataclass(frozen=True, slots=True)
class Capture:
    """One answer out of a file."""

    page: FetchedPage
    payload_digest: str = ""
    """As the file names it: what revisits refer to."""
    is_revisit: bool = False
    """What was received is the same as in an earlier record with this payload digest; here it is empty."""
    record_id: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """Where a file ends being readable; what came before it was given."""

    file: str
    detail: str


def read_captures(path: Path, max_bytes: int) -> Iterator[Capture | Skipped | Broken]:
    """Every HTTP answer in a WARC or WACZ file, redirects joined to the page that they lead to.

    max_bytes: the largest body. Raises UsageError for a file that is neither, or where warcio is not installed.
    """
    _require_warcio()
    budget = _Budget(max(MIN_EXPANDED_BYTES, MAX_EXPANSION * path.stat().st_size))
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as wacz:
            names = sorted(name for name in wacz.namelist() if _is_warc_of_wacz(name))
            if not names:
                raise UsageError(f"{path} is a zip file without archive/*.warc.gz; a WACZ file has them")
            for name in names:
                try:
                    with wacz.open(name) as file:
                        yield from _read_file(file, f"{path}:{name}", max_bytes, budget)
                except (zipfile.BadZipFile, RuntimeError, NotImplementedError, UsageError) as error:
                    # RuntimeError: zipfile's word for a member under a password. One member must not hide the others.
                    yield Broken(f"{path}:{name}", str(error))
        return
    with path.open("rb") as file:
        yield from _read_file(file, str(path), max_bytes, budget)


def _is_warc_of_wacz(name: str) -> bool:
    return name.startswith("archive/") and name.endswith((".warc", ".warc.gz"))


@dataclass(slots=True)
class _Budget:
    """Bytes that the records of a file may still have in all."""

    left: int


def _read_file(file: IO[bytes], name: str, max_bytes: int, budget: _Budget) -> Iterator[Capture | Skipped | Broken]:
    from warcio.exceptions import ArchiveLoadFailed

    records = 0
    redirects: dict[str, tuple[tuple[int, str], ...]] = {}
    request: ArcWarcRecord | None = None
    held: Capture | Skipped | None = None  # until it is known that no conversion of it follows
    broken: Broken | None = None
    try:
        for record in _records(file, budget):
            records += 1
            if record.rec_type == "request" and record.http_headers is not None:
                request = record
            elif record.rec_type == "conversion":
                if isinstance(held, Capture) and _is_rendering(record, held):
                    # Let go of first: should the file break off here, what was received must not pass for the page.
                    received, held = held, None
                    held = _with_rendering(received, record, max_bytes)
            elif record.rec_type in ("response", "revisit"):
                if held is not None:
                    yield held
                    held = None
                outcome = _read_answer(record, max_bytes)
                if isinstance(outcome, Capture):
                    if request is not None and _belong_together(request, record):
                        outcome = replace(outcome, page=replace(outcome.page, request_headers=_headers(request)))
                    if _note_redirect(outcome.page, redirects):
                        continue
                    outcome = replace(outcome, page=_with_redirects(outcome.page, redirects))
                held = outcome
    except (ArchiveLoadFailed, EOFError, OSError, ValueError) as error:
        # ValueError: zlib's and the header parser's complaints about bytes that are no WARC.
        detail = " ".join(str(error).split()) or type(error).__name__
        if not records:
            raise UsageError(
                f"{name} is not a WARC or WACZ file ({detail[:200]}); give one that a crawler wrote"
            ) from error
        broken = Broken(name, f"record {records + 1}: {detail[:200]}")
    if held is not None:
        yield held
    if broken is not None:
        yield broken
    if not records:
        raise UsageError(f"{name} is not a WARC or WACZ file: there is no record in it; give one that a crawler wrote")


@contextmanager
def _named_errors() -> Iterator[None]:
    """warcio passes zlib's own error on; it becomes one of those that `_read_file` knows."""
    import zlib

    try:
        yield
    except zlib.error as error:
        raise ValueError(str(error)) from error


def _records(file: IO[bytes], budget: _Budget) -> Iterator[ArcWarcRecord]:
    """The records one by one; the head and the declared length of each are bounded before more is read of it."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.bufferedreaders import DecompressingBufferedReader

    class BoundedReader(DecompressingBufferedReader):  # type: ignore[misc]  # warcio has no types
        head_bytes = 0

        def readline(self, length: int = 0) -> bytes:
            line: bytes = super().readline(length or MAX_HEAD_BYTES)
            self.head_bytes += len(line)
            if self.head_bytes > MAX_HEAD_BYTES:
                raise ValueError("the head of a record does not end")
            return line

    iterator = ArchiveIterator(file, check_digests=True)
    iterator.reader = reader = BoundedReader(iterator.fh)
    while True:
        reader.head_bytes = 0
        with _named_errors():
            record = next(iterator, None)
        if record is None:
            return
        budget.left -= max(record.length or 0, 0)
        if budget.left < 0:
            raise ValueError(f"its records are more than {MAX_EXPANSION} times larger than the file")
        reader.head_bytes = 0
        yield record


def _read_answer(record: ArcWarcRecord, max_bytes: int) -> Capture | Skipped | None:
    """The answer that a response or revisit record holds; None for one that is not of HTTP."""
    target = record.rec_headers.get_header("WARC-Target-URI") or ""
    url = resolve(target, target)
    if url is None or record.http_headers is None:
        return None
    try:
        at = to_text(from_text(record.rec_headers.get_header("WARC-Date") or ""))
        status = int(record.http_headers.get_statuscode())
    except (ValueError, OverflowError):
        return _skip(url, "record_head", "its date or its status cannot be read")
    payload_digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
    record_id = record.rec_headers.get_header("WARC-Record-ID") or ""
    headers = _headers(record)
    if record.rec_type == "revisit":
        profile = record.rec_headers.get_header("WARC-Profile") or ""
        if "identical-payload-digest" not in profile:
            return _skip(url, "revisit", "a revisit without a body of its own")
        return Capture(FetchedPage(url, url, status, _restored(headers), b"", at), payload_digest, True, record_id)
    body = _body(record, headers, max_bytes)
    if isinstance(body, str):
        return _skip(url, body, f"of {max_bytes} bytes at most" if body == "too_large" else "")
    if record.digest_checker is not None and record.digest_checker.passed is False:
        return _skip(url, "wrong_digest", "its bytes are not those that were written")
    page = FetchedPage(url, url, status, _restored(headers), body, at, encoded_length=len(body))
    return Capture(page, payload_digest, record_id=record_id)


def _is_rendering(record: ArcWarcRecord, held: Capture) -> bool:
    """Whether a conversion record says that a browser made it of this answer."""
    refers_to = record.rec_headers.get_header("WARC-Refers-To")
    return refers_to == held.record_id and record.rec_headers.get_header(RENDERED_BY) is not None


def _with_rendering(held: Capture, record: ArcWarcRecord, max_bytes: int) -> Capture | Skipped:
    """The answer as a rendered page. Without its rendering it would pass for a page that says nothing."""
    body = _body(record, (), max_bytes)
    if isinstance(body, str):
        return _skip(held.page.final_url, body, "what a browser made of it")
    if record.digest_checker is not None and record.digest_checker.passed is False:
        return _skip(held.page.final_url, "wrong_digest", "what a browser made of it is not what was written")
    return replace(held, page=as_rendered(held.page, body, record.rec_headers.get_header(RENDERED_BY)))


def _body(record: ArcWarcRecord, headers: tuple[tuple[str, str], ...], max_bytes: int) -> bytes | str:
    """The body with transfer and content encoding undone, or the machine word of why there is none."""
    from warcio.bufferedreaders import ChunkedDataReader

    stream: Any = record.raw_stream
    codings = dict(headers)
    if codings.get("transfer-encoding", "").lower() == "chunked":
        stream = ChunkedDataReader(stream)
    pieces: list[bytes] = []
    size = 0
    with _named_errors():
        try:
            for piece in undo(_pieces(stream), codings.get("content-encoding", "")):
                size += len(piece)
                if size > max_bytes:
                    return "too_large"
                pieces.append(piece)
        except CodingError:
            return "content_coding"
        while record.raw_stream.read(PIECE):
            pass  # what follows the coded body belongs to the digest
    if getattr(record.raw_stream, "limit", 0) > 0:
        return "truncated"
    return b"".join(pieces)


def _pieces(stream: Any) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece


def _belong_together(request: ArcWarcRecord, answer: ArcWarcRecord) -> bool:
    """Whether one names the other; which one does differs between programs."""
    one, other = request.rec_headers, answer.rec_headers
    return one.get_header("WARC-Record-ID") is not None and (
        one.get_header("WARC-Concurrent-To") == other.get_header("WARC-Record-ID")
        or other.get_header("WARC-Concurrent-To") == one.get_header("WARC-Record-ID")
    )


def _headers(record: ArcWarcRecord) -> tuple[tuple[str, str], ...]:
    return tuple((str(name).lower(), str(value)) for name, value in record.http_headers.headers)


def _restored(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The headers as the server sent them."""
    renamed = {name.removeprefix(ORIGINAL) for name, _ in headers if name.startswith(ORIGINAL)}
    return tuple((name.removeprefix(ORIGINAL), value) for name, value in headers if name not in renamed)


def _note_redirect(page: FetchedPage, redirects: dict[str, tuple[tuple[int, str], ...]]) -> bool:
    """Whether the answer is a redirect; where it leads, and from where, is remembered."""
    location = page.header("location")
    target = resolve(page.url, location) if location and 300 <= page.status < 400 else None
    if target is None:
        return False
    hops = (*redirects.pop(url_key(page.url), ()), (page.status, page.url))
    if len(redirects) < MAX_PENDING_REDIRECTS and len(hops) <= MAX_HOPS:
        redirects[url_key(target)] = hops
    return True


def _with_redirects(page: FetchedPage, redirects: dict[str, tuple[tuple[int, str], ...]]) -> FetchedPage:
    hops = redirects.pop(url_key(page.final_url), ())
    return replace(page, url=hops[0][1], redirects=hops) if hops else page


def _skip(url: str, reason: str, detail: str) -> Skipped:
    return Skipped(url, Stage.IMPORT, reason, detail)


def _require_warcio() -> None:
    try:
        import warcio  # noqa: F401  # only whether it is there
    except ImportError as error:
        raise UsageError('WARC files need the package warcio; run pip install "kbcite[warc]"') from error
