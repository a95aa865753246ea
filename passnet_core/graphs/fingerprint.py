"""Digests of graphs: by their whole structure, or only by the operators that they call."""

from passnet_core.graphs.ir import Graph, NodeKind, Ref, Value, graph_to_json, substituted
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import digest_of


def structure(graph: Graph) -> str:
    """A digest that is equal for graphs with the same calls in the same order, whatever their values are named."""
    numbers: dict[str, Value] = {node.name: Ref(str(index)) for index, node in enumerate(graph.nodes)}
    nodes = []
    for index, node in enumerate(graph.nodes):
        # an input's target is an annotation or a name, depending on how the graph was made
        target = "" if node.kind is NodeKind.INPUT else node.target
        args = tuple(substituted(value, numbers) for value in node.args)
        kwargs = tuple(
            sorted(((key, substituted(value, numbers)) for key, value in node.kwargs), key=lambda each: each[0])
        )
        nodes.append(type(node)(str(index), node.kind, target, args, kwargs))
    return digest_of(graph_to_json(Graph(tuple(nodes), substituted(graph.result, numbers))))


def operation_key(graph: Graph) -> str:
    """A digest that is equal for graphs that call the same operators in the same order, with whatever arguments."""
    return digest_of(list(operator_sequence(graph)))
