"""Every mistake has its exit code and one line: the thing, the reason, the next step. Nothing stored is lost."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kbcite.retrieval.vector_index import signed
from tests.cli.run import Outcome, Shell, kbcite
from tests.site_server import Site
from tests.store.test_lock import HOLD


def told(outcome: Outcome, code: int, *words: str) -> None:
    """The outcome has this code and one line on standard error with these words in it."""
    lines = outcome.err.strip().splitlines()
    assert outcome.code == code, outcome.err
    assert len(lines) == 1, outcome.err
    assert "Traceback" not in outcome.err
    for word in words:
        assert word in lines[0]


def test_an_unknown_scheme(shell: Shell) -> None:
    told(shell("source", "add", "ftp://a.example/"), 2, "ftp://a.example/", "http or https")
    told(shell("crawl", "file:///etc/passwd"), 2, "file:///etc/passwd", "http or https")


def test_a_url_off_the_whitelist(shell: Shell) -> None:
    told(shell("crawl", "https://a.example/docs/x.html"), 2, "https://a.example/docs/x.html", "kbcite source add")


def test_a_loopback_source_without_allow_private(shell: Shell, site: Site) -> None:
    site.pages["/"] = "<p>inside</p>"
    shell("source", "add", f"{site.url}/")
    outcome = shell("crawl")
    assert outcome.code != 0
    assert "private" in outcome.err
    assert not site.requests


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "who?"],
        ["search", "x"],
        ["crawl"],
        ["clean"],
        ["chunk"],
        ["index"],
        ["build"],
        ["recheck"],
        ["status"],
        ["show", "b1x"],
    ],
)
def test_no_store(tmp_path: Path, command: list[str]) -> None:
    told(kbcite("--store", str(tmp_path / "none"), *command), 5, "no store at", "init")
    assert not (tmp_path / "none").exists()


def test_no_sources(shell: Shell) -> None:
    told(shell("crawl"), 5, "no sources", "kbcite source add")


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_an_empty_question(shell: Shell, question: str) -> None:
    told(shell("ask", question), 2, "question is empty")


def test_a_question_that_is_no_utf_8(shell: Shell) -> None:
    told(shell("ask", "who \udcff"), 2, "not valid UTF-8")


def test_an_address_that_is_none(town: Shell) -> None:
    told(town("show", "ftp://a.example/x"), 2, "ftp://a.example/x", "http or https")
    told(town("clean", "--show-cuts", "nonsense"), 2, "nonsense", "http or https")


def test_an_option_with_a_wrong_value(shell: Shell) -> None:
    told(shell("ask", "x", "--top-k", "0"), 2, "--top-k", "--help")
    assert shell("--json", "ask", "x", "--top-k", "many").json["exit_code"] == 2


def test_an_exclude_pattern_that_cannot_be_read(shell: Shell) -> None:
    told(shell("source", "add", "https://a.example/", "--exclude", "("), 2, "exclude")
    assert shell.json("source", "list") == []


def test_a_source_is_removed_as_it_was_added(shell: Shell) -> None:
    shell("source", "add", "http://a.example")
    assert shell("source", "remove", "http://a.example").code == 0


def test_a_missing_archive(town: Shell) -> None:
    (town.store / "archive.sqlite3").unlink()
    told(town("status"), 6, "archive.sqlite3", "missing")


@pytest.mark.usefixtures("at_once")
def test_a_page_that_cannot_be_reached(shell: Shell) -> None:
    shell("source", "add", "http://127.0.0.1:9/", "--allow-private")
    outcome = shell("crawl")
    assert outcome.code == 7
    assert "1 of 1 pages could not be fetched" in outcome.err


def test_a_question_before_anything_is_indexed(shell: Shell) -> None:
    told(shell("ask", "who is the mayor?"), 5, "no index at", "kbcite index")


def test_a_damaged_index(town: Shell) -> None:
    (file,) = (town.store / "vectors").glob("*.faiss")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    told(town("ask", "who is the mayor?"), 6, "damaged", "kbcite index --rebuild")
    assert town("index", "--rebuild").code == 0
    assert town("ask", "Who is the mayor?").code == 0


def test_another_encoder_than_the_index_was_built_with(town: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(town.store / "kb.sqlite3") as sql:
        count = sql.execute("SELECT count(*) FROM vectors").fetchone()
    index = town.store / "vectors" / "index.json"
    metadata = json.loads(index.read_text())
    del metadata["checksum"]
    index.write_bytes(signed(json.dumps(metadata).replace("multilingual-e5-small", "another-model").encode()))
    told(town("ask", "Who is the mayor?"), 2, "another-model", "kbcite index --rebuild")
    told(town("index"), 2, "another-model", "kbcite index --rebuild")
    with sqlite3.connect(town.store / "kb.sqlite3") as sql:
        assert sql.execute("SELECT count(*) FROM vectors").fetchone() == count


def test_an_unknown_encoder(town: Shell) -> None:
    told(town("index", "--encoder", "word2vec"), 2, "word2vec", "builtin")


def test_a_damaged_database(town: Shell) -> None:
    (town.store / "kb.sqlite3").write_bytes(b"this is not a database at all, " * 100)
    told(town("status"), 6, "damaged")


def test_settings_that_cannot_be_read(shell: Shell) -> None:
    (shell.store / "kbcite.toml").write_text("[ask]\ntopk = 3\n")
    told(shell("status"), 2, "kbcite.toml", "topk")


def test_a_clock_that_is_no_time(shell: Shell) -> None:
    told(shell("--now", "yesterday", "status"), 2, "yesterday")


def test_a_second_writer(shell: Shell) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(shell.store)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        told(shell("crawl"), 6, "kbcite crawl", str(holder.pid))
        assert shell("status").code == 0, "readers never wait"
        holder.kill()


def test_a_read_only_folder(town: Shell) -> None:
    files = [town.store, *town.store.iterdir()]
    modes = [file.stat().st_mode for file in files]
    for file in files:
        file.chmod(0o555 if file.is_dir() else 0o444)
    # Root may write anywhere unless it gives that right up.
    powerless = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    command = [*powerless, sys.executable, "-m", "kbcite", "--store", str(town.store), "clean"]
    done = subprocess.run(command, capture_output=True, text=True)
    for file, mode in zip(files, modes, strict=True):
        file.chmod(mode)
    told(Outcome(done.returncode, done.stdout.encode(), done.stderr), 6, str(town.store), "permissions")
    assert town("ask", "Who is the mayor?").code == 0


def test_a_full_disk(town: Shell, town_site: Site) -> None:
    """The database may not grow any more: one line, exit 6, and all that was stored is still there."""
    from kbcite.store import sqlite as opening

    def small(path: Path, open_sqlite=opening.open_sqlite) -> sqlite3.Connection:
        connection = open_sqlite(path)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    padding = random.Random(1).randbytes(300_000).hex()  # what no compression makes small
    town_site.pages["/"] = f"<html><body><h1>Town</h1><p>The town has many bridges.</p><!-- {padding} --></body></html>"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kbcite.store.database.open_sqlite", small)
        patch.setattr("kbcite.store.archive.open_sqlite", small)
        told(town("recheck", "--all"), 6, "no space left", str(town.store))
    assert town("ask", "Who is the mayor?").code == 0
    assert town("recheck", "--all").code == 0


def test_offline_opens_no_socket(town: Shell) -> None:
    assert town("--offline", "ask", "Who is the mayor?").code == 0
    told(town("--offline", "ask", "Who is the mayor?", "--model", "openai/x"), 2, "--offline", "openai/x")
    told(town("--offline", "crawl"), 2, "--offline")


def test_errors_are_json_too_when_asked(shell: Shell) -> None:
    outcome = shell("--json", "ask", "")
    assert outcome.json["exit_code"] == 2
    assert "empty" in outcome.json["error"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["crawl", "--max-time", "abc"], "'abc' is not a number"),
        (["crawl", "--max-pages", "1.5"], "'1.5' is not a whole number"),
        (["crwal"], "no such command 'crwal', did you mean 'crawl'; see"),
        (["status", "--pags"], "no such option: --pags (there is --pages); see"),
        (["clean", "extra"], "too many arguments: (extra); see"),
        (["ask", "who", "is", "it"], "too many arguments: (is it); put the words in quotes; see"),
        (["ask", "x", "--live", "sometimes"], "--live takes auto, never, always or nothing, not 'sometimes'; see"),
        (["clean", "--wait", "soon"], "--wait takes a number of seconds or nothing, not 'soon'; see"),
    ],
)
def test_what_the_option_parser_says_is_plain(shell: Shell, arguments: list[str], said: str) -> None:
    outcome = shell(*arguments)
    assert outcome.code == 2
    assert said in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["crawl", "nota"],
        ["crawl", "--explain", "nota"],
        ["recheck", "--url", "nota"],
        ["show", "ftp://a.example/"],
        ["forget", "ftp://a.example/"],
        ["source", "add", "nota"],
    ],
)
def test_an_address_that_is_none_is_refused_alike(town: Shell, arguments: list[str]) -> None:
    outcome = town(*arguments)
    assert outcome.code == 2
    assert "is not an http or https URL; give it in full, like https://example.com/docs/" in outcome.err


def test_a_path_to_write_to_that_is_none_is_a_matter_of_usage(town: Shell, tmp_path: Path) -> None:
    town("ask", "How much is a day ticket for the swimming pool?")
    nowhere = tmp_path / "none" / "answers.jsonl"
    outcome = town("export", "-o", str(nowhere), "--json")
    assert outcome.code == outcome.json["exit_code"] == 2
    assert str(nowhere) in outcome.json["error"]
    outcome = town("warc", "export", str(nowhere))
    assert outcome.code == 2
    assert f"there is no folder {nowhere.parent} to write" in outcome.err


def test_a_search_without_a_match_is_told_like_any_failure(town: Shell) -> None:
    outcome = town("search", "quasar spectroscopy", "--threshold", "0.99")
    assert outcome.out == ""
    told(outcome, 5, "nothing found for 'quasar spectroscopy'", "--threshold")
    outcome = town("--json", "search", "quasar spectroscopy", "--threshold", "0.99")
    assert (outcome.code, outcome.json) == (5, [])


@pytest.mark.parametrize("command", ["ask", "search"])
def test_an_unknown_label_is_named_with_those_there_are(town: Shell, command: str) -> None:
    told(town(command, "day ticket", "--label", "hr"), 2, "--label 'hr'", "none is in use", "kbcite source add")
    settings = town.store / "kbcite.toml"
    settings.write_text(
        settings.read_text().replace("allow_private = true", 'allow_private = true\nlabels = ["town", "club"]')
    )
    told(town(command, "day ticket", "--label", "club", "--label", "hr"), 2, "--label 'hr'", "there are club, town")


def test_lost_settings_are_told_once(town: Shell) -> None:
    (town.store / "kbcite.toml").unlink()
    outcome = town("status")
    assert outcome.code == 0
    assert outcome.err.count("kbcite.toml is missing, so there are no sources") == 1
    assert f'"kbcite --store {town.store} init"' in outcome.err
    told(town("-q", "crawl"), 5, "no sources")
    assert town("init").code == 0
    assert town("status").err == ""


def test_a_misspelt_variable_is_named_with_the_one_that_was_meant(town: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KBCITE_ASK_MODLE", "KBCITE_STOR", "KBCITE_INDEX_WORKERS", "KBCITE_OTHER_PROGRAM"):
        monkeypatch.setenv(name, "x")
    assert town("status").err.splitlines() == [
        "KBCITE_ASK_MODLE in the environment is no setting; did you mean KBCITE_ASK_MODEL?",
        "KBCITE_INDEX_WORKERS in the environment is no setting; did you mean KBCITE_INDEX_THREADS?",
        "KBCITE_STOR in the environment is no setting; did you mean KBCITE_STORE?",
    ]


def test_a_variable_that_a_tool_server_is_given_is_its_own(town: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with (town.store / "kbcite.toml").open("a") as settings:
        settings.write('[mcp.prices]\ncommand = ["prices"]\ntool = "fetch"\nenvironment = ["KBCITE_ASK_TOKEN"]\n')
    monkeypatch.setenv("KBCITE_ASK_TOKEN", "x")
    assert town("status").err == ""


def test_a_type_that_no_source_can_have_is_not_offered(shell: Shell) -> None:
    told(shell("source", "add", "https://a.example/", "--type", "live"), 2, "'internal', 'web'")
    (shell.store / "kbcite.toml").write_text('[[source]]\nurl = "https://a.example/"\ntype = "live"\n')
    told(shell("status"), 2, "type: 'live'", "choose internal or web")


def test_golden_pages_that_are_not_there_are_a_matter_of_usage(tmp_path: Path) -> None:
    told(kbcite("regress", "--pages", str(tmp_path / "none")), 2, f"there is no folder {tmp_path / 'none'}", "--pages")


def test_a_folder_is_nothing_to_verify(town: Shell, tmp_path: Path) -> None:
    told(town("verify", str(tmp_path)), 2, f"{tmp_path} is a folder", f"{tmp_path}/*.md")
    told(town("verify", f"{tmp_path}/none"), 2, "there is no file")
    told(town("import", f"{tmp_path}/none"), 2, "there is no file", "check its name")


def test_status_names_the_encoder_and_not_all_that_must_be_equal(town: Shell) -> None:
    assert " by builtin/multilingual-e5-small-q4\n" in town("status").out
    assert town.json("status")["encoders"][0]["fingerprint"].endswith("/384")


def test_a_seed_outside_its_own_scope(shell: Shell) -> None:
    outcome = shell("source", "add", "http://a.example/", "--scope", "http://b.example/")
    assert outcome.code == 2
    assert "no --scope covers http://a.example/" in outcome.err
    assert shell.json("source", "list") == []


def test_a_missing_database_beside_its_archive_is_not_called_no_store(town: Shell) -> None:
    (town.store / "kb.sqlite3").unlink()
    outcome = town("status")
    assert outcome.code == 6
    assert f'"kbcite --store {town.store} doctor --repair" to make it again' in outcome.err
