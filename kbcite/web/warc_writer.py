"""Archived answers → a WARC 1.1 file: request, response and revisit records, redirects before the page that they lead to.

Of a rendered page the response is what the server sent; what a browser made of it follows as a conversion record that refers to it.

The archive keeps bodies with their content encoding undone, so that is what the file holds: `Content-Encoding` and `Transfer-Encoding`
are written as `x-orig-…`, and `Content-Length` is that of the bytes in the file. Of a redirect only status and target were
kept; its record says so. Cookies and credentials that were sent are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import IO, TYPE_CHECKING

from kbcite.errors import UsageError
from kbcite.fetch_records import RENDERED_BY, ArchivedAnswer, FetchedPage
from kbcite.urls import split

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

_CODINGS = ("content-encoding", "transfer-encoding")
_SECRETS = frozenset({"cookie", "authorization", "proxy-authorization"})
REBUILT = ("x-kbcite-rebuilt", "only the status and the target of this redirect were kept")


@dataclass(slots=True)
class Written:
    """Records of each kind."""

    responses: int = 0
    revisits: int = 0
    conversions: int = 0


def write_warc(
    file: IO[bytes], answers: Iterable[ArchivedAnswer], body_of: Callable[[str], bytes], software: str
) -> Written:
    """Write answers as gzip members, in their order; `body_of` gives the bytes of a digest.

    Raises UsageError where warcio is not installed.
    """
    try:
        from warcio.warcwriter import WARCWriter
    except ImportError as error:
        raise UsageError('WARC files need the package warcio; run pip install "kbcite[warc]"') from error
    writer = WARCWriter(file, gzip=True, warc_version="1.1")
    fields = {"software": software, "format": "WARC File Format 1.1", "robots": "obey"}
    writer.write_record(writer.create_warcinfo_record(None, fields))
    first: dict[str, tuple[str, str, str]] = {}
    written = Written()
    for answer in answers:
        page = answer.page
        at = {"WARC-Date": page.fetched_at}
        _write_redirects(writer, page)
        digest = answer.received_digest or answer.digest
        headers = _http_headers(page)
        if digest in first:
            record = writer.create_revisit_record(page.final_url, *first[digest], headers, at)
            written.revisits += 1
        else:
            body = body_of(digest)
            headers.replace_header("content-length", str(len(body)))
            record = writer.create_warc_record(
                page.final_url, "response", BytesIO(body), len(body), "", at, None, headers
            )
            payload_digest = record.rec_headers.get_header("WARC-Payload-Digest")
            first[digest] = (payload_digest, page.final_url, page.fetched_at)
            written.responses += 1
        record_id = record.rec_headers.get_header("WARC-Record-ID")
        if page.request_headers:
            writer.write_record(_request(writer, page, record_id))
        writer.write_record(record)
        if answer.received_digest:
            writer.write_record(_conversion(writer, page, body_of(answer.digest), record_id))
            written.conversions += 1
    return written


def _conversion(writer: WARCWriter, page: FetchedPage, body: bytes, refers_to: str) -> ArcWarcRecord:
    """What a browser made of the answer in another record."""
    headers = {"WARC-Date": page.fetched_at, "WARC-Refers-To": refers_to, RENDERED_BY: page.header(RENDERED_BY) or ""}
    content_type = page.header("content-type") or ""
    return writer.create_warc_record(page.final_url, "conversion", BytesIO(body), len(body), content_type, headers)


def _http_headers(page: FetchedPage) -> StatusAndHeaders:
    """Of what the server sent."""
    from warcio.statusandheaders import StatusAndHeaders

    sent = page.received.headers if page.received else page.headers
    headers = [(f"x-orig-{name}" if name in _CODINGS else name, value) for name, value in sent]
    return StatusAndHeaders(_status_line(page.status), headers, protocol="HTTP/1.1")


def _status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"


def _write_redirects(writer: WARCWriter, page: FetchedPage) -> None:
    from warcio.statusandheaders import StatusAndHeaders

    targets = [*(url for _, url in page.redirects), page.final_url][1:]
    for (status, url), target in zip(page.redirects, targets, strict=True):
        headers = StatusAndHeaders(
            _status_line(status), [("location", target), ("content-length", "0"), REBUILT], protocol="HTTP/1.1"
        )
        writer.write_record(
            writer.create_warc_record(url, "response", BytesIO(), 0, "", {"WARC-Date": page.fetched_at}, None, headers)
        )


def _request(writer: WARCWriter, page: FetchedPage, concurrent_to: str) -> ArcWarcRecord:
    from warcio.statusandheaders import StatusAndHeaders

    parts = split(page.final_url)
    target = f"{parts.path}{parts.query}" if parts is not None else page.final_url
    headers = [(name, value) for name, value in page.request_headers if name.lower() not in _SECRETS]
    if parts is not None and not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("host", parts.origin.partition("://")[2]))
    return writer.create_warc_record(
        page.final_url,
        "request",
        http_headers=StatusAndHeaders(f"GET {target} HTTP/1.1", headers, is_http_request=True),
        warc_headers_dict={"WARC-Date": page.fetched_at, "WARC-Concurrent-To": concurrent_to},
    )
