"""Bytes and labels that lie about what a page is: read rightly, or refused as what they are, never stored as rubbish."""

from __future__ import annotations

import gzip
import random

import pytest

from tests.apart import Apart

ENGLISH = "<h1>Bridge</h1>" + "".join(
    f"<p>Paragraph {n} of an honest article about the bridge over the river Sill and its repairs.</p>"
    for n in range(12)
)
CHINESE = "<h1>大桥</h1>" + "".join(
    f"<p>这是关于锡尔河大桥维修的第{n}段文字，桥梁将在三月关闭，车辆绕行旧路。</p>" for n in range(12)
)
TRADITIONAL = CHINESE.translate(str.maketrans("桥维于锡尔这关车辆绕旧闭将梁", "橋維於錫爾這關車輛繞舊閉將樑"))


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/html; charset=zlib_codec",
        "text/html; charset=unicode_escape",
        "text/html; charset=raw_unicode_escape",
        "text/html; charset=idna",
        "text/html; charset=punycode",
        "text/html; charset=rot13",
        "text/html; charset=base64",
        "text/html; charset=mbcs",
        "text/html; charset=utf-7",
        "text/html; charset=utf-16",
        "text/html; charset=utf-32",
        "text/html; charset=x-user-defined",
        "text/html; charset=../../etc/passwd",
        "text/html; charset=utf\0-8",
        "text/html; charset=" + "x" * 60_000,
        "text/html; " + "a=b; " * 10_000 + "charset=gbk",
        'text/html; charset="',
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_label_that_lies_does_not_change_how_a_page_is_read(apart: Apart, content_type: str | None) -> None:
    outcome = apart.clean(CHINESE.encode(), content_type)
    assert outcome["text"].startswith("# 大桥\n\n这是关于锡尔河大桥维修的第0段文字")
    assert outcome["encoding"] == "utf-8"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "gb18030", "big5hkscs", "utf-8-sig"])
def test_a_page_without_any_label_is_read(apart: Apart, encoding: str) -> None:
    text = TRADITIONAL if encoding == "big5hkscs" else CHINESE
    outcome = apart.clean(text.encode(encoding, "replace"), "text/html")
    assert outcome["text"].startswith(f"# {text[4:6]}\n\n")


def test_utf_7_is_not_decoded_into_markup(apart: Apart) -> None:
    outcome = apart.clean(
        ENGLISH.encode() + b"<p>+ADw-script+AD4-alert(1)+ADw-/script+AD4-</p>", "text/html; charset=utf-7"
    )
    assert "<script" not in outcome["text"]


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 400,
        b"\xff\xd8\xff\xe0\0\x10JFIF" + random.Random(1).randbytes(60_000),
        b"GIF89a" + random.Random(2).randbytes(60_000),
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + random.Random(3).randbytes(60_000),
        b"PK\x03\x04" + random.Random(4).randbytes(60_000),
        b"\x7fELF" + bytes(range(256)) * 400,
        gzip.compress(ENGLISH.encode()),
        random.Random(5).randbytes(100_000),
        b"\0" * 1_000_000,
        ENGLISH.encode("utf-32"),
    ],
    ids=["png", "jpeg", "gif", "pdf", "zip", "program", "gzip", "noise", "nothing", "utf-32"],
)
def test_what_is_no_text_is_refused_whatever_its_content_type_says(apart: Apart, body: bytes) -> None:
    outcome = apart.clean(body, "text/html; charset=utf-8")
    assert outcome["reason"] is not None


@pytest.mark.parametrize(
    "reference", ["&#" + "9" * 5_000 + ";", "&#x" + "f" * 5_000 + ";", "&#0;", "&#xD800;", "&#x110000;"]
)
def test_a_reference_to_no_character_breaks_nothing(apart: Apart, reference: str) -> None:
    outcome = apart.clean(ENGLISH.replace("honest", reference).encode(), "text/html")
    assert outcome["reason"] is None
    assert outcome["text"].startswith("# Bridge\n\nParagraph 0 of an ")
