"""The door to a collector of traces: the spans of one answer go out by OTLP over HTTP, and nothing else ever does.

Needs the packages of the extra `otel`, imported when the first trace is sent. The standard variables OTEL_EXPORTER_OTLP_HEADERS (a
token of the collector), OTEL_EXPORTER_OTLP_CERTIFICATE and OTEL_RESOURCE_ATTRIBUTES hold as for any program.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kbcite import __version__
from kbcite.answer.spans import Span
from kbcite.errors import ProviderError, UsageError
from kbcite.patterns import pattern

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

TRACES_PATH = "/v1/traces"
_STATUS = pattern(r"code: (\d{3})")


def open_exporter(endpoint: str, timeout_s: float) -> SpanExporter:
    """What sends spans to a collector. endpoint: its address; the path `/v1/traces` is added to one without a path.

    Raises UsageError where the address is none or the packages are missing.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"telemetry.endpoint {endpoint!r} is no address; give one like http://127.0.0.1:4318")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise UsageError("telemetry needs more packages; run \"pip install 'kbcite[otel]'\"") from error
    address = endpoint if parts.path.strip("/") else f"{endpoint.rstrip('/')}{TRACES_PATH}"
    return OTLPSpanExporter(address, timeout=timeout_s)


def send(root: Span, trace_id: str, began_ns: int, exporter: SpanExporter) -> None:
    """Hand the spans over under the answer's trace ID, and close the exporter.

    began_ns: when the question began, in nanoseconds since the epoch. Raises ProviderError where they do not arrive.
    """
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    class AnswersId(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            return int(trace_id, 16)

    collected = InMemorySpanExporter()
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=Resource.create({"service.name": "kbcite", "service.version": __version__}),
        shutdown_on_exit=False,
        id_generator=AnswersId(),
    )
    provider.add_span_processor(SimpleSpanProcessor(collected))
    _record(provider.get_tracer("kbcite", __version__), root, began_ns)
    said = _Said()
    logger = logging.getLogger("opentelemetry")
    logger.addHandler(said)
    logger.propagate = False
    try:
        outcome = exporter.export(collected.get_finished_spans())
    finally:
        logger.removeHandler(said)
        exporter.shutdown()
        provider.shutdown()
    if outcome is not SpanExportResult.SUCCESS:
        raise ProviderError(f"the trace was not sent: {_reason(said.all)}; see telemetry.endpoint in kbcite.toml")


def _record(tracer: Tracer, span: Span, began_ns: int) -> None:
    """Record a span and those below it, at their times."""
    with tracer.start_as_current_span(
        span.name, start_time=_at(began_ns, span.began_ms), attributes=span.attributes, end_on_exit=False
    ) as recorded:
        for name, attributes in span.events:
            recorded.add_event(name, attributes, timestamp=_at(began_ns, span.ended_ms))
        for below in span.below:
            _record(tracer, below, began_ns)
        recorded.end(_at(began_ns, span.ended_ms))


def _at(began_ns: int, ms: float) -> int:
    return began_ns + int(ms * 1_000_000)


def _reason(said: list[str]) -> str:
    """What went wrong, from what the exporter logged: a fault, and that it gave up."""
    first = said[0] if said else ""
    if status := _STATUS.search(first):
        return f"the collector answered with status {status[1]}"
    if "connection" in first.lower() or "resolve" in first.lower():
        return "the collector cannot be reached"
    return "the collector did not take it in time"


class _Said(logging.Handler):
    """Keeps what the exporter says went wrong: it raises nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.all.append(record.getMessage())
