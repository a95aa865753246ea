"""Count the bytes that a graph has to read and write at least, as a whole and operation by operation."""

import math
from collections.abc import Iterable, Mapping, Sequence

from passnet_core.graphs.effects import is_one_of
from passnet_core.graphs.ir import Graph, Node
from passnet_core.graphs.rendering import BYTES
from passnet_core.graphs.vocabulary import operator_family
from passnet_core.records import NodeValue, TensorForm, TensorSpec

Forms = Mapping[str, Sequence[TensorForm]]
"""Node -> shapes and dtypes of its results. Unknown nodes are left out."""

PICKING = frozenset({"indexing", "embedding"})
"""Families that read as many elements of a table as they write."""


def forms_of(inputs: Iterable[TensorSpec], values: Iterable[NodeValue] = ()) -> Forms:
    """Collect what is known of a subgraph's nodes: its recorded inputs, and the values that an inspection found."""
    known: dict[str, Sequence[TensorForm]] = {
        each.name: (TensorForm(tuple(each.shape), each.dtype),) for each in inputs
    }
    return known | {each.node: each.tensors for each in values}


def through(graph: Graph, forms: Forms) -> int | None:
    """Count the bytes of a whole graph: each input that is used and each result, once; None if one is unknown."""
    read = [node.name for node in graph.inputs if graph.users[node.name] or node.name in graph.returned]
    return _bytes([*read, *graph.returned], forms)


def one_by_one(graph: Graph, forms: Forms, nodes: Iterable[Node]) -> int | None:
    """Sum the bytes that each of these operations reads and writes by itself; None if one is unknown. Views and reads
    of a shape move no bytes."""
    total = 0
    for node in nodes:
        if is_one_of(node, "views") or is_one_of(node, "questions"):
            continue
        read = [node.name] if operator_family(node) in PICKING else _tensors(node, graph, forms)
        found = _bytes([*read, *_results(node, graph, forms)], forms)
        if found is None:
            return None
        total += found
    return total


def _tensors(node: Node, graph: Graph, forms: Forms) -> list[str]:
    """List the tensors that a node reads, each once. A view of unknown shape counts as the tensor that it views."""
    read = dict.fromkeys(_viewed(graph.by_name[name], graph, forms) for name in node.inputs)
    return [name for name in read if name in forms or not is_one_of(graph.by_name[name], "questions")]


def _viewed(node: Node, graph: Graph, forms: Forms) -> str:
    while node.name not in forms and is_one_of(node, "whole_views") and node.inputs:
        node = graph.by_name[node.inputs[0]]
    return node.name


def _results(node: Node, graph: Graph, forms: Forms) -> list[str]:
    """Return the node, or its parts if only those are known."""
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
