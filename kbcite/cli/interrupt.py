"""Ctrl-C, SIGTERM and a terminal that closes ask a long job to stop: it finishes the piece in hand, saves, and says what it did.

A second one stops it at once. `nohup` is respected: where a closed terminal is ignored it goes on being ignored.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Whether it is time to stop; call it to ask."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        return self.asked

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Signals are turned into a request to stop; KeyboardInterrupt is raised at the end if one came."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._ask) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self.asked:
            raise KeyboardInterrupt
