"""How many pages of a folder are taken for shells that scripts fill: `python -m tests.bench.app_shells FOLDER`.

FOLDER holds pages that hold their words, as `*.html` or `*.html.gz`, at any depth.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections import Counter
from pathlib import Path

from kbcite.page.app_shell import shell_sign, text_bytes


def main(folder: Path) -> None:
    signs: Counter[str] = Counter()
    taken_s = size = 0.0
    for path in sorted((*folder.rglob("*.html"), *folder.rglob("*.html.gz"))):
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        began = time.process_time()
        sign = shell_sign(body)
        taken_s += time.process_time() - began
        size += len(body)
        signs[sign or "static"] += 1
        if sign is not None:
            print(f"{sign:<12} {text_bytes(body):4} bytes of text in {len(body):8}  {path.relative_to(folder)}")
    pages = max(1, signs.total())
    print(
        f"{signs.total()} pages: {dict(signs)}; {1000 * taken_s / pages:.2f} ms a page of {size / pages / 1000:.0f} kB"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
