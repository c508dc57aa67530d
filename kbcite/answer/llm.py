"""The door to a language model: messages in, one reply out, through litellm.

litellm takes seconds to import and, at import, asks the network for a price list and prints advice on errors; both are turned
off here. Retries, back-off and the time limit are ours, so that they are bounded and known.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kbcite.answer.prompt import Message
from kbcite.errors import ProviderError, UsageError

RETRIES = 2
LONGEST_WAIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    usage: tuple[tuple[str, int], ...] = ()
    """(`prompt_tokens`, n), (`completion_tokens`, n) where the provider says."""


Complete = Callable[[Sequence[Message]], Reply]


class _Broken(Exception):
    """The stream ended before the reply did."""


def open_model(
    model: str,
    api_base: str = "",
    *,
    timeout_s: float = 60.0,
    retries: int = RETRIES,
    max_tokens: int = 1024,
    sleep: Callable[[float], None] = time.sleep,
) -> Complete:
    """A function that completes a conversation with the named model.

    model: any litellm name, `openai/gpt-4o-mini`, `ollama/qwen2.5`, ...; keys come from the environment as litellm reads them.
    timeout_s: for one reply as a whole, retries and waits included. The function raises ProviderError with one line (model,
    reason, next step), UsageError for a name, key or request that no retry can mend.
    """

    def complete(messages: Sequence[Message]) -> Reply:
        litellm = _litellm()
        deadline = time.monotonic() + timeout_s
        attempt = 0
        while True:
            try:
                return _stream(litellm, model, api_base, messages, deadline, max_tokens)
            except UsageError:
                raise
            except (litellm.exceptions.APIError, *_transient(litellm), _Broken, *_permanent(litellm)) as error:
                if isinstance(error, _permanent(litellm)) or _lacks_key(error):
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
    pieces: list[str] = []
    usage: tuple[tuple[str, int], ...] = ()
    finished = False
    for chunk in chunks:
        if time.monotonic() > deadline:
            raise _Broken("the time limit was reached")
        for choice in chunk.choices:
            pieces.append(choice.delta.content or "")
            finished = finished or choice.finish_reason is not None
        if counted := getattr(chunk, "usage", None):
            usage = tuple((name, int(getattr(counted, name) or 0)) for name in ("prompt_tokens", "completion_tokens"))
    text = "".join(pieces).strip()
    if not finished:
        raise _Broken("the reply broke off")
    if not text:
        raise _Broken("the reply is empty")
    return Reply(text, usage)


def _transient(litellm: Any) -> tuple[type[Exception], ...]:
    e = litellm.exceptions
    return (e.RateLimitError, e.Timeout, e.APIConnectionError, e.InternalServerError, e.ServiceUnavailableError)


def _permanent(litellm: Any) -> tuple[type[Exception], ...]:
    e = litellm.exceptions
    return (e.AuthenticationError, e.PermissionDeniedError, e.NotFoundError, e.BadRequestError)


def _lacks_key(error: Exception) -> bool:
    return "missing credentials" in str(error).lower() or "api_key client option must be set" in str(error).lower()


def _wait(error: Exception, attempt: int) -> float:
    """Seconds to wait: what the server asks for, else doubling with jitter, never over LONGEST_WAIT_S."""
    response = getattr(error, "response", None)
    asked = response.headers.get("retry-after") if response is not None else None
    if asked is None:
        headers = getattr(error, "litellm_response_headers", None) or {}
        asked = headers.get("retry-after")
    if asked is not None and asked.replace(".", "", 1).isdigit():
        return min(float(asked), LONGEST_WAIT_S)
    return min(0.5 * 2.0**attempt * (1 + random.random() / 2), LONGEST_WAIT_S)  # noqa: S311 - jitter, not a secret


def _where(model: str, api_base: str) -> str:
    return f"model {model!r}" + (f" at {api_base}" if api_base else "")


def _usage_error(model: str, api_base: str, error: Exception, litellm: Any) -> UsageError:
    e = litellm.exceptions
    where = _where(model, api_base)
    if isinstance(error, e.AuthenticationError | e.PermissionDeniedError) or _lacks_key(error):
        return UsageError(f"{where} refused the key; set the provider's key in the environment, such as OPENAI_API_KEY")
    if "provider not provided" in str(error).lower():
        return UsageError(f"{where} names no provider; write it like 'openai/gpt-4o-mini' or 'ollama/qwen2.5'")
    if isinstance(error, e.NotFoundError):
        return UsageError(f"{where} does not exist there; check `model` and `api_base` under [ask]")
    if isinstance(error, e.ContextWindowExceededError):
        return UsageError(f"{where} takes less text than the question's blocks; lower `top_k` under [ask]")
    return UsageError(f"{where} rejected the request: {_first_line(error)}; check `model` under [ask]")


def _message(model: str, api_base: str, error: Exception, litellm: Any, tries: int, timeout_s: float) -> str:
    e = litellm.exceptions
    where = _where(model, api_base)
    if isinstance(error, e.RateLimitError):
        reason = "is limiting requests (429)"
    elif isinstance(error, e.Timeout) or "time limit" in str(error):
        reason = f"gave no reply within {timeout_s:g} s"
    elif "stream ended" in str(error).lower():
        reason = "failed: the reply broke off"
    elif isinstance(error, _Broken):
        reason = f"failed: {error}"
    elif isinstance(error, e.APIConnectionError) or "connection error" in str(error).lower():
        reason = "cannot be reached"
    else:
        reason = f"failed: {_first_line(error)}"
    count = f" after {tries} tries" if tries > 1 else ""
    return f"{where} {reason}{count}; try again later, or leave `model` empty for an extractive answer"


def _first_line(error: Exception) -> str:
    text = str(getattr(error, "message", "") or error).splitlines()[0]
    return text.removeprefix("litellm.").split(": ", 1)[-1][:160]
