"""Sitemaps and feeds made to be expensive or to read what is not theirs: bounded in time and memory, nothing outside is opened."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.apart import Apart
from tests.site_server import Site

LOC = "<url><loc>https://example.com/a</loc></url>"


def lol(levels: int) -> bytes:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, levels))
    return f'<!DOCTYPE x [<!ENTITY l0 "lol">{entities}]><urlset><url><loc>&l{levels - 1};</loc></url>{LOC}</urlset>'.encode()


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(6, wbits=16 + zlib.MAX_WBITS)
    return packer.compress(b"<urlset>" + b" " * 60_000_000) + packer.flush()


ATTACKS: dict[str, tuple[Callable[[], bytes], int | None]] = {
    "billion laughs": (lambda: lol(10), None),
    "quadratic expansion": (
        lambda: (
            f'<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]><urlset><url><loc>{"&a;" * 50_000}</loc></url>{LOC}</urlset>'
        ).encode(),
        None,
    ),
    "an entity that holds itself": (
        lambda: (
            f'<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]><urlset><url><loc>&a;</loc></url>{LOC}</urlset>'.encode()
        ),
        None,
    ),
    "a million levels": (lambda: b"<urlset>" + b"<url>" * 1_000_000 + LOC.encode(), None),
    "a million attributes": (
        lambda: b"<urlset " + b" ".join(b'a%d="x"' % n for n in range(300_000)) + b">" + LOC.encode() + b"</urlset>",
        None,
    ),
    "a gzip of 60 MB": (gzip_bomb, None),
    "a gzip in a gzip": (lambda: gzip.compress(gzip.compress(f"<urlset>{LOC}</urlset>".encode())), None),
    "a broken gzip": (lambda: b"\x1f\x8b" + b"x" * 1000, None),
    "200,000 addresses": (
        lambda: (
            "<urlset>" + "".join(f"<url><loc>https://example.com/{n}</loc></url>" for n in range(200_000)) + "</urlset>"
        ).encode(),
        50_000,
    ),
    "addresses of 1 MB": (
        lambda: f"<urlset><url><loc>https://example.com/{'x' * 1_000_000}</loc></url>{LOC}</urlset>".encode(),
        1,
    ),
    "NUL bytes": (lambda: b"<urlset>\0" + LOC.encode() + b"</urlset>", None),
    "nothing": (lambda: b"", None),
    "a comment without an end": (lambda: b"<urlset><!--" + b"x" * 5_000_000, None),
    "CDATA without an end": (lambda: b"<urlset><url><loc><![CDATA[" + b"x" * 5_000_000, None),
    "a page": (lambda: b"<!doctype html><html><body>hello</body></html>", None),
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_list_ends_in_time_and_memory(apart: Apart, attack: str) -> None:
    make, most = ATTACKS[attack]
    outcome = apart.read_list(make())
    assert outcome["links"] is None or outcome["links"] <= (most or 1)
    if most:
        assert outcome["links"] == most


@pytest.mark.parametrize(
    "dtd",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "{file}">]>',
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "{file}">%p;<!ENTITY e "&q;">]>',
        '<!DOCTYPE x [<!ENTITY e SYSTEM "{url}">]>',
        '<!DOCTYPE x SYSTEM "{url}">',
        '<!DOCTYPE x PUBLIC "-//x//EN" "{url}">',
        '<?xml-stylesheet href="{url}"?>',
    ],
)
def test_a_list_cannot_read_files_nor_ask_a_server(apart: Apart, site: Site, tmp_path: Path, dtd: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("https://example.com/secret", encoding="ascii")
    site.missing = '<!ENTITY e "https://example.com/secret">'
    text = dtd.format(file=secret.as_uri(), url=f"{site.url}/x.dtd")
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="' + secret.as_uri() + '" parse="text"/>'
    outcome = apart.read_list(
        f"{text}<urlset><url><loc>&e;</loc></url><url><loc>{include}</loc></url>{LOC}</urlset>".encode()
    )
    assert "https://example.com/secret" not in outcome["first"]
    assert site.requests == []


def test_an_honest_list_is_read(apart: Apart) -> None:
    assert apart.read_list(f"<urlset>{LOC}</urlset>".encode())["links"] == 1


LINKS: dict[str, Callable[[], str]] = {
    "600,000 links": lambda: "".join(f'<a href="/{n}">' for n in range(600_000)),
    "600,000 equal links": lambda: '<a href="/x">' * 600_000,
    "a tag without an end": lambda: "<a " + "x" * 5_000_000,
    "a million tags without an end": lambda: "<a " * 1_000_000,
    "quotes without an end": lambda: '<a href="' * 500_000,
    "mixed quotes": lambda: "<a href='\">" * 500_000,
    "a million attributes": lambda: "<a " + "x=y " * 1_000_000 + 'href="/a">',
    "a million empty attributes": lambda: "<a " + "x " * 1_000_000 + 'href="/a">',
    "equal signs": lambda: "<a " + "=" * 2_000_000 + ">",
    "spaces": lambda: "<a" + " " * 5_000_000 + ">",
    "comments without an end": lambda: "<!--" * 500_000,
    "scripts without an end": lambda: "<script>" * 300_000,
    "noscripts in each other": lambda: "<noscript>" * 300_000,
    "titles in each other": lambda: "<title>" * 300_000 + "</title>" * 300_000,
    "an address of 10 MB": lambda: f'<a href="/{"x" * 10_000_000}">',
    "an address of a million references": lambda: f'<a href="/{"&amp;" * 1_000_000}">',
    "references without an end": lambda: f'<a href="{"&#x" * 1_000_000}">',
    "a reference to a huge number": lambda: f'<a href="&#{"9" * 100_000};">' * 10,
    "a refresh of a million blanks": lambda: f'<meta http-equiv="refresh" content="0{" " * 2_000_000}">',
    "a refresh of a million digits": lambda: f'<meta http-equiv="refresh" content="{"9" * 2_000_000};url=/a">',
    "robots directives of 5 MB": lambda: f'<meta name="robots" content="{"index, " * 700_000}">',
    "a base of 5 MB": lambda: f'<base href="https://example.com/{"x" * 5_000_000}/">' + '<a href="y">' * 1000,
    "dot segments": lambda: f'<a href="{"../" * 1300}">' * 1000 + f'<a href="{"./" * 2000}">',
    "lone surrogates": lambda: '<a href="/\ud800\udfff?\ud800">x</a>' * 1000,
    "a host of 2,000 labels": lambda: f'<a href="//{"a." * 2000}com/">' * 200,
    "a punycode bomb": lambda: f'<a href="//xn--{"9" * 2000}.com/">' * 200,
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", LINKS)
def test_links_of_a_hostile_page_are_read_in_time_and_memory(apart: Apart, attack: str) -> None:
    outcome = apart.read_links(LINKS[attack](), limit_s=5.0)
    assert outcome["links"] <= 10_000
    assert all(len(link) < 20_000 for link in outcome["first"])
