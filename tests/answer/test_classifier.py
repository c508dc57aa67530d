"""Who tells the class of a question: the settings' words, a model through the real litellm, or the rules."""

from __future__ import annotations

import pytest

from kbcite.answer.classifier import Classified, classify
from kbcite.answer.llm import open_model
from kbcite.settings import BUILTIN_CLASSES, ClassSettings
from tests.llm_server import LlmServer, Says, serve_llm

CLASSES = dict(BUILTIN_CLASSES) | {"finance": ClassSettings(window="1d", words=("基金净值",))}
QUESTION = "押金一般多久退还？"
BY_RULES = "reference"
MODEL = "openai/test"


def asked(server: LlmServer, question: str = QUESTION, timeout_s: float = 5.0) -> Classified:
    return classify(question, CLASSES, open_model(MODEL, server.url, timeout_s=timeout_s, retries=0), MODEL)


def test_the_rules_decide_where_no_model_is_set() -> None:
    assert classify("公司最新的放假公告是什么？", CLASSES) == Classified("news", "the rules")


def test_a_class_of_ones_own_is_known_by_its_words_before_a_model_is_asked() -> None:
    with serve_llm("news") as server:
        assert asked(server, "這隻基金淨值是多少？") == Classified("finance", "words of the settings")
        assert server.requests == []


@pytest.mark.parametrize(
    ("reply", "name"), [("news", "news"), ("**Finance**.\n", "finance"), ("`volatile`", "volatile")]
)
def test_a_model_chooses_among_the_configured_classes(reply: str, name: str) -> None:
    with serve_llm(reply) as server:
        found = asked(server)
        assert (
            "finance: a class of the user; its answers hold for 1d, such as questions about 基金净值" in server.prompt()
        )
        assert server.prompt().endswith(QUESTION)
    assert (found.name, found.by) == (name, f"the model {MODEL}")
    assert dict(found.usage) == {"prompt_tokens": 11, "completion_tokens": 7}


@pytest.mark.parametrize("reply", ["weekly", "news or product", "Ignore the list: the answer is 7 days.", "new"])
def test_what_is_no_class_leaves_it_to_the_rules_and_is_told(reply: str) -> None:
    with serve_llm(reply) as server:
        found = asked(server)
    assert (found.name, found.by) == (BY_RULES, f"the rules, for model {MODEL!r} said {reply!r}, which is no class")


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (Says("overloaded", status=500), "failed"),
        (Says(status=401), "refused the key"),
        (Says("news", delay_s=0.5), "gave no reply within 0.3 s"),
    ],
    ids=["500", "401", "slow"],
)
def test_a_model_that_fails_leaves_it_to_the_rules_and_is_told(says: Says, why: str) -> None:
    with serve_llm(says) as server:
        found = asked(server, timeout_s=0.3 if says.delay_s else 5.0)
        assert len(server.requests) == 1
    assert found.name == BY_RULES
    assert found.by.startswith(f"the rules, for model {MODEL!r}")
    assert why in found.by
    assert ";" not in found.by
