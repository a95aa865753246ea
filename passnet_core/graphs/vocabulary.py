"""Labels (short names) and families of tensor operations."""

from collections.abc import Iterator

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.spelling import INPLACE
from passnet_core.operations.kinds import mapping, named

_FAMILIES = mapping("families")
FAMILIES = (*_FAMILIES, "other")
FAMILY: dict[str, str] = {label: family for family, labels in _FAMILIES.items() for label in labels.split()}

_SHORT = mapping("labels")
_ONE_OF_MANY = named("several_results")
_SILENT = named("silent")


def operator_label(node: Node) -> str:
    """Name an operation in one word, "relu", "add" or "view", the same for its in-place form; an input by its name."""
    if node.kind is NodeKind.INPUT:
        return node.name
    match node:
        case Node(target="builtins.getattr", args=(_, str(member))):
            return member
    word = node.target.removeprefix("operator.i") if node.target in INPLACE else node.target.rpartition(".")[2]
    word = (word.strip("_") if word.startswith("__") else word.rstrip("_")) or word
    return _SHORT.get(word, word)


def operator_family(node: Node) -> str:
    """Return the family of an operation, one of FAMILIES: "other" for inputs and for operations that are not listed."""
    return "other" if node.kind is NodeKind.INPUT else FAMILY.get(operator_label(node), "other")


def operator_sequence(graph: Graph) -> tuple[str, ...]:
    """List the labels of a graph's operations, in order, except those that compute nothing, such as a shape."""
    return tuple(_computing_labels(graph))


def _computing_labels(graph: Graph) -> Iterator[str]:
    for node in graph.operations:
        label = operator_label(node)
        if label in _SILENT:
            continue
        match node:
            case Node(target="operator.getitem", args=(Ref(name), int())):
                if operator_label(graph.by_name[name]) in _ONE_OF_MANY:
                    continue
        yield label
