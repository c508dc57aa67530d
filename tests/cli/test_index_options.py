from __future__ import annotations

import sqlite3

from tests.cli.run import Shell


def test_compact_says_what_it_freed_and_the_store_answers_as_before(town: Shell) -> None:
    before = town("--json", "search", "When does the pool open?").json
    done = town("index", "--compact")
    assert done.code == 0 and "dropped 0 vectors of retired blocks, freed" in done.out
    assert town("--json", "index", "--compact").json["compacted"] == {"vectors": 0, "words": 0, "freed": 0}
    assert town("--json", "search", "When does the pool open?").json == before


def test_status_says_what_the_vector_index_holds(town: Shell) -> None:
    told = town("--json", "status").json
    assert told["index"] == {"blocks": told["blocks"], "exact": True, "recall": 1.0}
    assert f"index      {told['blocks']} blocks, exact" in town("status").out


def test_words_of_an_older_kbcite_are_told_and_made_again_without_embedding(town: Shell) -> None:
    with sqlite3.connect(town.store / "kb.sqlite3") as sql:
        sql.execute("UPDATE meta SET value = 'old' WHERE key = 'word_rules'")
    told = town("search", "swimming pool")
    assert told.code == 6 and 'run "kbcite index" once' in told.err
    assert "embedded 0, " in town("index").out
    assert town("search", "swimming pool").code == 0
