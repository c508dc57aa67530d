"""The modes `answers`, `support`, `dedup` and `timeclass` of `qa_run`: what `ask` says, and the checks behind it, one by one."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kbcite.answer.answering import AnswerOptions, answer
from kbcite.answer.claims import check_claim
from kbcite.answer.freshness import QuestionClass, classify_question
from kbcite.answer.questions import read_question
from kbcite.records import Answer
from kbcite.retrieval.duplicates import duplicate_score
from kbcite.retrieval.encoder import open_encoder
from kbcite.retrieval.ranking import RankingOptions
from tests.bench.corpus import CachedEncoder
from tests.bench.qa_retrieval import corpus_of, load_questions

POOLED = {"rgb_zh_pool", "xquad_zh", "xquad_en"}
"""Sets asked of one knowledge base; in the others each question has its own documents, and only these may be cited."""
NOW = "2026-01-01T00:00:00Z"
"""When every document of a corpus was fetched, so that nothing is stale."""
SENTENCES = {"rgb_zh_int": 3}
"""Sentences of an answer, for the set whose questions ask for two facts; elsewhere one."""
TIME_LABELS = {
    QuestionClass.VOLATILE: "real-time",
    QuestionClass.NEWS: "fast-changing",
    QuestionClass.PRODUCT: "slow-changing",
    QuestionClass.REFERENCE: "static",
}


def answers(data: Path, out: Path, sets: set[str]) -> None:
    """Writes id, text, refused, confidence and cited documents of each question. Prints how often a difference was said."""
    encoder = CachedEncoder(open_encoder("builtin"))
    with out.open("w", encoding="utf-8") as file:
        for name, rows in load_questions(data, sets).items():
            pool = corpus_of(rows, encoder) if name in POOLED else None
            # A set that comes with its own documents has them as its retrieved blocks, whatever their relevance.
            retrieval = RankingOptions() if pool else RankingOptions(top_k=10, threshold=0.0)
            options = AnswerOptions(
                max_sentences=SENTENCES.get(name, 1),
                threshold=retrieval.threshold,
                # Two copies are a store in which cosine and idf tell nothing; what is asked is how their difference is told.
                min_confidence=0.0 if name.endswith("_conflict") else AnswerOptions().min_confidence,
            )
            differing, began = 0, time.perf_counter()
            for row in rows:
                found = (pool or corpus_of([row], encoder)).find(row["question"], retrieval)
                said = answer(row["question"], found.blocks, options, now=NOW, answer_id=row["id"], trace_id=row["id"])
                differing += bool(said.conflicts)
                file.write(json.dumps({"id": row["id"], **_line(said)}, ensure_ascii=False) + "\n")
            each_ms = (time.perf_counter() - began) / len(rows) * 1000
            print(
                f"{name:22} {len(rows):4} questions {each_ms:6.1f} ms each  difference said {differing / len(rows):.3f}"
            )


def _line(said: Answer) -> dict[str, Any]:
    refused = said.refusal is not None
    return {
        "text": "" if refused else said.text,
        "refused": refused,
        "confidence": said.grounding.confidence or 0.0,
        "citations": {str(source.n): source.url for source in said.sources},
    }


def support(data: Path, out: Path, sets: set[str]) -> None:
    """Writes each claim's support score."""
    _write(
        out,
        (
            {
                "id": row["id"],
                "score": check_claim(
                    row["claim"],
                    row["evidence"],
                    question=read_question(row["question"]) if row.get("question") else None,
                ).score,
            }
            for row in _rows(data / "support.jsonl.gz", sets)
        ),
    )


def dedup(data: Path, out: Path, sets: set[str]) -> None:
    """Writes each pair's near-duplicate score."""
    rows = _rows(data / "dedup.jsonl.gz", sets)
    _write(out, ({"id": row["id"], "score": duplicate_score(row["a"], row["b"])} for row in rows))


def timeclass(data: Path, out: Path, sets: set[str]) -> None:
    """Writes each question's class, in the names of its set."""

    def label(row: dict[str, Any]) -> str:
        found = classify_question(row["question"])
        if row["set"] == "own_time4":
            return TIME_LABELS[found]
        return "stable" if found is QuestionClass.REFERENCE else "time_dependent"

    _write(out, ({"id": row["id"], "label": label(row)} for row in _rows(data / "timeclass.jsonl.gz", sets)))


def _rows(path: Path, sets: set[str]) -> Iterable[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if not sets or row.get("set") in sets:
                yield row


def _write(out: Path, lines: Iterable[dict[str, Any]]) -> None:
    with out.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
