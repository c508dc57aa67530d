"""The change report of a recheck, as a person and as a program read it."""

import json

import pytest

from tests.cli.run import Shell
from tests.cli.town import TOWN, pool_page
from tests.site_server import Reply, Site

LATER = ("--now", "2035-01-01T08:00:00Z")


def recheck(town: Shell, *options: str, before: tuple[str, ...] = ()) -> tuple[int, str]:
    outcome = town(*LATER, *before, "recheck", *options)
    return outcome.code, outcome.out


def test_a_changed_page_is_shown_with_the_words_that_differ(town: Shell, town_site: Site) -> None:
    town_site.pages["/pool.html"] = pool_page("7.20")
    code, out = recheck(town)
    assert code == 0
    first, detail, old, new, *_ = out.splitlines()
    assert first == f"changed      {town_site.url}/pool.html  Swimming pool"
    assert detail.startswith("  2 of 169 words gone, 2 new; next visit 2035-")
    assert "[-6.50-]" in old
    assert "{+7.20+}" in new
    assert out.splitlines()[-1] == f"unchanged {len(TOWN) - 1}, changed 1, moved 0, unreachable 0, dead 0, skipped 0"


def test_the_report_is_a_record_too(town: Shell, town_site: Site) -> None:
    town_site.pages["/pool.html"] = pool_page("7.20")
    del town_site.pages["/branch.html"]
    outcome = town(*LATER, "--json", "recheck")
    rows = {row["url"].rpartition("/")[2]: row for row in outcome.json["pages"]}
    assert set(rows) == {"pool.html", "branch.html"}
    assert (rows["pool.html"]["outcome"], rows["pool.html"]["is_news"]) == ("changed", True)
    assert rows["pool.html"]["digest"] != rows["pool.html"]["former_digest"]
    marked = [
        part["text"] for line in rows["pool.html"]["difference"]["lines"] for part in line["parts"] if part["changed"]
    ]
    assert marked == ["6.50", "7.20"]
    assert (rows["branch.html"]["misses"], rows["branch.html"]["missing_since"]) == (1, "2035-01-01T08:00:00Z")
    assert rows["branch.html"]["difference"] is None


def test_exit_code_10_says_that_a_page_is_not_as_it_was(town: Shell, town_site: Site) -> None:
    assert recheck(town, "--all", "--exit-code")[0] == 0
    town_site.pages["/pool.html"] = pool_page("7.20")
    assert recheck(town, "--all", "--exit-code")[0] == 10
    assert recheck(town, "--all", "--exit-code")[0] == 0


@pytest.mark.usefixtures("at_once")
def test_a_page_that_is_still_out_of_reach_is_a_finding_and_no_news(town: Shell, town_site: Site) -> None:
    town_site.pages["/pool.html"] = Reply(b"busy", 503)
    assert [recheck(town, "--all", "--exit-code")[0] for _ in range(2)] == [10, 1]


def test_quiet_says_nothing_where_nothing_happened(town: Shell, town_site: Site) -> None:
    assert recheck(town, before=("-q",)) == (0, "")
    town_site.pages["/pool.html"] = pool_page("7.20")
    assert "7.20" in recheck(town, "--all", before=("-q",))[1]


def test_a_page_can_be_named_out_of_date_without_a_network(town: Shell, town_site: Site) -> None:
    url = f"{town_site.url}/pool.html"
    town_site.requests.clear()
    assert town("--offline", "recheck", "--mark", url).code == 0
    assert town_site.requests == []
    town_site.pages["/pool.html"] = pool_page("7.20")
    assert town.json("recheck")["changed"] == 1
    assert town_site.paths() == ["/pool.html"]


@pytest.mark.parametrize(
    "options", [("--all", "--due"), ("--url", "http://e.com/", "--all"), ("--mark", "x", "--limit", "1")]
)
def test_options_that_exclude_one_another_are_told(town: Shell, options: tuple[str, ...]) -> None:
    assert recheck(town, *options)[0] == 2


def test_a_change_that_was_built_is_no_longer_pending(town: Shell, town_site: Site) -> None:
    town_site.pages["/pool.html"] = pool_page("7.20")
    recheck(town)
    assert town.json("status")["states"]["changed"] == 1
    assert town("build").code == 0
    assert "changed" not in town.json("status")["states"]


def test_a_long_change_is_cut_in_text_and_whole_in_json(town: Shell, town_site: Site) -> None:
    body = "".join(f"<p>Rule {n}: {'everybody may use the garden until it gets dark. ' * 3}</p>" for n in range(30))
    town_site.pages["/imprint.html"] = (
        f"<html><title>Garden</title><body><main><h1>Garden</h1>{body}</main></body></html>"
    )
    outcome = town(*LATER, "recheck")
    assert "more lines; --json lists all of them" in outcome.out
    assert max(map(len, outcome.out.splitlines())) < 340
    town_site.pages["/imprint.html"] = TOWN["/imprint.html"]
    (row,) = json.loads(town(*LATER, "--json", "recheck", "--all").out)["pages"]
    assert len(row["difference"]["lines"]) > 30


def test_a_text_that_is_another_altogether_shows_both_without_marks(town: Shell, town_site: Site) -> None:
    town_site.pages["/pool.html"] = TOWN["/library.html"]
    _, out = recheck(town)
    shown = [line for line in out.splitlines() if line.startswith("    ")]
    assert {line.strip()[0] for line in shown} >= {"-", "+"}
    assert not any("[-" in line or "{+" in line for line in shown)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (pool_page("7.20"), 'changed: the text below is the former one until "kbcite build" takes up the new one'),
        (Reply(b"busy", 503), "unreachable: status 503; its last text is still searched"),
    ],
)
def test_show_says_what_the_state_of_a_page_means(
    town: Shell, town_site: Site, answer: str | Reply, state: str
) -> None:
    town_site.pages["/pool.html"] = answer
    recheck(town)
    shown = town("show", f"{town_site.url}/pool.html").out.splitlines()
    assert shown[1] == state
    assert any(line.startswith("visit          2035-01-01 08:00 UTC") for line in shown)


def test_the_first_visit_of_a_page_is_no_change(town: Shell, town_site: Site) -> None:
    url = f"{town_site.url}/pool.html"
    shown = town("show", url).out.splitlines()
    assert ", first 20" in shown[2] and "changed" not in shown[2]
    assert [visit["outcome"] for visit in town.json("show", url)["visits"]] == ["new"]
    town_site.pages["/pool.html"] = pool_page("7.20")
    recheck(town)
    assert [visit["outcome"] for visit in town.json("show", url)["visits"]] == ["new", "changed"]
    assert ", changed 2035-01-01 08:00 UTC" in town("show", url).out


def test_status_says_when_the_next_page_is_due(town: Shell) -> None:
    recheck(town)
    status = town(*LATER, "status")
    assert "none due for a recheck before 2035-01-" in status.out
