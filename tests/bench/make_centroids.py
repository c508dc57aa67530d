"""Writes kbcite/retrieval/centroids.json: the built-in encoder's mean vector of Chinese and of English text.

    python -m tests.bench.make_centroids

The texts, `centroid_texts.txt`, were written for this: forty subjects, each in both languages, so that the two means
differ by language alone.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from kbcite.retrieval.encoder import open_encoder


def main() -> None:
    pairs = [
        line.split("\t") for line in (Path(__file__).parent / "centroid_texts.txt").read_text("utf-8").splitlines()
    ]
    encoder = open_encoder("builtin")
    centroids = {
        language: [round(float(x), 6) for x in encoder.encode_passages([pair[i] for pair in pairs]).mean(axis=0)]
        for i, language in enumerate(("zh", "en"))
    }
    target = Path(str(files("kbcite"))) / "retrieval" / "centroids.json"
    target.write_text(json.dumps({"fingerprint": encoder.fingerprint, "centroids": centroids}) + "\n", "utf-8")
    print(f"{target} {target.stat().st_size:,} bytes from {len(pairs)} texts a language")


if __name__ == "__main__":
    main()
