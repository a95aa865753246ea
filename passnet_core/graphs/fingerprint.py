"""Digests that tell computations apart: by structure, or only by what they call."""

from passnet_core.graphs.ir import Graph, NodeKind, Ref, Value, graph_to_json, substituted
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import digest_of


def structure(graph: Graph) -> str:
    """Equal for graphs that compute the same in the same order, whatever their values are called."""
    numbers: dict[str, Value] = {node.name: Ref(str(index)) for index, node in enumerate(graph.nodes)}
    nodes = []
    for index, node in enumerate(graph.nodes):
        # an input's target is an annotation or a name, depending on where the graph comes from
        target = "" if node.kind is NodeKind.INPUT else node.target
        args = tuple(substituted(value, numbers) for value in node.args)
        kwargs = tuple(
            sorted(((key, substituted(value, numbers)) for key, value in node.kwargs), key=lambda each: each[0])
        )
        nodes.append(type(node)(str(index), node.kind, target, args, kwargs))
    return digest_of(graph_to_json(Graph(tuple(nodes), substituted(graph.result, numbers))))


def operation_key(graph: Graph) -> str:
    """Equal for graphs that call the same operators in the same order: variants and look-alikes of one another."""
    return digest_of(list(operator_sequence(graph)))
