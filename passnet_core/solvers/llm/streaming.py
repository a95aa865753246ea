"""A streamed answer, put together from its pieces as servers send them."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm.chat import Reply, is_object

ESCAPED, MEANT = re.compile(r"\\(.)"), {"n": "\n", "t": "\t"}
"""An escape of JSON, and what it stands for, if not for its own letter."""


class Refusal(Exception):
    """The model, or a filter on the server, refuses to answer."""


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
    _calls: list[_Call] = field(default_factory=list)
    _usage: Any = None

    @property
    def whole(self) -> bool:
        return bool(self._finish)

    def add(self, chunk: Any) -> None:
        """Take the next piece."""
        self.begun = True
        self._usage = getattr(chunk, "usage", None) or self._usage
        for choice in (getattr(chunk, "choices", None) or ())[:1]:
            self._finish = getattr(choice, "finish_reason", None) or self._finish
            delta = getattr(choice, "delta", None)
            for call in getattr(delta, "tool_calls", None) or ():
                self._add_call(call)
            self._refusal += getattr(delta, "refusal", None) or ""
            # vLLM and OpenRouter say the one, DeepSeek and llama.cpp the other
            self.reasoning += str(getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None) or "")
            if more := getattr(delta, "content", None):
                self.text += str(more)
                self.on_text(self.shown)

    @property
    def shown(self) -> str:
        """All that has arrived, for people: the text, and the calls under headings with line breaks in their code."""
        calls = [f"### {each.name}\n{each.readable}" for each in self._calls]
        return "\n\n".join(filter(None, (self.text, *calls)))

    def _add_call(self, piece: Any) -> None:
        name = (piece.function.name if piece.function is not None else "") or ""
        more = (piece.function.arguments if piece.function is not None else "") or ""
        index = piece.index or 0
        call = next((each for each in reversed(self._calls) if each.index == index), None)
        if call is None or self._is_another(call, piece.id or "", name):
            call = _Call(index)
            self._calls.append(call)
        call.id = call.id or piece.id or ""
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
            raise Refusal(self._refusal or "a filter withheld the answer")
        calls: list[ToolCall] = []
        for number, each in enumerate(self._calls):
            own = each.id if each.id and each.id not in {call.id for call in calls} else f"call_{number}"
            calls.append(ToolCall(own, each.name, each.arguments))
        return Reply(
            Message(Role.MODEL, self.text, tuple(calls), reasoning=self.reasoning),
            self._finish,
            getattr(self._usage, "prompt_tokens", None),
            getattr(self._usage, "completion_tokens", None),
            seconds,
            restarts,
        )
