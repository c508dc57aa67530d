"""Servers whose certificate does not hold, or whose handshake does not end: refused by default, with no way round."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.apart import Apart

CURVE = "ec_paramgen_curve:prime256v1"
BRISK = {"connect_timeout_s": 0.5, "total_timeout_s": 0.8}
PATIENT = {"connect_timeout_s": 5.0, "total_timeout_s": 10.0}
"""Where the reason is what is tested, a busy machine must not make it a timeout."""
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of certificates with their keys, and `trusted.crt`, the list of those that are vouched for."""
    folder = tmp_path_factory.mktemp("tls")
    for name, host, days in (
        ("good", "localhost", "2"),
        ("expired", "localhost", "-1"),
        ("other", "other.example", "2"),
        ("wildcard", "*.0.0.1", "2"),
        ("unknown", "localhost", "2"),
    ):
        key, request = folder / f"{name}.key", folder / f"{name}.csr"
        openssl(
            "req",
            "-new",
            "-newkey",
            "ec",
            "-pkeyopt",
            CURVE,
            "-nodes",
            "-subj",
            f"/CN={name}",
            "-keyout",
            key,
            "-out",
            request,
        )
        names = folder / f"{name}.cnf"
        names.write_text(f"subjectAltName=DNS:{host}\n", encoding="ascii")
        made = folder / f"{name}.crt"
        openssl("x509", "-req", "-in", request, "-signkey", key, "-days", days, "-extfile", names, "-out", made)
        (folder / f"{name}.pem").write_bytes(key.read_bytes() + made.read_bytes())
    trusted = [(folder / f"{name}.crt").read_bytes() for name in ("good", "expired", "other", "wildcard")]
    (folder / "trusted.crt").write_bytes(b"".join(trusted))
    return folder


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextmanager
def serve(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    """The port of a server that hands each connection to `talk`."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                try:
                    talk(peer)
                except OSError:
                    peer.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def answering(context: ssl.SSLContext) -> Callable[[socket.socket], None]:
    def talk(peer: socket.socket) -> None:
        with context.wrap_socket(peer, server_side=True) as tls:
            tls.recv(65536)
            tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nread")

    return talk


def context_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.mark.parametrize(
    ("certificate", "host", "why"),
    [
        ("expired", "localhost", "expired"),
        ("other", "localhost", "mismatch"),
        ("good", "127.0.0.1", "mismatch"),
        ("wildcard", "127.0.0.1", "mismatch"),
        ("unknown", "localhost", "self-signed"),
    ],
)
def test_a_certificate_that_does_not_hold_ends_the_fetch_before_a_byte_is_asked_for(
    apart: Apart, certificates: Path, certificate: str, host: str, why: str
) -> None:
    with serve(answering(context_of(certificates / f"{certificate}.pem"))) as port:
        outcome = apart.fetch(
            f"https://{host}:{port}/",
            private="https://",
            authority=str(certificates / "trusted.crt"),
            settings=PATIENT,
            limit_s=11,
        )
    assert (outcome["reason"], outcome["retryable"]) == ("tls", False)
    assert why in outcome["detail"].replace("self signed", "self-signed").replace("is not valid for", "mismatch")


def test_a_certificate_that_holds_is_believed(apart: Apart, certificates: Path) -> None:
    with serve(answering(context_of(certificates / "good.pem"))) as port:
        outcome = apart.fetch(
            f"https://localhost:{port}/",
            private="https://",
            authority=str(certificates / "trusted.crt"),
            settings=PATIENT,
            limit_s=11,
        )
    assert outcome["body"] == "read"


def test_an_old_protocol_is_not_spoken(apart: Apart, certificates: Path) -> None:
    context = context_of(certificates / "good.pem")
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1
    with serve(answering(context)) as port:
        outcome = apart.fetch(
            f"https://localhost:{port}/",
            private="https://",
            authority=str(certificates / "trusted.crt"),
            settings=PATIENT,
            limit_s=11,
        )
    assert outcome["reason"] == "tls"


def test_plain_text_where_tls_was_asked_for_is_not_read(apart: Apart) -> None:
    def talk(peer: socket.socket) -> None:
        peer.recv(65536)
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nread")
        peer.close()

    with serve(talk) as port:
        assert (
            apart.fetch(f"https://localhost:{port}/", private="https://", settings=PATIENT, limit_s=11)["reason"]
            == "tls"
        )


@pytest.mark.parametrize("first", [b"", b"\x16\x03\x03\x40\x00"], ids=["silent", "byte by byte"])
def test_a_handshake_that_does_not_end_ends_at_the_deadline(apart: Apart, first: bytes) -> None:
    def talk(peer: socket.socket) -> None:
        peer.sendall(first)
        for _ in range(12):
            if first:
                peer.sendall(b"\x02")
            time.sleep(0.1)
        peer.close()

    with serve(talk) as port:
        outcome = apart.fetch(f"https://localhost:{port}/", private="https://", settings=BRISK, limit_s=1.5)
    assert outcome["reason"] == "timeout"
