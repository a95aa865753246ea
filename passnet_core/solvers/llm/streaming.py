"""A streamed answer, put together from its pieces as servers send them."""

import re
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from passnet_core.records.text import valid
from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm.chat import Reply, is_object
from passnet_core.solvers.llm.tagged import json_text, split_off

ESCAPED, MEANT = re.compile(r"\\(.)"), {"n": "\n", "t": "\t"}
"""An escape of JSON, and what it stands for, if not for its own letter."""


LONGEST_ANSWER = 4_000_000
"""Most characters of an answer."""
MOST_TOKENS = 1 << 40
"""No server counts as many."""
LINE_END, LAST_EVENT, LAST_EVENT_BYTES = re.compile(rb"[\r\n]"), re.compile(rb"data: ?\[DONE\]"), 12
"""What a stream ends with, and how many bytes of a line tell it."""


class Refusal(Exception):
    """The model, or a filter on the server, refuses to answer."""


class Endless(Exception):
    """An answer is longer than any that could be meant."""


@dataclass
class _Call:
    """A call of which pieces arrive."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    readable: str = ""
    """The arguments with the line breaks and quotes of code as such."""
    _escape: str = ""

    def add(self, more: str) -> None:
        self.arguments += more
        more = self._escape + more
        # a backslash without what it escapes waits for the next piece
        cut = len(more) - (len(more) - len(more.rstrip("\\"))) % 2
        more, self._escape = more[:cut], more[cut:]
        self.readable += ESCAPED.sub(lambda found: MEANT.get(found[1], found[1]), more)


@dataclass
class Answer:
    """The part of a streamed answer that has arrived. tools: the names of those that were offered."""

    on_text: Callable[[str], None]
    tools: Collection[str] = ()
    text: str = ""
    reasoning: str = ""
    begun: bool = False
    _refusal: str = ""
    _finish: str = ""
    _ended: bool = False
    _calls: list[_Call] = field(default_factory=list)
    _usage: Any = None

    @property
    def whole(self) -> bool:
        """Whether it came to its end: some servers give no reason for it, and only end the stream as streams end."""
        return bool(self._finish) or (self.begun and self._ended)

    def watch(self, response: Any) -> None:
        """Look out for the last event in the bytes of a response, as the client does not tell of it."""
        pieces_of = response.aiter_bytes

        async def pieces() -> AsyncIterator[bytes]:
            line = b""
            async for piece in pieces_of():
                *lines, line = LINE_END.split(line + piece)
                self._ended = self._ended or any(map(LAST_EVENT.match, (*lines, line)))
                line = line[:LAST_EVENT_BYTES]
                yield piece

        response.aiter_bytes = pieces

    def add(self, chunk: Any) -> None:
        """Take the next piece. The client checks no types, so any part of it may be anything. Raises Endless."""
        self.begun = True
        self._usage = getattr(chunk, "usage", None) or self._usage
        for choice in _list(chunk, "choices")[:1]:
            self._finish = _text(choice, "finish_reason") or self._finish
            delta = getattr(choice, "delta", None)
            for call in _list(delta, "tool_calls"):
                self._add_call(call)
            self._refusal += _text(delta, "refusal")
            # vLLM and OpenRouter say the one, DeepSeek and llama.cpp the other
            self.reasoning += _text(delta, "reasoning_content") or _text(delta, "reasoning")
            if more := _text(delta, "content"):
                self.text += more
                self.on_text(self.shown)
        if len(self.text) + len(self.reasoning) + sum(len(each.arguments) for each in self._calls) > LONGEST_ANSWER:
            raise Endless(f"it has more than {LONGEST_ANSWER:,} characters")

    @property
    def shown(self) -> str:
        """All that has arrived, for people: the text, and the calls under headings with line breaks in their code."""
        calls = [f"### {each.name}\n{each.readable}" for each in self._calls]
        return valid("\n\n".join(filter(None, (self.text, *calls))))

    def _add_call(self, piece: Any) -> None:
        function = getattr(piece, "function", None)
        name, more, its_id = _text(function, "name"), _arguments(function), _text(piece, "id")
        index = _count(piece, "index") or 0
        call = next((each for each in reversed(self._calls) if each.index == index), None)
        if call is None or self._is_another(call, its_id, name):
            call = _Call(index)
            self._calls.append(call)
        call.id = call.id or its_id
        call.name = self._named(call.name, name)
        call.add(more)
        self.on_text(self.shown)

    def _is_another(self, call: _Call, its_id: str, name: str) -> bool:
        """Whether a piece of the same index begins another call: some servers give all calls of an answer index 0."""
        return bool(name) and (its_id != call.id if its_id and call.id else is_object(call.arguments))

    def _named(self, so_far: str, more: str) -> str:
        """The name with a piece more: servers send it at once, in pieces, or whole with every piece."""
        if not so_far or not more or more == so_far:
            return so_far or more
        return so_far + more if any(tool.startswith(so_far + more) for tool in self.tools) else so_far

    def reply(self, seconds: float, restarts: int) -> Reply:
        """The whole answer. Raises Refusal if the model refuses."""
        if self._refusal or self._finish == "content_filter":
            raise Refusal(valid(self._refusal) or "a filter withheld the answer")
        calls: list[ToolCall] = []
        for number, each in enumerate(self._calls):
            own = each.id if each.id and each.id not in {call.id for call in calls} else f"call_{number}"
            calls.append(ToolCall(valid(own), valid(each.name), valid(each.arguments)))
        text = valid(self.text)
        if not calls:
            # a server without a parser for the model's calls leaves them in the text
            text, tagged = split_off(text, self.tools)
            calls += [ToolCall(f"call_{number}", *map(valid, call)) for number, call in enumerate(tagged)]
        return Reply(
            Message(Role.MODEL, text, tuple(calls), reasoning=valid(self.reasoning)),
            valid(self._finish) or ("tool_calls" if calls else "stop"),
            _count(self._usage, "prompt_tokens"),
            _count(self._usage, "completion_tokens"),
            seconds,
            restarts,
        )


def _text(part: Any, name: str) -> str:
    """A field of what the server sent if that is text; else nothing."""
    value = getattr(part, name, None)
    return value if isinstance(value, str) else ""


def _arguments(function: Any) -> str:
    """The arguments of a call as text, also if they come as an object."""
    value = getattr(function, "arguments", None)
    return json_text(value) if isinstance(value, str | dict) else ""


def _list(part: Any, name: str) -> list[Any]:
    value = getattr(part, name, None)
    return value if isinstance(value, list) else []


def _count(part: Any, name: str) -> int | None:
    value = getattr(part, name, None)
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None
