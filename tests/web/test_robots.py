import json
import os
from pathlib import Path
from typing import Any

import pytest

from kbcite.fetch_records import FetchedPage, FetchFailure, RobotsCopy
from kbcite.web.robots import MAX_BYTES, Robots, copy_from, header_tags, robots_url

HOST = "https://example.com"
NOW = "2026-11-30T12:00:00Z"


def answer(body: bytes = b"", status: int = 200) -> FetchedPage:
    return FetchedPage(f"{HOST}/robots.txt", f"{HOST}/robots.txt", status, (), body, NOW)


def failed(reason: str) -> FetchFailure:
    return FetchFailure(f"{HOST}/robots.txt", reason, "detail", True)


def rules(text: str | bytes) -> Robots:
    body = text.encode() if isinstance(text, str) else text
    return Robots(RobotsCopy(HOST, "rules", body, "200", NOW, NOW))


def is_allowed(robots: Robots, path: str = "/page") -> bool:
    return robots.refusal(HOST + path) is None


def test_robots_txt_stands_at_the_origin() -> None:
    assert robots_url("https://example.com:8443/a/b?c") == "https://example.com:8443/robots.txt"


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (answer(b"User-agent: *\nDisallow: /"), "rules"),
        (answer(b"\n <!DOCTYPE html><p>Not found"), "allow_all"),
        (answer(b"\xef\xbb\xbf<html>"), "allow_all"),
        (answer(status=404), "allow_all"),
        (answer(status=403), "allow_all"),
        (answer(status=410), "allow_all"),
        (failed("redirect_loop"), "allow_all"),
        (answer(status=429), "disallow_all"),
        (answer(status=500), "disallow_all"),
        (answer(status=503), "disallow_all"),
        (failed("timeout"), "disallow_all"),
        (failed("dns"), "disallow_all"),
        (failed("tls"), "disallow_all"),
        (failed("private_address"), "disallow_all"),
    ],
)
def test_what_an_answer_means(result: FetchedPage | FetchFailure, outcome: str) -> None:
    copy = copy_from(result, HOST, NOW, None)
    assert copy.outcome == outcome
    assert is_allowed(Robots(copy), "/") is (outcome == "allow_all")


def test_an_answer_is_kept_a_day_and_a_failure_minutes() -> None:
    assert copy_from(answer(b"x"), HOST, NOW, None).expires_at == "2026-12-01T12:00:00Z"
    assert copy_from(failed("timeout"), HOST, NOW, None).expires_at == "2026-11-30T12:10:00Z"


def test_the_last_good_copy_serves_while_the_host_fails_but_no_longer_than_a_day() -> None:
    good = copy_from(answer(b"User-agent: *\nDisallow: /private"), HOST, NOW, None)
    soon = copy_from(answer(status=503), HOST, "2026-12-01T11:00:00Z", good)
    assert (is_allowed(Robots(soon)), is_allowed(Robots(soon), "/private/a")) == (True, False)
    again = copy_from(answer(status=503), HOST, "2026-12-01T11:59:00Z", soon)
    assert again.outcome == "rules"
    late = copy_from(answer(status=503), HOST, "2026-12-01T12:00:00Z", again)
    assert late.outcome == "disallow_all"


def test_a_refusal_names_the_reason() -> None:
    assert rules("User-agent: *\nDisallow: /").refusal(HOST + "/a") == (
        "robots_disallowed: https://example.com/robots.txt disallows it"
    )
    unreachable = Robots(copy_from(failed("timeout"), HOST, NOW, None)).refusal(HOST + "/a")
    assert unreachable == "robots_unreachable: https://example.com/robots.txt gave timeout: detail"


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("\ufeffUser-agent: *\nDisallow: /", "/a", False),
        ("User-agent: KBCITE\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: kbcite\nAllow: /", "/a", True),
        ("User-agent: kbcite/1.0 (bot)\nDisallow: /", "/a", False),
        ("User-agent: kbcite robot # ours\nDisallow: /", "/a", False),
        ("User-agent: kbcite-other\nDisallow: /", "/a", True),
        ("User-agent: *\n\nDisallow: /a", "/a", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /中", "/%E4%B8%AD/a", False),
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: other\nDisallow: /", "/a", False),
        ("User-agent: *\nSitemap: /s.xml\nUser-agent: other\nDisallow: /", "/a", False),
        ("User-agent: *\nAllow: /\nUser-agent: other\nCrawl-delay: 9\nDisallow: /", "/a", True),
        ("\x00\xff garbage", "/a", True),
        ("", "/a", True),
    ],
)
def test_rules_are_read_as_the_standard_says(text: str, path: str, allowed: bool) -> None:
    assert is_allowed(rules(text), path) is allowed


@pytest.mark.parametrize(
    ("text", "delay_s"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nRequest-rate: 1/10", 10.0),
        ("User-agent: other\nCrawl-delay: 9\nDisallow: /", 0.0),
        ("User-agent: kbcite\nUser-agent: other\nCrawl-delay: 4\nDisallow: /x", 4.0),
        ("User-agent: *\nCrawl-delay: soon", 0.0),
    ],
)
def test_the_crawl_delay_of_our_group_counts(text: str, delay_s: float) -> None:
    assert rules(text).crawl_delay_s == delay_s


@pytest.mark.parametrize(
    ("text", "path", "decision"),
    [
        ("User-agent: *\n\nDisallow: /private # all of it", "/private/a", "line 3: Disallow: /private"),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", "line 3: Allow: /a/b"),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", "line 3: Allow: /a"),
        ("User-agent: *\nDisallow: /\nUser-agent: kbcite\nDisallow: /*.pdf$", "/x.pdf", "line 4: Disallow: /*.pdf$"),
        ("User-agent: *\nDisallow: /\nUser-agent: kbcite\nDisallow:", "/x", "no line for it"),
        ("User-agent: a\nUser-agent: *\nCrawl-delay: 1\nDisallow: /", "/x", "line 4: Disallow: /"),
        ("User-agent: other\nDisallow: /", "/x", "no line for it"),
        ("User-agent: kbcite/2 # us\nDisallow: /", "/x", "line 2: Disallow: /"),
    ],
)
def test_the_line_that_decides_is_told(text: str, path: str, decision: str) -> None:
    assert rules(text).decision(HOST + path) == decision


def test_a_decision_without_rules_names_the_answer() -> None:
    assert Robots(copy_from(answer(status=404), HOST, NOW, None)).decision(HOST) == "it gave 404"


def test_a_file_cut_at_the_limit_loses_its_broken_last_line() -> None:
    filler = b"User-agent: *\n" + b"# filler\n" * MAX_BYTES
    cut = (filler[: MAX_BYTES - 11] + b"\nDisallow: /only-this")[:MAX_BYTES]
    assert cut.endswith(b"Disallow: ")
    assert is_allowed(rules(cut[:-1] + b"/"))


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("noindex", {"noindex"}),
        ("NoIndex, nofollow", {"noindex", "nofollow"}),
        ("none", {"noindex", "nofollow"}),
        ("kbcite: noindex", {"noindex"}),
        ("googlebot: noindex", set()),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST", set()),
        ("noarchive", set()),
    ],
)
def test_header_tags_for_everyone_and_for_us_count(value: str, tags: set[str]) -> None:
    assert header_tags(FetchedPage("u", "u", 200, (("x-robots-tag", value),), b"", NOW)) == tags


def test_sitemaps_are_listed() -> None:
    assert rules("Sitemap: https://example.com/s.xml\nUser-agent: *\nDisallow: /x").sitemaps == (
        "https://example.com/s.xml",
    )


CASES = Path(os.environ.get("KBCITE_BENCH", "/nonexistent"), "robots", "cases.jsonl")


RFC_BINDS = {
    # By RFC 9309 both sides are percent-encoded alike before they are compared; Google's matcher leaves that to its caller.
    ("/foo/bar/ツ", "http://foo.bar/foo/bar/ツ"),
    ("/foo/bar/%E3%83%84", "http://foo.bar/foo/bar/ツ"),
    ("/foo/bar/%62%61%7A", "http://foo.bar/foo/bar/baz"),
}


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.skipif(not CASES.exists(), reason="KBCITE_BENCH names no folder with robots/cases.jsonl")
def test_verdicts_on_real_files_agree_with_googles_matcher() -> None:
    differ = [
        (agent, url)
        for case in cases()
        for agent, url, allowed in case.get("queries", [])
        if (Robots(RobotsCopy(HOST, "rules", case["robots"].encode(), "200", NOW, NOW), agent).refusal(url) is None)
        != allowed
    ]
    assert differ == []


@pytest.mark.skipif(not CASES.exists(), reason="KBCITE_BENCH names no folder with robots/cases.jsonl")
def test_googles_own_assertions_hold_where_the_standard_says_the_same() -> None:
    binding = [case for case in cases() if "allow" in case and not case["google_only"]]
    differ = {
        (case["robots"].split()[-1], case["url"])
        for case in binding
        if (
            Robots(RobotsCopy(HOST, "rules", case["robots"].encode(), "200", NOW, NOW), case["ua"]).refusal(case["url"])
            is None
        )
        != case["allow"]
    }
    assert len(binding) > 60
    assert differ == RFC_BINDS
