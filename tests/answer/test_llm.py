import re

import pytest

from kbcite.answer.llm import open_model
from kbcite.answer.prompt import Message
from kbcite.errors import ProviderError, UsageError
from tests.llm_server import Says, serve_llm

ASKED = [Message("user", "你好")]


def complete(server, **options):
    waits = []
    model = open_model("openai/test", server.url, sleep=waits.append, **options)
    return model(ASKED), waits


def test_a_reply_comes_with_its_usage():
    with serve_llm("答案。[1]") as server:
        reply, _ = complete(server)
    assert reply.text == "答案。[1]"
    assert dict(reply.usage) == {"prompt_tokens": 11, "completion_tokens": 7}


def test_the_wait_that_a_429_asks_for_is_kept():
    with serve_llm(Says(status=429, headers=(("Retry-After", "3"),)), "好。") as server:
        reply, waits = complete(server)
    assert (reply.text, waits) == ("好。", [3.0])


def test_retries_back_off_and_are_bounded():
    with serve_llm(Says(status=503)) as server:
        waits = []
        with pytest.raises(ProviderError, match="openai/test"):
            open_model("openai/test", server.url, sleep=waits.append, retries=2)(ASKED)
        assert len(server.requests) == 3
    assert 0.5 <= waits[0] <= 0.75
    assert 1.0 <= waits[1] <= 1.5


def test_a_broken_stream_is_tried_again():
    with serve_llm(Says("第一次的回答断了", breaks_off=True), "完整。[1]") as server:
        reply, _ = complete(server)
    assert reply.text == "完整。[1]"


def test_a_slow_model_is_given_up_in_time():
    with serve_llm(Says("慢。", delay_s=0.6)) as server, pytest.raises(ProviderError, match=re.escape("within 0.4 s")):
        complete(server, timeout_s=0.4, retries=0)


def test_a_model_that_drips_is_given_up_in_time():
    with (
        serve_llm(Says("一点一点地说", delay_s=0.25)) as server,
        pytest.raises(ProviderError, match=re.escape("within 0.4 s")),
    ):
        complete(server, timeout_s=0.4, retries=0)


@pytest.mark.parametrize(
    ("says", "error", "words"),
    [
        (Says(status=429), ProviderError, "limiting requests"),
        (Says(status=500), ProviderError, "failed"),
        (Says(""), ProviderError, "the reply is empty"),
        (Says("半", breaks_off=True), ProviderError, "broke off"),
        (Says(status=401), UsageError, "refused the key"),
        (Says(status=404), UsageError, "does not exist"),
        (Says("bad field", status=400), UsageError, "rejected the request"),
    ],
)
def test_an_error_is_one_line_with_model_reason_and_next_step(says, error, words):
    with serve_llm(says) as server, pytest.raises(error) as caught:
        complete(server, retries=0)
    message = str(caught.value)
    assert "openai/test" in message
    assert words in message
    assert ";" in message
    assert "\n" not in message


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(ProviderError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached"):
        open_model("openai/test", "http://127.0.0.1:9/v1", retries=0)(ASKED)


def test_a_name_without_provider_is_explained():
    with pytest.raises(UsageError, match="names no provider"):
        open_model("no-such-model", retries=0)(ASKED)


def test_nothing_is_printed_on_an_error(capfd):
    with serve_llm(Says(status=400)) as server, pytest.raises(UsageError):
        complete(server, retries=0)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""
