"""Labels (short names) and families of tensor operations."""

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.spelling import INPLACE
from passnet_core.operations.kinds import mapping, named

_FAMILIES = mapping("families")
FAMILIES = (*_FAMILIES, "other")
FAMILY: dict[str, str] = {label: family for family, labels in _FAMILIES.items() for label in labels.split()}

_SHORT = mapping("labels")


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
    labels = {node.name: operator_label(node) for node in graph.nodes}

    def computes(node: Node) -> bool:
        match node:
            case Node(target="operator.getitem", args=(Ref(name), int())) if labels[name] in named("several_results"):
                return False
        return labels[node.name] not in named("silent")

    return tuple(labels[node.name] for node in graph.operations if computes(node))
