"""Pages made to bring a cleaner down: each ends in time and memory, and is kept, or refused with a reason."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MOST_SECONDS, MOST_MEGABYTES = 10, 500

CLEAN = r"""
import json, re, resource, sys, time
from pathlib import Path
from kbcite.page.cleaning import clean_page
from kbcite.records import Skipped
data = Path(sys.argv[1]).read_bytes()
began = time.perf_counter()
outcome = clean_page(data, "https://example.org/", "text/html")
took = time.perf_counter() - began
if Path("/proc/self/status").exists():  # what Linux says of a child in getrusage includes its parent
    peak = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 2**10
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
refused = isinstance(outcome, Skipped)
json.dump({"s": took, "mb": peak, "reason": outcome.reason if refused else "", "text": "" if refused else outcome.text[:4000]}, sys.stdout)
"""

ARTICLE = "<p>" + "The bridge was closed for repairs in March, and traffic was sent over the old road. " * 5 + "</p>"


def page(body: str) -> bytes:
    return f"<html><head><title>Bridge</title></head><body>{body}</body></html>".encode()


BOMBS: dict[str, Callable[[], bytes]] = {
    "300 nested div": lambda: page("<div>" * 300 + ARTICLE + "</div>" * 300),
    "5,000 nested div": lambda: page("<div>" * 5_000 + ARTICLE + "</div>" * 5_000),
    "20,000 nested tables": lambda: page("<table><tr><td>" * 20_000 + ARTICLE),
    "100,000 nested div": lambda: page("<div>" * 100_000 + ARTICLE),
    "1,000,000 nested div": lambda: page("<div>" * 1_000_000 + ARTICLE),
    "200,000 attributes on one tag": lambda: page(
        "<div " + " ".join(f'a{i}="x"' for i in range(200_000)) + f">{ARTICLE}</div>"
    ),
    "30 MB of script before the text": lambda: page("<script>" + "x=1;" * 7_500_000 + "</script>" + ARTICLE),
    "200,000 unclosed comments": lambda: page(ARTICLE + "<!-- a " * 200_000),
    "2,000,000 entities": lambda: page(ARTICLE + "<p>" + "&amp;" * 2_000_000 + "</p>"),
    "NUL bytes between all letters of the tags": lambda: page(ARTICLE).replace(b"<p>", b"<\0p\0>") + b"\0" * 1_000_000,
    "UTF-16 without a byte-order mark": lambda: page(ARTICLE * 2_000).decode().encode("utf-16-le"),
    "UTF-7": lambda: page(ARTICLE + "<p>路桥维修期间车辆绕行</p>" * 2_000).decode().encode("utf-7"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_time_and_memory_with_its_text_or_a_reason(name: str, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.html"
    bomb.write_bytes(BOMBS[name]())
    done = subprocess.run(
        [sys.executable, "-c", CLEAN, str(bomb)], capture_output=True, timeout=6 * MOST_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-500:]
    found = json.loads(done.stdout)
    assert found["s"] < MOST_SECONDS
    assert found["mb"] < MOST_MEGABYTES
    assert found["reason"] or "closed for repairs in March" in found["text"]
