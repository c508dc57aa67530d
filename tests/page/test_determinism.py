"""The same bytes give the same document, byte for byte, whatever the machine's hash seed, time zone and locale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GOLDEN_PAGES = Path(__file__).parents[2] / "golden_pages"

CLEAN = """
import sys
from pathlib import Path
from kbcite.page.cleaning import clean_page
for page in sorted(Path(sys.argv[1]).glob("*/page.html")):
    print(ascii(clean_page(page.read_bytes(), "https://example.org/2026/03/08/a.html", None)))
"""

MACHINES = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Shanghai", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/Los_Angeles", "LC_ALL": "zh_CN.GBK"},
)


def cleaned(machine: dict[str, str]) -> bytes:
    command = [sys.executable, "-c", CLEAN, str(GOLDEN_PAGES)]
    return subprocess.run(command, env={**os.environ, **machine}, capture_output=True, check=True).stdout


def test_documents_do_not_depend_on_the_machine() -> None:
    first, *others = map(cleaned, MACHINES)
    assert first.count(b"CleanDocument(") >= 19
    assert all(other == first for other in others)
