"""Questions on real manuals, in English and Chinese: how many are answered by the right passage, how many refused.

    python -m tests.bench.manual_questions STORE [MANUAL ...] [--show]

STORE is what `python -m tests.debian_docs build STORE [more]` makes. Each line of `manual_questions.jsonl` has a question on the
first five manuals and a pattern that stands in a right answer, or null where the manuals do not say. With names of manuals
(python debian-reference debian-handbook; with `more`: postgres gimp lilypond linuxcnc office) those of
`manual_questions_of.jsonl` are asked. --show prints every answer, for reading.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from kbcite.answer.answering import AnswerOptions, answer
from kbcite.retrieval.encoder import open_encoder
from kbcite.retrieval.ranking import RankingOptions
from kbcite.stages.search import nearness_of, open_index, search_blocks
from kbcite.store.database import DATABASE_NAME, Database

QUESTIONS = Path(__file__).with_suffix(".jsonl")
QUESTIONS_OF = QUESTIONS.with_stem(f"{QUESTIONS.stem}_of")
NOW = "2026-01-01T00:00:00Z"


def main(arguments: list[str]) -> None:
    if not arguments:
        raise SystemExit("usage: python -m tests.bench.manual_questions STORE [MANUAL ...] [--show]")
    is_shown = "--show" in arguments
    name, *manuals = [argument for argument in arguments if argument != "--show"]
    store = Path(name)
    encoder = open_encoder("builtin")
    nearness = nearness_of(encoder)
    right = used = answerable = refused = 0
    source = QUESTIONS_OF if manuals else QUESTIONS
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if not manuals or row["of"] in manuals]
    database = Database(store / DATABASE_NAME)
    index = open_index(database, encoder, store / "vectors")
    for row in rows:
        question, wanted = row["question"], row["answer"]
        blocks = search_blocks(question, database, encoder, index, RankingOptions()).blocks
        said = answer(question, blocks, AnswerOptions(), now=NOW, answer_id="a", trace_id="t", nearness=nearness)
        text = "" if said.refusal else said.text
        if wanted is None:
            is_right = said.refusal is not None
            refused += is_right
        else:
            is_right = re.search(wanted, text) is not None
            answerable += 1
            right += is_right
            used += any(re.search(wanted, block.place.text) for block in blocks if block.dropped is None)
        if is_shown:
            print(f"{'right' if is_right else 'WRONG'}  {question}\n       {text or 'refused'}\n")
    database.close()
    print(f"{right} of {answerable} answered by the right passage, which is among the blocks used for {used}")
    print(f"{refused} of {len(rows) - answerable} without an answer refused")


if __name__ == "__main__":
    main(sys.argv[1:])
