"""What operations and kernels read, write and multiply: bytes, and floating-point operations of products."""

import math

from passnet_core.graphs.ir import Node
from passnet_core.graphs.rendering import BYTES
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.kinds import named
from passnet_core.solvers.rules.forms import Form
from passnet_core.solvers.rules.kernels import Access, Code, Space
from passnet_core.solvers.rules.regions import Surveyed
from passnet_core.solvers.rules.shared import FoundRegion
from passnet_core.solvers.rules.sizes import Size
from passnet_core.solvers.rules.values import Value


def computing(found: FoundRegion) -> list[Node]:
    """The operations of a region that eager runs kernels for: all but views."""
    nodes = (found.surveyed.graph.by_name[name] for name in found.region.nodes)
    return [node for node, is_view in zip(nodes, found.views) if not is_view]


def tensor_bytes(value: object) -> int:
    """The bytes of a tensor, or of all in a tuple, in the first subgraph; 0 for what is no tensor."""
    if isinstance(value, tuple | list):
        return sum(map(tensor_bytes, value))
    return elements(value) * BYTES.get(value.dtype.name, 4) if isinstance(value, Value) else 0


def whole_bytes(surveyed: Surveyed, node: Node) -> int:
    """The bytes of all that an operation reads and of its result."""
    return sum(tensor_bytes(surveyed.values[name]) for name in (*dict.fromkeys(node.inputs), node.name))


PICKING = named("picking")


def touched_bytes(surveyed: Surveyed, node: Node) -> int:
    """The bytes that an operation really reads and writes, as far as its shapes tell; 0 if they are not known."""
    if any(name not in surveyed.values for name in (*node.inputs, node.name)):
        return 0
    given = [tensor_bytes(surveyed.values[name]) for name in dict.fromkeys(node.inputs)]
    result = tensor_bytes(surveyed.values[node.name])
    if operator_label(node) in PICKING:
        given = [min(each, result) for each in given]
    return sum(given) + result


def elements(value: Value, place: int = 0) -> int:
    """The number of elements of a tensor in one of the subgraphs that its sizes are known for."""
    return math.prod(size_at(each, place) for each in value.shape)


def size_at(size: Size, place: int) -> int:
    """A size in one of the subgraphs that it is known for."""
    return size.values[place] if len(size.values) > 1 else size.value


def kernel_bytes(code: Code, form: Form) -> int:
    """The bytes of all tensors that a kernel takes, in the first subgraph."""
    known = _tensors(form)
    return sum(tensor_bytes(known[each]) for each in code.tensors)


def kernel_touched_bytes(code: Code, form: Form, place: int) -> int:
    """The bytes of memory that a kernel really reads and writes in one of the form's subgraphs: of a tensor no more
    elements than its accesses have places."""
    known = _tensors(form)
    total = 0
    for tensor in code.tensors:
        value = known[tensor]
        places = sum(_places(each, code, place) for each in code.accesses if each.tensor == tensor)
        total += min(elements(value, place), places) * _width(value, form, place)
    return total


def kernel_loaded_bytes(code: Code, form: Form, place: int) -> int:
    """The bytes that its threads load and store, again each time that they do so."""
    known = _tensors(form)
    return sum(
        _places(each, code, place, again=True) * _width(known[each.tensor], form, place) for each in code.accesses
    )


def _tensors(form: Form) -> dict[str, Value]:
    return {**{each.tensor: each for each in form.inputs}, **form.stored}


def _places(access: Access, code: Code, place: int, *, again: bool = False) -> int:
    """How many places an access has: combinations of the variables that it depends on. again: count those along a row
    for each row that a kernel walks."""

    def used(space: Space, whole: bool = False) -> int:
        sizes = (size for name, size in space.sizes.items() if whole or name in access.strides)
        return math.prod(size_at(each, place) for each in sizes)

    along = math.prod(map(used, code.spaces))
    # an index that was read may differ from row to row
    return along * used(code.outer, bool(access.others) or (again and along > 1))


def _width(value: Value, form: Form, place: int) -> int:
    return BYTES.get(dtype_at(value, form, place), 4)


def dtype_at(value: Value, form: Form, place: int) -> str:
    """The dtype of a tensor in one of the form's subgraphs."""
    if not value.dtype.source:
        return value.dtype.name
    at = [each.tensor for each in form.inputs].index(value.dtype.source)
    return form.found[place].inputs[at].dtype.name


def product_terms(surveyed: Surveyed, node: Node) -> int:
    """Multiplications with an addition that a library call takes; 0 for what is no product, or not known."""
    values = [surveyed.values.get(name) for name in node.inputs]
    result = surveyed.values.get(node.name)
    if not isinstance(result, Value) or len(values) < 2 or not all(isinstance(each, Value) for each in values):
        return 0
    tensors = [each for each in values if isinstance(each, Value)]
    one, other = tensors[0], tensors[1]
    match operator_label(node):
        case "linear" | "matmul" | "bmm" | "mm":
            return elements(result) * _last(one)
        case "addmm" | "baddbmm":
            return elements(result) * _last(other)
        case "conv1d" | "conv2d" | "conv3d":
            return elements(result) * elements(other) // max(other.shape[0].value, 1)
        case "conv_transpose1d" | "conv_transpose2d" | "conv_transpose3d":
            return elements(one) * elements(other) // max(other.shape[0].value, 1)
        case "scaled_dot_product_attention":
            return elements(one) * other.shape[-2].value * 2
        case "einsum":
            return math.prod(_letters(node, tensors).values())
    return 0


def _last(value: Value) -> int:
    return value.shape[-1].value if value.shape else 1


def _letters(node: Node, tensors: list[Value]) -> dict[str, int]:
    """The size of each letter of an einsum."""
    parts = str(node.args[0]).replace(" ", "").partition("->")[0].split(",")
    named = (pair for letters, tensor in zip(parts, tensors) for pair in zip(letters, tensor.shape))
    return {letter: size.value for letter, size in named if letter.isalpha()}
