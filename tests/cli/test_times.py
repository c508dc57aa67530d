"""Times as text, for records and for people."""

from __future__ import annotations

import pytest

from kbcite.clock import to_minute
from tests.cli.run import Shell


def test_a_time_for_people_names_its_zone() -> None:
    assert to_minute("2026-11-30T15:48:21Z") == "2026-11-30 15:48 UTC"


@pytest.mark.parametrize("command", [["status"], ["status", "--pages"], ["crawl", "--dry-run"], ["log"]])
def test_no_command_shows_people_the_times_and_names_of_records(town: Shell, command: list[str]) -> None:
    town("ask", "How much is a day ticket for the swimming pool?")
    out = town(*command).out
    assert out
    assert "Z " not in out.replace("\n", " ")
    assert "_" not in out.replace(str(town.store), "")


def test_what_was_forgotten_is_listed_with_a_time_for_people(town: Shell) -> None:
    url = f"{town.json('status')['sources'][0]['url']}pool.html"
    town("--now", "2026-11-30T22:49:41Z", "forget", url, "--yes")
    assert town("forget", "--list").out == f"2026-11-30 22:49 UTC  {url}\n"


def test_a_small_archive_has_a_size(town: Shell) -> None:
    assert "archive    7 bodies, 0" not in town("status").out
    assert " kB kept in " in town("status").out
