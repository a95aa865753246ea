"""The kernel census: decide whether the bundle's own kernels did the work, or a library's.

Own kernels are the Triton functions in the bundle's sources, which the referee reads itself. Allocations, fills, views
and copies are allowed too; anything else that computes gives the verdict LIBRARY.

The lists of launches come from the planner, with the plans, where a bundle that knows the recorder can falsify them:
plans decide what is computed, and lists what is said of it. Only a name from the sources counts as an own kernel, and a
result that no recorded work explains as a library's. Work in replacement_args, outside the replacement functions, is
read from the graph that the referee rewrote."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from passnet_core.bundles.static_rules.findings import alignment_questions
from passnet_core.bundles.triton_functions import readable_tree, triton_functions
from passnet_core.graphs.effects import last_part
from passnet_core.graphs.ir import Graph, Node, NodeKind, references
from passnet_core.judge.protocol.messages import Launches, Seen
from passnet_core.judge.protocol.operation_names import (
    ALLOCATIONS,
    FILLS,
    MOVES,
    NUMBERS,
    VIEWS_AND_QUERIES,
    bare,
)
from passnet_core.judge.stages.findings import Census
from passnet_core.operations.kinds import named
from passnet_core.records import LAUNCHED, Bundle, Evidence, Verdict

REMARKS = {
    "converts": ", which converts the dtype",
    "parts": ", which assembles elements from parts or takes them apart",
}
"""What an accusation says of an operation with this remark."""

MOST_LINES = 60
"""How many lines of evidence list what was launched."""

FORMS = named("in_arguments")
SIZES = named("questions")


class WorkClass(StrEnum):
    """How the census classifies a kernel, operation or read."""

    OWN = "the bundle's own"
    FORM = "allocation, fill or view"
    MOVE = "data movement"
    REPORTED = "reported only"
    LIBRARY = "library"


def kernels_of(bundle: Bundle) -> dict[str, str]:
    """Map the name of each Triton function in the bundle's sources to its file."""
    return {name: file for name, (file, _) in _jitted(bundle).items()}


def launchable(bundle: Bundle) -> dict[str, str]:
    """Like kernels_of, without kernels that another kernel of the bundle calls: what is meant to be launched."""
    found = _jitted(bundle)
    called = {
        node.id
        for name, (_, function) in found.items()
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id in found and node.id != name
    } | {
        node.attr
        for _, function in found.values()
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr in found
    }
    return {name: file for name, (file, _) in found.items() if name not in called}


def _jitted(bundle: Bundle) -> dict[str, tuple[str, ast.FunctionDef]]:
    """Every function written in Triton, by name, with its file."""
    return {
        name: (file.name, function)
        for file in bundle.files
        for name, function in triton_functions(readable_tree(file.code)).items()
    }


# --- the verdict -----------------------------------------------------------------------------------------------------


def judged(
    bundle: Bundle,
    calls: Iterable[Sequence[Launches]],
    graph: Graph,
    rewritten: Graph,
    names: Mapping[str, str],
) -> Census:
    """Return LIBRARY if anything but the bundle's own kernels computed in one of the calls, else VALUES_ONLY.

    graph, rewritten: the subgraph before and after its passes, as the referee rewrote it. names: what to call each
    replacement function in messages, by its key."""
    own = kernels_of(bundle)
    aligning = alignment_questions(bundle)
    found = [_one_call(launches, own, names, aligning) for launches in dict.fromkeys(map(tuple, calls))]
    shown = next((each for each in found if each.foreign), found[0] if found else _CallCensus())
    warnings = [warning for each in found for warning in each.warnings]
    work = argument_work(graph, rewritten, names)
    lines = [*shown.lines, *(f"{node.target} in replacement_args: {WorkClass.LIBRARY.value}" for node in work)]
    foreign = list(shown.foreign)
    foreign += [f"replacement_args computes {last_part(node)}, outside the bundle's kernels" for node in work]
    if not found:
        warnings.append("The census recorded no call of a replacement function.")
    counts = {each.kernels for each in found}
    if len(counts) > 1:
        warnings.append(f"The replacements launched {min(counts)} kernels in one call and {max(counts)} in another.")
    launched = {name for each in found for name in each.launched}
    idle = [name for name in launchable(bundle) if name not in launched]
    if idle:
        listed = ", ".join(f"{name} ({own[name]})" for name in sorted(idle)[:8]) + (" …" if len(idle) > 8 else "")
        warnings.append(f"Kernels defined but not launched here: {listed}.")
    warnings = list(dict.fromkeys(warnings))
    evidence = (Evidence(LAUNCHED, "\n".join(_cut(sorted(lines))) or "Nothing was launched."),)
    if foreign:
        more = f" ({len(foreign) - 1} more)" if len(foreign) > 1 else ""
        reason = f"The values are right, but not computed by the bundle's own kernels alone: {foreign[0]}{more}."
        return Census(Verdict.LIBRARY, reason, tuple(warnings), evidence)
    if not launched:
        reason = (
            "Every output is right, but no kernel of the bundle was launched: PyTorch's own operations computed them,"
            " so this says nothing about the bundle."
        )
        return Census(Verdict.INCONCLUSIVE, reason, tuple(warnings), evidence)
    return Census(Verdict.VALUES_ONLY, "", tuple(warnings), evidence)


def foreign_work(bundle: Bundle, launches: Sequence[Launches], names: Mapping[str, str]) -> tuple[str, ...]:
    """What in a call anything but the bundle's own kernels computed, in words. names: as in judged."""
    own = kernels_of(bundle)
    return tuple(
        _accused(seen, names.get(each.function, each.function))
        for each in launches
        for seen in each.seen
        if class_of(seen, own) is WorkClass.LIBRARY
    )


@dataclass(frozen=True)
class _CallCensus:
    """What one call shows. lines: of evidence. foreign: accusations. kernels: how many were launched. launched: the
    names of the bundle's own among them."""

    lines: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kernels: int = 0
    launched: frozenset[str] = frozenset()


def _one_call(
    recorded: Sequence[Launches],
    own: Mapping[str, str],
    names: Mapping[str, str],
    aligning: frozenset[str],
) -> _CallCensus:
    """aligning: the lines on which an address is asked for only to learn how it is aligned."""
    lines: list[str] = []
    foreign: list[str] = []
    warnings: list[str] = []
    launched: set[str] = set()
    kernels = 0
    for launches in recorded:
        who = names.get(launches.function, launches.function)
        classes = {seen: class_of(seen, own) for seen in launches.seen}
        lines += [_line(seen, each, who) for seen, each in classes.items()]
        foreign += [_accused(seen, who) for seen, each in classes.items() if each is WorkClass.LIBRARY]
        subject = f"{who[:1].upper()}{who[1:]}"
        kernels += sum(seen.count for seen in launches.seen if seen.kind == "kernel")
        launched |= {seen.name for seen, each in classes.items() if each is WorkClass.OWN}
        foreign += _unexplained(launches, classes, who)
        reads = {seen.where for seen in launches.seen if seen.kind == "read" and seen.name == "data_ptr"}
        if not reads <= aligning:
            warnings.append(f"{subject} reads tensor addresses outside a kernel launch.")
    return _CallCensus(tuple(lines), tuple(foreign), tuple(warnings), kernels, frozenset(launched))


def combined(counted: Census, executed: Census | None) -> Census:
    """The census of a job. What was recorded names lines, so it comes first."""
    if executed is None:
        return counted
    chosen = executed if counted.verdict is Verdict.VALUES_ONLY else counted
    return replace(chosen, warnings=counted.warnings, evidence=(*counted.evidence, *executed.evidence))


def class_of(seen: Seen, own: Mapping[str, str]) -> WorkClass:
    """Classify one recorded kernel, operation or read. own: the kernels in the bundle's sources."""
    match seen.kind:
        case "kernel":
            return WorkClass.OWN if seen.name in own else WorkClass.LIBRARY
        case "operation":
            return _operation(seen)
        case "read":
            if seen.name == "data_ptr" or seen.remark == "one number":
                return WorkClass.REPORTED
    return WorkClass.LIBRARY


def _operation(seen: Seen) -> WorkClass:
    space = seen.name.partition("::")[0]
    name = bare(seen.name)
    if space != "aten" or seen.remark == "parts":
        return WorkClass.LIBRARY
    if name in ALLOCATIONS | FILLS | VIEWS_AND_QUERIES:
        return WorkClass.FORM
    if name in MOVES:
        return WorkClass.LIBRARY if seen.remark == "converts" else WorkClass.MOVE
    if name in NUMBERS:
        return WorkClass.REPORTED if seen.remark == "one number" else WorkClass.LIBRARY
    return WorkClass.LIBRARY


def _unexplained(launches: Launches, classes: Mapping[Seen, WorkClass], who: str) -> list[str]:
    """Accuse a function that launches no kernel and still returns a new tensor, unless fills explain the result."""
    if not launches.fresh or any(each in (WorkClass.OWN, WorkClass.LIBRARY) for each in classes.values()):
        return []
    moves = [seen for seen, each in classes.items() if each is WorkClass.MOVE and seen.kind == "operation"]
    if moves:
        return [f"{who} launches no kernel: {moves[0].name} does its work{_at(moves[0])}"]
    filled = any(bare(seen.name) in FILLS for seen in launches.seen)
    return [] if filled else [f"{who} launches no kernel, and nothing that was recorded computes its result"]


def _accused(seen: Seen, who: str) -> str:
    what = {
        "kernel": f"launches the Triton kernel {seen.name}, which is not in the bundle",
        "operation": f"calls {seen.name}",
        "read": f"reads values from a tensor with {seen.name}",
    }.get(seen.kind, seen.name)
    return f"{who} {what}{REMARKS.get(seen.remark, '')}{_at(seen)}"


def _at(seen: Seen) -> str:
    return f" at {seen.where}" if seen.where else ""


def _line(seen: Seen, work: WorkClass, who: str) -> str:
    return f"{seen.count} × {_short(seen.name)} ({seen.kind}, {who}{_at(seen)}): {work.value}"


def _short(name: str) -> str:
    return name if len(name) <= 120 else f"{name[:117]}…"


def _cut(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more"]


# --- replacement_args ------------------------------------------------------------------------------------------------


def argument_work(graph: Graph, rewritten: Graph, replacements: Iterable[str]) -> tuple[Node, ...]:
    """Find the operations that replacement_args added to the graph and that compute with tensors."""
    keys = set(replacements)
    numbers: set[str] = set()
    found = []
    for node in rewritten.operations:
        calculates = node.kind is NodeKind.CALL and node.target.startswith(("operator.", "builtins.", "math."))
        from_numbers = calculates and numbers.issuperset(node.inputs)
        if from_numbers or last_part(node) in SIZES:
            numbers.add(node.name)
        elif node.name not in graph.by_name and node.target not in keys and not _only_views(node, numbers):
            found.append(node)
    return tuple(found)


def _only_views(node: Node, numbers: set[str]) -> bool:
    """Whether a node only views, copies or queries a tensor. Indexing by a tensor gathers, which a kernel has to do."""
    if node.target == "operator.getitem":
        return numbers.issuperset(references(node.args[1:]))
    return last_part(node) in FORMS
