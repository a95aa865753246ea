"""A client for any server that speaks the OpenAI protocol, on top of OpenAI's own. The key goes to that server only.

Each answer is streamed in an event loop of its own, so that cancelling does not wait for the server."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai

from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm.chat import ChatServer, ModelError, Reply, Stopped, Tool, Trouble, described, written

RETRIES = 5
"""How often a request is repeated before any answer has begun: on 408, 409, 429, 5xx and broken connections."""
RESTARTS = 3
"""How often a request is repeated after an answer broke off: a broken stream cannot be resumed."""
RESTART_PAUSE_S = 0.5
TIMEOUT_S = 300.0
"""How many seconds a server may be silent."""
CONNECT_S = 10.0
LOOK_EVERY_S = 0.05

NO_KEY = "none"
"""What is sent as the key to servers that need none."""


class ChatModel:
    """A Model that runs on a server."""

    def __init__(
        self,
        server: ChatServer,
        name: str,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
        temperature: float | None = None,
    ) -> None:
        """Raises ModelError if no model is named, or if there is neither a key nor a server that needs none."""
        if not server.key and not server.base_url:
            raise ModelError(
                Trouble.NO_KEY,
                "There is no key. Set OPENAI_API_KEY, or set OPENAI_BASE_URL to a server of your own that needs none.",
            )
        if not name:
            raise ModelError(Trouble.UNKNOWN_MODEL, "No model was named. Set PASSNET_MODEL, or name one with --model.")
        self.name = name
        self._server = server
        self._timeout = openai.Timeout(timeout_s, connect=CONNECT_S)
        self._retries = retries
        self._temperature = temperature

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        cancelled: threading.Event,
        on_text: Callable[[str], None] = lambda text: None,
        most_tokens: int | None = None,
    ) -> Reply:
        asked: dict[str, Any] = {"model": self.name, "messages": [written(message) for message in messages]}
        if tools:
            asked["tools"] = [described(tool) for tool in tools]
        if most_tokens is not None:
            asked["max_completion_tokens"] = most_tokens
        if self._temperature is not None:
            asked["temperature"] = self._temperature
        answering = self._answered_unless_cancelled(asked, on_text, cancelled)
        if not _in_event_loop():
            return asyncio.run(answering)
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, answering).result()

    async def _answered_unless_cancelled(
        self, asked: dict[str, Any], on_text: Callable[[str], None], cancelled: threading.Event
    ) -> Reply:
        answering = asyncio.ensure_future(self._answered(asked, on_text))
        try:
            while not answering.done():
                if cancelled.is_set():
                    raise Stopped("The answer was cancelled.")
                await asyncio.wait({answering}, timeout=LOOK_EVERY_S)
            return answering.result()
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    async def _answered(self, asked: dict[str, Any], on_text: Callable[[str], None]) -> Reply:
        start = time.monotonic()
        restarts = 0
        async with openai.AsyncOpenAI(
            base_url=self._server.base_url or None,
            api_key=self._server.key or NO_KEY,
            max_retries=self._retries,
            timeout=self._timeout,
        ) as client:
            while True:
                answer = _Answer(on_text)
                try:
                    stream = await client.chat.completions.create(
                        **asked, stream=True, stream_options={"include_usage": True}
                    )
                    async for chunk in stream:
                        answer.add(chunk)
                    if answer.whole:
                        return answer.reply(time.monotonic() - start, restarts)
                    problem: Exception | None = None
                except openai.APIConnectionError as error:
                    problem = error
                except openai.APIStatusError as error:
                    other = _without_unsupported(asked, error)
                    if other is None:
                        raise self._explained(error, asked) from error
                    asked = other
                    continue
                except (openai.OpenAIError, json.JSONDecodeError) as error:
                    if type(error) is not openai.APIError:  # a plain APIError is an error sent within a stream
                        raise self._explained(error, asked) from error
                    problem = error
                if restarts == RESTARTS or not answer.begun:
                    raise self._explained(problem, asked) from problem
                restarts += 1
                await asyncio.sleep(RESTART_PAUSE_S * 2**restarts)

    def _explained(self, error: Exception | None, asked: dict[str, Any]) -> ModelError:
        """Translate an error: why there is no answer, and what to do. The key is cut out of the server's words."""
        place, name = self._server.place, self.name
        words = self._words(error)
        match error:
            case None | json.JSONDecodeError() | openai.APIResponseValidationError():
                text = f"{place} did not answer with a chat completion. Check that it is an OpenAI-compatible server."
                return ModelError(Trouble.MALFORMED, text)
            case openai.APITimeoutError():
                return ModelError(Trouble.DOWN, f"{place} did not answer in time, even after retries. Try later.")
            case openai.APIConnectionError():
                return ModelError(
                    Trouble.DOWN,
                    f"{place} cannot be reached, or breaks the connection. Check that it runs at this address.",
                )
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return ModelError(Trouble.WRONG_KEY, f"{place} refuses the key. Check the key and its permissions.")
            case openai.RateLimitError():
                waited = f"{place} accepts no more requests now, even after waiting: {words}"
                return ModelError(Trouble.BUSY, f"{waited} Try later, or make fewer attempts at once.")
            case openai.InternalServerError():
                return ModelError(Trouble.DOWN, f"{place} failed, even after retries: {words} Try later.")
            case openai.APIStatusError() if "tools" in asked and _says(words, "tool", "function call"):
                return ModelError(Trouble.NO_TOOLS, f"{name} at {place} does not support tool calls: {words}")
            case openai.NotFoundError():
                return ModelError(
                    Trouble.UNKNOWN_MODEL, f"{place} has no model {name!r}, or serves nothing at this address."
                )
            case openai.APIStatusError() if _says(words, "context length", "context window", "too long", "max_tokens"):
                said = f"The conversation is too long for {name}: {words}"
                return ModelError(
                    Trouble.TOO_LONG, f"{said} Start a new conversation, or choose a model with a longer context."
                )
            case _Refusal():
                return ModelError(Trouble.REFUSED, f"{name} refuses to answer: {words}")
            case openai.APIError() if type(error) is openai.APIError:
                return ModelError(Trouble.DOWN, f"{place} failed during its answer, even after retries: {words}")
        return ModelError(Trouble.REJECTED, f"{place} rejects the request: {words}")

    def _words(self, error: Exception | None) -> str:
        """The server's own message, shortened to a sentence."""
        body = getattr(error, "body", None)
        told = body.get("message") if isinstance(body, dict) else None
        words = " ".join(str(told or error or "no reason given").split())[:300]
        if self._server.key:
            words = words.replace(self._server.key, "…")
        return words if words.endswith((".", "!", "?", "…")) else f"{words}."


def _in_event_loop() -> bool:
    """Whether this thread already runs an event loop; it cannot run a second one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Refusal(openai.OpenAIError):
    """The model, or a filter on the server, refuses to answer."""


class _Answer:
    """The part of a streamed answer that has arrived."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._text = self._refusal = self._finish = ""
        self._calls: dict[int, list[str]] = {}
        self._usage: Any = None
        self.begun = False

    @property
    def whole(self) -> bool:
        return bool(self._finish)

    def add(self, chunk: Any) -> None:
        self.begun = True
        self._usage = getattr(chunk, "usage", None) or self._usage
        for choice in (getattr(chunk, "choices", None) or ())[:1]:
            self._finish = getattr(choice, "finish_reason", None) or self._finish
            delta = getattr(choice, "delta", None)
            for call in getattr(delta, "tool_calls", None) or ():
                parts = self._calls.setdefault(call.index or 0, ["", "", ""])
                parts[0] = call.id or parts[0]
                if call.function is not None:
                    parts[1] += call.function.name or ""
                    parts[2] += call.function.arguments or ""
            self._refusal += getattr(delta, "refusal", None) or ""
            if more := getattr(delta, "content", None):
                self._text += str(more)
                self._on_text(self._text)

    def reply(self, seconds: float, restarts: int) -> Reply:
        if self._refusal or self._finish == "content_filter":
            raise _Refusal(self._refusal or "a filter withheld the answer")
        calls = tuple(
            ToolCall(parts[0] or f"call_{index}", parts[1], parts[2]) for index, parts in sorted(self._calls.items())
        )
        return Reply(
            Message(Role.MODEL, self._text, calls),
            self._finish,
            getattr(self._usage, "prompt_tokens", None),
            getattr(self._usage, "completion_tokens", None),
            seconds,
            restarts,
        )


def _without_unsupported(asked: dict[str, Any], error: Exception) -> dict[str, Any] | None:
    """The request without the parameter that the server does not support; None if the error has another cause."""
    if "max_completion_tokens" in asked and "max_completion_tokens" in str(error):
        rest = {name: value for name, value in asked.items() if name != "max_completion_tokens"}
        return {**rest, "max_tokens": asked["max_completion_tokens"]}
    if "temperature" in asked and "temperature" in str(error):
        return {name: value for name, value in asked.items() if name != "temperature"}
    return None


def _says(words: str, *any_of: str) -> bool:
    return any(word in words.lower() for word in any_of)
