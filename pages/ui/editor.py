"""The code editor: CodeMirror as a component. A command carries its text, so that what runs is what was seen."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import streamlit as st

from pages.ui.built import component
from passnet_core.bundles.static_rules.scopes import parsed
from passnet_core.errors import BadInput
from passnet_core.graphs.emission import expression
from passnet_core.graphs.ir import Graph
from passnet_core.records import Bundle, Finding, MatchReport, Outcome

Command = Literal["check", "run"]
COMMANDS: tuple[Command, ...] = ("check", "run")
PLACE = "editor place"  # session state: the EditorPlace that the editor goes to once


@dataclass(frozen=True)
class EditorMessage:
    """A message of the editor: the text that it holds, its slot and revision, and a command if there is one."""

    slot: str
    revision: int
    files: Mapping[str, str]
    what: Command | None = None


@dataclass(frozen=True)
class Template:
    """What a new file can start with."""

    title: str
    code: str


@dataclass(frozen=True)
class EditorPlace:
    """A place in a file that the editor shows once for each serial number. line, column: from 1."""

    serial: int
    file: str
    line: int
    column: int


def go_to(file: str, line: int, column: int = 1) -> None:
    """Have the editor show this file and line, and put the cursor there, when it is drawn next."""
    before = st.session_state.get(PLACE)
    st.session_state[PLACE] = EditorPlace(before.serial + 1 if before else 1, file, line, column)


def go_to_syntax_error(bundle: Bundle) -> None:
    """Have the editor show the first line that Python cannot parse, if there is one."""
    problem = next((each for each in map(parsed, bundle.files) if isinstance(each, Finding)), None)
    if problem is not None:
        go_to(problem.file, problem.line, problem.column)


def code_editor(
    bundle: Bundle,
    *,
    key: str,
    document: str,
    slot: str,
    revision: int,
    findings: Sequence[Finding],
    operations: Sequence[Mapping[str, str]],
    templates: Sequence[Template],
    insert: tuple[int, str] | None,
    on_held: Callable[..., None],
    on_asked: Callable[..., None],
    args: tuple[Any, ...],
) -> None:
    """Draw the files of a bundle as tabs, in their order.

    Typed text stays in the browser until document or revision changes; a new revision of the same document arrives as a
    change that can be undone. Messages name the slot. on_held and on_asked are called with args, and find the message
    with held(key) and asked(key).
    insert: (serial number, line) to insert into the pattern once. go_to() makes the editor go to a line.
    """
    place = st.session_state.get(PLACE)
    mount = component("editor")
    mount(
        key=key,
        height="stretch",
        data={
            "document": document,
            "slot": slot,
            "revision": revision,
            "base": bundle.digest,
            "files": [
                {"name": file.name, "code": file.code, "mark": str(number) if number <= len(bundle.passes) else "+"}
                for number, file in enumerate(bundle.files, 1)
            ],
            "findings": [
                {
                    "file": each.file,
                    "line": each.line,
                    "column": each.column,
                    "message": f"{each.message} {each.remedy}".strip(),
                    "fatal": each.fatal,
                    "source": each.rule,
                }
                for each in findings
            ],
            "operations": list(operations),
            "templates": [{"title": each.title, "code": each.code} for each in templates],
            "insert": {"serial": insert[0], "text": insert[1]} if insert else None,
            "place": asdict(place) if place else None,
        },
        on_held_change=lambda: on_held(*args),
        on_asked_change=lambda: on_asked(*args),
    )


def held(key: str) -> EditorMessage | None:
    """Return the last text that the editor sent; None if it has sent none."""
    return _read(key, "held")


def asked(key: str) -> EditorMessage | None:
    """Return the command that has just arrived, with its text; None if there is none."""
    return _read(key, "asked")


def _read(key: str, event: str) -> EditorMessage | None:
    """Read a message with care: a browser may send anything."""
    state = st.session_state.get(key)
    message = state.get(event) if isinstance(state, Mapping) else None
    if not isinstance(message, Mapping):
        return None
    slot, revision, files, what = (message.get(name) for name in ("slot", "revision", "files", "what"))
    if not (isinstance(slot, str) and isinstance(revision, int) and isinstance(files, Mapping)):
        return None
    texts = {str(name): code for name, code in files.items() if isinstance(code, str)}
    return EditorMessage(slot, revision, texts, what if what in COMMANDS else None)


def completed(graph: Graph) -> list[dict[str, str]]:
    """Return the operations of a graph as completions, written as in a pattern."""
    found: dict[str, dict[str, str]] = {}
    for node in graph.operations:
        try:
            text = expression(node)
        except BadInput:
            continue
        label = text.split("(")[0] if re.match(r"[\w.]+\(", text) else text
        found.setdefault(text, {"label": label, "insert": text, "detail": node.name})
    return list(found.values())


def misses(bundle: Bundle, match: MatchReport | None) -> list[Finding]:
    """Return a finding for each pass that matches nothing, on its pattern, that says why."""
    files = {file.name.removesuffix(".py"): file for file in bundle.passes}
    found = []
    for each in match.passes if match else ():
        file = files.get(each.name.removesuffix(".py"))
        if file is None or each.matches or each.miss is None:
            continue
        line = next((n for n, text in enumerate(file.code.split("\n"), 1) if re.match(r"def\s+pattern\b", text)), 1)
        words = f"{each.miss.kind.value}: {each.miss.reason}"
        remedy = " ".join(each.edit.words) if each.edit else ""
        if each.edit and each.edit.lines:
            line = each.edit.lines[0].line
        found.append(Finding(file.name, line, 1, "no match", words, remedy, fatal=False))
    return found


def failures(outcome: Outcome | None, bundle: Bundle, found: Sequence[Finding]) -> list[Finding]:
    """Return where the judge saw the passes fail, as findings that the static rules have not found; none if comments
    have been changed since, and with them the lines."""
    if outcome is None or outcome.bundle_digest != bundle.digest:
        return []
    return [each for each in outcome.findings if each not in found]
