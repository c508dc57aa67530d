"""Age in the order of the blocks: off by default, a setting and an option, told by `search --explain`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.club import page
from tests.cli.run import Shell
from tests.site_server import serve_site

QUESTION = "How much is a day ticket of the ferry?"
NOW = ("--now", "2026-11-30T08:00:00Z")


def fares(year: int, ticket: str, words: str) -> str:
    return page(
        "Ferry fares",
        f"<p>The ferry over the Sill runs every half hour from six in the morning to eleven at night. {words} A day ticket of the ferry "
        f"is {ticket} euros, and bicycles travel free of charge. Dogs are welcome on the lower deck, on a lead.</p>",
        f"<meta property='article:published_time' content='{year}-06-01'>",
    )


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A store over two pages of one ferry; the older one is a little nearer to the question."""
    pages = {
        "/": page("The ferry", "<a href='/old.html'>old</a> <a href='/new.html'>new</a>"),
        "/old.html": fares(2019, "4.00", "Ask on board for the price of the ticket of the day."),
        "/new.html": fares(2026, "5.50", "The crew wear blue caps and know the river well since many years."),
    }
    with serve_site(pages) as site:
        shell = Shell(Path(tmp_path_factory.mktemp("ferry")) / "kb")
        shell("init")
        shell("source", "add", f"{site.url}/", "--allow-private", "--render", "never")
        assert shell("build").code == 0
        yield shell


def first(shell: Shell, *options: str) -> str:
    """The year of the page that stands first."""
    return str(shell("--json", *NOW, "search", QUESTION, *options).json[0]["place"]["published_at"])[:4]


def test_newer_pages_stand_first_where_age_is_said_to_count(ferry: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert first(ferry) == "2019"
    assert first(ferry, "--half-life", "365") == "2026"
    monkeypatch.setenv("KBCITE_ASK_HALF_LIFE_DAYS", "365")
    assert first(ferry) == "2026"
    assert first(ferry, "--half-life", "0") == "2019"


def test_explain_says_what_age_took(ferry: Shell) -> None:
    assert "age" not in ferry(*NOW, "search", QUESTION, "--explain").out
    shown = ferry(*NOW, "search", QUESTION, "--explain", "--half-life", "365").out
    assert "age leaves 0.97 of it" in shown and "age leaves 0.90 of it" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if "http" not in line and not line[:1].isdigit())


def test_an_answer_says_it_in_its_record_and_its_trace(ferry: Shell) -> None:
    source = ferry("--json", *NOW, "ask", QUESTION, "--half-life", "365", "--top-k", "1").json["sources"]["web"][0]
    assert (source["published_at"][:4], round(source["scores"]["kept"], 2)) == ("2026", 0.97)
    traced = ferry("--json", "trace").json["trace"]["candidates"]
    assert {round(candidate["scores"].get("kept", 1.0), 2) for candidate in traced} >= {0.97, 0.9}
    assert "kept" not in ferry("--json", *NOW, "ask", QUESTION).json["sources"]["web"][0]["scores"]


@pytest.mark.parametrize("days", ["-1", "nan", "long"])
def test_a_half_life_that_is_none_is_told(ferry: Shell, days: str) -> None:
    done = ferry("search", QUESTION, "--half-life", days)
    assert done.code == 2 and "--half-life" in done.err
