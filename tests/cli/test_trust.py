"""verify, audit, log, show, trace and export over the little town, as a shell sees them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import Shell
from tests.cli.town import page, pool_page
from tests.site_server import Site

TICKET = "How much is a day ticket for the swimming pool?"
WATER = "居民用水每立方米多少钱？"
UNKNOWN = "谁获得了2035年的诺贝尔文学奖？"


@pytest.fixture
def asked(town: Shell) -> dict[str, Any]:
    """The town after three questions; the record of the first. The last one was refused."""
    record: dict[str, Any] = town.json("ask", TICKET)
    town("ask", WATER)
    town("ask", UNKNOWN)
    return record


def first_source(record: dict[str, Any]) -> dict[str, Any]:
    source: dict[str, Any] = [*record["sources"]["internal"], *record["sources"]["web"]][0]
    return source


# ---------------------------------------------------------------- verify


def test_all_saved_answers_verify(town: Shell, asked: dict[str, Any]) -> None:
    outcome = town("--offline", "verify", "--all")
    assert outcome.code == 0, outcome.out
    assert "3 answers, 2 quotes, 2 sentences: all verified" in outcome.out


def test_one_answer_is_verified_by_its_id_and_shown_in_full(town: Shell, asked: dict[str, Any]) -> None:
    outcome = town("verify", asked["id"][:6])
    at = first_source(asked)["snapshot"]
    assert outcome.code == 0
    assert "[1] Swimming pool" in outcome.out
    assert f"bytes {at['byte_start']} to {at['byte_end']} of {at['sha256'][:16]}" in outcome.out
    assert "supported  A day ticket costs 6.50 euros" in outcome.out


def test_a_record_in_a_file_is_verified_and_a_forged_one_is_not(
    town: Shell, asked: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(asked), encoding="utf-8")
    assert town("verify", str(file)).code == 0
    first_source(asked)["quote"]["text"] = "A day ticket costs 9.50 euros."
    file.write_text(json.dumps(asked), encoding="utf-8")
    outcome = town("verify", str(file))
    assert outcome.code == 1
    assert "document: the quote is not in the document read from these bytes" in outcome.out
    assert outcome.err.startswith("kbcite: 1 of 1 did not verify")


@pytest.mark.parametrize("format_", ["text", "md"])
def test_what_ask_prints_can_be_verified_as_a_text(town: Shell, tmp_path: Path, format_: str) -> None:
    for number, question in enumerate((TICKET, WATER)):
        file = tmp_path / f"{number}.md"
        file.write_text(town("ask", question, "--format", format_).out, encoding="utf-8")
        report = town.json("verify", str(file), "--strict")["reports"][0]
        assert report["ok"], report
        assert [s["verdict"] for s in report["sentences"] if s["numbers"]] == ["supported"]


@pytest.mark.parametrize(("other", "said"), [("two years", "agree on “two years”"), ("three years", "differ")])
def test_what_is_said_of_how_sources_compare_verifies(
    town: Shell, town_site: Site, tmp_path: Path, other: str, said: str
) -> None:
    for name, period in (("boats", "two years"), ("oars", other)):
        text = f"<p>The warranty of the town boats is {period} from the day of the sale of the boat.</p>"
        town_site.pages[f"/{name}.html"] = page(f"Warranty of {name}", text * 2)
        assert town("crawl", f"{town_site.url}/{name}.html").code == 0
    assert town("--offline", "build").code == 0
    outcome = town("ask", "How long is the warranty of the town boats?", "--no-live")
    assert said in outcome.out, outcome.out + outcome.err
    assert town("verify").code == 0
    file = tmp_path / "answer.md"
    file.write_text(outcome.out, encoding="utf-8")
    assert town("verify", str(file)).code == 0
    file.write_text(outcome.out.replace("“two years”", "“nine years”"), encoding="utf-8")
    forged = town("verify", str(file))
    assert forged.code == 1
    assert "none of them says nine years" in forged.out


def test_a_text_by_anyone_is_checked_sentence_by_sentence(town: Shell, town_site: Site) -> None:
    text = (
        f"The pool opens at seven in the morning. [1] A day ticket costs 8.50 euros. [1] Dogs must be kept on a lead. [2] "
        f"The mayor swims there. [3] Nobody cites this sentence at all.\n\n"
        f"References\n1. Pool, {town_site.url}/pool.html\n2. {town_site.url}/nowhere.html\n"
    )
    outcome = town("--json", "verify", "-", stdin=text)
    assert outcome.code == 1
    (report,) = json.loads(outcome.out.splitlines()[0])["reports"]
    assert [(s["verdict"], s["is_ok"]) for s in report["sentences"]] == [
        ("supported", True),
        ("contradicted", False),
        ("not_stored", False),
        ("no_such_source", False),
        ("uncited", True),
    ]
    assert report["coverage"] == 0.8


def test_a_text_that_was_true_when_it_was_written_says_so(town: Shell, town_site: Site) -> None:
    town_site.pages["/pool.html"] = pool_page("7.20")
    town("recheck", "--all")
    town("build")
    text = f"A day ticket costs 6.50 euros. [1]\n\n[1]: {town_site.url}/pool.html\n"
    outcome = town("verify", "-", stdin=text)
    assert outcome.code == 0
    assert "as archived, no longer on the page" in outcome.out


def test_a_text_without_a_list_of_sources_does_not_verify(town: Shell) -> None:
    outcome = town("verify", "-", stdin="It opens at seven. [1]")
    assert outcome.code == 1
    assert "no list of sources" in outcome.out


def test_too_few_citations_are_under_the_bar(town: Shell, town_site: Site) -> None:
    text = f"The pool opens at seven in the morning. [1] It is blue. It is big.\n\n[1]: {town_site.url}/pool.html\n"
    assert town("verify", "-", stdin=text).code == 0
    assert town("verify", "-", "--strict", stdin=text).code == 4


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nothing.md",), 2, "there is no file nothing.md"),
        (("a999",), 5, "no answer begins with 'a999'"),
        (("a1", "--all"), 2, "--all checks every saved answer"),
    ],
)
def test_what_cannot_be_verified_is_named(
    town: Shell, asked: dict[str, Any], arguments: tuple[str, ...], code: int, words: str
) -> None:
    outcome = town("verify", *arguments)
    assert (outcome.code, words in outcome.err) == (code, True), outcome.err


def test_a_file_that_holds_no_record_is_named(town: Shell, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("[1, 2]", encoding="utf-8")
    assert town("verify", str(file)).code == 2
    file.write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in town("verify", str(file)).err


# ---------------------------------------------------------------- audit


def test_an_audit_without_a_change_finds_nothing(town: Shell, asked: dict[str, Any]) -> None:
    outcome = town("audit")
    assert (outcome.code, outcome.out.strip()) == (0, "audited 2 answers: current 2, stale 0, gone 0")


def test_a_change_elsewhere_on_the_page_does_not_count(town: Shell, town_site: Site, asked: dict[str, Any]) -> None:
    town_site.pages["/pool.html"] = pool_page().replace("85 euros", "95 euros")
    assert town.json("recheck", "--all")["changed"] == 1
    assert town("audit").code == 0


def test_a_stale_answer_is_shown_as_quoted_archived_and_now(
    town: Shell, town_site: Site, asked: dict[str, Any]
) -> None:
    town_site.pages["/pool.html"] = pool_page("7.20")
    town("recheck", "--all")
    outcome = town("audit")
    assert outcome.code == 1
    assert f"stale   {asked['id']}" in outcome.out
    assert "quoted    A day ticket costs 6.50 euros" in outcome.out
    assert "archived  as quoted" in outcome.out
    assert "A day ticket costs [-6.50-]{+7.20+} euros" in outcome.out
    assert outcome.err == f"kbcite: 1 of 2 answers stale: {asked['id']}\n"


def test_asking_again_needs_the_change_to_be_built_and_shows_both_answers(
    town: Shell, town_site: Site, asked: dict[str, Any]
) -> None:
    town_site.pages["/pool.html"] = pool_page("7.20")
    town("recheck", "--all")
    early = town("audit", "--re-ask")
    assert early.code == 2
    assert 'run "kbcite build" first' in early.err
    town("build")
    outcome = town("audit", "--re-ask")
    assert outcome.code == 1
    assert "then      A day ticket costs 6.50 euros" in outcome.out
    assert "now       A day ticket costs 7.20 euros" in outcome.out
    newest = json.loads(town("--json", "log", "-n", "1").out)
    assert f"saved as {newest['id']}" in outcome.out


def test_an_audit_as_json_has_the_difference_in_runs(town: Shell, town_site: Site, asked: dict[str, Any]) -> None:
    town_site.pages["/pool.html"] = pool_page("7.20")
    town("recheck", "--all")
    record = json.loads(town("--json", "audit").out.splitlines()[0])
    assert record["stale"] == [asked["id"]]
    (citation,) = next(row for row in record["answers"] if row["id"] == asked["id"])["citations"]
    assert citation["outcome"] == "changed"
    assert ["removed", "6.50"] in citation["difference"]
    assert ["added", "7.20"] in citation["difference"]


# ---------------------------------------------------------------- log, show, trace


def test_the_log_lists_answers_the_newest_first(town: Shell, asked: dict[str, Any]) -> None:
    lines = town("log").out.splitlines()
    assert [line.split()[4] for line in lines] == ["refused", "supported", "supported"]
    assert lines[2].startswith(asked["id"])
    assert lines[2].endswith(TICKET)


def test_the_log_as_json_is_a_line_each(town: Shell, asked: dict[str, Any]) -> None:
    rows = [json.loads(line) for line in town("--json", "log").out.splitlines()]
    assert rows[0]["reason"] == "below_threshold"
    assert rows[2] | {"citations": []} == {
        "id": asked["id"],
        "trace_id": asked["trace_id"],
        "created_at": asked["created_at"],
        "question": TICKET,
        "status": "answered",
        "verdict": "supported",
        "reason": None,
        "method": "extractive",
        "coverage": 1.0,
        "support": 1.0,
        "citations": [],
    }
    assert [citation["n"] for citation in rows[2]["citations"]] == [1]


def test_the_log_can_be_searched_and_cut(town: Shell, asked: dict[str, Any]) -> None:
    assert len(town("log", "--grep", "6.50").out.splitlines()) == 1
    assert len(town("log", "-n", "2").out.splitlines()) == 2
    assert town("log", "--grep", "no such words").code == 5


def test_an_empty_log_says_what_to_do(shell: Shell) -> None:
    outcome = shell("log")
    assert outcome.code == 5
    assert 'ask something with "kbcite ask"' in outcome.err


def test_an_answer_is_shown_again_as_it_was_printed(town: Shell) -> None:
    printed = town("ask", TICKET).out
    assert town("show").out == printed
    newest = json.loads(town("--json", "log", "-n", "1").out)
    assert town("show", newest["id"][:5]).out == printed
    assert town.json("show", newest["id"])["id"] == newest["id"]


def test_a_cited_source_shows_where_it_stands_and_what_rests_on_it(town: Shell, asked: dict[str, Any]) -> None:
    out = town("show", f"{asked['id']}:1").out
    assert "[1] Swimming pool" in out
    assert "#:~:text=" in out
    assert "supported 0." in out or "supported 1." in out
    assert out.rstrip().endswith("A day ticket costs 6.50 euros.")


def test_the_trace_tells_the_whole_way(town: Shell, asked: dict[str, Any]) -> None:
    out = town("trace", asked["id"]).out
    assert f"{asked['id']}  " in out
    for part in (
        "question   en, asks for ",
        "retrieval  ",
        "[1]  ",
        "below_threshold",
        "answer     extractive",
        "checks     coverage 100%",
    ):
        assert part in out, part
    assert town("trace", asked["trace_id"][:12]).out == out
    record = town.json("trace", asked["id"])
    assert record["answer"]["id"] == asked["id"]
    candidates = record["trace"]["candidates"]
    assert [c["cited_as"] for c in candidates if c["cited_as"]] == [[1]]
    assert len(candidates) == asked["retrieval"]["candidates"]


def test_an_answer_of_an_older_kbcite_has_no_candidates_to_show(town: Shell, asked: dict[str, Any]) -> None:
    with sqlite3.connect(town.store / "kb.sqlite3") as sql:
        sql.execute("UPDATE answers SET trace = NULL")
    outcome = town("trace", asked["id"])
    assert outcome.code == 0
    assert "the candidates were not saved with this answer" in outcome.out


def test_a_number_that_is_not_there_is_named(town: Shell, asked: dict[str, Any]) -> None:
    assert "was refused and cites nothing" in town("show", "1").err
    assert "cites 1 source, there is no [4]" in town("show", f"{asked['id']}:4").err


def test_a_refusal_has_its_trace_too(town: Shell, asked: dict[str, Any]) -> None:
    shown = town("trace").out
    assert "refused    below_threshold, nothing found is close enough to the question: " in shown
    assert "left out, not close enough to the question (below_threshold): " in shown


# ---------------------------------------------------------------- formats


def test_an_answer_is_written_as_html_with_a_link_to_the_archived_page(
    town: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "out" / "answer.html"
    file.parent.mkdir()
    outcome = town("ask", TICKET, "--format", "html", "-o", str(file))
    assert (outcome.code, outcome.out) == (0, "")
    page = file.read_text(encoding="utf-8")
    link = page.partition('class="copy" href="')[2].partition('"')[0]
    path, _, fragment = link.partition("#")
    copy = (file.parent / path).resolve()
    assert copy.is_file()
    assert fragment.startswith(":~:text=")
    shown = copy.read_text(encoding="utf-8")
    assert shown.startswith(
        '<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src'
    )
    assert "6.50 euros" in shown
    again = town("show", "--format", "html").out
    assert again.partition("<main>")[2].partition("href=")[0] == page.partition("<main>")[2].partition("href=")[0]


def test_a_copy_of_an_archived_page_obeys_no_directive_of_that_page(town: Shell, town_site: Site) -> None:
    town_site.pages["/pool.html"] = pool_page("6.50").replace(
        "<head>",
        '<head><META HTTP-EQUIV = refresh content="0;url=https://evil.example/"><base href="https://evil.example/">',
    )
    town("recheck", "--all")
    town("build")
    town("ask", TICKET, "--format", "html", "-o", str(town.store.parent / "x.html"))
    pages = [path.read_text(encoding="utf-8") for path in (town.store / "archived").iterdir()]
    (copy,) = [page for page in pages if "evil.example" in page]
    assert "HTTP-EQUIV" not in copy
    assert copy.index(f'<base href="{town_site.url}/pool.html">') < copy.index("evil.example")


def test_what_is_forgotten_leaves_no_copy_and_its_answer_says_so(
    town: Shell, town_site: Site, asked: dict[str, Any]
) -> None:
    town("show", asked["id"], "--format", "html")
    assert list((town.store / "archived").iterdir())
    assert town("forget", f"{town_site.url}/pool.html", "--yes").code == 0
    assert not (town.store / "archived").exists()
    assert "the page was forgotten" in town("verify", asked["id"]).out
    audited = town("audit", asked["id"])
    assert (audited.code, "the page is no longer stored" in audited.out) == (1, True)
    assert "6.50" not in town("show", asked["id"], "--format", "html").out


def test_formats_are_for_answers_only(town: Shell, asked: dict[str, Any], town_site: Site) -> None:
    assert town("show", f"{town_site.url}/pool.html", "--format", "html").code == 2
    assert town("show", asked["id"], "--open").code == 2


def test_records_are_exported_as_lines_that_verify(town: Shell, asked: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    assert town("export", "-o", str(file)).code == 0
    assert next(json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()) == asked["id"]
    assert town("verify", str(file)).code == 0


def test_cited_pages_are_exported_once_each(town: Shell, town_site: Site, asked: dict[str, Any]) -> None:
    town("ask", TICKET)
    items = json.loads(town("export", "--format", "csl-json").out)
    assert [item["URL"] for item in items] == [f"{town_site.url}/pool.html", f"{town_site.url}/water.html"]
    assert town("export", "--format", "bibtex").out.count("@misc{") == 2
    assert json.loads(town("export", asked["id"], "--format", "csl-json").out) == items[:1]


def test_annotations_point_into_the_page_the_bytes_and_their_time(town: Shell, asked: dict[str, Any]) -> None:
    collection = json.loads(town("export", "--format", "web-annotation").out)
    assert (collection["type"], collection["total"]) == ("AnnotationCollection", 2)
    assert collection["@context"] == "http://www.w3.org/ns/anno.jsonld"
    annotation = collection["first"]["items"][0]
    source = first_source(asked)
    assert annotation["target"]["source"] == source["url"]
    assert annotation["target"]["state"] == {
        "type": "TimeState",
        "sourceDate": source["fetched_at"],
        "cached": f"urn:sha256:{source['snapshot']['sha256']}",
    }
    selectors = {selector["type"]: selector for selector in annotation["target"]["selector"]}
    quote, position, data = (
        selectors[name] for name in ("TextQuoteSelector", "TextPositionSelector", "DataPositionSelector")
    )
    assert quote["exact"] == source["quote"]["text"]
    assert position["end"] - position["start"] == len(quote["exact"])
    body = town.archived(f"{asked['id']}:1")
    assert body[data["start"] : data["end"]].decode() == quote["exact"]
    assert quote["prefix"] + quote["exact"] + quote["suffix"] in body.decode()


def test_a_row_of_a_gbk_table_is_annotated_with_the_words_of_the_page(town: Shell, asked: dict[str, Any]) -> None:
    items = json.loads(town("export", "--format", "web-annotation").out)["first"]["items"]
    selectors = items[1]["target"]["selector"]
    assert selectors[0]["exact"] == "居民2.85"
    assert selectors[0]["prefix"].endswith("价格（元/立方米）")
