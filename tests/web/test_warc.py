"""WARC files that are honest, foreign, damaged or hostile; written with warcio or by hand, as other programs lay them out."""

from __future__ import annotations

import gzip
import io
import random
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kbcite.errors import UsageError
from kbcite.fetch_records import ArchivedAnswer, FetchedPage
from kbcite.records import Skipped
from kbcite.web.rendered_page import as_rendered
from kbcite.web.warc_reader import Broken, Capture, read_captures
from kbcite.web.warc_writer import Written, write_warc

warcio = pytest.importorskip("warcio")

AT = "2026-03-01T08:00:00Z"
HTML = (("content-type", "text/html"),)


def record(
    url: str, http: bytes, kind: str = "response", headers: Sequence[str] = (), length: int | None = None
) -> bytes:
    """One record by hand, so that it may lie."""
    head = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        f"WARC-Date: {AT}",
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>",
        f"Content-Type: application/http; msgtype={kind}",
        f"Content-Length: {len(http) if length is None else length}",
        *headers,
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + http + b"\r\n\r\n"


def page(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/html", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def write(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(gzip.compress(one) for one in records))
    return path


def read(path: Path, max_bytes: int = 1_000_000) -> list[Capture | Skipped | Broken]:
    return list(read_captures(path, max_bytes))


def only(path: Path, max_bytes: int = 1_000_000) -> FetchedPage:
    (capture,) = read(path, max_bytes)
    assert isinstance(capture, Capture), capture
    return capture.page


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_an_answer_is_read_compressed_or_not(tmp_path: Path, name: str) -> None:
    raw = record("https://a.example/1", page(b"<p>one</p>", "ETag: x"))
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    got = only(tmp_path / name)
    assert (got.url, got.status, got.body, got.fetched_at) == ("https://a.example/1", 200, b"<p>one</p>", AT)
    assert got.header("etag") == "x"


def test_chunked_and_gzipped_bodies_are_undone(tmp_path: Path) -> None:
    body = gzip.compress(b"<p>packed</p>")
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:])) + b"0\r\n\r\n"
    raw = page(chunked, "Transfer-Encoding: chunked", "Content-Encoding: gzip")
    assert only(write(tmp_path / "a.warc.gz", record("https://a.example/1", raw))).body == b"<p>packed</p>"


def test_redirects_are_joined_to_the_page_that_they_lead_to(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.example/", page(b"", "Location: https://a.example/", status="301 Moved")),
        record("https://a.example/", page(b"", "Location: /home", status="302 Found")),
        record("https://a.example/home", page(b"<p>home</p>")),
    )
    got = only(path)
    assert (got.url, got.final_url) == ("http://a.example/", "https://a.example/home")
    assert got.redirects == ((301, "http://a.example/"), (302, "https://a.example/"))


def test_a_redirect_loop_ends(tmp_path: Path) -> None:
    hop = [
        record(f"https://a.example/{n}", page(b"", f"Location: /{(n + 1) % 3}", status="302 Found")) for n in range(3)
    ]
    assert read(write(tmp_path / "a.warc.gz", *hop * 30)) == []


def test_a_page_that_is_too_large_is_skipped_and_the_next_one_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("https://a.example/1", page(b"x" * 5000)),
        record("https://a.example/2", page(b"<p>two</p>")),
    )
    skipped, kept = read(path, max_bytes=1000)
    assert isinstance(skipped, Skipped) and skipped.reason == "too_large"
    assert isinstance(kept, Capture) and kept.page.body == b"<p>two</p>"


def test_a_bomb_inside_a_body_is_cut_at_the_limit(tmp_path: Path) -> None:
    bomb = zlib.compress(bytes(200_000_000), 9)
    path = write(tmp_path / "a.warc.gz", record("https://a.example/1", page(bomb, "Content-Encoding: deflate")))
    tracemalloc.start()
    (skipped,) = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(skipped, Skipped) and skipped.reason == "too_large"
    assert peak < 20_000_000


def test_a_file_that_claims_to_expand_without_end_is_left_at_once(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("https://a.example/1", page(b"<p>one</p>")),
        record("https://a.example/2", page(b"x"), length=10**13),
    )
    kept, broken = read(path)
    assert isinstance(kept, Capture)
    assert isinstance(broken, Broken) and "larger than the file" in broken.detail


def test_a_head_without_end_is_left(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("https://a.example/1", page(b"<p>one</p>")),
        record("https://a.example/2", page(b""), headers=["X-Field: 1"] * 200_000),
    )
    kept, broken = read(path)
    assert isinstance(kept, Capture)
    assert isinstance(broken, Broken) and "does not end" in broken.detail


def test_a_record_whose_bytes_are_not_those_of_its_digest_is_skipped(tmp_path: Path) -> None:
    digest = "WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    path = write(
        tmp_path / "a.warc.gz",
        record("https://a.example/1", page(b"<p>forged</p>"), headers=[digest]),
        record("https://a.example/2", page(b"<p>two</p>")),
    )
    skipped, kept = read(path)
    assert isinstance(skipped, Skipped) and skipped.reason == "wrong_digest"
    assert isinstance(kept, Capture)


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_a_file_that_is_cut_short_gives_what_came_before(tmp_path: Path, name: str) -> None:
    records = [record(f"https://a.example/{n}", page(b"<p>%d</p>" % n + bytes(range(256)) * 20)) for n in range(3)]
    packed = [gzip.compress(one) if name.endswith("gz") else one for one in records]
    whole = b"".join(packed)
    (tmp_path / name).write_bytes(whole[: len(whole) - len(packed[2]) // 2])
    *kept, last = read(tmp_path / name)
    assert [capture.page.url[-1] for capture in kept if isinstance(capture, Capture)] == ["0", "1"]
    assert isinstance(last, Broken) or (isinstance(last, Skipped) and last.reason == "truncated")


def test_damaged_compression_gives_what_came_before(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", *(record(f"https://a.example/{n}", page(b"<p>page</p>")) for n in range(3)))
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 40] = b"\xff" * 40
    path.write_bytes(data)
    outcomes = read(path)
    assert isinstance(outcomes[0], Capture)
    assert not isinstance(outcomes[-1], Capture)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\x1f\x8b\x08\x00garbage", gzip.compress(b"no warc", mtime=0), b"PK\x05\x06" + bytes(18)],
)
def test_what_is_no_warc_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thing"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="thing"):
        read(path)


def test_records_that_are_no_http_answers_are_passed_over(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("dns:a.example", b"20260301080000\na.example. 60 IN A 1.2.3.4\n"),
        record("file:///etc/passwd", page(b"root")),
        record("https://a.example/1", page(b"<p>one</p>")),
        record("https://a.example/1", b"a: b\r\n", kind="metadata"),
    )
    assert only(path).url == "https://a.example/1"


def test_a_wacz_file_is_read_and_hides_nothing_outside_its_archive(tmp_path: Path) -> None:
    path = tmp_path / "crawl.wacz"
    with zipfile.ZipFile(path, "w") as wacz:
        wacz.writestr("archive/rec-1.warc.gz", gzip.compress(record("https://a.example/1", page(b"<p>one</p>"))))
        wacz.writestr("archive/rec-2.warc.gz", gzip.compress(record("https://a.example/2", page(b"<p>two</p>"))))
        wacz.writestr("../../evil.warc.gz", gzip.compress(record("https://a.example/3", page(b"<p>three</p>"))))
        wacz.writestr("pages/pages.jsonl", "{}")
    assert [capture.page.url[-1] for capture in read(path) if isinstance(capture, Capture)] == ["1", "2"]


# ---------------------------------------------------------------- writing


def answer(url: str, at: str = AT, headers: tuple[tuple[str, str], ...] = HTML, **parts: object) -> FetchedPage:
    return FetchedPage(url, url, 200, headers, b"", at, **parts)  # type: ignore[arg-type]


def test_what_is_written_is_read_back_with_headers_request_and_redirects(tmp_path: Path) -> None:
    given = FetchedPage(
        "http://a.example/",
        "https://a.example/x?q=%E4%BD%A0",
        200,
        (("content-type", "text/html; charset=gbk"), ("content-encoding", "gzip"), ("set-cookie", "a=1"), ("set-cookie", "b=2")),
        b"",
        AT,
        ((301, "http://a.example/"), (308, "https://a.example/")),
        (("user-agent", "kbcite"), ("cookie", "session=secret")),
    )  # fmt: skip
    body = "正文".encode("gbk")
    out = io.BytesIO()
    assert write_warc(out, [ArchivedAnswer(1, given, "d1")], {"d1": body}.__getitem__, "test") == Written(1)
    (tmp_path / "a.warc.gz").write_bytes(out.getvalue())
    got = only(tmp_path / "a.warc.gz")
    assert (got.url, got.final_url, got.redirects, got.body) == (given.url, given.final_url, given.redirects, body)
    assert dict(given.headers).items() <= dict(got.headers).items()
    assert got.request_headers == (("host", "a.example"), ("user-agent", "kbcite"))
    assert b"secret" not in gzip.decompress(out.getvalue())


def test_a_body_that_was_written_already_becomes_a_revisit(tmp_path: Path) -> None:
    pages = (answer("https://a.example/1"), answer("https://a.example/2", "2026-03-02T08:00:00Z"))
    answers = [ArchivedAnswer(n, page, "d1") for n, page in enumerate(pages)]
    out = io.BytesIO()
    assert write_warc(out, answers, {"d1": b"<p>both</p>"}.__getitem__, "test") == Written(1, 1)
    assert b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest" in gzip.decompress(out.getvalue())
    (tmp_path / "a.warc.gz").write_bytes(out.getvalue())
    first, second = read(tmp_path / "a.warc.gz")
    assert isinstance(first, Capture) and isinstance(second, Capture)
    assert second.is_revisit and second.payload_digest == first.payload_digest


def test_other_readers_find_nothing_wrong_with_what_is_written(tmp_path: Path) -> None:
    from warcio.checker import Checker

    answers = [
        ArchivedAnswer(
            n, answer(f"https://a.example/{n}", redirects=((301, f"https://a.example/old{n}"),)), f"d{n % 3}"
        )
        for n in range(5)
    ]
    answers.append(ArchivedAnswer(5, as_rendered(answer("https://a.example/5"), b"", "Chromium 1"), "d5", "d0"))
    path = tmp_path / "a.warc.gz"
    with path.open("wb") as out:
        write_warc(out, answers, lambda digest: digest.encode() * 100, "test")
    checker = Checker(type("Options", (), {"inputs": [str(path)], "verbose": False})())
    assert checker.process_all() == 0
    fastwarc = pytest.importorskip("fastwarc.warc")
    with path.open("rb") as file:
        kinds = []
        for one in fastwarc.ArchiveIterator(file, parse_http=False):
            kinds.append(str(one.record_type))
            assert one.verify_block_digest()
    assert kinds.count("response") == 3 + 5
    assert kinds.count("revisit") == 3
    assert kinds.count("conversion") == 1


SHELL = b"<div id=app></div><script src=/app.js></script>"
BODIES = {"shell": SHELL, "one": b"<p>made of one</p>", "two": b"<p>made of two</p>"}


def rendered(number: int, url: str, digest: str) -> ArchivedAnswer:
    """A page of which the server sends the same as of every other one."""
    received = answer(url, headers=(*HTML, ("etag", '"1"')))
    return ArchivedAnswer(number, as_rendered(received, b"", "Chromium 1.2"), digest, "shell")


def test_a_rendered_page_is_written_as_what_was_received_and_what_a_browser_made_of_it(tmp_path: Path) -> None:
    answers = [rendered(1, "https://a.example/1", "one"), rendered(2, "https://a.example/2", "two")]
    out = io.BytesIO()
    assert write_warc(out, answers, BODIES.__getitem__, "test") == Written(1, 1, 2)
    (tmp_path / "a.warc.gz").write_bytes(out.getvalue())
    first, second = read(tmp_path / "a.warc.gz")
    assert isinstance(first, Capture) and isinstance(second, Capture)
    for got, given in ((first.page, answers[0]), (second.page, answers[1])):
        assert (got.body, got.headers) == (BODIES[given.digest], given.page.headers)
        assert got.received is not None and given.page.received is not None
        assert dict(given.page.received.headers).items() <= dict(got.received.headers).items()
    assert (first.page.received.body, first.is_revisit) == (SHELL, False)  # type: ignore[union-attr]
    assert second.is_revisit and second.payload_digest == first.payload_digest


def test_a_rendering_that_is_damaged_does_not_leave_the_shell_as_a_page(tmp_path: Path) -> None:
    out = io.BytesIO()
    write_warc(out, [rendered(1, "https://a.example/1", "one")], BODIES.__getitem__, "test")
    spoilt = gzip.decompress(out.getvalue()).replace(b"made of one", b"made of 0ne")
    (tmp_path / "a.warc").write_bytes(spoilt)
    (skipped,) = read(tmp_path / "a.warc")
    assert isinstance(skipped, Skipped)
    assert (skipped.url, skipped.reason) == ("https://a.example/1", "wrong_digest")


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-2000], lambda data: data[:-3000] + b"\xff" * 100 + data[-2900:]]
)
def test_a_file_that_is_damaged_in_a_rendering_does_not_leave_the_shell_as_a_page(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    out = io.BytesIO()
    words = random.Random(1).choices([b"mill ", b"river ", b"flour ", b"grain "], k=100_000)
    write_warc(
        out, [rendered(1, "https://a.example/1", "one")], {"shell": SHELL, "one": b"".join(words)}.__getitem__, "test"
    )
    (tmp_path / "a.warc.gz").write_bytes(damage(out.getvalue()))
    found = read(tmp_path / "a.warc.gz", 10_000_000)
    assert found and not any(isinstance(one, Capture) for one in found)


def test_a_conversion_by_another_program_is_no_page(tmp_path: Path) -> None:
    from warcio.warcwriter import WARCWriter

    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="1.1")
    refers = {"WARC-Refers-To": "<urn:uuid:00000000-0000-0000-0000-000000000001>"}
    text = io.BytesIO(b"plain text")
    writer.write_record(writer.create_warc_record("https://a.example/", "conversion", text, 10, "text/plain", refers))
    path = write(tmp_path / "a.warc.gz", record("https://a.example/", page(b"<p>itself</p>")))
    path.write_bytes(path.read_bytes() + out.getvalue())
    got = only(path)
    assert (got.body, got.received) == (b"<p>itself</p>", None)
