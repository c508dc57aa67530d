"""The provider's encoder through the real litellm, against an OpenAI-compatible embeddings server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from kbcite.errors import ProviderError
from kbcite.retrieval.encoder import open_encoder


@dataclass
class Provider:
    requests: list[list[str]] = field(default_factory=list)
    status: int = 200
    rows: Any = None
    """In place of the right rows, if set."""

    def reply(self, texts: list[str]) -> dict[str, Any]:
        self.requests.append(texts)
        if self.status != 200:
            return {"error": {"message": "no such model here", "type": "invalid_request_error"}}
        right = [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
        rows = right[::-1] if self.rows is None else self.rows
        return {"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def vector_of(text: str) -> list[float]:
    return [float(len(text)), float(ord(text[0])), 1.0]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    state = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = json.dumps(state.reply(body["input"])).encode()
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    yield state
    server.shutdown()
    server.server_close()


def test_rows_come_back_in_order_with_unit_length_over_several_calls(provider: Provider) -> None:
    texts = [f"{chr(97 + i)}{'x' * i}" for i in range(23)]
    vectors = open_encoder("litellm:openai/emb").encode_passages(texts)
    expected = np.array([vector_of(text) for text in texts])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert sorted(map(len, provider.requests)) == [3, 10, 10]


def test_the_size_of_vectors_is_asked_once_and_no_texts_need_no_more(provider: Provider) -> None:
    encoder = open_encoder("litellm:openai/emb")
    assert (encoder.dim, encoder.dim) == (3, 3)
    assert encoder.encode_passages([]).shape == (0, 3)
    assert len(provider.requests) == 1
    assert encoder.fingerprint == "litellm/openai/emb"


def test_empty_text_nul_and_lone_surrogates_are_not_sent(provider: Provider) -> None:
    open_encoder("litellm:openai/emb").encode_queries(["", "a\0b", "\ud800"])
    assert provider.requests == [[".", "a b", "\ufffd"]]


def test_a_failing_provider_is_one_line_that_says_what_to_check(provider: Provider) -> None:
    provider.status = 400
    with pytest.raises(ProviderError, match="no such model here; check the model's name, its key") as caught:
        open_encoder("litellm:openai/emb").encode_queries(["a"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "address", "said"),
    [
        ("openai/emb", "http://127.0.0.1:9/v1", "cannot be reached; check the network, and its address"),
        ("nobody/emb", "", "names no provider; write it like litellm:openai/text-embedding-3-small"),
    ],
)
def test_what_litellm_says_at_length_is_said_in_our_words(
    monkeypatch: pytest.MonkeyPatch, model: str, address: str, said: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with pytest.raises(ProviderError) as caught:
        open_encoder(f"litellm:{model}").encode_queries(["a"])
    assert str(caught.value).startswith(f'encoder "litellm:{model}" {said}')
    assert "litellm." not in str(caught.value)


def test_a_missing_key_is_a_provider_error(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        open_encoder("litellm:openai/emb").encode_queries(["a"])
    assert provider.requests == []


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}], "sent 1 vectors for 2 texts"),
        ([{"object": "embedding", "index": i, "embedding": [1.0] * (i + 1)} for i in range(2)], "different sizes"),
        ([{"object": "embedding", "index": i, "embedding": [float("nan")]} for i in range(2)], "not numbers"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(provider: Provider, rows: list[dict[str, Any]], reason: str) -> None:
    provider.rows = rows
    with pytest.raises(ProviderError, match=reason):
        open_encoder("litellm:openai/emb").encode_queries(["a", "b"])
