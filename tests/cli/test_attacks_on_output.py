"""What pages say, in a terminal and in file names: escapes are shown, not obeyed, and no address becomes a path."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.run import Shell
from tests.fakes import BagEncoder
from tests.site_server import Site

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b2J\u202eesrever\u2066\u200b\r\x08"
WRITTEN = "".join(f"&#{ord(character)};" for character in EVIL)
"""The same by references, which a reader of bytes does not see."""
TEXT = "The bridge over the river Sill was opened in 1903 and is closed for repairs until the first week of May. "
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
PATHS = [
    "/../../../../tmp/owned",
    "/%2e%2e/%2e%2e/owned",
    "/a%00b",
    "/" + "x" * 300,
    "/..%2f..%2fowned",
    "/con",
    "/$(id)",
    "/;rm%20-rf",
]


@pytest.fixture
def hostile(shell: Shell, site: Site, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A store over pages whose every field is hostile."""
    monkeypatch.setattr("kbcite.retrieval.encoder.open_encoder", lambda *_, **__: BagEncoder())
    links = "".join(f'<a href="{path}">x</a>' for path in PATHS) + f'<a href="/{EVIL}">x</a><a href="/gone{EVIL}">x</a>'
    site.missing = (
        f"<html><head><title>\x1b[31m\u202e Bridge {WRITTEN}</title><meta name=author content='{WRITTEN}'></head><body><h1>Bridge {WRITTEN}"
        f"</h1><h2>{WRITTEN} History</h2><p>{TEXT * 30}{WRITTEN}</p><pre>{WRITTEN}</pre>{links}</body></html>"
    )
    site.pages["/robots.txt"] = ""
    shell("source", "add", f"{site.url}/", "--allow-private")
    outcome = shell("-v", "build")
    assert outcome.code == 0, outcome.err
    assert not OBEYED.search(outcome.out + outcome.err)
    return shell


@pytest.mark.parametrize(
    "words",
    [
        ("-v", "recheck", "--all"),
        ("status", "--pages"),
        ("search", "bridge", "--explain"),
        ("ask", "When was the bridge opened?", "-v"),
        ("show", "{url}/"),
        ("clean", "--show-cuts", "{url}/"),
        ("clean", "--skipped"),
        ("crawl", "--explain", "{url}/" + EVIL),
        ("ask", f"When {EVIL} was the bridge opened?"),
        ("doctor",),
        ("log",),
    ],
    ids=lambda words: " ".join(words)[:20].replace("{url}", ""),
)
def test_no_escape_of_a_page_reaches_the_terminal(hostile: Shell, site: Site, words: tuple[str, ...]) -> None:
    outcome = hostile(*(word.replace("{url}", site.url) for word in words))
    assert outcome.out or outcome.err
    assert not OBEYED.search(outcome.out + outcome.err)


def test_json_holds_no_raw_control_characters(hostile: Shell) -> None:
    for words in (("status", "--pages"), ("search", "bridge"), ("ask", "When was the bridge opened?")):
        outcome = hostile("--json", *words)
        json.loads(outcome.out)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", outcome.out)


def test_no_address_becomes_a_path(hostile: Shell, tmp_path: Path) -> None:
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    own = re.compile(
        r"kbcite\.toml|(?:kb|archive)\.sqlite3(?:-wal|-shm)?|index\.json|blocks-[0-9a-f]{16}\.faiss|\.lock.*|.*\.lock"
    )
    assert [name for name in names if not own.fullmatch(name)] == []
    assert not Path("/tmp/owned").exists()
