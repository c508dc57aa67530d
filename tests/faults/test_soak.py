from __future__ import annotations

import os
import sys

import pytest

from tests.faults.lab import IS_NIGHTLY
from tests.faults.soak import PAGES, faults, soak

SOAK_PAGES = int(os.environ.get("KBCITE_SOAK", PAGES))


@pytest.mark.skipif(not IS_NIGHTLY and "KBCITE_SOAK" not in os.environ, reason="takes hours; KBCITE_SOAK=12000 minutes")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_day_of_cron_leaves_nothing_behind_but_what_was_on_the_pages() -> None:
    assert faults(list(soak(SOAK_PAGES))) == []
