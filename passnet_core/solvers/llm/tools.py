"""The tools with which a language model writes a bundle, called by tool calls or in plain text."""

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
"""How many files a bundle may have, and how many characters a file."""
LONGEST_PROBLEM = 500

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


class ToolProblem(Exception):
    """A tool call cannot be executed. The message tells the model why."""


@dataclass
class Workplace:
    """The files on which a model works. guide: pages by name. last: outcomes of the last check or evaluation, by id."""

    bench: Bench
    guide: Mapping[str, str]
    author: str
    files: dict[str, str] = field(default_factory=dict)
    last: dict[str, Outcome] = field(default_factory=dict)

    def take(self, bundle: Bundle) -> None:
        """Start from the files of a person's bundle."""
        self.files = {file.name: file.code for file in bundle.files}

    def bundle(self) -> Bundle:
        """The bundle that the files make up. Raises ToolProblem if there is no pass yet."""
        passes = [PassFile(name, code) for name, code in self.files.items() if IS_PASS.search(code)]
        helpers = [PassFile(name, code) for name, code in self.files.items() if not IS_PASS.search(code)]
        if not passes:
            raise ToolProblem("There is no pass yet: no file defines pattern(). Write one with write_file.")
        return Bundle(tuple(passes), tuple(helpers), self.author)

    def do(self, call: ToolCall, cancelled: threading.Event) -> Done:
        """Execute a tool call. The result says so if it cannot be executed."""
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
                return Done("The conversation has ended.", finished=True)
            return doing[call.name](**arguments)
        except ToolProblem as problem:
            return Done(f"Not done: {problem}")

    def redo(self, call: ToolCall) -> None:
        """Repeat what a call did to the files, and nothing else."""
        if call.name in ("write_file", "patch_file", "delete_file"):
            self.do(call, threading.Event())

    def _judged(self, outcomes: Sequence[Outcome]) -> Done:
        self.last = {outcome.subgraph_id: outcome for outcome in outcomes}
        return Done(summary(outcomes))

    def _write(self, name: str, code: str) -> Done:
        if not FILE_NAME.fullmatch(name):
            raise ToolProblem(f"{name[:80]!r} is not a valid file name. Use letters, digits and _, then .py.")
        if len(code) > LARGEST_FILE:
            raise ToolProblem(f"A file may have at most {LARGEST_FILE} characters; this one has {len(code)}.")
        if code.encode(errors="replace").decode() != code:
            raise ToolProblem(f"The code of {name} contains characters that are not valid Unicode.")
        if name not in self.files and len(self.files) >= MOST_FILES:
            raise ToolProblem(f"A bundle may have at most {MOST_FILES} files. Delete one first.")
        self.files[name] = code
        kind = "a pass" if IS_PASS.search(code) else "a helper, since it defines no pattern()"
        return Done(f"Wrote {name}: {kind}.")

    def _patch(self, name: str, old: str, new: str) -> Done:
        code = self._file(name)
        count = code.count(old) if old else 0
        if count != 1:
            raise ToolProblem(f"The passage to replace occurs {count} times in {name}; it must occur exactly once.")
        self.files[name] = code.replace(old, new)
        return Done(f"Changed {name}.")

    def _delete(self, name: str) -> Done:
        self._file(name)
        del self.files[name]
        return Done(f"Deleted {name}.")

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

    def _file(self, name: str) -> str:
        if name not in self.files:
            raise ToolProblem(f"There is no file {name[:80]!r}. There are: {', '.join(self.files) or 'none'}.")
        return self.files[name]


def _arguments(call: ToolCall) -> dict[str, str]:
    """The arguments of a call. Raises ToolProblem if the tool does not take them."""
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
        raise ToolProblem(f"{call.name} takes these arguments, and no others: {', '.join(wanted) or 'none'}.")
    if wrong := [name for name, value in given.items() if not isinstance(value, str)]:
        raise ToolProblem(f"The arguments {', '.join(wrong)} of {call.name} must be strings.")
    return given


# --- plain text, for models that do not support tool calls ---

HEADING = re.compile(r"^###\s+(\w+)[ \t]*(\S*)[ \t]*$", re.MULTILINE)
BLOCK = re.compile(r"^(`{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def calls_in(text: str) -> tuple[ToolCall, ...]:
    """The calls in plain text: headings "### tool argument" outside code blocks, and a block per further argument."""
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
