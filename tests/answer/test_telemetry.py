"""Spans of an answer, in the SDK's own memory and at a real receiver of OTLP over HTTP."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kbcite.answer.spans import Span, spans_of
from kbcite.answer.telemetry import open_exporter, send
from kbcite.answer.trace import LiveTrace, TracedFetch, trace_of
from kbcite.errors import ProviderError, UsageError
from kbcite.records import Freshness, LiveUse
from tests.shown_answers import english, refused
from tests.site_server import Reply, serve_site

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

BEGAN_NS = 1_796_000_000_000_000_000
TRACE_ID = "5d" * 16
SECRET = "https://reader:pa55word@a.example/prices?token=s3cr3t#part"
LIVE = LiveTrace(
    "product",
    7 * 86_400,
    "live",
    "stale: 9 days, the window is 7 days",
    ("stale: 9 days, the window is 7 days", f"named_page: {SECRET}"),
    (2.0, 240.0),
    (
        TracedFetch(SECRET, "live page", "fetch", 1.0, 640.0, "page", "", True),
        TracedFetch("https://a.example/old", f"below {SECRET}", "fetch", 641.0, 700.0, "too_old", "published long ago", False),
        TracedFetch("https://a.example/kept", "stale hit", "pool", 0.0, 0.0, "off_topic", "", False),
    ),
    ((SECRET, "superseded"),),
    class_by=f"the rules, for model 'm' said '{SECRET}', which is no class",
)  # fmt: skip


def spans(live: LiveTrace | None = LIVE) -> Span:
    answer = replace(
        english()[0],
        timing_ms=(("retrieve", 240.0), ("live", 480.0), ("answer", 30.0), ("total", 750.0)),
        freshness=Freshness("product", 7 * 86_400, "2026-11-18", (), LiveUse(True, ("stale",), (), 720.0, "live")),
        usage=(("prompt_tokens", 11),),
    )
    return spans_of(answer, trace_of(answer.question, (), answer.sources, live))


def recorded(root: Span) -> dict[str, ReadableSpan]:
    class Kept(InMemorySpanExporter):
        def shutdown(self) -> None:
            pass

    exporter = Kept()
    send(root, TRACE_ID, BEGAN_NS, exporter)
    found = exporter.get_finished_spans()
    return {span.name: span for span in found}


def all_text(root: Span) -> str:
    return repr(root)


def test_each_step_is_a_span_at_its_time_under_the_trace_id_of_the_answer() -> None:
    found = recorded(spans())
    root = found["kbcite ask"]
    assert {f"{span.context.trace_id:032x}" for span in found.values()} == {TRACE_ID}
    assert root.parent is None
    assert {name: span.parent.span_id == root.context.span_id for name, span in found.items() if span.parent} == {
        "retrieve": True,
        "look at pages": True,
        "fetch": False,
        "read from the pool": False,
        "answer": True,
    }
    times = {
        name: tuple((at - BEGAN_NS) // 1_000_000 for at in (s.start_time, s.end_time)) for name, s in found.items()
    }
    assert times == {
        "kbcite ask": (0, 750),
        "retrieve": (2, 240),
        "look at pages": (1, 720),
        "fetch": (641, 700),
        "read from the pool": (1, 1),
        "answer": (720, 750),
    }
    assert root.resource.attributes["service.name"] == "kbcite"


def test_the_attributes_tell_class_triggers_outcome_and_checks() -> None:
    found = recorded(spans())
    root, look, answer = (found[name].attributes for name in ("kbcite ask", "look at pages", "answer"))
    assert root["kbcite.question.class"] == "product"
    assert root["kbcite.question.class_by"] == "the rules"
    assert root["kbcite.live.triggers"] == ("stale", "named_page")
    assert (look["kbcite.live.outcome"], look["kbcite.live.overlap_ms"]) == ("live", 238.0)
    assert answer["kbcite.usage.prompt_tokens"] == 11
    assert {event.name for event in found["answer"].events} == {"check"}
    assert found["fetch"].attributes["kbcite.fetch.outcome"] == "too_old"
    assert recorded(spans_of(refused(), None))["kbcite ask"].attributes["kbcite.answer.refusal"] == "below_threshold"


def test_neither_text_nor_secrets_go_out() -> None:
    answer = english()[0]
    told = all_text(spans())
    for secret in (
        "pa55word",
        "s3cr3t",
        "reader",
        answer.question,
        answer.sources[0].quote.text[:40],
        answer.text[:40],
    ):
        assert secret not in told, secret
    assert "https://a.example/prices" in told


@pytest.mark.parametrize("tail", ["", "/", "/v1/traces"])
def test_a_receiver_of_otlp_over_http_gets_one_request_with_the_spans(
    tail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[bytes] = []

    def receive(handler: object) -> Reply:
        bodies.append(handler.rfile.read(int(handler.headers["Content-Length"])))  # type: ignore[attr-defined]
        return Reply(b"", headers=(("Content-Type", "application/x-protobuf"),))

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20mine")
    with serve_site({"/v1/traces": receive}) as site:
        send(spans(), TRACE_ID, BEGAN_NS, open_exporter(site.url + tail, 5.0))
        (request,) = site.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/traces", "Bearer mine")
    received = ExportTraceServiceRequest.FromString(bodies[0]).resource_spans[0].scope_spans[0].spans
    assert {span.trace_id.hex() for span in received} == {TRACE_ID}
    assert [span.name for span in received].count("fetch") == 2


@pytest.mark.parametrize(("status", "said"), [(401, "status 401"), (500, "status 500")])
def test_a_collector_that_refuses_is_told_in_one_line(status: int, said: str) -> None:
    with serve_site({"/v1/traces": Reply(b"no", status)}) as site, pytest.raises(ProviderError, match=said) as raised:
        send(spans(), TRACE_ID, BEGAN_NS, open_exporter(site.url, 1.0))
    assert "\n" not in str(raised.value)


def test_a_collector_that_is_not_there_is_told() -> None:
    with pytest.raises(ProviderError, match=r"cannot be reached|did not take it in time"):
        send(spans(), TRACE_ID, BEGAN_NS, open_exporter("http://127.0.0.1:9", 0.5))


@pytest.mark.parametrize("endpoint", ["collector:4318", "ftp://a.example", "/v1/traces"])
def test_what_is_no_address_is_a_usage_error(endpoint: str) -> None:
    with pytest.raises(UsageError, match=re.escape("is no address")):
        open_exporter(endpoint, 1.0)
