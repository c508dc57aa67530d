"""A tool server that is a program: started, spoken to in lines of JSON over its pipes, and ended with all that it started.

The SDK has such a transport, but it waits for the end of a line however long that grows, and up to six seconds for a server to go:
here a message has a size, what is no message is told to the user, and the end is quick. The program is the leader of a process
group; where closing its standard input does not end it, the group is killed.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from mcp.shared.message import SessionMessage

from kbcite.web.processes import kill_group

MAX_MESSAGE_BYTES = 8_000_000
"""Of one message of a server, and of all it prints besides."""
_GRACE_S, _TERM_S = 0.5, 0.5
"""How long a server may take to go when its input closes, then when it is asked by a signal."""
_INHERITED = (
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "USER",
    "SYSTEMROOT",
    "USERPROFILE",
    "APPDATA",
)

Streams = tuple[Any, Any]
"""What the SDK's session reads messages from and writes them to."""


@dataclass(slots=True)
class Signs:
    """What is known of a server besides its messages."""

    errors: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    """The last lines of its standard error."""
    junk: str = ""
    """The first line on its standard output that is no message."""
    trouble: str = ""
    """Why nothing more is read from it."""
    exit_code: int | None = None


def environment_of(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a server gets: what any program needs, and those that the settings name."""
    return {name: environment[name] for name in (*_INHERITED, *names) if name in environment}


@asynccontextmanager
async def pipes_to(command: Sequence[str], environment: Mapping[str, str], signs: Signs) -> AsyncIterator[Streams]:
    """Streams of messages from and to a program. Raises OSError where it cannot be started."""
    with anyio.CancelScope(shield=True):  # a start that is cancelled half way would leave the process
        process = await anyio.open_process([*command], env=environment, start_new_session=True)
    assert process.stdin and process.stdout and process.stderr, "they are pipes"
    heard, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    # Nothing is awaited between the start and here, for the same reason.
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process, process.stdout, heard, signs)
        tasks.start_soon(_write, process.stdin, to_send, heard)
        tasks.start_soon(_listen, process.stderr, signs)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                incoming.close()
                outgoing.close()
                await _end(process, signs)
            tasks.cancel_scope.cancel()


async def _read(process: Process, stdout: ByteReceiveStream, heard: Any, signs: Signs) -> None:
    """Hand over each line that is a message, until there is no more or it is too much."""
    buffer, junk = bytearray(), 0
    async with heard:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            async for data in stdout:
                *lines, rest = data.split(b"\n")
                if lines:
                    lines[0] = bytes(buffer) + lines[0]
                    buffer.clear()
                buffer += rest
                for line in lines:
                    message = _message(line)
                    if message is not None:
                        await heard.send(message)
                    elif line.strip():
                        signs.junk = signs.junk or line[:200].decode(errors="replace").strip()
                        junk += len(line)
                if len(buffer) + junk > MAX_MESSAGE_BYTES:
                    signs.trouble = f"sent more than {MAX_MESSAGE_BYTES // 1_000_000} MB at once"
                    return
        with anyio.move_on_after(_GRACE_S):
            signs.exit_code = await process.wait()


def _message(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


async def _write(stdin: ByteSendStream, to_send: Any, heard: Any) -> None:
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        async with to_send:
            async for message in to_send:
                await stdin.send(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        return
    heard.close()  # the server does not listen: the session is told that the connection is over


async def _listen(stderr: ByteReceiveStream, signs: Signs) -> None:
    """Keep the last lines of what a server says on its standard error; they say why it ended."""
    rest = ""
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
        async for data in stderr:
            *lines, rest = (rest + data.decode(errors="replace")).split("\n")
            signs.errors.extend(line.strip()[:300] for line in lines if line.strip())
            rest = rest[-1000:]
    if rest.strip():
        signs.errors.append(rest.strip()[:300])


async def _end(process: Process, signs: Signs) -> None:
    """Close the program's input, wait, ask it to go, and kill what is left of its group."""
    assert process.stdin and process.stdout and process.stderr, "they are pipes"
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    if not await _has_ended(process, _GRACE_S) and hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        await _has_ended(process, _TERM_S)
    kill_group(process.pid)
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await _has_ended(process, _TERM_S)
    signs.exit_code = process.returncode
    # A process that held a pipe open, or a pipe that was not read to its end, leaves asyncio's transport open; anyio does not show it.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        transport.close()


async def _has_ended(process: Process, within_s: float) -> bool:
    """Whether the program has ended; asked again and again, because `wait` also waits for children that hold its pipes."""
    until = anyio.current_time() + within_s
    while process.returncode is None:
        if anyio.current_time() >= until:
            return False
        await anyio.sleep(0.01)
    return True
