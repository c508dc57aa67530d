import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

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


def test_a_wait_may_be_asked_for_as_a_date_and_one_that_is_too_long_is_told():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)
    with serve_llm(Says(status=429, headers=(("Retry-After", soon),)), "好。") as server:
        reply, (wait,) = complete(server)
    assert reply.text == "好。"
    assert 6 < wait <= 9
    with (
        serve_llm(Says(status=429, headers=(("Retry-After", "3600"),))) as server,
        pytest.raises(ProviderError, match="wait 3600 s"),
    ):
        complete(server, timeout_s=5)


def test_a_bad_gateway_is_tried_again():
    with serve_llm(Says(status=502, body=b"bad gateway", content_type="text/html"), "好。") as server:
        reply, _ = complete(server)
    assert reply.text == "好。"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422])
def test_what_no_retry_can_mend_is_asked_once(status):
    with serve_llm(Says(status=status, body=b"<html>no</html>", content_type="text/html")) as server:
        with pytest.raises(UsageError):
            complete(server)
        assert len(server.requests) == 1


def test_a_reply_that_reached_its_limit_of_tokens_is_known_as_cut():
    with serve_llm(Says("一句话。[1] 另一句", finish="length")) as server:
        assert complete(server)[0].is_cut
    with serve_llm("一句话。[1]") as server:
        assert not complete(server)[0].is_cut


@pytest.mark.parametrize(
    "says", [Says("bla bla ", times=300), Says("".join(f"{n} " for n in range(4000)))], ids=["circles", "no limit"]
)
def test_a_reply_without_an_end_is_cut(says):
    with serve_llm(says) as server:
        reply, waits = complete(server, max_tokens=64)
    assert reply.is_cut
    assert waits == []


TOOL_CALL = [{"index": 0, "id": "x", "type": "function", "function": {"name": "search", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (Says("半句", finish="content_filter"), "content filter"),
        (Says(delta=(("tool_calls", TOOL_CALL),), finish="tool_calls"), "called a tool"),
        (Says(delta=(("reasoning_content", "hm"),), finish="length"), "`max_tokens`"),
    ],
)
def test_a_reply_that_is_withheld_is_asked_for_once(says, words):
    with serve_llm(says) as server:
        with pytest.raises(ProviderError, match=words):
            complete(server)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("says", "error", "words"),
    [
        (Says(body=b"<html>Welcome to nginx</html>", content_type="text/html"), ProviderError, "usually ends in /v1"),
        (Says(body=b""), ProviderError, "the reply is empty"),
        (Says(body=b"data: {not json\n\ndata: [DONE]\n\n"), ProviderError, "cannot be read"),
        (
            Says(body=b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'),
            ProviderError,
            "failed: out of memory",
        ),
        (Says(status=502, body=b"bad gateway", content_type="text/plain"), ProviderError, "502"),
        (Says("prompt is too long", status=413), UsageError, "`top_k`"),
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
    with pytest.raises(ProviderError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached; see that its server runs"):
        open_model("openai/test", "http://127.0.0.1:9/v1", retries=0)(ASKED)


def test_a_name_without_provider_is_explained():
    with pytest.raises(UsageError, match="names no provider"):
        open_model("no-such-model", retries=0)(ASKED)


def test_nothing_is_printed_on_an_error(capfd):
    with serve_llm(Says(status=400)) as server, pytest.raises(UsageError):
        complete(server, retries=0)
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""
