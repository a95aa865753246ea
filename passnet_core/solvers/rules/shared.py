"""Regions of several subgraphs that one pass replaces, and the numbers in which they differ."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from passnet_core.graphs.ir import (
    DeviceLiteral,
    Graph,
    Listed,
    Node,
    NodeKind,
    Ref,
    Slice,
    references,
    substituted,
)
from passnet_core.graphs.ir import Value as Argument
from passnet_core.graphs.matching import find_matches
from passnet_core.graphs.spelling import Names
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.binding import bind
from passnet_core.operations.kinds import mapping
from passnet_core.solvers.rules.helpers import library
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import is_contiguous, strides_of
from passnet_core.solvers.rules.lowering import Literal
from passnet_core.solvers.rules.regions import FusedRegion, Surveyed
from passnet_core.solvers.rules.values import Stored, Value

MAY_DIFFER = mapping("may_differ")


TAKEN = re.compile(
    r"[irs]\d+[io]*|s\d*(_lanes|_each|_tiles)?|grid|block(_[mnk])?|rows?|columns?(_\w+)?|warps|stages|sides|counts|outer\d*"
    r"|r\d*|index|inside(_\w+)?|start|place|chosen"
    r"|torch|triton|tl|libdevice|device|inf|math|operator|\w+_(ptr|steps|parts|held|kernel)"
)
"""Names that a pass file may have of its own, besides those of the helpers."""


@dataclass(frozen=True)
class FoundRegion:
    """A region of one subgraph as a graph of its own, with its inputs as the subgraph knows them."""

    surveyed: Surveyed
    region: FusedRegion
    graph: Graph
    """Inputs first, by the names of the subgraph."""

    @property
    def views(self) -> tuple[bool, ...]:
        """Which of the operations only give views of what they read."""
        return tuple(self.surveyed.is_view(self.surveyed.graph.by_name[name]) for name in self.region.nodes)

    @property
    def changes(self) -> dict[int, int]:
        """Operations that change an input in place, with the input, by their positions."""
        into = self.surveyed.into
        return {
            place: self.region.inputs.index(into[name]) for place, name in enumerate(self.region.nodes) if name in into
        }

    @property
    def numbers(self) -> tuple[int | float, ...]:
        """All numbers in which subgraphs may differ, in order."""
        return tuple(number for node in self.graph.operations for _, number in _literals(node))

    @property
    def inputs(self) -> list[Stored]:
        return [_as_stored(self.surveyed.values.get(name), name) for name in self.region.inputs]


def extracted(surveyed: Surveyed, region: FusedRegion) -> FoundRegion:
    """The region as a graph. Values that are named like what a pass file has of its own get other names."""
    graph = surveyed.graph
    inputs = tuple(Node(name, NodeKind.INPUT, "") for name in region.inputs)
    nodes = tuple(replace(graph.by_name[name], line=None) for name in region.nodes)
    free = Names(taken=[node.name for node in (*inputs, *nodes)])
    names = {
        node.name: free.free(f"{node.name}_value")
        if TAKEN.fullmatch(node.name) or node.name in library()
        else node.name
        for node in (*inputs, *nodes)
    }
    read: dict[str, Argument] = {name: Ref(other) for name, other in names.items()}
    renamed = tuple(replace(_substituted(node, read), name=names[node.name]) for node in (*inputs, *nodes))
    results = tuple(Ref(names[name]) for name in region.outputs)
    return FoundRegion(surveyed, region, Graph(renamed, results[0] if len(results) == 1 else results))


def _as_stored(value: Any, name: str) -> Stored:
    if not isinstance(value, Value):
        raise Unsupported(f"{name}, which is no single tensor that is known")
    return Stored(value.shape, value.dtype, name, strides_of(value) if not is_contiguous(value) else None, name=name)


# --- literals ---


def _literals(node: Node) -> Iterator[tuple[tuple[Any, ...], int | float]]:
    """Numbers among the arguments that may differ, with the path to each."""
    label = operator_label(node)
    if label not in MAY_DIFFER:
        return

    def walk(value: Argument, path: tuple[Any, ...], sliced: bool) -> Iterator[tuple[tuple[Any, ...], int | float]]:
        match value:
            case bool():
                return
            case int() | float():
                if label == "getitem" and not sliced:
                    return
                if isinstance(value, int) and value < 0 and label not in ("add", "sub", "mul", "masked_fill"):
                    return
                yield path, value
            case tuple():
                for place, each in enumerate(value):
                    yield from walk(each, (*path, place), sliced)
            case Listed(items):
                for place, each in enumerate(items):
                    yield from walk(each, (*path, "items", place), sliced)
            case Slice(start, stop, _):
                yield from walk(start, (*path, "start"), True)
                yield from walk(stop, (*path, "stop"), True)

    for place, value in enumerate(node.args):
        yield from walk(value, ("args", place), False)
    for place, (_, value) in enumerate(node.kwargs):
        yield from walk(value, ("kwargs", place, 1), False)


def _with(value: Any, path: Sequence[Any], new: Argument) -> Any:
    """The node or argument with the part at the path replaced."""
    if not path:
        return new
    first, *rest = path
    if isinstance(first, str):
        return replace(value, **{first: _with(getattr(value, first), rest, new)})
    return tuple(_with(each, rest, new) if place == first else each for place, each in enumerate(value))


def skeleton(graph: Graph) -> str:
    """The same text for graphs that differ in names and in numbers that may differ."""
    names = {node.name: f"v{place}" for place, node in enumerate(graph.nodes)}
    return _told(graph.nodes, graph.result, names, lambda number: "number" if isinstance(number, float) else "integer")


def loose_skeleton(graph: Graph) -> str:
    """The same text for graphs that differ only in numbers, or in a number where one has a tensor from elsewhere."""
    inside = {node.name: f"v{place}" for place, node in enumerate(graph.operations)}
    names = {name: inside.get(name, "any") for node in graph.operations for name in (*node.inputs, node.name)}
    return _told(graph.operations, graph.result, names, lambda number: "any").replace("Ref(name='any')", "'any'")


def spelled_alike(graph: Graph) -> Graph:
    """The graph with its calls as the judge reads them: the same for all spellings of a call."""
    read = ((node, bind(node)) for node in graph.operations)
    calls = {node.name: replace(node, target=call.target, args=(), kwargs=call.arguments) for node, call in read}
    return replace(graph, nodes=tuple(calls.get(node.name, node) for node in graph.nodes))


def _told(nodes: Sequence[Node], result: Argument, names: Mapping[str, str], hole: Callable[[int | float], str]) -> str:
    """What nodes do and return, with other names. hole: what stands for a number that may differ."""
    others: dict[str, Argument] = {name: Ref(other) for name, other in names.items()}
    found: list[str] = []
    for node in nodes:
        holed = node
        for path, number in _literals(node):
            holed = _with(holed, path, hole(number))
        holed = _substituted(holed, others)
        found.append(repr((holed.kind, holed.target, holed.args, holed.kwargs)))
    return "\n".join([*found, repr(substituted(result, others))])


def _substituted(node: Node, values: dict[str, Argument]) -> Node:
    args = tuple(substituted(each, values) for each in node.args)
    return replace(node, args=args, kwargs=tuple((name, substituted(each, values)) for name, each in node.kwargs))


DEVICE = "place"
"""The parameter of a pattern without tensors that says where to allocate."""


def _with_device(nodes: Sequence[Node]) -> list[Node]:
    """Replace the device that operations name by the parameter. Raises Unsupported if none does."""
    found: list[Node] = []
    for node in nodes:
        kwargs = tuple((key, Ref(DEVICE) if isinstance(value, DeviceLiteral) else value) for key, value in node.kwargs)
        found.append(replace(node, kwargs=kwargs))
    if found == list(nodes):
        raise Unsupported("operations without a tensor and without a device")
    return found


@dataclass
class Shared:
    """Regions of several subgraphs that one pass replaces. literals: the numbers in which they differ."""

    found: list[FoundRegion]
    graph: Graph = field(init=False)
    literals: list[Literal] = field(init=False)

    def __post_init__(self) -> None:
        first = self.found[0].graph
        taken = Names(taken=[node.name for node in first.nodes])
        values: dict[tuple[int | float, ...], Literal] = {}
        nodes: list[Node] = []
        columns = [list(each.graph.nodes) for each in self.found]
        for place, node in enumerate(first.nodes):
            mine = [each[place] for each in columns]
            numbers = [dict(_literals(each)) for each in mine]
            for path, _ in _literals(node):
                vector = tuple(each[path] for each in numbers)
                if len(set(vector)) == 1:
                    continue
                if vector not in values:
                    values[vector] = Literal(taken.free(MAY_DIFFER[operator_label(node)] or "number"), vector)
                node = _with(node, path, Ref(values[vector].name))
            nodes.append(node)
        self.literals = list(values.values())
        if not any(node.kind is NodeKind.INPUT for node in nodes):
            nodes = [Node(DEVICE, NodeKind.INPUT, ""), *_with_device(nodes)]
        inputs = [node for node in nodes if node.kind is NodeKind.INPUT]
        extra = [Node(each.name, NodeKind.INPUT, "") for each in self.literals]
        self.graph = Graph(
            (*inputs, *extra, *(node for node in nodes if node.kind is not NodeKind.INPUT)), first.result
        )

    def forms(self, *, exactly: bool = False) -> list[list[int]]:
        """Which of the regions have tensors of the same ranks and dtypes, as one kernel serves them: by index.

        exactly: of the very same dtypes, where eager returns an input itself if it has the wanted dtype already."""
        groups: dict[tuple[Any, ...], list[int]] = {}
        for index, each in enumerate(self.found):
            tensors = tuple((len(v.shape), v.dtype.name if exactly else _kind(v, each.inputs)) for v in each.inputs)
            key = (tensors, each.views)
            groups.setdefault(key, []).append(index)
        return list(groups.values())

    def taken(self, found: FoundRegion) -> FoundRegion | None:
        """A region that is not one of them, in their spelling and order, if the pattern matches it whole."""
        inputs = [each for each in self.graph.inputs if each.name not in {literal.name for literal in self.literals}]
        matches = find_matches(self.graph, found.graph, bind=bind).matches
        if len(matches) != 1 or len(matches[0].names) != len(found.graph.operations) or not found.region.inputs:
            return None
        given = matches[0].inputs
        numbers = {literal.name: given.get(literal.name) for literal in self.literals}
        tensors = [given.get(each.name) for each in inputs]
        names = dict(zip(found.graph.by_name, (*found.region.inputs, *found.region.nodes)))
        images = {name: names[image] for name, image in matches[0].nodes.items()}
        if any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers.values()):
            return None
        region = FusedRegion(
            tuple(images[node.name] for node in self.graph.operations),
            tuple(names[each.name] for each in tensors if isinstance(each, Ref)),
            tuple(images[name] for name in references(self.graph.result)),
        )
        nodes = [*inputs, *(_substituted(node, numbers) for node in self.graph.operations)]
        member = replace(found, region=region, graph=Graph(tuple(nodes), self.graph.result))
        # a size of -1 is no number that may be passed on
        alike = skeleton(member.graph) == skeleton(self.found[0].graph) and len(region.inputs) == len(inputs)
        return member if alike else None


def _kind(value: Stored, inputs: Sequence[Stored]) -> str:
    if not value.dtype.is_float or value.dtype.is_wide:
        return value.dtype.name
    return next(f"as {place}" for place, each in enumerate(inputs) if each.dtype.name == value.dtype.name)
