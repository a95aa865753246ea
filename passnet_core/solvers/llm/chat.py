"""Requests to a language model and its replies, as plain data, and the interface of a model."""

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address
from typing import Any, Protocol
from urllib.parse import urlsplit

from passnet_core import outside
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.records.trajectories import Message, OfferedTool, Role


@dataclass(frozen=True)
class Tool:
    """A tool that the model may call. parameters: a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any] = field(default_factory=dict)


def is_object(text: str) -> bool:
    """Whether a text is a JSON object, as the arguments of a call have to be."""
    try:
        return isinstance(outside.from_json_text(text), dict)
    except ValueError:
        return False


def written(message: Message) -> dict[str, Any]:
    """The message as OpenAI's protocol spells it."""
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
    """The tool as OpenAI's protocol spells it."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


def offered(tool: Tool) -> OfferedTool:
    """The tool as a record keeps it."""
    return OfferedTool(tool.name, tool.description, json.dumps(tool.parameters))


@dataclass(frozen=True)
class Reply:
    """A model's answer. finish: "stop", "length" (cut off at the token limit) or "tool_calls".

    prompt_tokens, reply_tokens: as the server counts them, None if it does not. restarts: how often the connection
    broke during the answer, so that the whole request was sent again."""

    message: Message
    finish: str
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    seconds: float = 0.0
    restarts: int = 0


@dataclass(frozen=True)
class ChatServer:
    """The server of a model. base_url: up to and with /v1; empty for OpenAI's own server. key: never shown.

    Raises BadInput if base_url cannot be an address."""

    base_url: str = ""
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.base_url and not _is_address(self.base_url):
            raise BadInput(
                f"{self.base_url[:200]!a} is not an address. Enter the server as an address such as"
                " http://localhost:8000/v1."
            )

    @property
    def place(self) -> str:
        return self.base_url or "api.openai.com"


LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
"""A part of the name of a machine."""
LONGEST_HOST = 253


def _is_address(text: str) -> bool:
    """Whether a text is the address of a server, as HTTP clients can take it."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        labels = host.removesuffix(".").split(".")
        named = bool(IPv6Address(host)) if ":" in host else all(map(LABEL.fullmatch, labels))
    except ValueError:
        return False
    usable = named and len(host) <= LONGEST_HOST and port != 0
    return usable and parts.scheme in ("http", "https") and text.isascii() and text.isprintable()


PERHAPS_TOO_LONG = (
    "Some servers do so when a conversation is longer than the model's context: start a new one, or give the server a"
    " longer context."
)
"""What an answer with nothing may mean."""

PATIENCE_S = 180.0
"""How long a request is repeated before any answer has begun, as while a server loads its model."""


class ToolProtocol(StrEnum):
    """How a model calls tools. AUTO: by the server's tool calls, and in plain text once the server refuses them or the
    model's first answer has none, as behind a chat template that leaves tools out. TOOLS, TEXT: in this way only."""

    AUTO = "auto"
    TOOLS = "tools"
    TEXT = "text"


class Trouble(StrEnum):
    """Why a model did not answer."""

    NO_KEY = "no key"
    WRONG_KEY = "wrong key"
    UNKNOWN_MODEL = "unknown model"
    TOO_LONG = "too long"
    REFUSED = "refused"
    NO_TOOLS = "no tools"
    """The model does not support tool calls: use plain text."""
    MALFORMED = "malformed answer"
    BUSY = "busy"
    """Too many requests, or no credit left; waiting did not help."""
    DOWN = "down"
    """No connection, no answer in time, or a failing server; asking again did not help."""
    REJECTED = "rejected"
    """The server rejects the request for another reason."""


class ModelError(PlaygroundError):
    """The model did not answer. The message says why and what to do; it never contains a key."""

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble = trouble


class Stopped(PlaygroundError):
    """The answer was cancelled: a person stopped it, or its time was over."""


class Model(Protocol):
    """A language model. name: as the server and every record know it."""

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
        """Answer a conversation. on_text: called with the answer so far, its calls included, whenever there is more.

        Raises ModelError, and Stopped within a second after `cancelled` is set."""
