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
