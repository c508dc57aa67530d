"""Connections that keep a fetch inside its limits, whatever the server does.

Three things must hold below HTTP, where no redirect, name server or slow peer gets round them:

- **The peer's address** is checked before connecting, after connecting, and before each request on a connection that is used
  again. A name that answers with a public address first and a private one later is so refused at the moment it matters.
- **What a request may bring is bounded**, headers, chunk sizes and trailers included: HTTP has more ways than the body to go on for ever.
- **The deadline is absolute.** No read waits longer than what is left until then, so that a body or a header that drips in byte by
  byte ends as surely as one that does not come at all. (A limit on each read never ended on either.)

All that is sent and received passes through `Link`.
"""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kbcite.web.addresses import is_private

LOOK_UP_S = 0.5
"""How long a read waits at most before it looks whether it is still wanted."""


class PrivateAddress(Exception):
    """The host is at an address that this fetch may not reach."""


class TooMuch(OSError):
    """The answer is longer than this fetch may bring, whatever part of it is."""


class NameNotFound(Exception):
    """The host's name has no address, or none was told in time."""


@dataclass(slots=True)
class Hop:
    """The limits of one request of a fetch."""

    deadline: float
    """On the monotonic clock."""
    connect_timeout_s: float
    allow_private: bool
    room: int
    """Bytes that may still be received."""

    closing: threading.Event = field(default_factory=threading.Event)
    """Set when the fetcher is closed: what is under way ends at its next read."""

    def left_s(self) -> float:
        """Seconds until the deadline. Raises TimeoutError once it has passed."""
        left = self.deadline - time.monotonic()
        if left <= 0 or self.closing.is_set():
            raise TimeoutError("timed out")
        return left

    def check(self, address: str) -> None:
        if not self.allow_private and is_private(address):
            raise PrivateAddress(address)

    def note(self, count: int) -> None:
        """Count bytes that came. Raises TooMuch once they are more than may come."""
        self.room -= count
        if self.room < 0:
            raise TooMuch("the answer does not end")


class Link:
    """An open connection. Every byte goes through `send` and `receive`, under the limits of the hop that it is on."""

    def __init__(self, sock: socket.socket, hop: Hop) -> None:
        self._sock = sock
        self._hop = hop
        self._timeout_s: float | None = None

    def use_for(self, hop: Hop) -> None:
        """Go over to another hop, with a connection on which nothing came since the last one.

        Raises PrivateAddress if the hop may not reach the peer, OSError if the peer has closed it or said what it was not asked.
        """
        hop.check(self._sock.getpeername()[0])
        self._set_time_limit(0.0)
        try:
            self._sock.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            self._hop = hop
        else:
            raise ConnectionResetError("the connection has ended")

    def send(self, data: bytes) -> None:
        """Raises TimeoutError at the hop's deadline, OSError."""
        left = memoryview(data)
        while left:
            self._set_time_limit(min(self._hop.left_s(), LOOK_UP_S))
            with suppress(TimeoutError):
                left = left[self._sock.send(left) :]

    def receive(self, most: int) -> bytes:
        """The next bytes, none at the end. Raises TimeoutError at the hop's deadline, TooMuch, OSError."""
        while True:
            self._set_time_limit(min(self._hop.left_s(), LOOK_UP_S))
            try:
                data = self._sock.recv(most)
            except TimeoutError:
                continue
            self._hop.note(len(data))
            return data

    def _set_time_limit(self, seconds: float) -> None:
        if seconds != self._timeout_s:  # a system call, which most reads have no need of
            self._sock.settimeout(seconds)
            self._timeout_s = seconds

    def close(self) -> None:
        self._sock.close()


def connect(host: str, port: int, hop: Hop, tls: ssl.SSLContext | None) -> Link:
    """A connection to the first address of the host that answers, its certificate verified if `tls` is given.

    Raises PrivateAddress, NameNotFound, ssl.SSLError, OSError.
    """
    until = min(hop.deadline, time.monotonic() + hop.connect_timeout_s)
    addresses = look_up(host, port, until - time.monotonic())
    allowed = [entry for entry in addresses if hop.allow_private or not is_private(entry[4][0])]
    if not allowed:
        raise PrivateAddress(addresses[0][4][0])
    fault: OSError = TimeoutError("timed out")
    for family, kind, protocol, _, address in allowed:
        if until <= time.monotonic():
            break
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(until - time.monotonic())
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.connect(address)
            hop.check(sock.getpeername()[0])
            sock.settimeout(hop.left_s())
        except OSError as error:
            sock.close()
            fault = error
            continue
        except BaseException:
            sock.close()
            raise
        return Link(sock if tls is None else tls.wrap_socket(sock, server_hostname=host), hop)
    raise fault


def look_up(host: str, port: int, timeout_s: float) -> list[tuple[Any, Any, int, str, tuple[Any, ...]]]:
    """The host's addresses. In a thread of its own: the system's resolver has no time limit that a caller could set."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True, name="kbcite-resolver").start()
    try:
        answer = answers.get(timeout=max(timeout_s, 0.001))
    except queue.Empty:
        raise NameNotFound(f"no answer from the name server for {host} in time") from None
    if isinstance(answer, Exception):
        raise NameNotFound(f"{host}: {answer}") from answer
    if not answer:
        raise NameNotFound(f"{host} has no address")
    found: list[tuple[Any, Any, int, str, tuple[Any, ...]]] = answer
    return found


def tls_context() -> ssl.SSLContext:
    """Trusts the system's certificates (`SSL_CERT_FILE` where it is set, so that a company's own authority can be named) and certifi's."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
