"""Pass files: the pattern, the kernels, and a replacement function that plans a launch once for arguments of a kind."""

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from passnet_core.graphs.emission import emit
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Slice
from passnet_core.graphs.ir import Value as Argument
from passnet_core.graphs.spelling import Names
from passnet_core.graphs.vocabulary import operator_label, operator_sequence
from passnet_core.records.bundles import PassFile
from passnet_core.solvers.rules.dtypes import FLOATS, DType
from passnet_core.solvers.rules.kernels import Access, Code, Output, Space, Unsupported, planned
from passnet_core.solvers.rules.layouts import is_contiguous, root_of, row_major, sizes_of, strides_of
from passnet_core.solvers.rules.lowering import Literal, Lowering
from passnet_core.solvers.rules.places import Split
from passnet_core.solvers.rules.regions import Region, Surveyed
from passnet_core.solvers.rules.sizes import Size
from passnet_core.solvers.rules.values import Cast, Stored, Value, below

MAY_DIFFER: Mapping[str, str] = {
    "view": "size", "reshape": "size", "expand": "size", "repeat": "times", "unflatten": "size", "layer_norm": "size",
    "rms_norm": "size", "add": "number", "sub": "number", "mul": "number", "div": "number", "clamp": "bound",
    "masked_fill": "number", "getitem": "bound", "split": "length", "arange": "bound", "full": "number", "zeros": "size",
    "ones": "size", "narrow": "bound", "group_norm": "number", "batch_norm": "number", "hardtanh": "bound",
    "broadcast_to": "size", "tensor": "number", "eq": "number", "ne": "number", "lt": "number", "le": "number",
    "gt": "number", "ge": "number", "clamp_min": "bound", "leaky_relu": "slope", "unsqueeze": "", "pad": "length",
    "tile": "times", "dropout": "chance",
}  # fmt: skip
"""Operations whose numbers may differ between subgraphs that share a pass, with a name for them."""


@dataclass(frozen=True)
class Found:
    """A region of one subgraph as a graph of its own, with its inputs as the subgraph knows them."""

    surveyed: Surveyed
    region: Region
    graph: Graph
    """Inputs first, by the names of the subgraph."""

    @property
    def inputs(self) -> list[Stored]:
        return [_as_stored(self.surveyed.values[name], name) for name in self.region.inputs]


def extracted(surveyed: Surveyed, region: Region) -> Found:
    graph = surveyed.graph
    inputs = tuple(Node(name, NodeKind.INPUT, "") for name in region.inputs)
    nodes = tuple(replace(graph.by_name[name], line=None) for name in region.nodes)
    results = tuple(Ref(name) for name in region.outputs)
    return Found(surveyed, region, Graph((*inputs, *nodes), results[0] if len(results) == 1 else results))


def _as_stored(value: Any, name: str) -> Stored:
    if not isinstance(value, Value):
        raise Unsupported("a tuple of tensors from elsewhere")
    return Stored(value.shape, value.dtype, name, strides_of(value) if not is_contiguous(value) else None, name=name)


# --- literals ---


def _literals(node: Node) -> Iterator[tuple[tuple[Any, ...], int | float]]:
    """Numbers among the arguments that may differ, with the path to each."""
    label = operator_label(node)
    if label not in MAY_DIFFER:
        return

    def walk(value: Argument, path: tuple[Any, ...], sliced: bool) -> Iterator[tuple[tuple[Any, ...], int | float]]:
        match value:
            case bool():
                return
            case int() | float():
                if label == "getitem" and not sliced:
                    return
                if isinstance(value, int) and value < 0 and label not in ("add", "sub", "mul", "masked_fill"):
                    return
                yield path, value
            case tuple():
                for place, each in enumerate(value):
                    yield from walk(each, (*path, place), sliced)
            case Listed(items):
                for place, each in enumerate(items):
                    yield from walk(each, (*path, "items", place), sliced)
            case Slice(start, stop, _):
                yield from walk(start, (*path, "start"), True)
                yield from walk(stop, (*path, "stop"), True)

    for place, value in enumerate(node.args):
        yield from walk(value, ("args", place), False)
    for place, (_, value) in enumerate(node.kwargs):
        yield from walk(value, ("kwargs", place), False)


def _with(value: Any, path: Sequence[Any], new: Argument) -> Any:
    """The argument with the part at the path replaced."""
    if not path:
        return new
    first, *rest = path
    if first == "items":
        return Listed(tuple(_with(value.items, rest, new)))
    if isinstance(first, str):
        return replace(value, **{first: _with(getattr(value, first), rest, new)})
    return tuple(_with(each, rest, new) if place == first else each for place, each in enumerate(value))


def _changed(node: Node, path: Sequence[Any], new: Argument) -> Node:
    first, place, *rest = path
    if first == "args":
        return replace(node, args=tuple(_with(e, rest, new) if i == place else e for i, e in enumerate(node.args)))
    return replace(
        node, kwargs=tuple((n, _with(e, rest, new) if i == place else e) for i, (n, e) in enumerate(node.kwargs))
    )


def skeleton(graph: Graph) -> str:
    """The same text for graphs that differ in names and in numbers that may differ."""
    names = {node.name: f"v{place}" for place, node in enumerate(graph.nodes)}
    found: list[str] = []
    for node in graph.nodes:
        holed = node
        for path, number in _literals(node):
            holed = _changed(holed, path, "number" if isinstance(number, float) else "integer")
        text = repr((holed.kind, holed.target, _renamed(holed.args, names), _renamed(holed.kwargs, names)))
        found.append(text)
    return "\n".join([*found, repr(_renamed(graph.result, names))])


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case Ref(name):
            return Ref(names[name])
        case Listed(items):
            return Listed(_renamed(items, names))
        case Slice(start, stop, step):
            return Slice(*(_renamed(each, names) for each in (start, stop, step)))
        case tuple():
            return tuple(_renamed(each, names) for each in value)
    return value


@dataclass
class Shared:
    """Regions of several subgraphs that one pass replaces. literals: the numbers in which they differ."""

    found: list[Found]
    graph: Graph = field(init=False)
    literals: list[Literal] = field(init=False)

    def __post_init__(self) -> None:
        first = self.found[0].graph
        taken = Names(taken=[node.name for node in first.nodes])
        values: dict[tuple[int | float, ...], Literal] = {}
        nodes: list[Node] = []
        columns = [list(each.graph.nodes) for each in self.found]
        for place, node in enumerate(first.nodes):
            mine = [each[place] for each in columns]
            numbers = [dict(_literals(each)) for each in mine]
            for path, number in _literals(node):
                vector = tuple(each[path] for each in numbers)
                if len(set(vector)) == 1:
                    continue
                if vector not in values:
                    values[vector] = Literal(taken.free(MAY_DIFFER[operator_label(node)] or "number"), vector)
                node = _changed(node, path, Ref(values[vector].name))
            nodes.append(node)
        self.literals = list(values.values())
        inputs = [node for node in nodes if node.kind is NodeKind.INPUT]
        extra = [Node(each.name, NodeKind.INPUT, "") for each in self.literals]
        self.graph = Graph(
            (*inputs, *extra, *(node for node in nodes if node.kind is not NodeKind.INPUT)), first.result
        )

    def forms(self, *, exactly: bool = False) -> list[list[int]]:
        """Which of the regions have tensors of the same ranks and dtypes, as one kernel serves them: by index.

        exactly: of the very same dtypes, where eager returns an input itself if it has the wanted dtype already."""
        groups: dict[tuple[Any, ...], list[int]] = {}
        for index, each in enumerate(self.found):
            key = tuple((len(v.shape), v.dtype.name if exactly else _kind(v, each.inputs)) for v in each.inputs)
            groups.setdefault(key, []).append(index)
        return list(groups.values())


def _kind(value: Stored, inputs: Sequence[Stored]) -> str:
    if not value.dtype.is_float or value.dtype.is_wide:
        return value.dtype.name
    return next(f"as {place}" for place, each in enumerate(inputs) if each.dtype.name == value.dtype.name)


# --- one form ---


@dataclass
class Form:
    """The kernels of a pass for tensors of certain ranks and dtypes, with what must hold of the inputs."""

    inputs: list[Stored]
    outputs: list[tuple[str, Value]]
    """Name of each result with its value, in the order of the pattern."""
    stored: dict[str, Value]
    """Tensors that are allocated, by name: results and what kernels pass on to each other."""
    kernels: list[Code]


class Aliases(Exception):
    """Whether a result is an input itself depends on its dtype."""


def formed(shared: Shared, members: Sequence[int], name: str, *, exactly: bool = False) -> Form:
    """Lower a form. Raises Unsupported, Aliases."""
    chosen = [shared.found[index] for index in members]
    first = chosen[0]
    inputs: list[Stored] = []
    columns = [each.inputs for each in chosen]
    for place, own in enumerate(columns[0]):
        tensor = shared.graph.inputs[place].name
        sizes = tuple(
            Size.atom(f"{tensor}.shape[{axis}]", [each[place].shape[axis].value for each in columns])
            for axis in range(len(own.shape))
        )
        source = tensor
        if own.dtype.is_float and not own.dtype.is_wide:
            source = next(e.tensor for e in [*inputs, own] if e.dtype.name == own.dtype.name) if inputs else tensor
            source = tensor if source == own.tensor else source
        dtype = DType(own.dtype.name, source if own.dtype.is_float and not own.dtype.is_wide and not exactly else "")
        inputs.append(Stored(sizes, dtype, tensor, own.steps, name=tensor))
    known: dict[str, Any] = {each.tensor: each for each in inputs}
    for literal in shared.literals:
        known[literal.name] = Literal(literal.name, tuple(literal.values[index] for index in members))
    lowering = Lowering(known)
    lowering.run(shared.graph)
    result = shared.graph.result
    names = [each.name for each in result if isinstance(each, Ref)] if isinstance(result, tuple) else [result.name]  # type: ignore[union-attr]
    outputs: list[tuple[str, Value]] = []
    wanted: list[Output] = []
    for each in names:
        value = lowering.known[each]
        if not isinstance(value, Value):
            raise Unsupported("a result that is no tensor")
        cast = root_of(value)
        if (
            not exactly
            and isinstance(cast, Cast)
            and isinstance(root_of(cast.operand), Stored)
            and cast.operand.dtype.source
        ):
            raise Aliases
        outputs.append((each, value))
        if not isinstance(value, Stored) and not any(value is other.value for other in wanted):
            wanted.append(Output(each, value))
    wanted.sort(key=lambda each: len(list(below(each.value))))
    try:
        kernels = planned(wanted, name)
    except Split as split:
        raise Unsupported("a view that takes a computed coordinate apart") from split
    held = {each.tensor: each.value for code in kernels for each in code.outputs}
    del first
    return Form(inputs, outputs, held, kernels)


# --- text ---


def pass_file(
    shared: Shared, forms: Sequence[tuple[Form, Sequence[int]]], file: str, function: str, docstring: str
) -> PassFile:
    """Write the file of a pass."""
    arguments = [node.name for node in shared.graph.inputs]
    listed = ", ".join(arguments)
    several = len(forms) > 1
    pattern = _pattern(shared.graph)
    kernels, plans = [], []
    for place, (form, _) in enumerate(forms):
        kernels += [code.text for code in form.kernels]
        if several:
            call = f"call_{place + 1}"
            plans.append(_plan(form, f"plan_{place + 1}", arguments, call))
            lines = [f"def {call}(plan, {listed}):", *(f"    {line}" for line in _call(form, several=True))]
            plans.append("\n".join(lines))
        else:
            plans.append(_plan(form, "planned", arguments, ""))
    if several:
        plans.append(_choice([form for form, _ in forms], listed))
    imports = ["import torch", "import triton", "import triton.language as tl"]
    body = "\n\n\n".join([*kernels, *plans])
    helpers = ["from launching import Launch, facts"]
    used = [
        each
        for each in ("blocks", "index_dtype", "joint", "merged", "ordered", "rounded", "steps", "tiles", "triton_dtype")
        if re.search(rf"\b{each}\(", body)
    ]
    helpers.append(f"from planning import {', '.join(used)}")
    if "libdevice." in body:
        helpers.append("from triton.language.extra import libdevice")
    if re.search(r"\bdevice\(", pattern):
        helpers.append("from torch import device")
    if re.search(r"\binf\b", pattern):
        helpers.append("from torch import inf")
    head = "\n".join([*imports, *sorted(helpers)])
    text = f'''"""{docstring}"""

{head}


{pattern}


def replacement_args({listed}):
    return ({listed},)


{body}


PLANS = {{}}


{_replacement(forms, function, arguments)}


def replacement_func():
    return {function}
'''
    return PassFile(file, text)


def _pattern(graph: Graph) -> str:
    """pattern(), with the operations in the spelling of the subgraph."""
    lines = emit(graph).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("    def forward("))
    arguments = ", ".join(node.name for node in graph.inputs)
    body = [line[4:] for line in lines[start + 1 :]]
    return "\n".join([f"def pattern({arguments}):", *body])


def _allocation(name: str, value: Value, device: str) -> str:
    shape = _tuple([each.text for each in value.shape])
    strides, sizes = strides_of(value), sizes_of(value)
    dtype = value.dtype.host
    if not value.contiguous:
        for each in below(value):
            if isinstance(each, Stored) and tuple(e.text for e in each.shape) == tuple(e.text for e in value.shape):
                if strides_of(each) == strides:
                    more = "" if each.dtype == value.dtype else f", dtype={dtype}"
                    return f"{name} = torch.empty_like({each.tensor}{more})"
    if strides is None or is_contiguous(value) or strides == row_major(sizes):
        return f"{name} = torch.empty({shape}, dtype={dtype}, device={device})"
    order = tuple(sorted(range(len(sizes)), key=lambda axis: (-strides[axis], axis)))
    return f"{name} = torch.empty_strided({shape}, ordered({shape}, {order}), dtype={dtype}, device={device})"


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _plan(form: Form, name: str, arguments: Sequence[str], call: str) -> str:
    device = f"{form.inputs[0].tensor}.device"
    lines = [
        f"def {name}({', '.join(arguments)}):",
        f'    """Tensors to allocate and launches for arguments of this kind."""',
    ]
    for tensor, value in form.stored.items():
        lines.append(f"    {_allocation(tensor, value, device)}")
    tensors = list(
        dict.fromkeys(
            each.tensor
            for code in form.kernels
            for each in code.accesses
            if each.strides or each.others or each.start.terms
        )
    )
    for tensor in tensors:
        lines.append(f"    {tensor}_steps = steps({tensor})")
    launches = []
    for place, code in enumerate(form.kernels):
        launch = "launch" if len(form.kernels) == 1 else f"launch_{place + 1}"
        launches.append(launch)
        lines += [f"    {line}" for line in _launch(code, launch)]
    new = [f"{tensor}.shape, {tensor}.stride()" for tensor in form.stored]
    head = [call] if call else []
    lines.append(
        f"    return {_tuple([*head, *new, *launches]) if len([*head, *new, *launches]) < 2 else ', '.join([*head, *new, *launches])}"
    )
    return "\n".join(lines)


def _launch(code: Code, launch: str) -> list[str]:
    lines: list[str] = []
    sizes: dict[str, list[str]] = {}
    strides: dict[str, list[str]] = {each.label: [] for each in code.accesses}
    spaces = [code.outer, *code.spaces]
    for space in spaces:
        label = "outer" if space is code.outer else space.name
        sizes[label] = []
        for number, run in enumerate(_runs(space, code)):
            mine = [each for each in code.accesses if run[0] in each.strides]
            if len(run) == 1:
                sizes[label].append(space.sizes[run[0]].text)
                for each in mine:
                    strides[each.label].append(each.strides[run[0]].text)
                continue
            names = [f"{each.label.lower()}_{label}{number or ''}" for each in mine]
            whole = f"{label}{number or ''}"
            given = [_tuple([space.sizes[name].text for name in run])]
            given += [_tuple([each.strides[name].text for name in run]) for each in mine]
            lines.append(f"{', '.join([whole, *names])} = merged(")
            lines += [f"    {each}," for each in given]
            lines.append(")")
            sizes[label].append(f"*{whole}")
            for each, own in zip(mine, names):
                strides[each.label].append(f"*{own}")
    for each in code.accesses:
        strides[each.label] += [size.text for _, size in each.others]
        if each.start.terms:
            strides[each.label].append(each.start.text)
    constants = {("OUTER" if label == "outer" else label.upper()): _tuple(each) for label, each in sizes.items()}
    constants |= {label: _tuple(each) for label, each in strides.items()}
    constants |= code.constants
    constants["INDEX"] = f"index_dtype({', '.join(code.tensors)})"
    count = _product([each.text for each in code.outer.sizes.values()])
    if code.tiled:
        columns = [_product([each.text for each in space.sizes.values()]) for space in code.spaces]
        widths = [f"columns_{space.name}" if len(code.spaces) > 1 else "columns" for space in code.spaces]
        lines.append(f"grid, rows, {', '.join([*widths, 'warps'])} = tiles({', '.join([count, *columns])})")
        constants["ROWS"] = "rows"
        for width in widths:
            constants[width.upper()] = width
    else:
        lines.append(f"grid, block, warps = blocks({count})")
        constants["BLOCK"] = "block"
    lines.append("constants = {")
    lines += [f'    "{key}": {value},' for key, value in constants.items()]
    lines.append("}")
    lines.append(f"{launch} = Launch({code.name}, grid, {_tuple(code.tensors)}, constants, num_warps=warps)")
    return lines


def _product(texts: Sequence[str]) -> str:
    found = [f"({each})" if re.search(r" [-+] ", each) else each for each in texts if each != "1"]
    return " * ".join(found) or "1"


def _runs(space: Space, code: Code) -> list[list[str]]:
    """Variables that may be walked as one where the tensors allow it: neighbours on which each access depends alike."""
    runs: list[list[str]] = []
    for name in space.sizes:
        together = (
            runs
            and not {name, runs[-1][-1]} & code.pinned
            and all((name in each.strides) == (runs[-1][-1] in each.strides) for each in code.accesses)
        )
        if together:
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _replacement(forms: Sequence[tuple[Form, Sequence[int]]], function: str, arguments: Sequence[str]) -> str:
    listed = ", ".join(arguments)
    lines = ["@torch.fx.wrap", f"def {function}({listed}):", f"    key = facts({listed})", "    plan = PLANS.get(key)"]
    if len(forms) == 1:
        lines += ["    if plan is None:", f"        plan = PLANS[key] = planned({listed})"]
        return "\n".join([*lines, *(f"    {line}" for line in _call(forms[0][0]))])
    lines += [
        "    if plan is None:",
        f"        plan = PLANS[key] = planned({listed})",
        f"    return plan[0](plan, {listed})",
    ]
    return "\n".join(lines)


def _choice(forms: Sequence[Form], listed: str) -> str:
    """The function that plans by the form that fits the arguments."""
    lines = [f"def planned({listed}):", '    """The plan of the kernels for tensors of these ranks and dtypes."""']
    for place, form in enumerate(forms):
        conditions: list[str] = []
        for index, own in enumerate(form.inputs):
            ranks = {len(each.inputs[index].shape) for each in forms}
            if len(ranks) > 1:
                conditions.append(f"{own.tensor}.dim() == {len(own.shape)}")
            kinds = {_dtype_condition(each, index) for each in forms}
            if len(kinds) > 1:
                conditions.append(_dtype_condition(form, index))
        lines += [f"    if {' and '.join(conditions)}:", f"        return plan_{place + 1}({listed})"]
    lines.append('    raise TypeError("This pass was not written for tensors of these ranks and dtypes.")')
    return "\n".join(lines)


def _dtype_condition(form: Form, index: int) -> str:
    own = form.inputs[index]
    if not own.dtype.source:
        return f"{own.tensor}.dtype == torch.{own.dtype.name}"
    if own.dtype.source != own.tensor:
        return f"{own.tensor}.dtype == {own.dtype.source}.dtype"
    others = [
        f"{own.tensor}.dtype != {each.dtype.source}.dtype"
        for each in form.inputs[:index]
        if each.dtype.source == each.tensor
    ]
    return " and ".join([f"{own.tensor}.is_floating_point()", *others])


def _call(form: Form, *, several: bool = False) -> list[str]:
    device = f"{form.inputs[0].tensor}.device"
    launches = ["launch"] if len(form.kernels) == 1 else [f"launch_{place + 1}" for place in range(len(form.kernels))]
    several_outputs = len(form.stored) > 1
    names = {
        tensor: (f"{tensor}_shape", f"{tensor}_strides") if several_outputs else ("shape", "strides")
        for tensor in form.stored
    }
    unpacked = [
        *(["_"] if several else []),
        *(each for pair in names.values() for each in pair),
        *(launches if form.kernels else []),
    ]
    lines = [f"{', '.join(unpacked)} = plan"] if form.kernels else []
    for tensor, value in form.stored.items():
        shape, strides = names[tensor]
        lines.append(f"{tensor} = torch.empty_strided({shape}, {strides}, dtype={value.dtype.host}, device={device})")
    for launch, code in zip(launches, form.kernels):
        lines.append(f"{launch}({', '.join(code.tensors)})")
    by_value = {id(value): tensor for tensor, value in form.stored.items()}
    results = [value.tensor if isinstance(value, Stored) else by_value[id(value)] for _, value in form.outputs]
    lines.append(f"return {', '.join(results)}")
    return lines


def title(graph: Graph) -> str:
    """A name from the operations, for functions and files."""
    words: list[str] = []
    skipped = {
        "getitem",
        "view",
        "reshape",
        "transpose",
        "permute",
        "unsqueeze",
        "expand",
        "contiguous",
        "dropout",
        "to",
        "float",
        "type_as",
        "chunk",
        "split",
    }
    for each in operator_sequence(graph):
        if each not in skipped and (not words or words[-1] != each):
            words.append(each)
    if not words:
        words = list(dict.fromkeys(operator_sequence(graph)))[:3] or ["values"]
    found = "_".join(words[:4]).strip("_").lower()
    found = re.sub(r"\W", "_", found)
    return f"{found}_values" if keyword.iskeyword(found) or not found.isidentifier() else found


__all__ = ["FLOATS", "Access", "Form", "Found", "Shared", "extracted", "formed", "pass_file", "skeleton", "title"]
