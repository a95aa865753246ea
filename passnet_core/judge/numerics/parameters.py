"""Tell which inputs of a graph are a model's parameters or buffers.

The recorded name says so if the input was an attribute of a module. Otherwise the graph must: each operation that reads
the input, perhaps through views and conversions, takes it as a weight. A name such as attn_weights says nothing."""

from collections.abc import Sequence

from passnet_core.graphs.effects import is_one_of
from passnet_core.graphs.ir import Graph, Node, Ref
from passnet_core.operations.binding import bind, regular
from passnet_core.records import TensorSpec

WEIGHTS = frozenset({"weight", "bias", "running_mean", "running_var"})
"""The names of the parameters that are weights."""


def parameters(graph: Graph, specs: Sequence[TensorSpec]) -> frozenset[str]:
    """The names of the inputs that are parameters or buffers."""
    graph, taken = regular(graph), set[str]()
    for node in reversed(graph.nodes):
        readers = [graph.by_name[each] for each in graph.users[node.name]]
        if readers and all(_takes_as_weight(each, node.name, taken) for each in readers):
            taken.add(node.name)
    return frozenset(spec.name for spec in specs if spec.is_of_a_module or spec.name in taken)


def _takes_as_weight(reader: Node, name: str, taken: set[str]) -> bool:
    """Whether the operation takes the value as a weight and as nothing else. taken: later nodes that are weights."""
    if is_one_of(reader, "keeping_values"):
        others = (*reader.args[1:], *(value for _, value in reader.kwargs))
        return reader.name in taken and reader.args[:1] == (Ref(name),) and Ref(name) not in others
    if not is_one_of(reader, "weighing"):
        return False
    places = [place for place, value in bind(reader).arguments if value == Ref(name)]
    return bool(places) and WEIGHTS.issuperset(places)
