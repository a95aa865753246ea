"""A client for any server that speaks the OpenAI protocol, on top of OpenAI's own. The key goes to that server only,
and redirects are errors.

Each answer is streamed in an event loop of its own, so that cancelling does not wait for the server."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai

from passnet_core import outside
from passnet_core.records.trajectories import Message
from passnet_core.solvers.llm.chat import (
    PATIENCE_S,
    PERHAPS_TOO_LONG,
    ChatServer,
    ModelError,
    Reply,
    Stopped,
    Tool,
    Trouble,
    described,
)
from passnet_core.solvers.llm.streaming import Answer, Endless, Refusal
from passnet_core.solvers.llm.wire import (
    WORDLESS,
    adapted,
    is_unknown,
    overflows,
    sent,
    told,
    unreadable,
    without_system,
)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 10.0
"""The pauses between requests that get no answer: each is twice as long as the one before."""
PASSING = (408, 409, 429)
"""Refusals that pass, like all from 500 on and broken connections."""
NO_CREDIT = "insufficient_quota"
"""The code of a refusal that does not pass."""
MOST_CHANGES = 6
"""How often a request is changed for a server that refuses a part of it."""
SHORT = 4_000
"""Of a conversation with fewer characters nobody says that it is longer than a context."""
RESTARTS = 3
"""How often a request is repeated after an answer broke off: a broken stream cannot be resumed."""
RESTART_PAUSE_S = 0.5
TIMEOUT_S = 300.0
"""How many seconds a server may be silent."""
CONNECT_S = 10.0
LOOK_EVERY_S = 0.05

SHORTEST_KEY = 8
"""From how many characters on a key is cut out of messages."""
NO_KEY = "none"
"""What is sent as the key to servers that need none."""


GARBLED = (ValueError, RecursionError)
"""What the client raises for an answer that is no stream of JSON in UTF-8."""


class ChatModel:
    """A Model that runs on a server."""

    def __init__(
        self,
        server: ChatServer,
        name: str,
        *,
        timeout_s: float = TIMEOUT_S,
        patience_s: float = PATIENCE_S,
        temperature: float | None = None,
        on_wait: Callable[[str], None] = lambda text: None,
    ) -> None:
        """timeout_s: how long the server may be silent. patience_s: how long a request is repeated that gets no answer.
        on_wait: gets a sentence when that begins.

        Raises ModelError if no model is named, or if there is neither a key nor a server that needs none."""
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
        self._patience_s = patience_s
        self._temperature = temperature
        self._on_wait = on_wait

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        cancelled: threading.Event,
        on_text: Callable[[str], None] = lambda text: None,
        most_tokens: int | None = None,
    ) -> Reply:
        asked: dict[str, Any] = {
            "model": self.name, "messages": sent(messages), "stream_options": {"include_usage": True},
        }  # fmt: skip
        if tools:
            asked["tools"] = [described(tool) for tool in tools]
        if most_tokens is not None:
            # servers besides OpenAI's know the older name, and some ignore the newer one
            asked["max_tokens" if self._server.base_url else "max_completion_tokens"] = most_tokens
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
        restarts, changes, pause = 0, 0, FIRST_PAUSE_S
        patient_until: float | None = None
        tools = [each["function"]["name"] for each in asked.get("tools", ())]
        async with openai.AsyncOpenAI(
            base_url=self._server.base_url or None,
            api_key=self._server.key or NO_KEY,
            max_retries=0,
            timeout=self._timeout,
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        ) as client:
            while True:
                answer = Answer(on_text, tools)
                try:
                    stream = await client.chat.completions.create(**asked, stream=True)
                    answer.watch(stream.response)
                    async with stream:
                        async for chunk in stream:
                            answer.add(chunk)
                    if answer.whole:
                        return answer.reply(time.monotonic() - start, restarts)
                    problem: Exception | None = None
                except openai.APIConnectionError as error:
                    problem = error
                except openai.APIStatusError as error:
                    explained = self._explained(error, asked)
                    too_long = explained.trouble is Trouble.TOO_LONG
                    again = patient_until is not None
                    other = None if too_long else adapted(asked, error.status_code, self._words(error), again=again)
                    if other is not None and changes < MOST_CHANGES:
                        changes += 1
                        asked = other
                        continue
                    passes = error.status_code in PASSING or error.status_code >= 500
                    if too_long or not passes or error.code == NO_CREDIT:
                        raise explained from error
                    problem = error
                except (openai.OpenAIError, *GARBLED, Refusal, Endless) as error:
                    explained = self._explained(error, asked)
                    # a plain APIError is an error sent within a stream, and so may be what is no JSON there
                    within = type(error) is openai.APIError or (answer.begun and isinstance(error, GARBLED))
                    if not within or explained.trouble is Trouble.TOO_LONG:
                        raise explained from error
                    problem = error
                if answer.begun:
                    if restarts == RESTARTS:
                        raise self._explained(problem, asked, begun=True) from problem
                    restarts += 1
                    await asyncio.sleep(RESTART_PAUSE_S * 2**restarts)
                    continue
                if problem is None and (folded := without_system(asked["messages"])):
                    # llama.cpp's Python server answers with nothing where a chat template knows no system
                    asked = {**asked, "messages": folded}
                    continue
                now = time.monotonic()
                is_first = patient_until is None
                patient_until = patient_until or now + self._patience_s
                wait_s = max(pause, _told_to_wait(problem))
                if problem is None or now + wait_s > patient_until:
                    raise self._explained(problem, asked) from problem
                if is_first:
                    place = self._server.place
                    self._on_wait(f"{place} does not answer yet: asking again for {self._patience_s:.0f} s.")
                await asyncio.sleep(wait_s)
                pause = min(2 * pause, LONGEST_PAUSE_S)

    def _explained(self, error: Exception | None, asked: dict[str, Any], *, begun: bool = False) -> ModelError:
        """Translate an error: why there is no answer, and what to do. The key is cut out of the server's words. begun:
        whether a part of the answer came."""
        place, name = self._server.place, self.name
        words = self._words(error)
        status = error.status_code if isinstance(error, openai.APIStatusError) else 400
        if isinstance(error, openai.APIError) and overflows(status, words, error.body):
            said = f"The conversation is too long for {name}: {words}"
            return ModelError(
                Trouble.TOO_LONG, f"{said} Start a new conversation, or choose a model with a longer context."
            )
        if begun and unreadable(words):
            return ModelError(Trouble.NO_TOOLS, f"{place} cannot read the tool calls that {name} writes: {words}")
        if begun and (error is None or isinstance(error, GARBLED)):
            return ModelError(Trouble.MALFORMED, f"{place} ended its answer in the middle.")
        if error is None and len(json.dumps(asked["messages"])) > SHORT:
            return ModelError(Trouble.TOO_LONG, f"{place} answered with nothing. {PERHAPS_TOO_LONG}")
        match error:
            case None | ValueError() | RecursionError() | openai.APIResponseValidationError():
                text = f"{place} did not answer with a chat completion. Check that it is an OpenAI-compatible server."
                return ModelError(Trouble.MALFORMED, text)
            case openai.APITimeoutError():
                return ModelError(Trouble.DOWN, f"{place} did not answer in time, even after retries. Try later.")
            case openai.APIConnectionError():
                return ModelError(
                    Trouble.DOWN,
                    f"{place} cannot be reached, or breaks the connection. Check that it runs at this address.",
                )
            case openai.APIStatusError() if 300 <= status < 400:
                text = f"{place} sends requests on to another address, where none go. Enter the server's own address."
                return ModelError(Trouble.REJECTED, text)
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return ModelError(Trouble.WRONG_KEY, f"{place} refuses the key. Check the key and its permissions.")
            case openai.RateLimitError():
                waited = f"{place} accepts no more requests now, even after waiting: {words}"
                return ModelError(Trouble.BUSY, f"{waited} Try later, or make fewer attempts at once.")
            case openai.InternalServerError() if WORDLESS.search(words):
                return ModelError(Trouble.DOWN, f"{place} failed, even after retries, without a reason. See its log.")
            case openai.InternalServerError():
                return ModelError(Trouble.DOWN, f"{place} failed, even after retries: {words} Try later.")
            case openai.APIStatusError() if is_unknown(status, words, error.code):
                return ModelError(Trouble.UNKNOWN_MODEL, f"{place} has no model {name!r}: {words}")
            case openai.APIStatusError() if "tools" in asked and re.search("tool|function call", words, re.IGNORECASE):
                return ModelError(Trouble.NO_TOOLS, f"{name} at {place} does not support tool calls: {words}")
            case openai.NotFoundError():
                return ModelError(
                    Trouble.UNKNOWN_MODEL, f"{place} has no model {name!r}, or serves nothing at this address."
                )
            case Endless():
                return ModelError(Trouble.MALFORMED, f"{place} sends an answer without an end: {words}")
            case Refusal():
                return ModelError(Trouble.REFUSED, f"{name} refuses to answer: {words}")
            case openai.APIError() if type(error) is openai.APIError:
                return ModelError(Trouble.DOWN, f"{place} failed during its answer, even after retries: {words}")
        return ModelError(Trouble.REJECTED, f"{place} rejects the request: {words}")

    def _words(self, error: Exception | None) -> str:
        """The server's own message, shortened to a sentence."""
        said = error.doc if isinstance(error, json.JSONDecodeError) else told(getattr(error, "body", None))
        words = outside.shortened(" ".join(str(said or error or "no reason given").split()), 300)
        # a shorter one is no secret, and would be found within words
        if len(self._server.key) >= SHORTEST_KEY:
            words = words.replace(self._server.key, "…")
        return words if words.endswith((".", "!", "?", "…")) else f"{words}."


def _in_event_loop() -> bool:
    """Whether this thread already runs an event loop; it cannot run a second one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _told_to_wait(error: Exception | None) -> float:
    """How many seconds the server asks to wait, as far as it is bearable."""
    told = error.response.headers.get("retry-after", "") if isinstance(error, openai.APIStatusError) else ""
    return min(float(told), 60.0) if told.isdigit() else 0.0
