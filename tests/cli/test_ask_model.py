"""`kbcite ask --model` from the command line to a server on loopback, through the real litellm."""

from __future__ import annotations

import pytest

from tests.cli.run import Shell
from tests.llm_server import Says, serve_llm

QUESTION = "How much is a day ticket for the swimming pool?"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def test_a_good_answer_is_shown_with_its_source_and_kept(town: Shell) -> None:
    with serve_llm("A day ticket costs 6.50 euros. [1]") as server:
        record = town.json("ask", QUESTION, "--model", "openai/test", "--api-base", server.url)
    assert record["answer"]["text"] == "A day ticket costs 6.50 euros. [1]"
    assert record["answer"]["claims"][0]["verdict"] == "supported"
    assert record["method"] == "openai/test"
    assert "6.50 euros" in town.json("show", "1")["passage"]


def test_a_changed_figure_is_asked_for_again_and_then_left_out(town: Shell) -> None:
    with serve_llm("A day ticket costs 8.50 euros. [1]") as server:
        outcome = town("ask", QUESTION, "--model", "openai/test", "--api-base", server.url)
        assert len(server.requests) == 2
    assert outcome.code == 3
    assert "8.50" not in outcome.out


def test_a_question_that_nothing_answers_is_not_sent_to_the_model(town: Shell) -> None:
    with serve_llm("Paris. [1]") as server:
        assert (
            town(
                "ask", "Who won the football world cup in 1998?", "--model", "openai/test", "--api-base", server.url
            ).code
            == 3
        )
        assert not server.requests


def test_a_server_that_fails_ends_with_7_and_one_line(town: Shell) -> None:
    with serve_llm(Says("overloaded", 500)) as server:
        outcome = town("ask", QUESTION, "--model", "openai/test", "--api-base", server.url)
    assert outcome.code == 7
    assert len(outcome.err.strip().splitlines()) == 1
    assert "openai/test" in outcome.err


def test_a_model_of_an_unknown_provider_ends_with_2_and_one_line(town: Shell) -> None:
    outcome = town("ask", QUESTION, "--model", "nonesuch")
    assert outcome.code == 2
    assert len(outcome.err.strip().splitlines()) == 1
    assert "nonesuch" in outcome.err


def test_a_model_may_tell_the_class_and_where_it_fails_the_trace_says_so(
    town: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBCITE_ASK_CLASSIFIER", "model")
    with serve_llm("reference", "A day ticket costs 6.50 euros. [1]", "often", "It costs 6.50 euros. [1]") as server:
        options = ("ask", QUESTION, "--model", "openai/test", "--api-base", server.url)
        record = town.json(*options)
        assert record["freshness"]["class"] == "reference"
        assert record["usage"] == {"prompt_tokens": 22, "completion_tokens": 14}
        assert town.json("trace")["trace"]["live"]["class_by"] == "the model openai/test"
        assert town.json(*options)["freshness"]["class"] == "product"
    assert "'often', which is no class" in town.json("trace")["trace"]["live"]["class_by"]


def test_a_model_that_is_to_tell_the_class_must_be_named(town: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBCITE_ASK_CLASSIFIER", "model")
    outcome = town("ask", QUESTION)
    assert outcome.code == 2
    assert "none is named" in outcome.err
