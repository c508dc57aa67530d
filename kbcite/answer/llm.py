"""The door to a language model: messages in, one reply out, through litellm.

litellm takes seconds to import and, at import, asks the network for a price list and prints advice on errors; both are turned
off here. Retries, back-off and the time limit are ours, so that they are bounded and known.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from kbcite.answer.prompt import Message
from kbcite.errors import ProviderError, UsageError
from kbcite.patterns import pattern

RETRIES = 2
LONGEST_WAIT_S = 20.0
MAX_TOKENS = 1024
CHARS_PER_TOKEN = 16
"""No tokenizer packs more text on average; a reply longer than this times its tokens comes from a server that knows no limit."""


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    usage: tuple[tuple[str, int], ...] = ()
    """(`prompt_tokens`, n), (`completion_tokens`, n) where the provider says."""
    is_cut: bool = False
    """The reply reached its limit of tokens or turned in circles: its last sentence is not whole."""


Complete = Callable[[Sequence[Message]], Reply]


class _Broken(Exception):
    """A reply that is none, and why."""


class _Withheld(Exception):
    """No reply, and asking again would bring none: what the model did, and what to do next."""

    def __init__(self, reason: str, step: str) -> None:
        super().__init__(reason)
        self.step = step


def open_model(
    model: str,
    api_base: str = "",
    *,
    timeout_s: float = 60.0,
    retries: int = RETRIES,
    max_tokens: int = MAX_TOKENS,
    sleep: Callable[[float], None] = time.sleep,
) -> Complete:
    """A function that completes a conversation with the named model.

    model: any litellm name, `openai/gpt-4o-mini`, `ollama/qwen2.5`, ...; keys come from the environment as litellm reads them.
    timeout_s: for one reply as a whole, retries and waits included; a server that falls silent inside a reply may take as long
    again. The function raises ProviderError with one line (model, reason, next step), UsageError for a name, key or request that
    no retry can mend.
    """

    def complete(messages: Sequence[Message]) -> Reply:
        litellm = _litellm()
        from openai import OpenAIError  # what litellm's own errors are made of

        deadline = time.monotonic() + timeout_s
        attempt = 0
        while True:
            try:
                return _stream(litellm, model, api_base, messages, deadline, max_tokens)
            except _Withheld as withheld:
                raise ProviderError(f"{_where(model, api_base)} {withheld}; {withheld.step}") from withheld
            except (OpenAIError, _Broken) as error:
                if _is_permanent(error):
                    raise _usage_error(model, api_base, error, litellm) from error
                wait = _wait(error, attempt)
                if attempt >= retries or time.monotonic() + wait >= deadline:
                    raise ProviderError(_message(model, api_base, error, litellm, attempt + 1, timeout_s)) from error
            sleep(wait)
            attempt += 1

    return complete


def _litellm() -> Any:
    """The library, silenced and kept off the network."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _stream(
    litellm: Any, model: str, api_base: str, messages: Sequence[Message], deadline: float, max_tokens: int
) -> Reply:
    """One try. Streaming is used so that the time limit holds for the whole reply and a broken reply is noticed."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise _Broken("the time limit was reached")
    options: dict[str, Any] = (
        {"api_base": api_base, "api_key": os.environ.get("OPENAI_API_KEY", "none")} if api_base else {}
    )
    chunks: Iterable[Any] = litellm.completion(
        model=model,
        messages=[{"role": message.role, "content": message.content} for message in messages],
        temperature=0,
        max_tokens=max_tokens,
        timeout=left,
        max_retries=0,
        stream=True,
        stream_options={"include_usage": True},
        drop_params=True,
        **options,
    )
    return _read(chunks, deadline, max_tokens)


def _read(chunks: Iterable[Any], deadline: float, max_tokens: int) -> Reply:
    """The reply that a stream of events makes."""
    from openai import OpenAIError

    text = ""
    usage: tuple[tuple[str, int], ...] = ()
    finish = ""
    has_thought = has_called = False
    try:
        for chunk in chunks:
            if time.monotonic() > deadline:
                raise _Broken("the time limit was reached")
            for choice in chunk.choices:
                piece = choice.delta.content or ""
                if not isinstance(piece, str):
                    raise _Broken("the reply is no text")
                text += piece
                has_thought = has_thought or bool(getattr(choice.delta, "reasoning_content", None))
                has_called = has_called or bool(choice.delta.tool_calls)
                finish = choice.finish_reason or finish
            if counted := getattr(chunk, "usage", None):
                counts = ((name, getattr(counted, name)) for name in ("prompt_tokens", "completion_tokens"))
                usage = tuple((name, int(count or 0)) for name, count in counts)
            if len(text) > CHARS_PER_TOKEN * max_tokens:
                finish = "length"
                break
    except OpenAIError as error:
        if "repeating the same chunk" not in str(error):  # what litellm calls a model that turns in circles
            raise
        finish = "length"
    if finish == "content_filter":
        raise _Withheld(
            "withheld its reply (content filter)",
            "ask in other words, or leave `model` empty for an extractive answer",
        )
    if not finish:
        raise _Broken("the reply broke off")
    text = text.strip()
    if not text and finish == "length" and has_thought:
        raise _Withheld(
            f"spent its {max_tokens} tokens on thinking",
            "raise `max_tokens` under [ask], or name a model that answers at once",
        )
    if not text and has_called:
        raise _Withheld("called a tool instead of answering", "name another model under [ask]")
    if not text:
        raise _Broken("the reply is empty, or the address is none of an OpenAI-compatible API (it usually ends in /v1)")
    return Reply(text, usage, finish == "length")


def _is_permanent(error: Exception) -> bool:
    """True where the same request would fail again: what HTTP calls the client's fault, but for time-outs and limits."""
    status = getattr(error, "status_code", None)
    return _lacks_key(error) or (isinstance(status, int) and 400 <= status < 500 and status not in (408, 409, 425, 429))


def _lacks_key(error: Exception) -> bool:
    return "missing credentials" in str(error).lower() or "api_key client option must be set" in str(error).lower()


def _asked_wait(error: Exception) -> float | None:
    """Seconds that the server asks to wait (`Retry-After`, as a number or a date), where it does."""
    response = getattr(error, "response", None)
    headers = getattr(error, "litellm_response_headers", None) or {}
    asked = (response.headers.get("retry-after") if response is not None else None) or headers.get("retry-after")
    if not asked:
        return None
    if asked.replace(".", "", 1).isdigit():
        return float(asked)
    try:
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):  # no date, or one without a zone
        return None


def _wait(error: Exception, attempt: int) -> float:
    """Seconds to wait: what the server asks for, else doubling with jitter, never over LONGEST_WAIT_S."""
    asked = _asked_wait(error)
    if asked is not None:
        return min(asked, LONGEST_WAIT_S)
    return min(0.5 * 2.0**attempt * (1 + random.random() / 2), LONGEST_WAIT_S)  # noqa: S311 - jitter, not a secret


def _where(model: str, api_base: str) -> str:
    return f"model {model!r}" + (f" at {api_base}" if api_base else "")


def _usage_error(model: str, api_base: str, error: Exception, litellm: Any) -> UsageError:
    e = litellm.exceptions
    where = _where(model, api_base)
    status = getattr(error, "status_code", None)
    if status in (401, 403) or _lacks_key(error):
        return UsageError(f"{where} refused the key; set the provider's key in the environment, such as OPENAI_API_KEY")
    if "provider not provided" in str(error).lower():
        return UsageError(f"{where} names no provider; write it like 'openai/gpt-4o-mini' or 'ollama/qwen2.5'")
    if isinstance(error, e.NotFoundError) or status in (404, 405):
        return UsageError(
            f"{where} does not exist there ({_first_line(error)}); check `model` and `api_base` under [ask]: the address "
            "usually ends in /v1"
        )
    if isinstance(error, e.ContextWindowExceededError) or status == 413:
        return UsageError(f"{where} takes less text than the question's blocks; lower `top_k` under [ask]")
    if isinstance(error, e.ContentPolicyViolationError):
        return UsageError(
            f"{where} does not take the question (content policy); ask in other words, or leave `model` empty"
        )
    return UsageError(f"{where} rejected the request: {_first_line(error)}; check `model` under [ask]")


def _message(model: str, api_base: str, error: Exception, litellm: Any, tries: int, timeout_s: float) -> str:
    e = litellm.exceptions
    where = _where(model, api_base)
    if isinstance(error, e.RateLimitError):
        asked = _asked_wait(error)
        wait = f", and asks to wait {asked:.0f} s" if asked else ""
        reason = f"is limiting requests (429: {_first_line(error)}){wait}"
    elif isinstance(error, e.Timeout) or "time limit" in str(error):
        reason = f"gave no reply within {timeout_s:g} s"
    elif "stream ended" in str(error).lower():
        reason = "failed: the reply broke off"
    elif isinstance(error, _Broken):
        reason = f"failed: {error}"
    elif "connection error" in str(error).lower():
        reason = "cannot be reached"
    elif _UNREADABLE.search(str(error)):
        reason = f"failed: the reply cannot be read ({_first_line(error)})"
    else:
        reason = f"failed: {_first_line(error)}"
    count = f" after {tries} tries" if tries > 1 else ""
    step = "see that its server runs" if reason == "cannot be reached" and api_base else "try again later"
    return f"{where} {reason}{count}; {step}, or leave `model` empty for an extractive answer"


_UNREADABLE = pattern(
    r"codec can't decode|Expecting [a-z ,']+(?:enclosed|delimiter|value)|Extra data|Unterminated string"
)
"""What Python says of a body that is no JSON or no UTF-8."""
_NAMES_OF_ERRORS = pattern(r"^(?:(?:litellm\.)?\w*(?:Error|Exception)(?:: | - ))+")


def _first_line(error: Exception) -> str:
    """What the server itself said, without the names that litellm puts before it."""
    lines = str(getattr(error, "message", "") or error).splitlines() or [type(error).__name__]
    return re.sub(r"\s+", " ", _NAMES_OF_ERRORS.sub("", lines[0])).strip()[:160]
