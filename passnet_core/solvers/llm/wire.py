"""What is sent to a server, as its chat template can take it, and what becomes of a request that it refuses."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm.chat import is_object, written

NOTHING = "(no answer)"
"""Stands for an answer without text and calls, which servers refuse."""
NO_NAME = "unnamed"
SPELLED = re.compile(r"[^A-Za-z0-9_-]+")

OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
OVERFLOW = re.compile(
    r"context[ _](length|size|window)|contextwindowexceeded|maximum (model|context) length|model's maximum"
    r"|too long|longer than the (model|maximum|context)|input is too large|`?inputs`? tokens|max_new_tokens"
    r"|context shift|prompt .{0,40}(exceeds|is longer)",
    re.IGNORECASE,
)
"""How servers say that a conversation does not fit: OpenAI, vLLM, SGLang, llama.cpp and its Python server, LiteLLM and
text-generation-inference each in their own words."""


def sent(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages of a request. Calls that the model garbled are sent back so that templates can read them, and what a
    person and the program say one after the other is one message, since many templates want turns to alternate."""
    forms: list[dict[str, Any]] = []
    for message in messages:
        if message.role is Role.USER and forms and forms[-1]["role"] == Role.USER.value:
            forms[-1]["content"] += f"\n\n{message.text}"
            continue
        if message.role is Role.MODEL and not message.calls and not message.text.strip():
            message = replace(message, text=NOTHING)
        forms.append(written(replace(message, calls=tuple(map(_mended, message.calls)))))
    return forms


def _mended(call: ToolCall) -> ToolCall:
    """The call with a name that is one, and with arguments that are an object: templates parse them."""
    name = SPELLED.sub("_", call.name).strip("_")[:64] or NO_NAME
    return replace(call, name=name, arguments=call.arguments if is_object(call.arguments) else "{}")


def overflows(status: int, words: str, body: object) -> bool:
    """Whether a server's refusal means that the conversation is longer than its context."""
    told = body if isinstance(body, dict) else {}
    if OVERFLOW_CODES & {str(told.get("code")), str(told.get("type"))}:
        return True
    return status in (400, 413, 422, 500) and OVERFLOW.search(words) is not None


def adapted(asked: dict[str, Any], status: int, words: str) -> dict[str, Any] | None:
    """The request without what the server does not take, or in its own words; None if it has another cause."""
    if status not in (400, 404, 415, 422, 500):
        return None
    said = words.lower()
    for name, other in (("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")):
        if name in asked and other not in asked and _names(said, name) and "context" not in said:
            return {**_without(asked, name), other: asked[name]}
    for name in ("stream_options", "temperature"):
        if name in asked and _names(said, name):
            return _without(asked, name)
    if "system" in said and "role" in said and (folded := _without_system(asked["messages"])):
        return {**asked, "messages": folded}
    # a server that checks requests strictly, and does not say what it dislikes
    return _without(asked, "stream_options") if status == 422 and "stream_options" in asked else None


def _names(said: str, name: str) -> bool:
    return re.search(rf"(?<![a-z_]){name}(?![a-z_])", said) is not None


def _without(asked: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in asked.items() if key != name}


def _without_system(forms: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The messages with the system's words in the first of the user, for templates that know no system; None if there
    are none."""
    if len(forms) < 2 or forms[0]["role"] != Role.SYSTEM.value or forms[1]["role"] != Role.USER.value:
        return None
    first = {**forms[1], "content": f"{forms[0]['content']}\n\n{forms[1]['content']}"}
    return [first, *forms[2:]]
