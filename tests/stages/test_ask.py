"""Which candidates an answer is made of, before anything is answered."""

from dataclasses import replace

from kbcite.answer.questions import clauses, read_question
from kbcite.stages.ask import retrieve_each_clause
from tests.answer.blocks import retrieved

HOURS, PRICES, RULES = retrieved("Hours", 0), retrieved("Prices", 1), retrieved("Rules", 2)


def retrieve(question):
    """The hours for a question of hours, the prices for one of prices; the whole question finds the hours."""
    wanted = HOURS if "open" in question else PRICES
    return [block if block is wanted else replace(block, dropped="over_top_k") for block in (RULES, HOURS, PRICES)]


def used(question):
    return [block.block.id for block in retrieve_each_clause(question, retrieve) if block.dropped is None]


def test_what_each_of_two_questions_finds_is_used():
    assert used("When do you open and what does a bike cost?") == ["b0", "b1"]


def test_one_question_is_retrieved_as_it_is():
    assert retrieve_each_clause("When do you open on Sunday?", retrieve) == retrieve("When do you open on Sunday?")


def test_no_candidate_is_lost_or_told_twice():
    found = retrieve_each_clause("When do you open and what does a bike cost?", retrieve)
    assert sorted(block.block.id for block in found) == ["b0", "b1", "b2"]


def test_the_second_question_takes_from_the_first_what_it_calls_it():
    first, second = clauses(read_question("Who founded the yard and how many boats does it have?"))
    assert first.text == "Who founded the yard"
    assert "founded the yard" in second.text
    alone = clauses(read_question("When does the yard open, and what does a boat cost?"))[1]
    assert alone.text == "what does a boat cost?"
