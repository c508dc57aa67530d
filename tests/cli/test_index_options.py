from __future__ import annotations

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
