"""The main job on real manuals: two of those that `tests/debian_docs.py` serves, 28 pages in Chinese."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import debian_docs
from tests.debian_docs import ROOTS, build, kbcite, missing, serve

MANUALS = ("faq", "maint-guide")
PAGE = "faq/choosing.zh-cn.html"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not all(ROOTS[name].is_dir() for name in MANUALS), reason="needs Debian's manuals"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    store = str(tmp_path_factory.mktemp("debian") / "kb")
    with serve() as site:
        build(store, site, MANUALS)
        yield store, site


def blocks_of(store: str, url: str) -> set[str]:
    return {row["block_id"] for row in json.loads(kbcite(store, "--json", "show", url))["blocks"]}


def test_every_page_that_links_reach_is_stored(built: tuple[str, str]) -> None:
    assert missing(built[0], MANUALS) == []


def test_no_page_is_garbled(built: tuple[str, str]) -> None:
    store, _ = built
    pages = json.loads(kbcite(store, "--json", "status", "--pages"))
    assert pages["documents"] == pages["pages"] == 28
    for row in pages["page_list"]:
        assert "\ufffd" not in kbcite(store, "show", row["url"])


def test_a_second_build_embeds_nothing_and_an_edit_touches_only_its_blocks(built: tuple[str, str]) -> None:
    store, site = built
    again = json.loads(kbcite(store, "--json", "build"))
    assert (again["clean"]["cleaned"], again["chunk"]["new"], again["index"]["embedded"]) == (0, 0, 0)

    asked = json.loads(kbcite(store, "--json", "ask", "应该选择稳定版、测试版还是不稳定版？"))
    original = (ROOTS["faq"] / "choosing.zh-cn.html").read_text(encoding="utf-8")
    paragraph = next(p for p in re.findall(r"<p>(.*?)</p>", original, re.DOTALL) if p.count("。") > 2)
    before = blocks_of(store, site + PAGE)
    try:
        debian_docs.EDITED[PAGE] = original.replace(
            paragraph, paragraph.replace("。", "，这一句是新加的。", 1), 1
        ).encode()
        rechecked = json.loads(kbcite(store, "--json", "recheck", "--all"))
        assert (rechecked["changed"], rechecked["unchanged"]) == (1, 27)
        built_again = json.loads(kbcite(store, "--json", "build"))
    finally:
        debian_docs.EDITED.clear()
    counts = built_again["chunk"]
    assert 1 <= counts["new"] == built_again["index"]["embedded"] <= 2
    assert counts["new"] == counts["retired"] == len(before - blocks_of(store, site + PAGE))

    for source in [*asked["sources"]["internal"], *asked["sources"]["web"]]:
        shown = json.loads(kbcite(store, "--json", "show", f"{asked['id']}:{source['n']}"))
        assert shown["passage"] == source["quote"]["text"]


def test_a_question_is_answered_from_the_right_page(built: tuple[str, str], tmp_path: Path) -> None:
    record = json.loads(kbcite(built[0], "--json", "ask", "debuild 命令有什么用？"))
    assert record["status"] == "answered"
    assert record["sources"]["web"][0]["url"].startswith(built[1] + "maint-guide/build")
