"""`make demo`: serve the golden pages on loopback, build a knowledge base from them, and ask it three questions."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.golden_site import serve_golden_pages

QUESTIONS = (
    "栖岚RO反渗透滤芯现在多少钱？",
    "How many keys may one Quillstore transaction touch?",
    "谁获得了2035年的诺贝尔文学奖？",
)
EXPECTED = (0, 0, 3)


def main() -> int:
    began = time.monotonic()
    with serve_golden_pages() as site, tempfile.TemporaryDirectory(prefix="kbcite-demo-") as folder:
        store = str(Path(folder) / "kb")

        def kbcite(*arguments: str) -> int:
            shown = " ".join(f'"{a}"' if " " in a or not a.isascii() else a for a in arguments)
            print(f"\n$ kbcite {shown}", flush=True)
            return subprocess.run(
                [sys.executable, "-m", "kbcite", "--store", store, *arguments], check=False
            ).returncode

        for step in (["init"], ["source", "add", site, "--allow-private", "--depth", "1"], ["build"]):
            if code := kbcite(*step):
                return code
        codes = tuple(kbcite("ask", question) for question in QUESTIONS)
    print(
        f"\n{time.monotonic() - began:.0f} s in all. Answers carry their sources; the last question has none and was refused (exit 3)."
    )
    if codes != EXPECTED:
        print(f"kbcite demo: the questions ended with {codes}, expected {EXPECTED}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
