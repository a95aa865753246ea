"""What of a bundle is finished: its patterns, arguments, kernels and replacement functions, each with its state."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from passnet_core.bundles.triton_functions import readable_tree, triton_functions
from passnet_core.records import RIGHT, Bundle, Finding, Outcome, PassFile


class Part(StrEnum):
    """What every pass has."""

    PATTERN = "pattern"
    ARGUMENTS = "args"
    KERNEL = "kernel"
    RETURNS = "returns"


WRITTEN_AS = {"pattern": Part.PATTERN, "replacement_args": Part.ARGUMENTS}
"""The parts that are functions of one name."""


class PartState(StrEnum):
    """OPEN: unfinished, or nothing is known yet."""

    DONE = "done"
    WRONG = "wrong"
    OPEN = "open"


@dataclass(frozen=True)
class CheckedPart:
    """A part with its state. file, line: where it is wrong, the line from 1; else empty and 0."""

    part: Part
    state: PartState
    file: str = ""
    line: int = 0


def checklist(bundle: Bundle, findings: Sequence[Finding], outcome: Outcome | None) -> tuple[CheckedPart, ...]:
    """The parts in the order in which they are written. findings: of the rules and of the judge, misses included."""
    spans = [(file, part, span) for file in (*bundle.passes, *bundle.helpers) for part, span in _parts(file)]
    return tuple(_checked(part, [each for each in spans if each[1] is part], findings, outcome) for part in Part)


def _checked(
    part: Part,
    spans: Sequence[tuple[PassFile, Part, range]],
    findings: Sequence[Finding],
    outcome: Outcome | None,
) -> CheckedPart:
    inside = (each for each in findings for file, _, span in spans if each.file == file.name and each.line in span)
    found = next(inside, None)
    if found is not None:
        return CheckedPart(part, PartState.WRONG, found.file, found.line)
    return CheckedPart(part, PartState.DONE if spans and _is_known(part, outcome) else PartState.OPEN)


def _is_known(part: Part, outcome: Outcome | None) -> bool:
    """Whether an outcome shows that this part does what it has to."""
    if outcome is None or outcome.match is None or not any(each.matches for each in outcome.match.passes):
        return False
    return part in (Part.PATTERN, Part.ARGUMENTS) or outcome.verdict in RIGHT


def _parts(file: PassFile) -> Iterator[tuple[Part, range]]:
    """The parts in a file with their lines; none of one that cannot be read."""
    tree = readable_tree(file.code)
    kernels = triton_functions(tree)
    for each in tree.body:
        if isinstance(each, ast.FunctionDef):
            first = min([each.lineno, *(one.lineno for one in each.decorator_list)])
            part = Part.KERNEL if kernels.get(each.name) is each else WRITTEN_AS.get(each.name, Part.RETURNS)
            yield part, range(first, (each.end_lineno or each.lineno) + 1)
