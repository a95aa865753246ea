"""What a model may do while it writes a bundle, whether it asks by tool calls or in plain text."""

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from passnet_core.errors import PlaygroundError
from passnet_core.records import Bundle, Outcome, PassFile
from passnet_core.records.trajectories import ToolCall
from passnet_core.solvers.base import Bench
from passnet_core.solvers.llm.chat import Tool
from passnet_core.solvers.llm.feedback import explained, inductor_code, summary

FILE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.py")
IS_PASS = re.compile(r"^def pattern\s*\(", re.MULTILINE)
MOST_FILES, LARGEST_FILE = 16, 100_000
LONGEST_PROBLEM = 500

_NAME = {"type": "string", "description": "file name, such as fused_gelu.py"}


def _tool(name: str, description: str, /, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return Tool(name, description, schema)


TOOLS = (
    _tool(
        "write_file",
        "Writes a file of the bundle, new or in the place of the old one. A file that defines pattern() is a pass;"
        " passes are applied in the order in which they were first written. Other files are helpers.",
        name=_NAME,
        code={"type": "string", "description": "the whole file"},
    ),
    _tool(
        "patch_file",
        "Replaces a piece of a file.",
        name=_NAME,
        old={"type": "string", "description": "what is there now: exactly one place"},
        new={"type": "string", "description": "what is to be there"},
    ),
    _tool("delete_file", "Takes a file out of the bundle.", name=_NAME),
    _tool("check", "Static rules and matching, on every subgraph. Quick, and needs no GPU."),
    _tool("evaluate", "Judges values, and on a GPU time, on every subgraph. What it says is what counts."),
    _tool(
        "explain",
        "Everything the last check or evaluation found on one subgraph.",
        subgraph={"type": "string", "description": "its name, such as float16/0/bert_op12"},
    ),
    _tool(
        "inductor_code",
        "The code that TorchInductor generates for one subgraph, and how many kernels it launches.",
        subgraph={"type": "string", "description": "its name, such as float16/0/bert_op12"},
    ),
    _tool("read_guide", "A page of the guide.", page={"type": "string", "description": "its name"}),
    _tool("finish", "Ends the work. The best bundle that was evaluated counts, not the last."),
)
"""All of them, in the order in which they are told."""


@dataclass(frozen=True)
class Done:
    """What a tool call came to. evaluated: what evaluate() found, and of which bundle."""

    text: str
    finished: bool = False
    evaluated: tuple[Bundle, tuple[Outcome, ...]] | None = None


class ToolProblem(Exception):
    """A call that cannot be done, in words for the model."""


@dataclass
class Workplace:
    """The files that a model works on. guide: pages by name."""

    bench: Bench
    guide: Mapping[str, str]
    author: str
    files: dict[str, str] = field(default_factory=dict)
    last: dict[str, Outcome] = field(default_factory=dict)

    def take(self, bundle: Bundle) -> None:
        """Puts a person's bundle there."""
        self.files = {file.name: file.code for file in bundle.files}

    def bundle(self) -> Bundle:
        """Raises ToolProblem where there is no pass yet."""
        passes = [PassFile(name, code) for name, code in self.files.items() if IS_PASS.search(code)]
        helpers = [PassFile(name, code) for name, code in self.files.items() if not IS_PASS.search(code)]
        if not passes:
            raise ToolProblem("There is no pass yet: no file defines pattern(). Write one with write_file.")
        return Bundle(tuple(passes), tuple(helpers), self.author)

    def do(self, call: ToolCall, cancelled: threading.Event) -> Done:
        """Does what was asked, or says why it cannot be done."""
        doing: dict[str, Callable[..., Done]] = {
            "write_file": self._write,
            "patch_file": self._patch,
            "delete_file": self._delete,
            "explain": self._explain,
            "read_guide": self._read,
        }
        try:
            arguments = _arguments(call)
            if call.name == "check":
                return self._judged(self.bench.check(self.bundle(), cancelled))
            if call.name == "evaluate":
                bundle = self.bundle()
                outcomes = self.bench.evaluate(bundle, cancelled)
                return Done(self._judged(outcomes).text, evaluated=(bundle, outcomes))
            if call.name == "inductor_code":
                return self._inductor_code(arguments["subgraph"], cancelled)
            if call.name == "finish":
                return Done("The work is over.", finished=True)
            return doing[call.name](**arguments)
        except ToolProblem as problem:
            return Done(f"Not done: {problem}")

    def redo(self, call: ToolCall) -> None:
        """Does again what a call did to the files, and nothing else."""
        if call.name in ("write_file", "patch_file", "delete_file"):
            self.do(call, threading.Event())

    def _judged(self, outcomes: Sequence[Outcome]) -> Done:
        self.last = {outcome.subgraph_id: outcome for outcome in outcomes}
        return Done(summary(outcomes))

    def _write(self, name: str, code: str) -> Done:
        if not FILE_NAME.fullmatch(name):
            raise ToolProblem(f"{name[:80]!r} is no name for a file: letters, digits and _, then .py.")
        if len(code) > LARGEST_FILE:
            raise ToolProblem(f"A file may have {LARGEST_FILE} characters; this one has {len(code)}.")
        if code.encode(errors="replace").decode() != code:
            raise ToolProblem(f"The code of {name} holds characters that are none.")
        if name not in self.files and len(self.files) >= MOST_FILES:
            raise ToolProblem(f"A bundle may have {MOST_FILES} files. Delete one first.")
        self.files[name] = code
        kind = "a pass" if IS_PASS.search(code) else "a helper, since it defines no pattern()"
        return Done(f"{name} is written: {kind}.")

    def _patch(self, name: str, old: str, new: str) -> Done:
        code = self._file(name)
        count = code.count(old) if old else 0
        if count != 1:
            raise ToolProblem(f"What is to be replaced is in {name} {count} times; it has to be there once.")
        self.files[name] = code.replace(old, new)
        return Done(f"{name} is changed.")

    def _delete(self, name: str) -> Done:
        self._file(name)
        del self.files[name]
        return Done(f"{name} is gone.")

    def _explain(self, subgraph: str) -> Done:
        if subgraph not in self.last:
            known = ", ".join(self.last) or "nothing was checked yet"
            raise ToolProblem(f"There is no subgraph {subgraph[:80]!r}. There are: {known}.")
        return Done(explained(self.last[subgraph]))

    def _inductor_code(self, subgraph: str, cancelled: threading.Event) -> Done:
        try:
            return Done(inductor_code(subgraph, self.bench.inspect(subgraph, cancelled)))
        except PlaygroundError as error:
            # it may repeat the name it was given
            raise ToolProblem(str(error)[:LONGEST_PROBLEM]) from error

    def _read(self, page: str) -> Done:
        if page not in self.guide:
            raise ToolProblem(f"The guide has no page {page[:80]!r}. It has: {', '.join(self.guide)}.")
        return Done(self.guide[page])

    def _file(self, name: str) -> str:
        if name not in self.files:
            raise ToolProblem(f"There is no file {name[:80]!r}. There are: {', '.join(self.files) or 'none'}.")
        return self.files[name]


def _arguments(call: ToolCall) -> dict[str, str]:
    """The arguments, if they are what the tool takes. Raises ToolProblem."""
    tool = next((each for each in TOOLS if each.name == call.name), None)
    if tool is None:
        known = ", ".join(each.name for each in TOOLS)
        raise ToolProblem(f"There is no tool {call.name[:80]!r}. There are: {known}.")
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolProblem(f"The arguments of {call.name} are not JSON: {error}.") from error
    wanted = list(tool.parameters["properties"])
    if not isinstance(given, dict) or sorted(given) != sorted(wanted):
        raise ToolProblem(f"{call.name} takes exactly these arguments: {', '.join(wanted) or 'none'}.")
    if wrong := [name for name, value in given.items() if not isinstance(value, str)]:
        raise ToolProblem(f"{', '.join(wrong)} of {call.name} must be text.")
    return given


# --- plain text, for models that know no tool calls ---

HEADING = re.compile(r"^###\s+(\w+)[ \t]*(\S*)[ \t]*$", re.MULTILINE)
BLOCK = re.compile(r"^(`{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def calls_in(text: str) -> tuple[ToolCall, ...]:
    """The tool calls that are written in plain text: a heading "### tool argument" each, and below it a code block for
    every further argument. Headings within code blocks are none."""
    blocks = [match.span() for match in BLOCK.finditer(text)]
    known = {tool.name: list(tool.parameters["properties"]) for tool in TOOLS}
    headings = [
        match
        for match in HEADING.finditer(text)
        if match[1] in known and not any(start <= match.start() < end for start, end in blocks)
    ]
    calls = []
    for number, heading in enumerate(headings):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        below = [match[2] for match in BLOCK.finditer(text, heading.end(), end)]
        given = ([heading[2]] if heading[2] else []) + below
        arguments = dict(zip(known[heading[1]], given, strict=False))
        calls.append(ToolCall(f"text_{number}", heading[1], json.dumps(arguments)))
    return tuple(calls)
