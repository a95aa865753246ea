"""What is sent to a server, as its chat template can take it, and what becomes of a request that it refuses."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm.chat import is_object, written

NOTHING = "(no answer)"
"""Stands for an answer without text and calls, which servers refuse."""
NO_NAME = "unnamed"
WORDLESS = re.compile(r"(^|OpenAIException - )Internal Server Error\.")
"""What web frameworks answer for an application that failed, also as LiteLLM hands it on."""
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

UNKNOWN_MODEL = re.compile(r"invalid model name|server is pinned to|model .{1,200}(does not exist|not found)", re.I)
"""How servers that answer with the status 400 say that they do not know a model: LiteLLM, `transformers serve` and
llama.cpp's Python server."""

UNREADABLE = re.compile(r"(could not|cannot|can't|failed to|unable to) parse|\(char \d+\)", re.IGNORECASE)
"""How servers break an answer off at a tool call that the model garbled: `transformers serve` and llama.cpp. LiteLLM
cannot read what `transformers serve` says then, and hands on the words of its own JSON parser."""


def sent(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages of a request, as OpenAI's protocol spells them."""
    return [written(message) for message in readable(messages)]


def readable(messages: Sequence[Message]) -> list[Message]:
    """The messages as chat templates can read them. Calls that the model garbled are mended, and what a person and the
    program say one after the other is one message, since many templates want turns to alternate."""
    found: list[Message] = []
    for message in messages:
        if message.role is Role.USER and found and found[-1].role is Role.USER:
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n\n{message.text}")
            continue
        if message.role is Role.MODEL and not message.calls and not message.text.strip():
            message = replace(message, text=NOTHING)
        found.append(replace(message, calls=tuple(map(_mended, message.calls))))
    return found


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


def is_unknown(status: int, words: str, code: object) -> bool:
    """Whether a server's refusal says, and not only by the status 404, that it does not know the model."""
    return status == 400 and (code == "model_not_found" or UNKNOWN_MODEL.search(words) is not None)


def unreadable(words: str) -> bool:
    """Whether a server that broke an answer off could not read the tool calls in it."""
    return UNREADABLE.search(words) is not None


def told(body: object) -> str:
    """The message in the body of a refusal: OpenAI's, FastAPI's, or plain text; empty if there is none."""
    if isinstance(body, dict):
        said = body.get("message") or body.get("detail") or body.get("error")
        return said if isinstance(said, str) else "" if said is None else json.dumps(said)
    # a page of a proxy is nothing to read
    return body.strip() if isinstance(body, str) and not body.lstrip().startswith("<") else ""


def adapted(asked: dict[str, Any], status: int, words: str, *, again: bool = False) -> dict[str, Any] | None:
    """The request without what the server does not take, or in its own words; None if it has another cause. again:
    whether the server has failed with the same request before."""
    if status not in (400, 404, 415, 422, 500):
        return None
    said = words.lower()
    for name, other in (("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")):
        if name in asked and other not in asked and _names(said, name) and "context" not in said:
            return {**_without(asked, name), other: asked[name]}
    for name in ("stream_options", "temperature"):
        if name in asked and _names(said, name):
            return _without(asked, name)
    if "system" in said and "role" in said and (folded := without_system(asked["messages"])):
        return {**asked, "messages": folded}
    # a chat template that knows no system makes `transformers serve` fail, and it does not say why
    if again and status == 500 and WORDLESS.search(words) and (folded := without_system(asked["messages"])):
        return {**asked, "messages": folded}
    # a server that checks requests strictly, and does not say what it dislikes
    return _without(asked, "stream_options") if status == 422 and "stream_options" in asked else None


def _names(said: str, name: str) -> bool:
    return re.search(rf"(?<![a-z_]){name}(?![a-z_])", said) is not None


def _without(asked: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in asked.items() if key != name}


def without_system(forms: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The messages with the system's words in the first of the user, for templates that know no system; None if there
    are none."""
    if len(forms) < 2 or forms[0]["role"] != Role.SYSTEM.value or forms[1]["role"] != Role.USER.value:
        return None
    first = {**forms[1], "content": f"{forms[0]['content']}\n\n{forms[1]['content']}"}
    return [first, *forms[2:]]
