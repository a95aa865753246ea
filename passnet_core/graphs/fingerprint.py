"""Digests of graphs: by their whole structure, or only by the operators that they call."""

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, graph_to_json, reading, substituted
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import digest_of


def structure(graph: Graph) -> str:
    """A digest that is equal for graphs with the same calls in the same order, whatever their values are named."""
    numbers: dict[str, Value] = {node.name: Ref(str(index)) for index, node in enumerate(graph.nodes)}
    nodes = []
    for index, each in enumerate(graph.nodes):
        # an input's target is an annotation or a name, depending on how the graph was made
        node, target = reading(each, numbers), "" if each.kind is NodeKind.INPUT else each.target
        kwargs = sorted(node.kwargs, key=lambda pair: pair[0])
        nodes.append(Node(str(index), node.kind, target, node.args, tuple(kwargs)))
    return digest_of(graph_to_json(Graph(tuple(nodes), substituted(graph.result, numbers))))


def operation_key(graph: Graph) -> str:
    """A digest that is equal for graphs that call the same operators in the same order, with whatever arguments."""
    return digest_of(list(operator_sequence(graph)))
