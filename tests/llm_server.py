"""An OpenAI-compatible model server on loopback whose replies a test writes beforehand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Says:
    """One answer of the server."""

    text: str = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    """Wait before answering, and between the pieces of the stream."""
    breaks_off: bool = False
    """The stream ends in the middle, without its closing event."""
    finish: str = "stop"
    """Why the reply ends: `length` where the limit of tokens cut it, `content_filter`, `tool_calls`."""
    delta: tuple[tuple[str, Any], ...] = ()
    """What the last piece holds beside text: a tool call, thinking."""
    body: bytes | None = None
    """Sent instead of a stream: a page of a proxy, broken JSON."""
    content_type: str = "text/event-stream"
    times: int = 1
    """How often each piece is sent."""


@dataclass
class LlmServer:
    """Says its replies in order, the last one again and again; remembers what it was asked."""

    replies: list[Says]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def next_reply(self) -> Says:
        return self.replies[min(len(self.requests) - 1, len(self.replies) - 1)]

    def prompt(self, index: int = 0) -> str:
        """Everything that was sent in one request."""
        return "\n".join(message["content"] for message in self.requests[index]["messages"])


@contextmanager
def serve_llm(*replies: Says | str) -> Iterator[LlmServer]:
    """A running server with the given replies."""
    state = LlmServer([reply if isinstance(reply, Says) else Says(reply) for reply in replies])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.requests.append(json.loads(body))
            says = state.next_reply()
            time.sleep(says.delay_s)
            try:
                if says.body is not None:
                    self._send(says, says.content_type, says.body)
                elif says.status == 200:
                    self._stream(says)
                else:
                    self._error(says)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _error(self, says: Says) -> None:
            payload = json.dumps({"error": {"message": says.text or "no", "type": "error", "code": None}}).encode()
            self._send(says, "application/json", payload)

        def _send(self, says: Says, content_type: str, payload: bytes) -> None:
            self.send_response(says.status)
            for name, value in (("Content-Type", content_type), *says.headers):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def _stream(self, says: Says) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            half = len(says.text) // 2
            pieces = [says.text[:half]] if says.breaks_off else [says.text[:half], says.text[half:]]
            for piece in pieces * says.times:
                self._event(
                    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}]}
                )
                time.sleep(says.delay_s)
            if not says.breaks_off:
                if says.delta:
                    self._event({"choices": [{"index": 0, "delta": dict(says.delta), "finish_reason": None}]})
                self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": says.finish}]})
                usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
                self._event({"choices": [], "usage": usage})
                self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

        def _event(self, content: dict[str, Any]) -> None:
            event = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "test", **content}
            self.wfile.write(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
