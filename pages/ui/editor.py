"""The code editor: CodeMirror, as a component. Text and command come in one message, so what runs is what was seen."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from pages.ui.built import component
from passnet_core.errors import BadInput
from passnet_core.graphs.emission import expression
from passnet_core.graphs.ir import Graph
from passnet_core.records import Bundle, Finding, MatchReport

Command = Literal["check", "run"]
COMMANDS: tuple[Command, ...] = ("check", "run")


@dataclass(frozen=True)
class Held:
    """What the editor holds, as it says: of which slot, of which revision, and its command, if it gives one."""

    slot: str
    revision: int
    files: Mapping[str, str]
    what: Command | None = None


@dataclass(frozen=True)
class Template:
    """A beginning for one file."""

    title: str
    code: str


def code_editor(
    bundle: Bundle,
    *,
    key: str,
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
    """Draws the files of a bundle as tabs, in their order.

    What was typed stays in the browser until slot or revision name another text; a new revision of the same slot comes
    as a change that can be undone. on_held and on_asked get args; what the editor said is then under held(key) and
    asked(key). insert: (serial, line), to be put into the pattern once.
    """
    mount = component("editor")
    mount(
        key=key,
        data={
            "document": f"{key} {slot}",
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
        },
        on_held_change=lambda: on_held(*args),
        on_asked_change=lambda: on_asked(*args),
    )


def held(key: str) -> Held | None:
    """What the editor said last that it holds; None: nothing yet."""
    return _read(key, "held")


def asked(key: str) -> Held | None:
    """The command that came just now, with the text it is about."""
    return _read(key, "asked")


def _read(key: str, event: str) -> Held | None:
    """What a browser sends may be anything."""
    state = st.session_state.get(key)
    told = state.get(event) if isinstance(state, Mapping) else None
    if not isinstance(told, Mapping):
        return None
    slot, revision, files, what = (told.get(name) for name in ("slot", "revision", "files", "what"))
    if not (isinstance(slot, str) and isinstance(revision, int) and isinstance(files, Mapping)):
        return None
    texts = {str(name): code for name, code in files.items() if isinstance(code, str)}
    return Held(slot, revision, texts, what if what in COMMANDS else None)


def completed(graph: Graph) -> list[dict[str, str]]:
    """The operations of a graph, as a pattern would write them."""
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
    """Why a pass matches nothing, as a remark on its pattern."""
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
