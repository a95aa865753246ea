"""Tool calls in text as chat templates write them: JSON with a name and arguments between two tags."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from passnet_core import outside
from passnet_core.solvers.llm.chat import is_object

BLOCK = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
"""A block of code."""
TAGGED = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


def is_within(place: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def tagged_in(text: str) -> "Iterator[re.Match[str]]":
    """What is tagged as a call, outside blocks of code."""
    blocks = [each.span() for each in BLOCK.finditer(text)]
    return (each for each in TAGGED.finditer(text) if not is_within(each.start(), blocks))


def read_call(text: str) -> tuple[str, str] | None:
    """The name and the arguments, as JSON text, of a call between tags; None if it is none."""
    try:
        given = outside.from_json_text(text, mended=False)
        name, arguments = given["name"], given.get("arguments", {})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return str(name), json_text(arguments)


def json_text(arguments: Any) -> str:
    """Arguments as JSON text, which is how the protocol has them. Some servers and models give the object itself."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def split_off(text: str, tools: Collection[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A text without the calls in it, and these; the text as it is, and none, unless all of them call these tools."""
    places = list(tagged_in(text))
    calls = tuple(call for each in places if (call := read_call(each[1])) and call[0] in tools and is_object(call[1]))
    if len(calls) < len(places):
        return text, ()
    for each in reversed(places):
        text = text[: each.start()] + text[each.end() :]
    return text.strip() if calls else text, calls
