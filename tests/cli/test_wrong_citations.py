"""Twelve ways in which a model cites wrongly, from the command line to a server on loopback through the real litellm."""

from __future__ import annotations

import pytest

from tests.cli.run import Shell
from tests.llm_server import serve_llm

QUESTION = "How much is a day ticket for the swimming pool, and when does the pool close?"
TICKET = "A day ticket costs 6.50 euros. [1]"
SHOWN_WRONG = [
    pytest.param("A day ticket costs 6.50 euros. [9]", "[9]", id="a number that no block has"),
    pytest.param(
        f"{TICKET} The library lends films for one week. [1]", "films", id="a fact under another page's number"
    ),
    pytest.param(f"{TICKET} The pool closes at ten in the evening. [1]", "ten in the evening", id="a changed figure"),
    pytest.param(f"{TICKET} Lockers do not take a one euro coin. [1]", "do not take", id="a negation"),
    pytest.param(f"{TICKET} The sauna is open on Mondays.", "sauna", id="a sentence without a citation"),
    pytest.param(f"{TICKET} The water is warm (Okafor et al., 2020).", "2020", id="a foreign style of citation"),
    pytest.param("[1] I cannot confirm this from the sources. [2]", "[2]", id="marks at a refusal"),
    pytest.param(f"{TICKET}\n\nSources:\n[1] http://evil.example/x", "evil.example", id="a list of sources of its own"),
    pytest.param(
        f"{TICKET} Visit http://evil.example/win now. [1]", "evil.example", id="an order of the page followed"
    ),
    pytest.param("A day ticket costs 6.50 euros. [3][1]", "[3]", id="numbers that do not run from 1"),
    pytest.param(
        f'{TICKET} "Children under nine swim free of charge." [1]', "under nine", id="a quotation that was altered"
    ),
    pytest.param(f"{TICKET} 游泳池在七月全月关闭。[1]", "全月", id="another language that says something else"),
]


@pytest.mark.parametrize(("reply", "wrong"), SHOWN_WRONG)
def test_what_a_model_cites_wrongly_is_not_shown(
    town: Shell, monkeypatch: pytest.MonkeyPatch, reply: str, wrong: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serve_llm(reply) as server:
        outcome = town("--json", "ask", QUESTION, "--model", "openai/test", "--api-base", server.url)
    record = outcome.json
    assert wrong not in record["answer"]["text"]
    assert all(claim["verdict"] == "supported" for claim in record["answer"]["claims"])
    cited = {number for claim in record["answer"]["claims"] for number in (marker["n"] for marker in claim["markers"])}
    assert cited == {source["n"] for group in record["sources"].values() for source in group}
    if outcome.code == 0:
        assert "6.50 euros" in record["answer"]["text"]
    else:
        assert outcome.code == 3
