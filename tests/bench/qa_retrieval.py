"""The `retrieval` mode of `qa_run`: ranks the documents of each question set, and says how well relevance tells answerable
questions from others."""

from __future__ import annotations

import gzip
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from kbcite.retrieval.encoder import open_encoder
from tests.bench.corpus import CachedEncoder, Corpus, Text

POOLED = {"rgb_zh_pool", "xquad_zh", "xquad_en", "rgb_zh_fact", "rgb_en_fact"}
"""Sets asked of one knowledge base of all their documents; in the others each question has its own."""
THRESHOLD = 0.45

Row = dict[str, Any]


def load_questions(data: Path, sets: set[str]) -> dict[str, list[Row]]:
    by_set = defaultdict(list)
    with gzip.open(data / "qa.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if not sets or row["set"] in sets:
                by_set[row["set"]].append(row)
    return by_set


def corpus_of(rows: list[Row], encoder: CachedEncoder) -> Corpus:
    documents = {
        doc["id"]: Text(doc["id"], doc["text"], doc.get("title") or "", doc.get("date"))
        for row in rows
        for doc in row["docs"]
    }
    return Corpus(list(documents.values()), encoder)


def run(data: Path, out: Path, sets: set[str]) -> None:
    """Writes one line a question: id, ranked document ids, the best relevance. Prints what the score script does not tell."""
    encoder = CachedEncoder(open_encoder("builtin"))
    by_set = load_questions(data, sets)
    with out.open("w", encoding="utf-8") as file:
        for name, rows in by_set.items():
            pool = corpus_of(rows, encoder) if name in POOLED else None
            answerable, relevance, began = [], [], time.perf_counter()
            for row in rows:
                ranked, found = (pool or corpus_of([row], encoder)).ranked(row["question"])
                best = max((hit.scores.relevance for hit in found.blocks), default=0.0)
                answerable.append(bool(row["answerable"]))
                relevance.append(best)
                file.write(json.dumps({"id": row["id"], "ranked": ranked, "relevance": best}) + "\n")
            each_ms = (time.perf_counter() - began) / len(rows) * 1000
            print(
                f"{name:22} {len(rows):4} questions {each_ms:6.1f} ms each  {_separation(answerable, relevance)}",
                flush=True,
            )
        for language, row in across_languages(by_set, encoder).items():
            print(f"{language:22} {row}")


def _separation(answerable: list[bool], relevance: list[float]) -> str:
    y, s = np.array(answerable), np.array(relevance)
    if y.all():
        return f"refused at {THRESHOLD}: {(s < THRESHOLD).mean():.3f}"
    above = (s[y][:, None] > s[~y][None, :]).mean() + (s[y][:, None] == s[~y][None, :]).mean() / 2
    return (
        f"AUROC {above:.3f}  at {THRESHOLD}: answerable refused {(s[y] < THRESHOLD).mean():.3f},"
        f" unanswerable refused {(s[~y] < THRESHOLD).mean():.3f}"
    )


def across_languages(by_set: dict[str, list[Row]], encoder: CachedEncoder) -> dict[str, str]:
    """Questions in one language whose paragraph exists in the other only, with the other set's texts all around."""
    result = {}
    cases = (("xquad_zh", "xquad_en", "rgb_zh_pool"), ("xquad_en", "xquad_zh", "rgb_en_fact"))
    for asked, answered, around in cases:
        if {asked, answered, around} <= by_set.keys():
            corpus = corpus_of(by_set[answered] + by_set[around], encoder)
            gold = {_pair(row["id"]): {doc["id"] for doc in row["docs"] if doc.get("gold")} for row in by_set[answered]}
            ranks, refused = [], []
            for row in by_set[asked]:
                ranked, found = corpus.ranked(row["question"])
                if _pair(row["id"]) in gold:
                    right = gold[_pair(row["id"])]
                    ranks.append(next((i for i, doc in enumerate(ranked) if doc in right), 99))
                    refused.append(max(hit.scores.relevance for hit in found.blocks) < THRESHOLD)
            hits = " / ".join(f"{np.mean([rank < k for rank in ranks]):.3f}" for k in (1, 5))
            result[f"{asked} in {answered}"] = (
                f"{len(ranks)} questions, Hit@1 / @5 {hits}, refused {np.mean(refused):.3f}"
            )
    return result


def _pair(question_id: str) -> str:
    return question_id.split("-", 1)[1]
