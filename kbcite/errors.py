"""What stops a job. Each error carries the exit code it ends with and one line: the thing, the reason, the next step."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    DONE = 0
    FINDINGS = 1
    """Finished, with failures or findings."""
    USAGE = 2
    """Usage or settings."""
    REFUSED = 3
    """Not grounded."""
    BELOW_BAR = 4
    """Under the coverage or support bar (`--strict`)."""
    NOTHING = 5
    """Nothing to do, no store, no match."""
    STORE = 6
    """Store locked or damaged."""
    NETWORK = 7
    """Network or provider failed after retries."""
    CHANGES = 10
    """Changes found (`--exit-code`)."""
    INTERRUPTED = 130


class KbciteError(Exception):
    exit_code = ExitCode.FINDINGS


class UsageError(KbciteError):
    """The command, its input or the settings are not usable as given."""

    exit_code = ExitCode.USAGE


class NotFound(KbciteError):
    """No store, no index, nothing that matches."""

    exit_code = ExitCode.NOTHING


class StoreError(KbciteError):
    """The store is locked, damaged, full or not writable."""

    exit_code = ExitCode.STORE


class ModelMismatch(UsageError):
    """The index was built with another encoder than the one in the settings."""


class ProviderError(KbciteError):
    """A model or network service gave no usable reply after retries."""

    exit_code = ExitCode.NETWORK


class Finding(KbciteError):
    """The job is done and its result was shown; what it found asks for an exit code of its own."""

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.FINDINGS) -> None:
        super().__init__(message)
        self.exit_code = exit_code
