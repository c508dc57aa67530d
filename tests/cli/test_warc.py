"""WARC in and out through the commands: files of wget and in Browsertrix's layout, and the archive's own, there and back."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.run import Shell
from tests.site_server import Reply, Site
from tests.web.test_warc import page, record

pytest.importorskip("warcio")


def digests(store: Shell) -> dict[str, str]:
    """SHA-256 of the archived bytes of every page."""
    pages = store.json("status", "--pages")["page_list"]
    return {row["url"]: hashlib.sha256(store.archived(row["url"])).hexdigest() for row in pages}


def test_what_is_exported_is_imported_with_the_same_bytes(
    town: Shell, shell: Shell, town_site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "town.warc.gz"
    exported = town("--json", "warc", "export", str(file)).json
    assert exported["responses"] == 7
    shell("source", "add", f"{town_site.url}/")
    imported = shell("--json", "warc", "import", str(file))
    assert (imported.code, imported.json["new"]) == (0, 7)
    assert digests(shell) == digests(town)
    again = shell("--json", "warc", "import", str(file)).json
    assert (again["new"], again["changed"], again["unchanged"]) == (0, 0, 7)
    assert shell("doctor", "--read-data").code == 0


def test_only_what_lies_under_a_url_is_exported(town: Shell, town_site: Site, tmp_path: Path) -> None:
    file = tmp_path / "pool.warc.gz"
    assert town("--json", "warc", "export", str(file), f"{town_site.url}/pool.html").json["responses"] == 1
    nothing = town("warc", "export", str(tmp_path / "none.warc.gz"), "https://elsewhere.example/")
    assert nothing.code == 5
    assert list(tmp_path.glob("none*")) == []


def test_an_export_goes_to_standard_output(town: Shell) -> None:
    outcome = town("warc", "export", "-")
    assert gzip.decompress(outcome.raw).startswith(b"WARC/1.1")


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
def test_a_crawl_of_wget_answers_questions(shell: Shell, town_site: Site, tmp_path: Path) -> None:
    town_site.pages["/pool"] = Reply(b"", 301, (("Location", "/pool.html"),))
    command = ["wget", "-q", "-r", "--warc-file=town", f"{town_site.url}/", f"{town_site.url}/pool"]
    subprocess.run(command, cwd=tmp_path, check=False)  # one link of the town leads nowhere
    file = str(tmp_path / "town.warc.gz")
    refused = shell("warc", "import", file)
    assert refused.code == 5
    assert f"kbcite source add {town_site.url}/" in refused.err
    shell("source", "add", f"{town_site.url}/")
    asked = len(town_site.requests)
    assert shell("--json", "warc", "import", file).json["new"] == 7
    assert shell("--offline", "build").code == 0
    assert "Helen Marsh" in shell("ask", "Who is the mayor?").out
    assert "2.85" in shell("ask", "居民水费多少钱？").out
    assert len(town_site.requests) == asked, "nothing was fetched"
    assert f"{town_site.url}/pool.html" in shell("show", f"{town_site.url}/pool").out, (
        "the redirect is an address of the page"
    )


def test_a_wacz_file_as_browsertrix_lays_it_out_is_imported(shell: Shell, tmp_path: Path) -> None:
    text = (
        "<h1>Rates</h1>"
        + "<p>The parking fee in the old town is 2.40 euros an hour, at night it is free of charge.</p>" * 3
    )
    decoded = page(f"<html><body>{text}</body></html>".encode(), "x-orig-content-encoding: br")
    warc = gzip.compress(record("https://a.example/", decoded)) + gzip.compress(
        record("https://a.example/logo.png", b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG")
    )
    file = tmp_path / "crawl.wacz"
    with zipfile.ZipFile(file, "w") as wacz:
        wacz.writestr("archive/rec-0-crawl.warc.gz", warc)
        wacz.writestr("indexes/index.cdx.gz", gzip.compress(b""))
        wacz.writestr("pages/pages.jsonl", '{"format": "json-pages-1.0"}\n{"id": "1", "url": "https://a.example/"}\n')
        resources = [
            {
                "path": "archive/rec-0-crawl.warc.gz",
                "hash": f"sha256:{hashlib.sha256(warc).hexdigest()}",
                "bytes": len(warc),
            }
        ]
        wacz.writestr(
            "datapackage.json", json.dumps({"profile": "data-package", "wacz_version": "1.1.1", "resources": resources})
        )
    shell("source", "add", "https://a.example/")
    imported = shell("--json", "warc", "import", str(file)).json
    assert imported["new"] == 1
    assert imported["reasons"] == {"content_type": 1}


def test_a_file_that_breaks_off_keeps_what_was_read(shell: Shell, tmp_path: Path) -> None:
    shell("source", "add", "https://a.example/")
    packed = [gzip.compress(record(f"https://a.example/{n}", page(b"<p>page %d</p>" % n))) for n in range(3)]
    (tmp_path / "cut.warc.gz").write_bytes(b"".join(packed) + gzip.compress(b"no record at all\r\n\r\n"))
    outcome = shell("warc", "import", str(tmp_path / "cut.warc.gz"))
    assert outcome.code == 1
    assert "cannot be read on" in outcome.err and len(outcome.err.strip().splitlines()) == 1
    assert shell.json("status")["pages"] == 3
    assert shell("doctor", "--read-data").code == 0


def test_an_older_capture_does_not_replace_a_later_one(town: Shell, town_site: Site, tmp_path: Path) -> None:
    before = digests(town)
    (tmp_path / "old.warc.gz").write_bytes(gzip.compress(record(f"{town_site.url}/", page(b"<p>the town of old</p>"))))
    outcome = town("--json", "warc", "import", str(tmp_path / "old.warc.gz"))
    assert outcome.json["reasons"] == {"older": 1}
    assert digests(town) == before


@pytest.mark.parametrize("command", [["import", __file__], ["export", "-"]])
def test_without_warcio_the_extra_is_named(town: Shell, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "warcio"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "warcio", None)
    outcome = town("warc", *command)
    assert outcome.code == 2
    assert "kbcite[warc]" in outcome.err and len(outcome.err.strip().splitlines()) == 1


@pytest.mark.parametrize(("name", "content"), [("none.warc", None), ("text.warc", b"hello"), ("empty.warc", b"")])
def test_what_is_no_warc_is_one_line(shell: Shell, tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    outcome = shell("warc", "import", str(tmp_path / name))
    assert outcome.code == 2
    assert name in outcome.err and len(outcome.err.strip().splitlines()) == 1
