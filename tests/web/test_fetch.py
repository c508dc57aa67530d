"""Every case runs against a real server on loopback; `allow_private` is what lets the fetcher reach it."""

import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from kbcite.errors import UsageError
from kbcite.fetch_records import FetchedPage, FetchFailure
from kbcite.settings import CrawlSettings
from kbcite.web.fetch import HTML_TYPES, Fetcher
from tests.site_server import Reply, Site, serve_site

QUICK = CrawlSettings(connect_timeout_s=0.6, total_timeout_s=0.9, max_bytes=1_000_000, max_redirects=5)
HTML = (("Content-Type", "text/html"),)


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    with Fetcher(QUICK, allow_private=lambda _: True) as opened:
        yield opened


def failure(result: FetchedPage | FetchFailure) -> FetchFailure:
    assert isinstance(result, FetchFailure), result
    return result


def page(result: FetchedPage | FetchFailure) -> FetchedPage:
    assert isinstance(result, FetchedPage), result
    return result


def test_a_page_comes_with_its_bytes_headers_and_times(site: Site, fetcher: Fetcher) -> None:
    site.pages["/a"] = Reply(b"\xd6\xd0", headers=(("Content-Type", "text/html; charset=gbk"), ("ETag", '"1"')))
    got = page(fetcher.fetch(f"{site.url}/a"))
    assert (got.status, got.body, got.final_url, got.encoded_length) == (200, b"\xd6\xd0", f"{site.url}/a", 2)
    assert got.header("ETag") == '"1"'
    assert got.fetched_at.endswith("Z")


def test_the_user_agent_names_the_program_and_a_contact(site: Site, fetcher: Fetcher) -> None:
    fetcher.fetch(f"{site.url}/")
    assert site.requests[0].headers["user-agent"].startswith("kbcite/")
    assert "(+https://" in site.requests[0].headers["user-agent"]


def test_a_server_error_is_an_answer_too(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = Reply(b"busy", 503, (("Retry-After", "7"),))
    got = page(fetcher.fetch(f"{site.url}/"))
    assert (got.status, got.header("retry-after")) == (503, "7")


def test_a_conditional_request_carries_both_validators_and_304_has_no_body(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = lambda handler: Reply(status=304 if handler.headers["If-None-Match"] == '"v1"' else 200)
    got = page(fetcher.fetch(f"{site.url}/", etag='"v1"', last_modified="Mon, 30 Nov 2026 15:00:00 GMT"))
    assert (got.status, got.body) == (304, b"")
    assert site.requests[0].headers["if-modified-since"] == "Mon, 30 Nov 2026 15:00:00 GMT"


def test_connections_are_kept_and_a_dropped_one_is_opened_again(site: Site, fetcher: Fetcher) -> None:
    ports: list[int] = []

    def answer(handler: Any) -> str:
        ports.append(handler.client_address[1])
        handler.close_connection = len(ports) == 2
        return "x"

    site.pages["/"] = answer
    for _ in range(4):
        assert page(fetcher.fetch(f"{site.url}/")).body == b"x"
    assert ports[0] == ports[1] != ports[2] == ports[3]


# ------------------------------------------------------------ content coding


@pytest.mark.parametrize(
    ("coding", "encode"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:])),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("zstd", zstandard.ZstdCompressor().compress),
        ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
        ("deflate, gzip", lambda data: gzip.compress(zlib.compress(data))),
        ("identity", bytes),
        ("utf-8", bytes),
    ],
)
def test_content_encoding_is_undone(site: Site, fetcher: Fetcher, coding: str, encode: Any) -> None:
    text = "正文".encode() * 50_000
    body = encode(text)
    site.pages["/"] = Reply(body, headers=(("Content-Encoding", coding),))
    got = page(fetcher.fetch(f"{site.url}/"))
    assert got.body == text
    assert got.encoded_length == len(body)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", b"plain text"),
        ("gzip", gzip.compress(b"cut short" * 99, mtime=0)[:-12]),
        ("deflate", b"\x78\x9cnonsense"),
        ("zstd", b"nonsense"),
        ("br", b"\x0b\x00\x80x\x03"),
        ("gzip,gzip,gzip,gzip", b""),
    ],
)
def test_a_body_that_is_not_what_its_coding_says_is_a_failure(
    site: Site, fetcher: Fetcher, coding: str, body: bytes
) -> None:
    site.pages["/"] = Reply(body, headers=(("Content-Encoding", coding),))
    assert failure(fetcher.fetch(f"{site.url}/")).reason == "content_encoding"


BOMB = 100_000_000


@pytest.mark.parametrize("coding", ["gzip", "gzip, gzip", "zstd"])
def test_a_bomb_is_cut_at_the_limit(site: Site, fetcher: Fetcher, coding: str) -> None:
    import tracemalloc

    zeros = b"\0" * BOMB
    if coding == "zstd":
        body = zstandard.ZstdCompressor().compress(zeros)
    else:
        body = gzip.compress(zeros, 1)
        if coding != "gzip":
            body = gzip.compress(body)
    del zeros
    site.pages["/"] = Reply(body, headers=(("Content-Encoding", coding),))
    tracemalloc.start()
    got = failure(fetcher.fetch(f"{site.url}/"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert got.reason == "too_large"
    assert peak < 20_000_000


def test_an_endless_body_is_cut_at_the_limit(site: Site, fetcher: Fetcher) -> None:
    def pour(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while True:
            handler.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")

    site.pages["/"] = pour
    assert failure(fetcher.fetch(f"{site.url}/")).reason == "too_large"


def test_a_long_body_can_be_cut_instead(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = b"x" * 5000
    assert page(fetcher.fetch(f"{site.url}/", cut_at=1000)).body == b"x" * 1000


def test_an_unwanted_content_type_is_not_read(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = Reply(b"x" * 10_000_000, headers=(("Content-Type", "video/mp4"),))
    got = failure(fetcher.fetch(f"{site.url}/", types=HTML_TYPES))
    assert (got.reason, got.detail, got.retryable) == ("content_type", "video/mp4", False)


# ------------------------------------------------------------ time


def drip_body(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(60):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.1)


def drip_headers(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for n in range(60):
        handler.wfile.write(f"X-{n}: y\r\n".encode())
        handler.wfile.flush()
        time.sleep(0.1)


def drip_one_header(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(60):
        handler.wfile.write(b"y")
        handler.wfile.flush()
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("answer", "limit_s"),
    [(drip_body, 0.9), (drip_headers, 0.6), (drip_one_header, 0.6), (lambda _: time.sleep(2), 0.6)],
    ids=["body", "headers", "one header", "silence"],
)
def test_the_deadline_is_absolute(site: Site, fetcher: Fetcher, answer: Any, limit_s: float) -> None:
    site.pages["/"] = answer
    started = time.monotonic()
    got = failure(fetcher.fetch(f"{site.url}/"))
    assert (got.reason, got.retryable) == ("timeout", True)
    assert limit_s - 0.1 <= time.monotonic() - started < limit_s + 0.7


def test_the_deadline_holds_on_a_kept_connection(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/first": "x", "/": drip_body}
    page(fetcher.fetch(f"{site.url}/first"))
    started = time.monotonic()
    assert failure(fetcher.fetch(f"{site.url}/")).reason == "timeout"
    assert time.monotonic() - started < 2.2


def test_a_name_server_that_never_answers_ends_at_the_connect_limit(
    fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))
    started = time.monotonic()
    got = failure(fetcher.fetch("http://slow.example/"))
    assert (got.reason, got.retryable) == ("dns", True)
    assert time.monotonic() - started < 1.6


def test_closing_ends_what_is_under_way(site: Site) -> None:
    site.pages["/"] = lambda _: time.sleep(3)
    fetcher = Fetcher(CrawlSettings(), allow_private=lambda _: True)
    results: list[FetchedPage | FetchFailure] = []
    thread = threading.Thread(target=lambda: results.append(fetcher.fetch(f"{site.url}/")))
    thread.start()
    time.sleep(0.2)
    started = time.monotonic()
    fetcher.close()
    thread.join(5)
    assert time.monotonic() - started < 1.5
    assert failure(results[0]).reason == "timeout"


# ------------------------------------------------------------ broken answers


@pytest.mark.parametrize(
    "wire",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nnot a size",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(500)) + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"this is not HTTP\r\n\r\n",
        b"",
    ],
    ids=["short length", "bad chunk", "500 headers", "200 kB header", "no HTTP", "nothing"],
)
def test_a_broken_answer_is_a_failure_with_a_reason(site: Site, fetcher: Fetcher, wire: bytes) -> None:
    def answer(handler: Any) -> None:
        handler.wfile.write(wire)
        handler.close_connection = True

    site.pages["/"] = answer
    got = failure(fetcher.fetch(f"{site.url}/"))
    assert got.reason == "protocol"
    assert got.detail


def test_a_closed_port_is_a_failure_to_connect(fetcher: Fetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    got = failure(fetcher.fetch(f"http://127.0.0.1:{port}/"))
    assert (got.reason, got.retryable) == ("connect", True)


def test_an_unknown_name_is_told(fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    got = failure(fetcher.fetch("http://nowhere.example/"))
    assert got.reason == "dns"
    assert "nowhere.example" in got.detail


# ------------------------------------------------------------ redirects


def redirect(target: str, status: int = 302) -> Reply:
    return Reply(status=status, headers=(("Location", target),))


def test_redirects_are_followed_and_remembered(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": redirect("b", 301), "/b": redirect("/c#part", 307), "/c": "end"}
    got = page(fetcher.fetch(f"{site.url}/a"))
    assert (got.final_url, got.body) == (f"{site.url}/c", b"end")
    assert got.redirects == ((301, f"{site.url}/a"), (307, f"{site.url}/b"))


def test_the_body_of_a_redirect_is_not_read(site: Site, fetcher: Fetcher) -> None:
    def answer(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 900000000\r\n\r\n")
        handler.wfile.flush()
        time.sleep(2)

    site.pages |= {"/a": answer, "/b": "end"}
    started = time.monotonic()
    assert page(fetcher.fetch(f"{site.url}/a")).body == b"end"
    assert time.monotonic() - started < 0.9


def test_validators_are_for_the_first_address_only(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": redirect("/b"), "/b": "end"}
    fetcher.fetch(f"{site.url}/a", etag='"1"')
    assert ["if-none-match" in request.headers for request in site.requests] == [True, False]


@pytest.mark.parametrize(
    "location", ["/路径?q=中", "/路径?q=中".encode().decode("latin-1")], ids=["escaped", "raw bytes"]
)
def test_a_location_may_hold_raw_utf_8(site: Site, fetcher: Fetcher, location: str) -> None:
    wanted = "/%E8%B7%AF%E5%BE%84?q=%E4%B8%AD"
    site.pages |= {"/a": redirect(wanted if location.startswith("/路") else location), wanted: "end"}
    assert page(fetcher.fetch(f"{site.url}/a")).final_url == site.url + wanted


def test_a_location_in_gbk_keeps_its_bytes(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": redirect("/s?q=中".encode("gbk").decode("latin-1")), "/s?q=%D6%D0": "end"}
    assert page(fetcher.fetch(f"{site.url}/a")).body == b"end"


def test_a_redirect_loop_ends(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": redirect("/b"), "/b": redirect("/a")}
    assert failure(fetcher.fetch(f"{site.url}/a")).reason == "redirect_loop"
    assert len(site.requests) <= 6


def test_a_page_that_sets_a_cookie_and_comes_back_is_reached(site: Site, fetcher: Fetcher) -> None:
    def gate(handler: Any) -> Reply | str:
        if "seen=1" in handler.headers.get("Cookie", ""):
            return "inside"
        return Reply(status=302, headers=(("Location", "/a"), ("Set-Cookie", "seen=1; Path=/")))

    site.pages["/a"] = gate
    assert page(fetcher.fetch(f"{site.url}/a")).body == b"inside"


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://example.com/", "javascript:1", "gopher://x/", "http://"]
)
def test_a_redirect_to_another_scheme_is_refused(site: Site, fetcher: Fetcher, target: str) -> None:
    site.pages["/a"] = redirect(target)
    assert failure(fetcher.fetch(f"{site.url}/a")).reason == "scheme"


def test_each_hop_is_asked_for_and_a_refused_one_is_not_requested(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": redirect("/b"), "/b": redirect("/secret"), "/secret": "x"}
    asked: list[str] = []

    def is_allowed(url: str) -> str | None:
        asked.append(url)
        return "out_of_scope: no source covers it" if url.endswith("/secret") else None

    got = failure(fetcher.fetch(f"{site.url}/a", is_allowed=is_allowed))
    assert (got.reason, got.detail, got.hop_url) == ("out_of_scope", "no source covers it", f"{site.url}/secret")
    assert asked == [f"{site.url}/a", f"{site.url}/b", f"{site.url}/secret"]
    assert site.paths() == ["/a", "/b"]


def test_time_spent_on_asking_does_not_count(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": redirect("/b"), "/b": "end"}

    def is_allowed(url: str) -> None:
        time.sleep(0.5)

    assert page(fetcher.fetch(f"{site.url}/a", is_allowed=is_allowed)).body == b"end"


# ------------------------------------------------------------ addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://10.1.2.3/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://100.64.0.1/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://[64:ff9b::a00:1]/",
        "http://[2002:7f00:1::]/",
        "http://224.0.0.1/",
    ],
)
def test_private_addresses_are_refused(url: str) -> None:
    with Fetcher(QUICK) as fetcher:
        got = failure(fetcher.fetch(url))
    assert (got.reason, got.retryable) == ("private_address", False)


def answer_with(*addresses: str) -> Any:
    """A resolver that gives these addresses, one a call, the last one for ever."""
    left = list(addresses)

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    return resolve


def test_a_public_name_at_a_private_address_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answer_with("127.0.0.1"))
    with Fetcher(QUICK) as fetcher:
        got = failure(fetcher.fetch(site.url.replace("127.0.0.1", "public.example")))
    assert (got.reason, site.requests) == ("private_address", [])


def test_a_name_that_changes_its_address_is_refused_at_the_socket(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebinding: whatever was looked up before, what counts is the peer of the connected socket."""
    monkeypatch.setattr(socket, "getaddrinfo", answer_with("93.184.216.34"))
    real_connect = socket.socket.connect
    port = int(site.url.rpartition(":")[2])
    monkeypatch.setattr(socket.socket, "connect", lambda sock, _: real_connect(sock, ("127.0.0.1", port)))
    with Fetcher(QUICK) as fetcher:
        got = failure(fetcher.fetch(f"http://public.example:{port}/"))
    assert (got.reason, site.requests) == ("private_address", [])


def test_a_kept_private_connection_is_not_lent_to_a_fetch_that_may_not_use_it(site: Site) -> None:
    site.pages |= {"/internal": "x", "/public": "x"}
    with Fetcher(QUICK, allow_private=lambda url: url.endswith("/internal")) as fetcher:
        page(fetcher.fetch(f"{site.url}/internal"))
        assert failure(fetcher.fetch(f"{site.url}/public")).reason == "private_address"
    assert site.paths() == ["/internal"]


def test_a_redirect_to_a_private_address_is_refused(site: Site) -> None:
    with serve_site({"/secret": "secret"}) as hidden:
        site.pages["/a"] = redirect(f"{hidden.url}/secret")
        with Fetcher(QUICK, allow_private=lambda url: url.startswith(site.url)) as fetcher:
            got = failure(fetcher.fetch(f"{site.url}/a"))
        assert (got.reason, got.hop_url) == ("private_address", f"{hidden.url}/secret")
        assert hidden.requests == []


def test_credentials_in_a_url_are_not_sent(site: Site, fetcher: Fetcher) -> None:
    site.pages["/a"] = "x"
    got = page(fetcher.fetch(site.url.replace("//", "//user:secret@") + "/a"))
    assert "authorization" not in site.requests[0].headers
    assert got.final_url == f"{site.url}/a"


def test_proxies_of_the_environment_are_not_used(site: Site, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    site.pages["/a"] = "x"
    assert page(fetcher.fetch(f"{site.url}/a")).body == b"x"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.com/", "javascript:1", "not a url"])
def test_other_schemes_are_refused(fetcher: Fetcher, url: str) -> None:
    assert failure(fetcher.fetch(url)).reason == "scheme"


def test_offline_forbids_every_fetch(site: Site) -> None:
    with (
        Fetcher(QUICK, allow_private=lambda _: True, offline=True) as fetcher,
        pytest.raises(UsageError, match="without --offline"),
    ):
        fetcher.fetch(f"{site.url}/")
    assert site.requests == []


# ------------------------------------------------------------ TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    subprocess.run(
        [*command.split(), "-keyout", path, "-out", path.with_suffix(".crt")], check=True, capture_output=True
    )
    path.write_bytes(path.read_bytes() + path.with_suffix(".crt").read_bytes())
    return path


@pytest.fixture
def tls_port(certificate: Path) -> Iterator[int]:
    """A TLS server that answers one request slowly after an immediate one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                try:
                    with context.wrap_socket(peer, server_side=True) as tls:
                        request = tls.recv(65536)
                        tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\n")
                        for _ in range(20):
                            tls.sendall(b"x")
                            time.sleep(0.2 if b"/drip" in request else 0)
                except OSError:
                    peer.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def test_a_certificate_nobody_vouches_for_is_refused(fetcher: Fetcher, tls_port: int) -> None:
    got = failure(fetcher.fetch(f"https://localhost:{tls_port}/"))
    assert (got.reason, got.retryable) == ("tls", False)
    assert "certificate" in got.detail


def test_a_named_authority_is_trusted_and_the_deadline_holds_under_tls(
    certificate: Path, tls_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_suffix(".crt")))
    with Fetcher(QUICK, allow_private=lambda _: True) as fetcher:
        assert page(fetcher.fetch(f"https://localhost:{tls_port}/")).body == b"x" * 20
        assert failure(fetcher.fetch(f"https://127.0.0.1:{tls_port}/")).reason == "tls"
        started = time.monotonic()
        assert failure(fetcher.fetch(f"https://localhost:{tls_port}/drip")).reason == "timeout"
        assert time.monotonic() - started < 2.2
