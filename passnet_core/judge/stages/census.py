"""Whose work it was: from the list of what the replacement functions launched, which of it is the bundle's own.

Its own are the Triton kernels that stand in its sources, read here and not told by the candidate. Allowed besides are
allocations, fills, views and copies; everything else that computes is a library's, and makes the pass a *library* pass.

The lists come from the candidate's process (tally.py), where a bundle that knows of it can falsify them. What holds
against that: two calls are watched by different means; a kernel counts as own only under a name from the sources; in
the device trace it may not run more often than it was launched; and a replacement whose result nothing explains is a
library's all the same. What computes in replacement_args, outside of the replacement functions, is read from the graph
as the referee rewrote it.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from passnet_core.graphs.effects import VIEWS, last_part
from passnet_core.graphs.ir import Graph, Node, NodeKind, references
from passnet_core.judge.protocol.messages import Launches, Seen
from passnet_core.judge.stages.findings import Census
from passnet_core.records import LAUNCHED, Bundle, Device, Evidence, Verdict

MOST_LINES = 60

ALLOCATIONS = frozenset(
    {
        "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_",
        "_resize_output_",
    }
)  # fmt: skip
FILLS = frozenset(
    {
        "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full", "fill",
        "fill_", "zero", "zero_", "scalar_tensor", "lift", "lift_fresh", "lift_fresh_copy",
    }
)  # fmt: skip
LOOKS = frozenset(
    {
        "alias", "as_strided", "as_strided_", "detach", "detach_", "diagonal", "expand", "permute", "select", "slice",
        "split", "split_with_sizes", "squeeze", "squeeze_", "t", "t_", "transpose", "transpose_", "unbind", "unfold",
        "unsqueeze", "unsqueeze_", "view", "_unsafe_view", "_reshape_alias", "view_as_real", "view_as_complex",
        "reshape", "set_", "is_contiguous", "is_same_size", "size", "stride", "sym_size", "sym_stride", "sym_numel",
        "sym_storage_offset", "dim", "numel", "record_stream", "is_pinned", "resolve_conj", "resolve_neg",
    }
)  # fmt: skip
"""Views, and questions about a tensor's form."""
MOVES = frozenset({"clone", "copy", "copy_", "_to_copy", "contiguous", "cat", "_reshape_copy", "_pin_memory"})
"""Copies of the same numbers to another place."""
NUMBERS = frozenset({"_local_scalar_dense", "item"})
"""Reads one number into Python."""
IDLE = frozenset({"to", "expand_as", "view_as", "type_as", "flatten", "unflatten", "narrow", "chunk", "movedim"})
"""Seen in a trace where there was nothing to do; else what they call is seen."""

DEVICE_FILLS = ("Memset", "FillFunctor")
DEVICE_MOVES = ("Memcpy", "direct_copy_kernel", "CatArrayBatchedCopy", "copy_device_to_device", "copy_kernel_cuda")

FORMS = VIEWS | {
    "size", "shape", "stride", "dim", "ndim", "numel", "nelement", "dtype", "device", "layout", "element_size",
    "storage_offset", "is_contiguous", "reshape", "flatten", "contiguous", "data", "len", "requires_grad", "is_cuda",
    "view_as_real", "ravel", "get_device", "itemsize", "nbytes", "swapdims", "moveaxis", "hsplit", "vsplit",
}  # fmt: skip
"""What replacement_args may ask of a tensor."""
SIZES = frozenset(
    {
        "size", "shape", "stride", "dim", "ndim", "numel", "nelement", "dtype", "device", "layout", "element_size",
        "storage_offset", "is_contiguous", "len", "requires_grad", "is_cuda", "get_device", "itemsize", "nbytes",
    }
)  # fmt: skip
"""Those that answer with numbers, with which Python may calculate."""

KERNEL_DECORATORS = frozenset({"jit", "autotune", "heuristics"})


class Whose(StrEnum):
    OWN = "the bundle's own"
    FORM = "allocation, fill or view"
    MOVE = "data movement"
    TOLD = "reported only"
    LIBRARY = "library"


def kernels_of(bundle: Bundle) -> dict[str, str]:
    """Names of the Triton functions that the bundle's sources define, each with its file."""
    return {name: file for name, (file, _) in _jitted(bundle).items()}


def launchable(bundle: Bundle) -> dict[str, str]:
    """Those that no other kernel of the bundle calls, and that are therefore meant to be launched."""
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
    found: dict[str, tuple[str, ast.FunctionDef]] = {}
    for file in bundle.files:
        try:
            tree = ast.parse(file.code)
        except (SyntaxError, ValueError, RecursionError):
            continue
        handed = {
            node.args[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and len(node.args) == 1
            and isinstance(node.args[0], ast.Name)
            and _last(node.func) in KERNEL_DECORATORS
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (
                node.name in handed or any(_last(each) in KERNEL_DECORATORS for each in node.decorator_list)
            ):
                found[node.name] = (file.name, node)
    return found


def _last(node: ast.expr) -> str:
    """ "jit" of triton.jit, of jit, and of triton.jit(…)."""
    match node:
        case ast.Call(func=function):
            return _last(function)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


# --- the verdict -----------------------------------------------------------------------------------------------------


def judged(
    bundle: Bundle,
    device: Device,
    tallies: Iterable[Launches],
    graph: Graph,
    rewritten: Graph,
    keys: Mapping[str, str],
) -> Census:
    """LIBRARY where something foreign computed, else VALUES_ONLY. keys: replacement key, how people call it.

    graph, rewritten: the subgraph before and after its passes, as the referee rewrote it.
    """
    own = kernels_of(bundle)
    tallies = tuple(tallies)
    lines: list[str] = []
    foreign: list[str] = []
    warnings: list[str] = []
    launched: set[str] = set()
    for tally in tallies:
        who = keys.get(tally.function, tally.function)
        whose = {seen: whose_is(seen, own) for seen in tally.seen}
        whose.update(_too_often(tally, own))
        whose = _told_once(whose)
        lines += [_line(seen, each, who) for seen, each in whose.items()]
        foreign += [_accusation(seen, who) for seen, each in whose.items() if each is Whose.LIBRARY]
        launches = sum(seen.count for seen in tally.seen if seen.kind == "kernel")
        if launches != tally.launches:
            warnings.append(
                f"{who[:1].upper()}{who[1:]} launched {launches} kernels in one call and {tally.launches} in the next."
            )
        launched |= {seen.name for seen, each in whose.items() if each is Whose.OWN}
        foreign += _unexplained(tally, whose, who)
        if any(seen.name == "data_ptr" and seen.kind == "read" for seen in tally.seen):
            warnings.append(f"{who} reads addresses of tensors outside of a kernel launch.")
        if device is Device.CUDA and _kernels(tally, "kernel") and not _kernels(tally, "device"):
            warnings.append(f"The device trace saw nothing of {who}; only what was launched by name is known.")
    work = argument_work(graph, rewritten, keys)
    lines += [f"{node.target} in replacement_args: {Whose.LIBRARY.value}" for node in work]
    foreign += [f"replacement_args computes {last_part(node)}, outside of any kernel of the bundle" for node in work]
    if not any(tally.calls for tally in tallies):
        warnings.append("No replacement function was called in the census.")
    idle = [name for name in launchable(bundle) if name not in launched]
    if idle:
        shown = ", ".join(f"{name} ({own[name]})" for name in sorted(idle)[:8]) + (" …" if len(idle) > 8 else "")
        warnings.append(f"Kernels defined but not launched here: {shown}.")
    evidence = Evidence(LAUNCHED, "\n".join(_cut(sorted(lines))) or "Nothing was launched.")
    if not foreign:
        return Census(Verdict.VALUES_ONLY, "", tuple(warnings), (evidence,))
    more = f" ({len(foreign) - 1} more)" if len(foreign) > 1 else ""
    reason = f"Right, but not by kernels of its own: {foreign[0]}{more}."
    return Census(Verdict.LIBRARY, reason, tuple(warnings), (evidence,))


def whose_is(seen: Seen, own: Mapping[str, str]) -> Whose:
    """To whom one thing that was seen belongs. own: kernels in the bundle's sources."""
    match seen.kind:
        case "kernel":
            return Whose.OWN if seen.name in own else Whose.LIBRARY
        case "device":
            return _on_device(seen.name, own)
        case "operation" | "trace":
            return _operation(seen)
        case "read":
            if seen.name == "data_ptr" or seen.remark == "one number":
                return Whose.TOLD
    return Whose.LIBRARY


def _operation(seen: Seen) -> Whose:
    space = seen.name.partition("::")[0]
    name = _bare(seen.name)
    if space != "aten":
        return Whose.LIBRARY
    if name in ALLOCATIONS | FILLS | LOOKS or (seen.kind == "trace" and name in IDLE | NUMBERS):
        return Whose.FORM
    if name in MOVES:
        return Whose.LIBRARY if seen.remark == "converts" else Whose.MOVE
    if name in NUMBERS:
        return Whose.TOLD if seen.remark == "one number" else Whose.LIBRARY
    return Whose.LIBRARY


def _on_device(name: str, own: Mapping[str, str]) -> Whose:
    if name in own:
        return Whose.OWN
    if any(each in name for each in DEVICE_FILLS):
        return Whose.FORM
    if any(each in name for each in DEVICE_MOVES):
        return Whose.MOVE
    return Whose.LIBRARY


def _told_once(whose: Mapping[Seen, Whose]) -> dict[Seen, Whose]:
    """Without what a trace saw and the modes saw as well, which know the line; and without what is harmless in it."""
    known = {_bare(seen.name) for seen in whose if seen.kind == "operation"}
    return {
        seen: each
        for seen, each in whose.items()
        if seen.kind != "trace" or (each is Whose.LIBRARY and _bare(seen.name) not in known)
    }


def _bare(name: str) -> str:
    """ "add" of aten::add.Tensor; in-place and other forms have names of their own."""
    return name.partition("::")[2].partition(".")[0]


def _too_often(tally: Launches, own: Mapping[str, str]) -> dict[Seen, Whose]:
    """Kernels in the device trace under a name of the bundle's that ran more often than they were launched."""
    launches = Counter[str]()
    for seen in tally.seen:
        if seen.kind == "kernel":
            launches[seen.name] += seen.count
    return {
        seen: Whose.LIBRARY
        for seen in tally.seen
        if seen.kind == "device" and seen.name in own and seen.count > launches[seen.name]
    }


def _unexplained(tally: Launches, whose: Mapping[Seen, Whose], who: str) -> list[str]:
    """What speaks against a function that launches no kernel of its own, and yet gives right values."""
    if not tally.fresh or any(each in (Whose.OWN, Whose.LIBRARY) for each in whose.values()):
        return []
    moves = [seen for seen, each in whose.items() if each is Whose.MOVE and seen.kind == "operation"]
    if moves:
        return [f"{who} launches no kernel, {moves[0].name} does its work{_at(moves[0])}"]
    filled = any(_bare(seen.name) in FILLS for seen in tally.seen)
    return [] if filled else [f"{who} launches no kernel, and nothing that was seen computes its result"]


def _kernels(tally: Launches, kind: str) -> bool:
    return any(seen.kind == kind for seen in tally.seen)


def _accusation(seen: Seen, who: str) -> str:
    what = {
        "kernel": f"launches the Triton kernel {seen.name}, which is not in the bundle",
        "operation": f"calls {seen.name}",
        "trace": f"has {seen.name} computed where it is not watched",
        "device": f"runs {_short(seen.name)} on the device",
        "read": f"takes values out of a tensor with {seen.name}",
    }.get(seen.kind, seen.name)
    converting = ", which converts the type" if seen.remark == "converts" else ""
    return f"{who} {what}{converting}{_at(seen)}"


def _at(seen: Seen) -> str:
    return f" at {seen.where}" if seen.where else ""


def _line(seen: Seen, whose: Whose, who: str) -> str:
    place = f"{seen.kind} trace" if seen.kind == "device" else seen.kind
    return f"{seen.count} × {_short(seen.name)} ({place}, {who}{_at(seen)}): {whose.value}"


def _short(name: str) -> str:
    return name if len(name) <= 120 else f"{name[:117]}…"


def _cut(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more"]


# --- replacement_args ------------------------------------------------------------------------------------------------


def argument_work(graph: Graph, rewritten: Graph, replacements: Iterable[str]) -> tuple[Node, ...]:
    """The operations that replacement_args added to the graph and that compute with tensors."""
    keys = set(replacements)
    numbers: set[str] = set()
    found = []
    for node in rewritten.operations:
        calculates = node.kind is NodeKind.CALL and node.target.startswith(("operator.", "builtins.", "math."))
        from_numbers = calculates and numbers.issuperset(node.inputs)
        if from_numbers or last_part(node) in SIZES:
            numbers.add(node.name)
        elif node.name not in graph.by_name and node.target not in keys and not _shapes(node, numbers):
            found.append(node)
    return tuple(found)


def _shapes(node: Node, numbers: set[str]) -> bool:
    """Whether it only looks at a tensor, or copies it: indexing by a tensor gathers, which a kernel has to do."""
    if node.target == "operator.getitem":
        return numbers.issuperset(references(node.args[1:]))
    return last_part(node) in FORMS
