"""What is said between the playground and a language model, as plain data, and the seam to whatever answers."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from passnet_core.errors import PlaygroundError
from passnet_core.records.trajectories import Message, Role


@dataclass(frozen=True)
class Tool:
    """Something that the model may ask for. parameters: a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)


def written(message: Message) -> dict[str, Any]:
    """The message in the form of OpenAI's protocol."""
    if message.role is Role.TOOL:
        return {"role": "tool", "tool_call_id": message.answers, "content": message.text}
    form: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if message.calls:
        form["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    return form


def described(tool: Tool) -> dict[str, Any]:
    """The tool in the same form."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


@dataclass(frozen=True)
class Reply:
    """What came back. finish: "stop", "length" (cut off at the limit) or "tool_calls". Tokens as the server counts
    them; None where it does not say. restarts: how often the line dropped, so that all was asked again."""

    message: Message
    finish: str
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    seconds: float = 0.0
    restarts: int = 0


@dataclass(frozen=True)
class ChatServer:
    """Where models answer. base_url: up to and with /v1; empty: OpenAI's own. key: shown nowhere."""

    base_url: str = ""
    key: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        return self.base_url or "api.openai.com"


class Trouble(StrEnum):
    """Why a model did not answer."""

    NO_KEY = "no key"
    WRONG_KEY = "wrong key"
    UNKNOWN_MODEL = "unknown model"
    TOO_LONG = "too long"
    REFUSED = "refused"
    NO_TOOLS = "no tools"
    """It knows no tool calls: talk in plain text."""
    MALFORMED = "malformed answer"
    BUSY = "busy"
    """Too many requests, or the account is used up, also after waiting."""
    DOWN = "down"
    """No connection, no answer in time, or the server failed, also when asked again."""
    REJECTED = "rejected"
    """The server finds the request wrong, for another reason."""


class ModelError(PlaygroundError):
    """The model did not answer. The message says why, whose fault it is, and what to do; it never holds a key."""

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble = trouble


class Stopped(PlaygroundError):
    """A person stopped it."""


class Model(Protocol):
    """Whatever answers. name: of the model, as told to the server and in every record."""

    name: str

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        cancelled: threading.Event,
        on_text: Callable[[str], None] = lambda text: None,
        most_tokens: int | None = None,
    ) -> Reply:
        """The answer to a conversation. on_text: told all that was written so far, whenever there is more of it.

        Raises ModelError, and Stopped within a second after the event is set.
        """
        ...
