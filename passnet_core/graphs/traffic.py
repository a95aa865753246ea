"""How many bytes a graph reads and writes at least, as a whole and operation by operation."""

import math
from collections.abc import Iterable, Mapping, Sequence

from passnet_core.graphs.effects import VIEWS, last_part
from passnet_core.graphs.ir import Graph, Node
from passnet_core.graphs.rendering import BYTES
from passnet_core.graphs.vocabulary import operator_family
from passnet_core.records import NodeValue, TensorForm, TensorSpec

Forms = Mapping[str, Sequence[TensorForm]]
"""Per node what it gives; nodes of which nothing is known are left out."""

LOOKS = frozenset({"shape", "dtype", "device", "size", "dim", "ndim", "numel", "stride"})
"""Operations that read no element."""
WHOLE_VIEWS = frozenset({"view", "view_as", "transpose", "t", "T", "mT", "permute", "squeeze", "unsqueeze"})
"""Those that hold every element of what they are a view of."""
PICKING = frozenset({"indexing", "embedding"})
"""Families that read as much of a table as they write."""


def forms_of(inputs: Iterable[TensorSpec], values: Iterable[NodeValue] = ()) -> Forms:
    """What is known of a subgraph's nodes: its inputs, as recorded, and what an inspection found."""
    known: dict[str, Sequence[TensorForm]] = {
        each.name: (TensorForm(tuple(each.shape), each.dtype),) for each in inputs
    }
    return known | {each.node: each.tensors for each in values}


def through(graph: Graph, forms: Forms) -> int | None:
    """Bytes of a whole graph: every input that is read, once, and every result, once; None where one is not known."""
    read = [node.name for node in graph.inputs if graph.users[node.name] or node.name in graph.returned]
    return _bytes([*read, *graph.returned], forms)


def one_by_one(graph: Graph, forms: Forms, nodes: Iterable[Node]) -> int | None:
    """Bytes of these operations, each by itself: what it reads and what it gives; None where that is not known. What
    only looks at a tensor moves nothing."""
    total = 0
    for node in nodes:
        if last_part(node) in VIEWS | LOOKS:
            continue
        read = [node.name] if operator_family(node) in PICKING else _tensors(node, graph, forms)
        found = _bytes([*read, *_results(node, graph, forms)], forms)
        if found is None:
            return None
        total += found
    return total


def _tensors(node: Node, graph: Graph, forms: Forms) -> list[str]:
    """What it reads, each once, but for the sizes that are numbers; of another view of a tensor, that tensor."""
    read = dict.fromkeys(_seen_through(graph.by_name[name], graph, forms) for name in node.inputs)
    return [name for name in read if name in forms or last_part(graph.by_name[name]) not in LOOKS]


def _seen_through(node: Node, graph: Graph, forms: Forms) -> str:
    while node.name not in forms and last_part(node) in WHOLE_VIEWS and node.inputs:
        node = graph.by_name[node.inputs[0]]
    return node.name


def _results(node: Node, graph: Graph, forms: Forms) -> list[str]:
    """The node, or where only the parts of what it gives are known, those."""
    parts = [user for user in graph.users[node.name] if graph.by_name[user].target == "operator.getitem"]
    return parts if node.name not in forms and parts else [node.name]


def _bytes(names: Iterable[str], forms: Forms) -> int | None:
    total = 0
    for name in names:
        for form in forms.get(name, ()):
            if form.dtype not in BYTES:
                return None
            total += math.prod(form.shape) * BYTES[form.dtype]
        if name not in forms:
            return None
    return total
