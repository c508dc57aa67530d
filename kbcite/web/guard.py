"""Sockets that keep a fetch inside its limits, whatever the server does.

Three things must hold below HTTP, where no redirect, name server or slow peer gets round them:

- **The peer's address** is checked before connecting, after connecting, and before each request on a connection that is used
  again. A name that answers with a public address first and a private one later is so refused at the moment it matters.
- **What a request may bring is bounded**, headers, chunk sizes and trailers included: HTTP has more ways than the body to go on for ever.
- **The deadline is absolute.** Before each read the socket's time limit is set to what is left until then, so that a body or a
  header that drips in byte by byte ends as surely as one that does not come at all. (`requests.get(timeout=5)` limits the pause
  between two reads and never ended on either.)
"""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kbcite.web.addresses import is_private

if TYPE_CHECKING:
    import requests


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
    """One request of a fetch: its limits, which its socket reads from here."""

    deadline: float
    """On the monotonic clock."""
    connect_timeout_s: float
    allow_private: bool
    room: int
    """Bytes that may still be received."""
    is_reused: bool = False
    """Whether the request went out on a connection that was open already."""

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

    def receive(self, count: int) -> int:
        """Note that bytes came. Raises TooMuch once they are more than may come."""
        self.room -= count
        if self.room < 0:
            raise TooMuch("the answer does not end")
        return count


class _Socket(socket.socket):
    hop: Hop

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        while True:
            wait_s = min(self.hop.left_s(), LOOK_UP_S)
            if wait_s != self.gettimeout():  # setting it is a system call
                self.settimeout(wait_s)
            try:
                return self.hop.receive(super().recv_into(*args, **kwargs))
            except TimeoutError:
                continue


class _TlsSocket(ssl.SSLSocket):
    hop: Hop

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        while True:
            wait_s = min(self.hop.left_s(), LOOK_UP_S)
            if wait_s != self.gettimeout():  # setting it is a system call
                self.settimeout(wait_s)
            try:
                return self.hop.receive(super().recv_into(*args, **kwargs))
            except TimeoutError:
                continue


@dataclass
class Lane(threading.local):
    """The hop that the current thread is on."""

    hop: Hop = field(default_factory=lambda: Hop(0.0, 0.0, False, 0))


class _Guarded:
    """Mixed into urllib3's connection classes."""

    lane: Lane
    sock: Any
    port: int
    _dns_host: str

    def _new_conn(self) -> socket.socket:
        return _connect(self._dns_host, self.port, self.lane.hop)

    def request(self, *args: Any, **kwargs: Any) -> None:
        hop = self.lane.hop
        if self.sock is not None:
            hop.is_reused = getattr(self.sock, "hop", hop) is not hop
            self.sock.hop = hop
            hop.check(self.sock.getpeername()[0])
        super().request(*args, **kwargs)  # type: ignore[misc]  # urllib3's, beside which this class stands


def _connect(host: str, port: int, hop: Hop) -> socket.socket:
    """A socket connected to the first address of the host that answers. Raises PrivateAddress, NameNotFound, OSError."""
    until = min(hop.deadline, time.monotonic() + hop.connect_timeout_s)
    addresses = look_up(host.strip("[]"), port, until - time.monotonic())
    allowed = [entry for entry in addresses if hop.allow_private or not is_private(entry[4][0])]
    if not allowed:
        raise PrivateAddress(addresses[0][4][0])
    fault: OSError = TimeoutError("timed out")
    for family, kind, protocol, _, address in allowed:
        if until <= time.monotonic():
            break
        sock = _Socket(family, kind, protocol)
        try:
            sock.hop = hop
            sock.settimeout(until - time.monotonic())
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.connect(address)
            hop.check(sock.getpeername()[0])
            sock.settimeout(hop.left_s())
            return sock
        except OSError as error:
            sock.close()
            fault = error
        except BaseException:
            sock.close()
            raise
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


def guarded_session(lane: Lane, pool_size: int) -> requests.Session:
    """A requests session whose sockets obey the current thread's hop; no environment, no proxies, no retries, TLS verified.

    Trusted are the system's certificates (`SSL_CERT_FILE` where it is set, so that a company's own authority can be named) and
    certifi's.
    """
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
    from urllib3.connection import HTTPConnection, HTTPSConnection

    from kbcite.web.cookies import BoundedCookies

    class GuardedHttpConnection(_Guarded, HTTPConnection):
        pass

    class GuardedHttpsConnection(_Guarded, HTTPSConnection):
        pass

    GuardedHttpConnection.lane = GuardedHttpsConnection.lane = lane

    class HttpPool(HTTPConnectionPool):
        ConnectionCls = GuardedHttpConnection

    class HttpsPool(HTTPSConnectionPool):
        ConnectionCls = GuardedHttpsConnection

    lock = threading.Lock()

    class GuardedAdapter(HTTPAdapter):
        def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **_: Any) -> None:
            self.poolmanager = PoolManager(connections, maxsize=maxsize, block=block)
            self.poolmanager.pool_classes_by_scheme = {"http": HttpPool, "https": HttpsPool}

        def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
            # Made for the first https request: reading the certificates takes 50 ms.
            if (request.url or "").startswith("https:"):
                with lock:
                    if "ssl_context" not in self.poolmanager.connection_pool_kw:
                        self.poolmanager.connection_pool_kw["ssl_context"] = _tls_context()
            return super().send(request, *args, **kwargs)

        def request_url(self, request: requests.PreparedRequest, *_: Any) -> str:
            return request.path_url  # there is no proxy to look for

        def cert_verify(self, conn: Any, *_: Any) -> None:
            # The context holds the certificates; requests would read certifi's file again for every new connection.
            conn.cert_reqs = "CERT_REQUIRED"

    session = requests.Session()
    session.trust_env = False
    session.cookies.set_policy(BoundedCookies())
    for scheme in ("http://", "https://"):
        session.mount(scheme, GuardedAdapter(pool_connections=64, pool_maxsize=pool_size, max_retries=0))
    return session


def _tls_context() -> ssl.SSLContext:
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.sslsocket_class = _TlsSocket
    return context
