"""The tools with which a language model writes a bundle, called by tool calls or in plain text."""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from passnet_core import outside
from passnet_core.errors import PlaygroundError
from passnet_core.records import Bundle, Outcome, Task
from passnet_core.records.text import is_valid
from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.base import Bench, Surroundings
from passnet_core.solvers.llm.chat import Tool
from passnet_core.solvers.llm.feedback import explained, inductor_code, summary
from passnet_core.solvers.llm.files import BundleFiles, ToolProblem
from passnet_core.solvers.llm.prompting import opening
from passnet_core.solvers.llm.tagged import BLOCK, is_within, read_call, tagged_in

LONGEST_PROBLEM = 500
NOT_DONE = "Not done: "
"""How the result of a call begins that cannot be executed."""
NUDGE = "Call a tool to continue, or call finish."
"""What a model is told that calls none."""

_NAME = {"type": "string", "description": "a file name, such as fused_gelu.py"}


def _tool(name: str, description: str, /, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return Tool(name, description, schema)


TOOLS = (
    _tool(
        "write_file",
        "Writes a file of the bundle, and replaces an existing one. A file that defines pattern() is a pass; passes"
        " are applied in the order in which they were first written. All other files are helpers.",
        name=_NAME,
        code={"type": "string", "description": "the whole file"},
    ),
    _tool(
        "patch_file",
        "Replaces one passage of a file.",
        name=_NAME,
        old={"type": "string", "description": "the passage to replace, which must occur exactly once"},
        new={"type": "string", "description": "the text that replaces it"},
    ),
    _tool("delete_file", "Removes a file from the bundle.", name=_NAME),
    _tool("check", "Applies the static rules and matches the passes on every subgraph. Fast, and needs no GPU."),
    _tool("evaluate", "Judges values, and on a GPU time, on every subgraph. Only these results count."),
    _tool(
        "explain",
        "Reports everything that the last check or evaluation found on one subgraph.",
        subgraph={"type": "string", "description": "its name, such as float16/0/bert_op12"},
    ),
    _tool(
        "inductor_code",
        "Shows the code that TorchInductor generates for one subgraph, and how many kernels it launches.",
        subgraph={"type": "string", "description": "its name, such as float16/0/bert_op12"},
    ),
    _tool("read_guide", "Shows a page of the guide.", page={"type": "string", "description": "the page's name"}),
    _tool("finish", "Ends the conversation. The best evaluated bundle counts, not the last."),
)
"""All tools, in the order in which the model reads about them."""


@dataclass(frozen=True)
class Done:
    """The result of a tool call. evaluated: the bundle that was evaluated, and its outcomes."""

    text: str
    finished: bool = False
    evaluated: tuple[Bundle, tuple[Outcome, ...]] | None = None


@dataclass
class Workplace:
    """Where a model works. guide: pages by name. author: of its bundle. files: what it has written. last: outcomes of
    the last check or evaluation, by id."""

    bench: Bench
    guide: Mapping[str, str]
    author: str
    files: BundleFiles = field(default_factory=BundleFiles)
    last: dict[str, Outcome] = field(default_factory=dict)

    def opening(self, task: Task, surroundings: Surroundings, *, in_text: bool) -> tuple[Message, ...]:
        """The first messages of a conversation here: they show the files that there are already.
        in_text: whether the model has to call tools in plain text."""
        return (*opening(task, surroundings, self.guide, TOOLS if in_text else ()), *self.shown())

    def shown(self) -> tuple[Message, ...]:
        """The message that shows the files that there are; none if there are none."""
        if not self.files.codes:
            return ()
        files = "\n\n".join(f"{name}:\n```python\n{code}\n```" for name, code in self.files.codes.items())
        return (Message(Role.USER, f"There is a bundle already. Repair or improve it.\n\n{files}"),)

    def do(self, call: ToolCall, cancelled: threading.Event) -> Done:
        """Execute a tool call. The result says so if it cannot be executed."""
        doing: dict[str, Callable[..., Done]] = {
            "check": lambda: self._judged(self.bench.check(self.files.bundle(self.author), cancelled)),
            "evaluate": lambda: self._evaluated(cancelled),
            "explain": self._explain,
            "inductor_code": lambda subgraph: self._inductor_code(subgraph, cancelled),
            "read_guide": self._read,
            "finish": lambda: Done("The conversation has ended.", finished=True),
        }
        try:
            arguments = _arguments(call)
            if call.name in self.files.changes:
                return Done(self.files.changes[call.name](**arguments))
            return doing[call.name](**arguments)
        except ToolProblem as problem:
            return Done(f"{NOT_DONE}{problem}")

    def _judged(self, outcomes: Sequence[Outcome]) -> Done:
        self.last = {outcome.subgraph_id: outcome for outcome in outcomes}
        return Done(summary(outcomes))

    def _evaluated(self, cancelled: threading.Event) -> Done:
        bundle = self.files.bundle(self.author)
        outcomes = self.bench.evaluate(bundle, cancelled)
        return replace(self._judged(outcomes), evaluated=(bundle, outcomes))

    def _explain(self, subgraph: str) -> Done:
        if subgraph not in self.last:
            known = f"It has: {', '.join(self.last)}." if self.last else "Nothing was checked yet."
            raise ToolProblem(f"The last check has no subgraph {subgraph[:80]!r}. {known}")
        return Done(explained(self.last[subgraph]))

    def _inductor_code(self, subgraph: str, cancelled: threading.Event) -> Done:
        try:
            return Done(inductor_code(subgraph, self.bench.inspect(subgraph, cancelled)))
        except PlaygroundError as error:
            # the message may repeat the name that the model gave
            raise ToolProblem(str(error)[:LONGEST_PROBLEM]) from error

    def _read(self, page: str) -> Done:
        if page not in self.guide:
            raise ToolProblem(f"The guide has no page {page[:80]!r}. It has: {', '.join(self.guide)}.")
        return Done(self.guide[page])


def _arguments(call: ToolCall) -> dict[str, str]:
    """The arguments of a call. Raises ToolProblem if the tool does not take them."""
    tool = next((each for each in TOOLS if each.name == call.name), None)
    if tool is None:
        known = ", ".join(each.name for each in TOOLS)
        raise ToolProblem(f"There is no tool {call.name[:80]!r}. There are: {known}.")
    try:
        given = outside.from_json_text(call.arguments or "{}", mended=False)
    except ValueError as error:
        raise ToolProblem(f"The arguments of {call.name} are not JSON: {error}.") from error
    wanted = list(tool.parameters["properties"])
    if not isinstance(given, dict) or sorted(given) != sorted(wanted):
        raise ToolProblem(f"{call.name} takes these arguments, and no others: {', '.join(wanted) or 'none'}.")
    if wrong := [name for name, value in given.items() if not isinstance(value, str)]:
        raise ToolProblem(f"The arguments {', '.join(wrong)} of {call.name} must be strings.")
    if wrong := [name for name, value in given.items() if not is_valid(value)]:
        raise ToolProblem(f"The argument {wrong[0]} contains characters that are not valid Unicode.")
    return given


def told_results(
    calls: Sequence[ToolCall], results: Sequence[str], *, in_text: bool, nudge: str = NUDGE
) -> tuple[Message, ...]:
    """The messages with the results of a model's calls, or the nudge if it made none."""
    if in_text or not calls:
        words = "\n\n".join(f"{call.name}: {text}" for call, text in zip(calls, results, strict=True))
        return (Message(Role.USER, words or nudge),)
    return tuple(Message(Role.TOOL, text, answers=call.id) for call, text in zip(calls, results, strict=True))


# --- plain text, for models that do not support tool calls ---

HEADING = re.compile(r"^###\s+(\w+)[ \t]*(\S*)[ \t]*$", re.MULTILINE)


def calls_in(text: str) -> tuple[ToolCall, ...]:
    """The calls in plain text, in their order: headings "### tool argument" outside code blocks, with a block per
    further argument, and JSON between <tool_call> and </tool_call>."""
    tagged = list(tagged_in(text))
    # what is no call has no name that a tool has
    found = [(each.start(), read_call(each[1]) or ("tool_call", each[1])) for each in tagged]
    blocks = [each.span() for each in (*BLOCK.finditer(text), *tagged)]
    known = {tool.name: list(tool.parameters["properties"]) for tool in TOOLS}
    headings = [match for match in HEADING.finditer(text) if match[1] in known and not is_within(match.start(), blocks)]
    for number, heading in enumerate(headings):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        below = [match[2] for match in BLOCK.finditer(text, heading.end(), end)]
        given = ([heading[2]] if heading[2] else []) + below
        arguments = dict(zip(known[heading[1]], given, strict=False))
        found.append((heading.start(), (heading[1], json.dumps(arguments))))
    return tuple(ToolCall(f"text_{number}", *call) for number, (_, call) in enumerate(sorted(found)))


def written_in(text: str) -> BundleFiles:
    """The files that the calls in plain text leave behind; those that cannot be executed do nothing."""
    return written_by(calls_in(text))


def written_by(calls: Iterable[ToolCall]) -> BundleFiles:
    """The files that calls leave behind; those that cannot be executed do nothing."""
    files = BundleFiles()
    for call in calls:
        replay(files, call)
    return files


def replay(files: BundleFiles, call: ToolCall) -> None:
    """Do to the files what a call did; nothing if it changes none, or could not be executed."""
    if call.name in files.changes:
        with contextlib.suppress(ToolProblem):
            files.changes[call.name](**_arguments(call))
