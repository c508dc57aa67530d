"""Looking at pages while answering, as a user sees it: a real site, the built-in encoder, the clock set by --now."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.club import ABOUT, BUILT, CLUB, PRICE, STAFF, WORD, notice, notices, page, prices, staff
from tests.cli.run import Shell
from tests.site_server import Answer, Reply, Site, serve_site

LATER = "2026-11-20T08:00:00Z"
SOON = "2026-11-01T09:00:00Z"


@pytest.fixture(scope="module")
def built_club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    with serve_site(dict(CLUB)) as site:
        shell = Shell(tmp_path_factory.mktemp("club") / "kb")
        shell("init")
        shell("source", "add", f"{site.url}/", "--allow-private")
        assert shell("--now", BUILT, "build").code == 0
        yield site, shell.store


@pytest.fixture
def site(built_club: tuple[Site, Path]) -> Site:
    running, _ = built_club
    running.pages = dict(CLUB)
    running.requests.clear()
    return running


@pytest.fixture
def club(built_club: tuple[Site, Path], site: Site, tmp_path: Path) -> Shell:
    return Shell(Path(shutil.copytree(built_club[1], tmp_path / "club")))


def configure(shell: Shell, text: str, source: str = "") -> None:
    """Add to the settings, and to the one source."""
    path = shell.store / "kbcite.toml"
    settings = path.read_text(encoding="utf-8")
    for line in text.splitlines():
        section, _, key = line.partition(" ")
        settings = settings.replace(f"\n[{section}]", f"\n[{section}]\n{key}\n", 1)
    path.write_text(settings + source, encoding="utf-8")


def ask(shell: Shell, question: str, now: str, *options: str) -> dict[str, Any]:
    record = shell.json("--now", now, "ask", question, *options)
    assert isinstance(record, dict)
    return record


def trace(shell: Shell) -> dict[str, Any]:
    live = shell.json("trace")["trace"]["live"]
    assert isinstance(live, dict)
    return live


def test_what_is_fresh_enough_is_answered_from_the_store(club: Shell, site: Site) -> None:
    record = ask(club, PRICE, SOON)
    assert "6.50 euros" in record["answer"]["text"]
    assert record["freshness"]["live"] == {
        "triggered": False,
        "why": ["what is stored was seen 1 hour ago, the window is 7 days"],
        "urls": [],
        "elapsed_ms": 0.0,
        "outcome": "stored",
        "filters": [],
    }
    assert site.requests == []


def test_a_stale_page_is_fetched_and_the_answer_says_so(club: Shell, site: Site) -> None:
    site.pages["/prices.html"] = prices("7.20", "2026-11-18")
    record = ask(club, PRICE, LATER)
    assert "7.20 euros" in record["answer"]["text"]
    (source,) = record["sources"]["web"]
    assert (source["source_type"], source["fetched_at"], source["published_at"]) == ("live", LATER, "2026-11-18")
    assert "The following was fetched live and may hold unverified information" in record["notices"]
    assert "The newest source found is dated 2026-11-18." in record["notices"]
    assert record["freshness"]["live"]["outcome"] == "live"
    assert record["freshness"]["stale_sources"] == []
    body = club.archived(f"{record['id']}:1")
    span = source["snapshot"]
    assert body == prices("7.20", "2026-11-18").encode()
    assert b"7.20 euros" in body[span["byte_start"] : span["byte_end"]]


def test_the_same_question_within_the_hour_fetches_nothing_and_after_it_again(club: Shell, site: Site) -> None:
    outcomes = [
        ask(club, PRICE, now)["freshness"]["live"]["outcome"]
        for now in (LATER, "2026-11-20T08:59:00Z", "2026-11-20T09:01:00Z")
    ]
    assert outcomes == ["live", "stored", "stored"], "the page was unchanged, so what is stored counts as seen"
    assert site.paths() == ["/prices.html"]
    site.pages["/prices.html"] = prices("7.20")
    later = ["2026-11-28T08:00:00Z", "2026-11-28T08:59:00Z", "2026-11-28T09:01:00Z"]
    assert [ask(club, PRICE, now)["freshness"]["live"]["outcome"] for now in later] == ["live", "pool", "live"]
    assert site.paths() == ["/prices.html"] * 3


def test_a_volatile_question_goes_past_what_is_older_than_a_minute_and_the_pool_keeps_it_for_the_others(
    club: Shell, site: Site
) -> None:
    site.pages["/prices.html"] = prices("7.20")
    times = (LATER, "2026-11-20T08:00:50Z", "2026-11-20T08:02:00Z", "2026-11-20T08:02:30Z")
    outcomes = [ask(club, PRICE, now, "--class", "volatile")["freshness"]["live"]["outcome"] for now in times]
    assert outcomes == ["live", "pool", "live", "pool"]
    record = ask(club, PRICE, "2026-11-20T09:01:00Z")
    assert "7.20 euros" in record["answer"]["text"]
    assert record["freshness"]["live"]["outcome"] == "pool"
    assert site.paths() == ["/prices.html"] * 2


def test_a_changed_page_is_visited_by_the_next_recheck_and_then_indexed(club: Shell, site: Site) -> None:
    site.pages["/prices.html"] = prices("7.20")
    ask(club, PRICE, LATER)
    assert club.json("--now", LATER, "recheck")["changed"] == 1
    club("--now", LATER, "build")
    record = ask(club, PRICE, LATER, "--no-live")
    assert "7.20 euros" in record["answer"]["text"]
    assert record["sources"]["web"][0]["source_type"] == "web"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--no-live",), "live fetching is turned off"),
        (("--live", "never"), "live fetching is turned off"),
        (("--offline",), "--offline"),
        (("--class", "reference"), "the class reference does not ask for it"),
    ],
)
def test_options_turn_it_off(club: Shell, site: Site, options: tuple[str, ...], why: str) -> None:
    record = ask(club, STAFF, LATER, *options)
    assert record["freshness"]["live"]["why"] == [why]
    assert record["status"] == "answered"
    assert site.requests == []


def test_live_alone_asks_whatever_the_age(club: Shell, site: Site) -> None:
    record = ask(club, WORD, LATER, "--live")
    assert record["freshness"]["live"]["why"] == ["asked"]
    assert "/words.html" in site.paths()


def test_a_class_that_is_none_is_a_usage_error(club: Shell) -> None:
    outcome = club("ask", PRICE, "--class", "prices")
    assert outcome.code == 2
    assert "there are volatile, news, product, reference" in outcome.err


def test_a_definition_is_never_looked_up(club: Shell, site: Site) -> None:
    assert ask(club, WORD, "2027-11-20T08:00:00Z")["status"] == "answered"
    assert site.requests == []


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            "What does https://evil.example/prices say of the day ticket?",
            "No information has been obtained from that site",
        ),
        ("https://evil.example/prices 上的日票多少钱？", "暂未获取到相关信息"),
    ],
)
def test_a_page_outside_the_whitelist_has_its_text_and_reason(
    club: Shell, site: Site, question: str, message: str
) -> None:
    outcome = club("--now", SOON, "ask", question)
    assert outcome.code == 3
    assert message in outcome.out
    assert "(domain_not_allowed)" in outcome.out
    assert trace(club)["refused"][0][0] == "https://evil.example/prices"
    assert "retrieval  0 candidates" not in club("trace").out
    assert site.requests == []


def test_a_page_that_is_gone_is_not_cited_any_more(club: Shell, site: Site) -> None:
    site.pages["/staff.html"] = Reply(b"gone", 404)
    record = ask(club, STAFF, LATER)
    assert f"{site.url}/staff.html" not in [source["url"] for source in record["sources"]["web"]]
    live = trace(club)
    assert [f["outcome"] for f in live["fetches"]] == ["http_404"]
    assert [f"{site.url}/staff.html", "page_gone"] in live["invalid"]
    again = ask(club, STAFF, LATER, "--no-live")
    assert f"{site.url}/staff.html" not in [source["url"] for source in again["sources"]["web"]], "the store knows now"
    assert site.paths() == ["/staff.html"]


def test_a_correction_on_a_live_page_takes_back_what_is_stored(club: Shell, site: Site) -> None:
    site.pages["/notices/"] = notices(("/notices/1.html", "Correction: Mill Street sports club: prices"))
    site.pages["/notices/1.html"] = notice(
        "Correction: Mill Street sports club: prices",
        "The price of a day ticket of the Mill Street sports club was wrong: a day ticket is 8.40 euros.",
        "2026-11-01",
    )
    configure(club, "", f'\nlive = ["{site.url}/notices/"]\n')
    record = ask(club, f"{PRICE} Is there a notice?", SOON, "--class", "news", "--live")
    assert "8.40 euros" in record["answer"]["text"]
    assert "6.50" not in record["answer"]["text"]
    assert any("corrected" in why for _, why in trace(club)["invalid"])


def test_a_list_of_notices_leads_to_the_one_that_is_asked_for(club: Shell, site: Site) -> None:
    site.pages["/notices/"] = notices(
        ("/notices/2.html", "Sauna closed for repairs in December"), ("/notices/1.html", "New opening hours of the gym")
    )
    site.pages["/notices/2.html"] = notice(
        "Sauna closed for repairs in December",
        "The sauna of the Mill Street sports club is closed for repairs from 7 to 11 December.",
        "2026-11-19",
    )
    configure(club, "", f'\nlive = ["{site.url}/notices/"]\ntopics = ["sauna", "notice"]\n')
    record = ask(club, "When is the sauna of the Mill Street sports club closed for repairs this month?", LATER)
    assert "7 to 11 December" in record["answer"]["text"]
    assert "/notices/1.html" not in site.paths()
    (found,) = [f for f in trace(club)["fetches"] if f["url"].endswith("/notices/2.html")]
    assert (found["why"], found["is_used"]) == (f"below {site.url}/notices/", True)


def test_a_live_page_off_the_topic_of_the_question_is_left_alone(club: Shell, site: Site) -> None:
    configure(club, "", f'\nlive = ["{site.url}/notices/"]\ntopics = ["sauna", "notice"]\n')
    ask(club, "What is the latest score of the city marathon?", LATER)
    assert site.requests == []


def hang(handler: Any) -> None:
    time.sleep(5)


def drip(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    for _ in range(50):
        handler.wfile.write(b"<p>")
        handler.wfile.flush()
        time.sleep(0.1)


WALL = "<html><head><title>Just a moment...</title></head><body>Checking your browser before accessing</body></html>"
OLD = prices("9.99", "2026-10-10")
RECIPE = page(
    "Plum cake", "<p>Butter the tin, halve the plums and lay them in rows on the dough, then bake for an hour.</p>" * 5
)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (hang, "gave_up"),
        (drip, "gave_up"),
        (Reply(b"broken", 500), "http_500"),
        (WALL, "bot_challenge"),
        (page("Mill Street sports club: staff", f"<p>{ABOUT[:150]}</p>"), "too_short"),
        (OLD, "too_old"),
        (RECIPE, "off_topic"),
    ],
    ids=["hangs", "drips", "500", "wall", "150 characters", "40 days old", "off topic"],
)
def test_what_is_not_fit_falls_back_to_the_store_in_time_with_its_reason(
    club: Shell, site: Site, answer: Answer, reason: str
) -> None:
    configure(club, 'live answer_within_s = 2.5\nlive fetch_within_s = 3.0\nclasses.product max_age = "30d"')
    site.pages["/staff.html"] = answer
    record = ask(club, STAFF, LATER)
    assert "14 employees" in record["answer"]["text"]
    assert record["notices"] == ["Source [1] is older than this kind of question allows; it may have changed."]
    live = record["freshness"]["live"]
    assert (live["triggered"], live["outcome"]) == (True, "fell_back")
    assert f"/staff.html: {reason}" in live["filters"][0]
    assert [f["outcome"] for f in trace(club)["fetches"]] == [reason]
    if reason == "gave_up":
        assert live["elapsed_ms"] <= 3500, "2.5 s, and a busy machine"
    assert len(site.paths()) == 1


@pytest.mark.slow
def test_a_live_page_that_differs_from_a_stored_one_is_preferred_and_the_conflict_is_said(
    club: Shell, site: Site
) -> None:
    told = "A day ticket of the Mill Street sports club costs {} euros."
    for path in ("/guide.html", "/prices.html"):
        site.pages[path] = page(path.strip("/"), f"<p>{ABOUT}</p><p>{told.format('6.50')}</p>")
    club("source", "add", f"{site.url}/guide.html", "--allow-private", "--depth", "0")
    club("--now", SOON, "recheck", "--url", f"{site.url}/prices.html")
    club("--now", SOON, "build")
    configure(club, "", f'\nlive = ["{site.url}/prices.html"]\ntopics = ["ticket"]\n')
    site.pages["/prices.html"] = page("prices", f"<p>{ABOUT}</p><p>{told.format('7.20')}</p>")
    record = ask(club, "How much does a day ticket of the Mill Street sports club cost today?", "2026-11-01T12:00:00Z")
    assert record["answer"]["text"].startswith(told.format("7.20"))
    assert "the page fetched live has “7.20”, a stored page has “6.50”. [1][2]" in record["answer"]["text"]
    (conflict,) = record["conflicts"]
    assert (conflict["values"], conflict["ruling"]) == ([{"value": "7.20", "n": 1}, {"value": "6.50", "n": 2}], "live")
    assert "conflict   7.20 [1], 6.50 [2]: the page fetched live is preferred" in club("trace").out


def test_a_price_list_of_long_ago_is_good_where_it_stands_there_now(club: Shell, site: Site) -> None:
    site.pages["/prices.html"] = prices("7.20", "2026-01-10")
    record = ask(club, "What does a day ticket of the Mill Street sports club currently cost?", LATER)
    assert record["freshness"]["class"] == "news"
    assert "7.20 euros" in record["answer"]["text"]
    assert "The newest source found is dated 2026-01-10." in record["notices"]


def test_a_page_that_cannot_be_had_is_fallen_back_to_though_another_was_fetched(club: Shell, site: Site) -> None:
    configure(club, "", f'\nlive = ["{site.url}/staff.html"]\ntopics = ["ticket"]\n')
    site.pages["/prices.html"] = Reply(b"broken", 503)
    record = ask(club, PRICE, LATER)
    assert "6.50 euros" in record["answer"]["text"]
    assert record["freshness"]["stale_sources"] == [1]
    assert {f["url"].rpartition("/")[2]: f["outcome"] for f in trace(club)["fetches"]} == {
        "staff.html": "page",
        "prices.html": "http_503",
    }


@pytest.mark.slow
def test_a_page_that_was_too_slow_fills_the_pool_all_the_same(club: Shell, site: Site) -> None:
    def slow(handler: Any) -> str:
        time.sleep(3.5)
        return staff(15)

    configure(club, "live answer_within_s = 2.5\nlive fetch_within_s = 9.0")
    site.pages["/staff.html"] = slow
    assert "14 employees" in ask(club, STAFF, LATER)["answer"]["text"]
    record = ask(club, STAFF, LATER)
    assert "15 employees" in record["answer"]["text"]
    assert record["freshness"]["live"]["outcome"] == "pool"
    assert site.paths() == ["/staff.html"]


def test_a_page_that_keeps_being_asked_for_is_proposed_as_a_source(club: Shell, site: Site) -> None:
    site.pages["/notices/"] = notices() + "<!-- -->"
    configure(club, "live promote_after = 2", f'\nlive = ["{site.url}/notices/"]\n')
    question = "What is the latest notice of the Mill Street sports club?"
    assert "keeps being asked for" not in club("--now", LATER, "ask", question).err
    assert "keeps being asked for" in club("--now", "2026-11-21T08:00:00Z", "ask", question).err
    configure(club, 'live promote = "add"')
    club("--now", "2026-11-22T08:00:00Z", "ask", question)
    assert f"{site.url}/notices/" in [row["url"] for row in club.json("source", "list")]


def test_the_trace_can_be_read_and_holds_no_secrets(club: Shell, site: Site) -> None:
    site.pages["/prices.html"] = Reply(
        prices("7.20").encode(), headers=(("Content-Type", "text/html"), ("Set-Cookie", "session=s3cr3t"))
    )
    ask(club, PRICE, LATER)
    shown = club("trace").out
    assert "class product (changes now and then), told by the rules, within 7 days" in shown
    assert "live       1 page looked at now, 1 used; done after " in shown
    assert "because what is stored was seen 19 days ago, the window is 7 days" in shown
    assert f"used: {site.url}/prices.html (the page of a passage that was found), from " in shown
    assert "retrieval ran from " in shown
    assert "s3cr3t" not in json.dumps(club.json("trace"))


def test_the_trace_goes_to_a_collector_that_is_named_and_to_none_offline(club: Shell, site: Site) -> None:
    pytest.importorskip("opentelemetry.sdk")
    bodies: list[bytes] = []

    def receive(handler: Any) -> bytes:
        bodies.append(handler.rfile.read(int(handler.headers["Content-Length"])))
        return b""

    with serve_site({"/v1/traces": receive}) as collector:
        configure(club, f'telemetry endpoint = "{collector.url}"')
        record = ask(club, PRICE, LATER)
        ask(club, PRICE, LATER, "--offline")
    assert len(bodies) == 1
    assert bytes.fromhex(record["trace_id"]) in bodies[0]
    assert b"kbcite.live.outcome" in bodies[0]
    assert b"day ticket" not in bodies[0]


def test_a_collector_that_fails_costs_a_line_and_not_the_answer(club: Shell, site: Site) -> None:
    pytest.importorskip("opentelemetry.sdk")
    with serve_site({}) as collector:
        configure(club, f'telemetry endpoint = "{collector.url}"')
        outcome = club("--now", SOON, "ask", PRICE)
    assert (outcome.code, "6.50 euros" in outcome.out) == (0, True)
    assert "the trace was not sent: the collector answered with status 404" in outcome.err


def test_labels_hold_for_live_pages_too(club: Shell, site: Site) -> None:
    configure(club, "", f'\nlive = ["{site.url}/notices/"]\nlabels = ["board"]\n')
    ask(club, "What is the latest notice of the club?", LATER, "--label", "public", "--live")
    assert site.requests == []


@pytest.mark.slow
def test_a_page_of_three_seconds_is_answered_from_in_4_2_seconds_beside_the_retrieval(club: Shell, site: Site) -> None:
    def slow(handler: Any) -> str:
        time.sleep(3)
        return prices("7.20")

    configure(club, "", f'\nlive = ["{site.url}/prices.html"]\ntopics = ["ticket"]\n')
    site.pages["/prices.html"] = slow
    used = time.process_time()
    stored_ms = ask(club, PRICE, SOON)["timing_ms"]["total"]
    assert time.process_time() - used < 1.0, "an answer without a fetch, in time of the processor"
    record = ask(club, f"{PRICE[:-1]} today?", LATER)
    assert "7.20 euros" in record["answer"]["text"]
    live = trace(club)
    assert live["overlap_ms"] > 0
    (fetch,) = live["fetches"]
    # The budget beside the fetch is 1.2 s, that without one 1 s: on a machine that is busy with other work both grow alike.
    busy = max(1.0, stored_ms / 300)
    assert fetch["began_ms"] < 300 * busy
    assert record["timing_ms"]["total"] - (fetch["ended_ms"] - fetch["began_ms"]) < 1200 * busy


@pytest.mark.slow
@pytest.mark.parametrize("answer", [hang, drip], ids=["hangs", "drips"])
def test_with_the_settings_as_they_come_the_answer_is_there_in_8_seconds(
    club: Shell, site: Site, answer: Answer
) -> None:
    def longer(handler: Any) -> Any:
        for _ in range(2):
            answer(handler)  # type: ignore[operator]

    site.pages["/staff.html"] = longer
    record = ask(club, STAFF, LATER)
    assert "14 employees" in record["answer"]["text"]
    assert record["freshness"]["live"]["outcome"] == "fell_back"
    assert record["timing_ms"]["total"] <= 8800


def test_an_answer_from_a_live_page_stands_up_to_verify_audit_and_doctor(club: Shell, site: Site) -> None:
    site.pages["/prices.html"] = prices("7.20")
    ask(club, PRICE, LATER)
    for command in (["verify"], ["audit"], ["doctor"], ["show", "1"]):
        outcome = club("--now", LATER, *command)
        assert outcome.code == 0, outcome.out + outcome.err


def test_what_is_forgotten_leaves_the_pool(club: Shell, site: Site) -> None:
    site.pages["/prices.html"] = prices("7.20")
    ask(club, PRICE, LATER)
    assert club("--now", LATER, "forget", f"{site.url}/prices.html", "--yes").code == 0
    site.requests.clear()
    assert "7.20" not in ask(club, PRICE, LATER, "--live")["answer"]["text"]
    assert "/prices.html" not in site.paths()
    for name in ("kb.sqlite3", "kb.sqlite3-wal"):
        if (club.store / name).exists():
            assert b"7.20 euros" not in (club.store / name).read_bytes()


def test_live_pages_and_topics_are_given_with_a_source(shell: Shell) -> None:
    shell(
        "source",
        "add",
        "https://a.example/",
        "--live",
        "https://a.example/prices",
        "--topic",
        "price",
        "--topic",
        "价格",
    )
    (row,) = shell.json("source", "list")
    assert (row["live"], row["topics"]) == (["https://a.example/prices"], ["price", "价格"])


def test_a_stored_page_that_still_says_so_is_no_longer_stale_even_where_it_is_not_fit_for_live_use(
    club: Shell, site: Site
) -> None:
    configure(club, "classes.product min_chars = 9000")
    record = ask(club, STAFF, LATER)
    (source,) = record["sources"]["web"]
    assert (source["source_type"], source["fetched_at"]) == ("web", LATER)
    assert record["freshness"]["stale_sources"] == []
    assert record["freshness"]["live"]["outcome"] == "fell_back"
