"""The main job end to end, on a real site on loopback, with the built-in encoder."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.run import Shell
from tests.cli.town import POOL, TOWN, pool_page
from tests.site_server import Site


def blocks_of(shell: Shell, url: str) -> list[str]:
    return [row["block_id"] for row in shell.json("show", url)["blocks"]]


def test_an_english_question_gets_its_passage(town: Shell, town_site: Site) -> None:
    record = town.json("ask", "How much is a day ticket for the swimming pool?")
    assert record["status"] == "answered"
    assert "6.50 euros" in record["answer"]["text"]
    (source, *_) = record["sources"]["web"]
    assert source["url"] == f"{town_site.url}/pool.html"
    assert source["title"] == "Swimming pool"
    assert "6.50 euros" in source["quote"]["text"]


def test_a_chinese_question_gets_its_table_row_from_a_gbk_page(town: Shell, town_site: Site) -> None:
    record = town.json("ask", "居民用水每立方米多少钱？")
    assert "2.85" in record["answer"]["text"]
    assert record["sources"]["web"][0]["url"] == f"{town_site.url}/water.html"


def test_what_the_pages_do_not_say_is_refused(town: Shell) -> None:
    outcome = town("ask", "谁获得了2035年的诺贝尔文学奖？")
    assert outcome.code == 3
    assert "我无法从提供的资料中确认这一点" in outcome.out


def test_a_page_that_needs_javascript_is_skipped_with_its_reason(town: Shell, town_site: Site) -> None:
    (row,) = town.json("clean", "--skipped")
    assert (row["url"], row["reason"]) == (f"{town_site.url}/empty.html", "needs_javascript")


def test_a_second_build_does_nothing_and_says_so(town: Shell) -> None:
    again = town.json("build")
    assert again["clean"]["cleaned"] == again["chunk"]["new"] == again["index"]["embedded"] == 0
    assert "nothing new" in town("build").out


def test_an_edit_retires_and_adds_only_its_block_and_old_citations_still_open(town: Shell, town_site: Site) -> None:
    asked = town.json("ask", "How much is a day ticket for the swimming pool?")
    before = set(blocks_of(town, f"{town_site.url}/pool.html"))
    town_site.pages["/pool.html"] = pool_page("7.20")
    rechecked = town.json("recheck", "--all")
    assert (rechecked["changed"], rechecked["unchanged"]) == (1, len(TOWN) - 1)
    built = town.json("build")
    assert (built["chunk"]["new"], built["chunk"]["retired"], built["index"]["embedded"]) == (1, 1, 1)
    after = set(blocks_of(town, f"{town_site.url}/pool.html"))
    assert len(before - after) == len(after - before) == 1
    assert "7.20" in town.json("ask", "How much is a day ticket for the swimming pool?")["answer"]["text"]
    shown = town.json("show", f"{asked['id']}:1")
    assert "6.50 euros" in shown["passage"]
    assert POOL.encode() in town.archived(f"{asked['id']}:1")


def test_pages_that_share_a_paragraph_share_its_block(town: Shell, town_site: Site) -> None:
    shared = set(blocks_of(town, f"{town_site.url}/library.html")) & set(
        blocks_of(town, f"{town_site.url}/branch.html")
    )
    assert len(shared) == 1
    assert {place["url"] for place in town.json("show", shared.pop())["places"]} == {
        f"{town_site.url}/library.html",
        f"{town_site.url}/branch.html",
    }


def test_a_second_store_from_scratch_has_the_same_ids(town: Shell, town_site: Site, tmp_path: Path) -> None:
    other = Shell(tmp_path / "other")
    other("init")
    other("source", "add", f"{town_site.url}/", "--allow-private", "--render", "never")
    other("build")
    for path in TOWN:
        assert blocks_of(town, town_site.url + path) == blocks_of(other, town_site.url + path)


def test_quotes_are_exact_slices_and_their_bytes_stand_in_the_archive(town: Shell) -> None:
    for question in ("How much is a day ticket for the swimming pool?", "河东区什么时候停水？"):
        record = town.json("ask", question)
        for source in [*record["sources"]["internal"], *record["sources"]["web"]]:
            assert source["quote"]["exact"]
            where = source["snapshot"]
            body = town.archived(f"{record['id']}:{source['n']}")
            assert where["byte_start"] < where["byte_end"] <= len(body)
            passage = body[where["byte_start"] : where["byte_end"]]
            encoding = "gb18030" if "water" in source["url"] else "utf-8"
            assert passage.decode(encoding).split("<")[0].strip() in source["quote"]["text"]


def test_one_damaged_body_stops_no_other_page(town: Shell, town_site: Site) -> None:
    digest = town.json("show", f"{town_site.url}/pool.html")["snapshots"][0]["digest"]
    with sqlite3.connect(town.store / "archive.sqlite3") as sql:
        sql.execute("UPDATE blobs SET data = substr(data, 1, length(data) - 1) WHERE digest = ?", (digest,))
    with sqlite3.connect(town.store / "kb.sqlite3") as sql:
        sql.execute("UPDATE documents SET clean_rules = 'older'")
    outcome = town("clean")
    assert outcome.code == 0
    assert "archive_damaged" in outcome.err
    assert f"cleaned {len(TOWN) - 2}" in outcome.out
    assert town("chunk").code == 0
    assert "6.50" in town("search", "day ticket for the swimming pool").out, "the last reading stays"


def test_new_labels_in_the_settings_hold_at_once(town: Shell) -> None:
    assert town("search", "swimming pool", "--label", "town").code == 2
    settings = town.store / "kbcite.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + 'labels = ["town"]\n', encoding="utf-8")
    assert town("search", "swimming pool", "--label", "town").code == 0


def test_ctrl_c_saves_says_what_was_done_and_ends_with_130(shell: Shell, site: Site) -> None:
    site.pages["/"] = "<html><body>" + "".join(f'<a href="/{n}">{n}</a>' for n in range(200)) + "</body></html>"
    site.missing = lambda _: (time.sleep(0.1), "<html><body><p>One more page of the town.</p></body></html>")[1]
    shell("source", "add", f"{site.url}/", "--allow-private")
    command = [sys.executable, "-m", "kbcite", "--store", str(shell.store), "crawl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while len(site.requests) < 10 and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.strip().startswith("kbcite: interrupted")
    fetched = int(out.split()[1].rstrip(","))
    assert 0 < fetched == shell.json("status")["pages"] < 200


def test_a_link_that_leads_nowhere_is_no_failure(shell: Shell, site: Site) -> None:
    site.pages["/"] = '<html><body><p>The hut is open from June.</p><a href="/gone.html">more</a></body></html>'
    shell("source", "add", f"{site.url}/", "--allow-private")
    outcome = shell("crawl")
    assert (outcome.code, outcome.err) == (0, "")
    assert "fetched 1, changed 0, unchanged 0, skipped 1, failed 0" in outcome.out
