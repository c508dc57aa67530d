from __future__ import annotations

import time
from pathlib import Path

import pytest

from kbcite.page.app_shell import BARE_BYTES, FULL_BYTES, shell_sign, text_bytes

GOLDEN = Path(__file__).parents[2] / "golden_pages"
WORDS = "A press is a tool that squeezes juice from fruit. "
PROSE = f"<p>{WORDS * 20}</p>"
SCRIPT = "<script src=/app.js></script>"
MENU = "<nav>" + '<a href="/a">Products and services of the whole company</a>' * 30 + "</nav>"


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        (f'<div id="root"></div>{SCRIPT}', "mount_point"),
        (f"<div id=app><!-- filled later --></div>{SCRIPT}", "mount_point"),
        (f'<div class="x" id="__next"><noscript>Please enable JS</noscript></div>{SCRIPT}', "mount_point"),
        (f"<app-root>Loading...</app-root>{SCRIPT}", "mount_point"),
        (f"{MENU}<main id='content'></main><footer>{WORDS * 20}</footer>{SCRIPT}", "mount_point"),
        (f"<noscript>You need to enable JavaScript to run this app.</noscript><div id=x></div>{SCRIPT}", "noscript"),
        (f"<p>请启用 JavaScript 后继续浏览</p>{SCRIPT}", "noscript"),
        (f"<div id=page><p>{WORDS}{WORDS}{WORDS}</p></div><script>window.__NUXT__={{}}</script>", "framework"),
        (f"<title>{WORDS * 20}</title><body>{SCRIPT}", "bare"),
        (f"<script>var text = '{WORDS * 50}'</script>", "bare"),
    ],
)
def test_a_page_that_scripts_write_is_a_shell(body: str, sign: str) -> None:
    assert shell_sign(body.encode()) == sign


@pytest.mark.parametrize(
    "body",
    [
        f"<div id=root>{PROSE}</div>{SCRIPT}",
        f"<div id=root></div>{PROSE}{SCRIPT}",
        "<p>Closed on Mondays.</p>",
        '<div id="root"></div>',
        f"<p>{WORDS * 5}</p>{SCRIPT}",
        f"<div id=x></div><noscript>JavaScript is off. {PROSE * 4}</noscript>{SCRIPT}",
        f"<p>{'本店周一休息，周二至周日营业。' * 20}</p><script>window.__NUXT__={{}}</script>",
        f"<nav><p>never closed {PROSE}{SCRIPT}",
    ],
)
def test_a_page_that_holds_its_words_is_none(body: str) -> None:
    assert shell_sign(body.encode()) is None


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "big5"])
def test_chinese_text_counts_alike_in_every_encoding(encoding: str) -> None:
    assert text_bytes(("<p>" + "水質檢測結果" * 60 + "</p>").encode(encoding)) >= FULL_BYTES
    assert text_bytes(("<p>" + "水質檢測結果" * 3 + "</p>").encode(encoding)) < BARE_BYTES


def test_what_is_not_running_text_does_not_count() -> None:
    assert text_bytes(f"<title>{WORDS}</title>{MENU}<!--{WORDS}--><style>{WORDS}</style>&nbsp;...".encode()) == 0


@pytest.mark.parametrize("folder", sorted(path.name for path in GOLDEN.iterdir() if path.is_dir()))
def test_of_the_golden_pages_only_the_empty_shell_is_one(folder: str) -> None:
    sign = shell_sign((GOLDEN / folder / "page.html").read_bytes())
    assert (sign is not None) == (folder == "empty-shell-needs-javascript")


@pytest.mark.parametrize("piece", ["<a ", "<!--", "<nav>", "<script>", "<noscript>", "<div id=root>", "<", "&amp"])
def test_hostile_markup_takes_no_time(piece: str) -> None:
    began = time.process_time()
    shell_sign(b"<script></script>" + piece.encode() * (500_000 // len(piece)))
    assert time.process_time() - began < 3
