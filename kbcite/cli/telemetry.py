"""Sending traces of answers to a collector, for the commands that answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbcite.cli.context import Context, OpenStore
from kbcite.errors import ProviderError

if TYPE_CHECKING:
    from kbcite.stages.ask import Answered


def open_telemetry(context: Context, store: OpenStore) -> Callable[[Answered], None]:
    """What sends one answer's trace to the collector of the settings; nothing without one, or offline.

    Raises UsageError at once where packages are missing or the address is none; a collector that fails later costs a line on
    standard error, never the answer.
    """
    settings = store.settings.telemetry
    if not settings.endpoint or context.offline:
        return lambda _answered: None
    from kbcite.answer.spans import spans_of
    from kbcite.answer.telemetry import open_exporter, send

    exporter = open_exporter(settings.endpoint, settings.timeout_s)

    def send_answer(answered: Answered) -> None:
        answer = answered.answer
        try:
            send(spans_of(answer, answered.trace), answer.trace_id, answered.began_ns, exporter)
        except ProviderError as error:
            context.say(str(error))

    return send_answer
