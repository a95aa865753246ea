"""Write a first pass for a subgraph. It is complete if pointwise operations of the subgraph have known Triton code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import Template
from textwrap import dedent, indent

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, reading
from passnet_core.graphs.source import emit
from passnet_core.operations.kinds import named
from passnet_core.records import Bundle, PassFile

LARGEST = 16
"""Most operations in the pattern of a first pass."""

_ADD, _SUB, _MUL, _DIV = "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}"
_RELU = "tl.where({0} < 0, 0.0, {0})"
_SILU = "{0} * tl.sigmoid({0})"
_TANH = "2 * tl.sigmoid(2 * {0}) - 1"
_NAN = "propagate_nan=tl.PropagateNan.ALL"
KERNEL_CODE: Mapping[str, tuple[int, str]] = {
    **dict.fromkeys(("operator.add", "torch.add", ".add"), (2, _ADD)),
    **dict.fromkeys(("operator.sub", "torch.sub", ".sub"), (2, _SUB)),
    **dict.fromkeys(("operator.mul", "torch.mul", ".mul"), (2, _MUL)),
    **dict.fromkeys(("operator.truediv", "torch.div", ".div"), (2, _DIV)),
    **dict.fromkeys(("operator.neg", "torch.neg", ".neg"), (1, "-{0}")),
    **dict.fromkeys(("torch.sigmoid", "torch.nn.functional.sigmoid", ".sigmoid"), (1, "tl.sigmoid({0})")),
    **dict.fromkeys(("torch.relu", "torch.nn.functional.relu", ".relu"), (1, _RELU)),
    **dict.fromkeys(("torch.tanh", "torch.nn.functional.tanh", ".tanh"), (1, _TANH)),
    **dict.fromkeys(("torch.exp", ".exp"), (1, "tl.exp({0})")),
    **dict.fromkeys(("torch.sqrt", ".sqrt"), (1, "tl.sqrt({0})")),
    **dict.fromkeys(("torch.rsqrt", ".rsqrt"), (1, "1 / tl.sqrt({0})")),
    **dict.fromkeys(("torch.erf", ".erf"), (1, "tl.erf({0})")),
    **dict.fromkeys(("torch.abs", ".abs"), (1, "tl.abs({0})")),
    **dict.fromkeys(("torch.square", ".square"), (1, "{0} * {0}")),
    **dict.fromkeys(("torch.maximum", ".maximum"), (2, f"tl.maximum({{0}}, {{1}}, {_NAN})")),
    **dict.fromkeys(("torch.minimum", ".minimum"), (2, f"tl.minimum({{0}}, {{1}}, {_NAN})")),
    "torch.nn.functional.silu": (1, _SILU),
}
"""Operator (methods with a leading dot) -> its number of operands, and the same computation in Triton on float32."""

_HARMLESS = {"inplace": (False,), "alpha": (1,)}
"""Keyword -> the values at which it changes nothing."""

_READS = named("questions") | {"item"}
"""Methods and attributes of a tensor whose values are not tensors."""

_SHAPED = named("shaping")
"""Operations that take a shape."""

_TAKEN = {
    "at", "inside", "out", "out_pointer", "count", "kernel", "replacement", "tensors", "shape", "widest", "broadcast",
    "tl", "torch", "triton", "BLOCK",
}  # fmt: skip
"""Names that the templates use themselves."""


@dataclass(frozen=True)
class _Part:
    """A connected part of the graph with one result, as a graph of its own. supported: its kernel can be written."""

    graph: Graph
    supported: bool

    @property
    def operations(self) -> tuple[Node, ...]:
        return self.graph.operations

    @property
    def input_names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.graph.inputs)


def starting_point(graph: Graph) -> Bundle:
    """Make a bundle of one pass that matches this graph, to start from.

    The kernel is complete if the graph has pointwise operations with known Triton code. Otherwise the pass matches the
    first operation, and the kernel is left to the author. Never fails: a graph without operations gives an empty frame.
    """
    part = _largest_pointwise(graph) or _first_operation(graph)
    if part is None:
        return Bundle((PassFile("MyPass.py", _FRAME.substitute(_EMPTY)),))
    template = _COMPLETE if part.supported else _FRAME
    return Bundle((PassFile("MyPass.py", template.substitute(_filled(part))),))


def kernel_code(node: Node) -> str | None:
    """Write an operation as a Triton expression over the names of its operands; None if its code is not known."""
    name = node.target if node.kind is NodeKind.CALL else f".{node.target}"
    if any(value not in _HARMLESS.get(key, ()) for key, value in node.kwargs):
        return None
    arity, code = KERNEL_CODE.get(name, (0, ""))
    if not arity or len(node.args) != arity or not node.inputs:
        return None
    if not all(isinstance(each, Ref) or _is_number(each) for each in node.args):
        return None
    return code.format(*(each.name if isinstance(each, Ref) else f"({each!r})" for each in node.args))


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e30


def _largest_pointwise(graph: Graph) -> _Part | None:
    """Find the largest part with known Triton code whose values, except the last, are used only inside it."""
    numbers = _numbers(graph)
    usable = {
        node.name
        for node in graph.operations
        if kernel_code(node) is not None and not numbers.intersection((node.name, *node.inputs))
    }
    best: list[Node] = []
    for last in graph.operations:
        if last.name in usable:
            piece = _piece(graph, last, usable)
            if len(best) < len(piece) <= LARGEST:
                best = piece
    return _part(best, supported=True) if best else None


def _numbers(graph: Graph) -> set[str]:
    """Find values that are not tensors, such as sizes."""
    found: set[str] = set()
    for node in graph.nodes:
        read = node.target in _READS or (node.target == "builtins.getattr" and set(_READS).intersection(node.args))
        derived = node.inputs and found.issuperset(node.inputs)
        if read or derived or (node.kind is NodeKind.INPUT and node.target.startswith("torch.Sym")):
            found.add(node.name)
    return found


def _piece(graph: Graph, last: Node, usable: set[str]) -> list[Node]:
    """Return last, and the usable operations before it whose values are used only on the way to it."""
    inside = {last.name}
    for node in reversed(graph.operations):
        users = graph.users[node.name]
        if node.name in usable and node.name not in graph.returned and users and inside.issuperset(users):
            inside.add(node.name)
    return [node for node in graph.operations if node.name in inside]


def _first_operation(graph: Graph) -> _Part | None:
    reading = [node for node in graph.operations if node.inputs]
    # a pattern with a literal shape would match only subgraphs of that size
    anywhere = [node for node in reading if node.target not in _SHAPED]
    first = next(iter(anywhere or reading), None)
    return None if first is None else _part([first], supported=False)


def _part(operations: Sequence[Node], *, supported: bool) -> _Part:
    own = {node.name for node in operations}
    outside = dict.fromkeys(name for node in operations for name in node.inputs if name not in own)
    names = {name: f"{name}_" if name in _TAKEN else name for name in (*outside, *own)}
    values: dict[str, Value] = {old: Ref(new) for old, new in names.items()}
    inputs = tuple(Node(names[name], NodeKind.INPUT, names[name]) for name in outside)
    renamed = tuple(replace(reading(node, values), name=names[node.name]) for node in operations)
    return _Part(Graph((*inputs, *renamed), Ref(renamed[-1].name)), supported)


def _filled(part: _Part) -> dict[str, str]:
    names = part.input_names
    header, body = emit(part.graph).split("def forward(", 1)
    imports = [line for line in header.splitlines() if line.startswith(("import ", "from ")) and line != "import torch"]
    steps = [f"{node.name} = {kernel_code(node)}" for node in part.operations] if part.supported else []
    loads = [f"{name} = tl.load({name}_pointer + at, mask=inside).to(tl.float32)" for name in names]
    return {
        "imports": "".join(f"{line}\n" for line in imports),
        "inputs": ", ".join(names),
        "returned": ", ".join(names) + ("," if len(names) == 1 else ""),
        "pattern": indent(dedent(body.split("\n", 1)[1]).strip(), "    "),
        "pointers": ", ".join(f"{name}_pointer" for name in names),
        "loads": indent("\n".join(loads), "    "),
        "steps": indent("\n".join(steps), "    "),
        "result": part.operations[-1].name,
        "body": (_ONE_INPUT if len(names) == 1 else _SEVERAL_INPUTS).substitute(inputs=", ".join(names)),
    }


_HEAD = """\
import torch
import triton
import triton.language as tl
$imports

def pattern($inputs):
    # The operations to find. This code is traced, not executed. Return every value that is used outside the match.
$pattern


def replacement_args($inputs):
    # The arguments of the replacement function below.
    return ($returned)

"""

_COMPLETE = Template(
    _HEAD
    + """
@triton.jit
def kernel($pointers, out_pointer, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
$loads
$steps
    tl.store(out_pointer + at, $result, mask=inside)


$body

def replacement_func():
    return replacement
"""
)

_ONE_INPUT = Template("""\
@torch.fx.wrap
def replacement($inputs):
    $inputs = $inputs.contiguous()
    out = torch.empty_like($inputs)
    count = out.numel()
    if count:
        kernel[(triton.cdiv(count, 1024),)]($inputs, out, count, BLOCK=1024)
    return out
""")

_SEVERAL_INPUTS = Template('''\
def broadcast(tensors):
    """Return the common shape of the tensors, and each tensor expanded to it and contiguous."""
    rank = max(tensor.dim() for tensor in tensors)
    shapes = [(1,) * (rank - tensor.dim()) + tuple(tensor.shape) for tensor in tensors]
    shape = [next((size for size in sizes if size != 1), 1) for sizes in zip(*shapes)]
    return shape, [tensor.expand(shape).contiguous() for tensor in tensors]


@torch.fx.wrap
def replacement($inputs):
    tensors = [$inputs]
    widest = max(tensors, key=lambda tensor: (tensor.dim() > 0, tensor.dtype.itemsize))
    shape, tensors = broadcast(tensors)
    out = torch.empty(shape, dtype=widest.dtype, device=widest.device)
    count = out.numel()
    if count:
        kernel[(triton.cdiv(count, 1024),)](*tensors, out, count, BLOCK=1024)
    return out
''')

_FRAME = Template(
    _HEAD
    + """
@triton.jit
def kernel(in_pointer, out_pointer, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(in_pointer + at, mask=inside)
    # compute here
    tl.store(out_pointer + at, value, mask=inside)


@torch.fx.wrap
def replacement($inputs):
    # Allocate the result, launch the kernel, and return the same values as pattern.
    raise NotImplementedError("The kernel is not written yet.")


def replacement_func():
    return replacement
"""
)

_EMPTY = {"imports": "", "inputs": "x", "returned": "x,", "pattern": "    return x"}
