"""Compute how many bytes eager moves for each operation of a graph, and how many one kernel would."""

from collections.abc import Mapping, Sequence

from passnet_core.advice.memory_floor import bytes_moved
from passnet_core.charts.traffic import OperationTraffic
from passnet_core.graphs.effects import VIEWS, last_part
from passnet_core.graphs.ir import Graph
from passnet_core.records import TensorForm


def traffic(graph: Graph, known: Mapping[str, Sequence[TensorForm]]) -> tuple[OperationTraffic, ...]:
    """Return the traffic of each operation, in their order. known: the tensors of every node, inputs included; a node
    without an entry is a plain number, or unknown, and counts nothing."""

    def size(name: str) -> int:
        return bytes_moved(known.get(name, ()), ())

    found = []
    for node in graph.operations:
        operation = last_part(node)
        is_view = operation in VIEWS
        read = 0 if is_view else sum(size(name) for name in dict.fromkeys(node.inputs))
        found.append(OperationTraffic(node.name, operation, read, 0 if is_view else size(node.name)))
    return tuple(found)


def least_traffic(graph: Graph, known: Mapping[str, Sequence[TensorForm]]) -> int:
    """The bytes of all inputs and results, each once: what one kernel for the whole graph would move."""
    names = [*(node.name for node in graph.inputs), *graph.returned]
    return bytes_moved([each for name in dict.fromkeys(names) for each in known.get(name, ())], ())
