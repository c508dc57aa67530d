"""HTTP/1.1 as far as a crawler needs it (RFC 9112): a request, the head of its answer, then the body piece by piece.

Written out, because the layers of general clients were most of what a fetch cost (requests over urllib3 over http.client: 0.65 ms of
CPU a page more than this), and because each length that a server may choose is so bounded in one place. Names and values of headers are
checked on their way out. What comes in and can be read in two ways (two lengths, a chunk size that is no number) ends the answer. A
connection is used again only where the answer before ended exactly where the connection stands.
"""

from __future__ import annotations

import re
import ssl
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kbcite.urls import UrlParts
from kbcite.web.guard import Hop, Link, PrivateAddress, TooMuch, connect, tls_context

PIECE = 65_536
MAX_HEAD = 200_000
MAX_HEADERS = 100
MAX_INTERIM = 20
"""Answers such as `100 Continue` that may come before the one that counts."""
MAX_LINE = 4_096
"""Of a chunk's size and of a trailer."""
MAX_HOSTS = 64
"""Hosts to which connections are kept, those used last."""

_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(r"HTTP/1\.(\d)[ \t]+([1-9]\d\d)(?:[ \t]|\Z)", re.ASCII)
_START = b"HTTP/"
_LENGTH = re.compile(r"\d{1,40}", re.ASCII)
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,16})[ \t]*(?:;.*)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NO_VALUE = re.compile(r"[\r\n\0]")

Headers = tuple[tuple[str, str], ...]


class ProtocolError(Exception):
    """What came is not HTTP, or not all of it came."""


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before an answer's body."""

    version: int
    """The figure behind `HTTP/1.`"""
    status: int
    headers: Headers
    """Names in lower case."""

    def first(self, name: str) -> str:
        """The first value of a header, empty where there is none."""
        return next((value for other, value in self.headers if other == name), "")

    def joined(self, name: str) -> str:
        """All values of a header that is a list, joined by commas."""
        return ", ".join([value for other, value in self.headers if other == name])


def request_bytes(method: str, parts: UrlParts, headers: Iterable[tuple[str, str]], body: bytes = b"") -> bytes:
    """A request as it goes over the wire. Raises ValueError for a header that would be more than one, or is not Latin-1."""
    lines = [f"{method} {parts.path or '/'}{parts.query} HTTP/1.1", f"Host: {parts.origin.partition('://')[2]}"]
    for name, value in headers:
        if not _NAME.fullmatch(name) or _NO_VALUE.search(value):
            raise ValueError(f"{name[:100]!r}: {value[:100]!r} is no header")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class Connection:
    """A connection on which one request follows another."""

    head: Head
    """Of the last answer."""
    length: int | None
    """Bytes that its body is said to have, None where that is not said."""
    received: int
    """Bytes of it that were read."""

    def __init__(self, key: tuple[str, str, str], link: Link) -> None:
        self.key = key
        """Scheme, host and port."""
        self.link = link
        self._buffer = bytearray()
        self._is_whole = False

    def ask(self, request: bytes) -> Head:
        """Send a request; the head of its answer. Raises ProtocolError, and what `Link` raises."""
        self._is_whole = False
        self.link.send(request)
        for _ in range(MAX_INTERIM):
            self.head = self._read_head()
            if self.head.status >= 200:
                self.length, self.received = _length_of(self.head), 0
                self._is_whole = self.length == 0
                return self.head
        raise ProtocolError(f"more than {MAX_INTERIM} interim answers")

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes. Raises ProtocolError, and what `Link` raises."""
        if _is_chunked(self.head):
            yield from self._chunks()
        elif self.length is not None:
            yield from self._exactly(self.length)
        else:
            yield from self._rest()
            return
        self._is_whole = True

    def is_free(self) -> bool:
        """Whether another request may follow."""
        if not self._is_whole and self.length is not None and self.length == len(self._buffer):
            self._buffer.clear()  # a body that nobody wanted, such as a redirect's, is here already
            self._is_whole = True
        wishes = self.head.joined("connection").lower()
        stays = "close" not in wishes if self.head.version else "keep-alive" in wishes
        return self._is_whole and stays and not self._buffer

    def _read_head(self) -> Head:
        start = 0
        while (end := _HEAD_END.search(self._buffer, start, MAX_HEAD)) is None:
            if len(self._buffer) >= MAX_HEAD:
                raise ProtocolError("the head does not end")
            start = max(0, len(self._buffer) - 2)
            self._receive()
            if not self._buffer.startswith(_START[: len(self._buffer)]):
                raise ProtocolError(f"no HTTP: {bytes(self._buffer[:100])!r}")
        lines = [line.rstrip("\r") for line in self._buffer[: end.start()].decode("latin-1").split("\n")]
        del self._buffer[: end.end()]
        status = _STATUS.match(lines[0])
        if status is None:
            raise ProtocolError(f"no HTTP: {lines[0][:100]!r}")
        return Head(int(status[1]), int(status[2]), _headers_of(lines[1:]))

    def _chunks(self) -> Iterator[bytes]:
        while True:
            line = self._line()
            size = _CHUNK.fullmatch(line)
            if size is None:
                raise ProtocolError(f"{line[:100]!r} is no chunk size")
            if not (left := int(size[1], 16)):
                break
            yield from self._exactly(left)
            if self._line():
                raise ProtocolError("a chunk is longer than its size")
        for _ in range(MAX_HEADERS):  # trailers, which nobody needs
            if not self._line():
                return
        raise ProtocolError("the trailers do not end")

    def _exactly(self, length: int) -> Iterator[bytes]:
        left = length
        while left:
            if not (piece := self._take(min(left, PIECE))):
                raise ProtocolError(f"the connection ended after {length - left} of {length} bytes")
            left -= len(piece)
            yield piece

    def _rest(self) -> Iterator[bytes]:
        """All until the connection ends."""
        while piece := self._take(PIECE):
            yield piece

    def _take(self, most: int) -> bytes:
        if self._buffer:
            piece = bytes(self._buffer[:most])
            del self._buffer[:most]
        else:
            piece = self.link.receive(most)
        self.received += len(piece)
        return piece

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_LINE:
                raise ProtocolError("a line does not end")
            self._receive()
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        return line

    def _receive(self) -> None:
        data = self.link.receive(PIECE)
        if not data:
            raise ProtocolError(
                "the connection ended within the answer" if self._buffer else "the connection ended without an answer"
            )
        self._buffer += data


class Connections:
    """Opens connections and keeps them for the next request; safe to use from several threads."""

    def __init__(self, most_per_host: int) -> None:
        self._most_per_host = most_per_host
        self._kept: OrderedDict[tuple[str, str, str], list[Connection]] = OrderedDict()
        self._is_closed = False
        self._tls: ssl.SSLContext | None = None
        self._lock = threading.Lock()

    def ask(self, parts: UrlParts, request: bytes, hop: Hop, *, may_repeat: bool) -> Connection:
        """A connection to a URL's host on which a request was sent and the head of its answer read; to be given back.

        Raises PrivateAddress, NameNotFound, ProtocolError, OSError (of which TimeoutError, TooMuch and ssl.SSLError).
        """
        key = (parts.scheme, parts.host, parts.port)
        if (kept := self._take(key, hop)) is not None:
            try:
                return _asked(kept, request)
            except (TimeoutError, TooMuch):
                raise
            except (OSError, ProtocolError):
                # A server may close a kept connection at the moment it is used again; that says nothing about the page.
                if not may_repeat:
                    raise
        is_tls = parts.scheme == "https"
        port = int(parts.port) if parts.port else 443 if is_tls else 80
        link = connect(parts.host.strip("[]"), port, hop, self._tls_context() if is_tls else None)
        return _asked(Connection(key, link), request)

    def _take(self, key: tuple[str, str, str], hop: Hop) -> Connection | None:
        """A kept connection that the hop may use, if there is one."""
        while True:
            with self._lock:
                kept = self._kept.get(key)
                if not kept:
                    return None
                connection = kept.pop()
            try:
                connection.link.use_for(hop)
            except OSError:
                connection.link.close()
            except PrivateAddress:
                connection.link.close()
                raise
            else:
                return connection

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next request, or close it."""
        dropped = [connection]
        if connection.is_free():
            with self._lock:
                kept = self._kept.setdefault(connection.key, [])
                self._kept.move_to_end(connection.key)
                if not self._is_closed and len(kept) < self._most_per_host:
                    kept.append(connection)
                    dropped = self._kept.popitem(last=False)[1] if len(self._kept) > MAX_HOSTS else []
        for one in dropped:
            one.link.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            kept = [connection for host in self._kept.values() for connection in host]
            self._kept.clear()
        for connection in kept:
            connection.link.close()

    def _tls_context(self) -> ssl.SSLContext:
        # Made for the first https request: reading the certificates takes 50 ms.
        with self._lock:
            self._tls = self._tls or tls_context()
            return self._tls


def _asked(connection: Connection, request: bytes) -> Connection:
    try:
        connection.ask(request)
    except BaseException:
        connection.link.close()
        raise
    return connection


def _headers_of(lines: list[str]) -> Headers:
    if len(lines) > MAX_HEADERS:
        raise ProtocolError(f"more than {MAX_HEADERS} headers")
    headers: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (" ", "\t"):
            if headers:  # a folded line: RFC 9112, 5.2
                name, value = headers[-1]
                headers[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if colon:  # what has none is no header, and browsers pass over it
            headers.append((name.strip().lower(), value.strip(" \t")))
    return tuple(headers)


def _is_chunked(head: Head) -> bool:
    return head.joined("transfer-encoding").rpartition(",")[2].strip().lower() == "chunked"


def _length_of(head: Head) -> int | None:
    """Bytes that a body has; None for one in chunks, or that ends with the connection. Raises ProtocolError for two lengths."""
    if head.status in (204, 304):
        return 0
    said = head.joined("content-length")
    if not said or _is_chunked(head):
        return None
    lengths = {length.strip() for length in said.split(",")}
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise ProtocolError(f"Content-Length {said[:100]!r}")
    return int(length)
