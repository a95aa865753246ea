"""Which operations of a subgraph a pass replaces together: regions between what is left to libraries."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from passnet_core.graphs.effects import VIEWS, changed, is_random, is_switch, last_part, storage_of
from passnet_core.graphs.ir import Graph, Node, NodeKind
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.kinds import named
from passnet_core.records import Subgraph, TensorSpec
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import root_of, strides_of
from passnet_core.solvers.rules.lowering import Argument, Lowering
from passnet_core.solvers.rules.lowering.arguments import known_dtype
from passnet_core.solvers.rules.outside import shape_only, stored
from passnet_core.solvers.rules.values import Number, Pointwise, Stored, Value, View

LIBRARY = named("library")

WRITTEN_LIBRARY = named("written_library")

WRITTEN_WHERE_COVERED = named("written_where_covered")


@dataclass(frozen=True)
class FusedRegion:
    """Operations that one pass replaces.

    nodes: their names, in order. inputs: what they read from elsewhere, in the order of first use. outputs:
    those of them that are read elsewhere or returned."""

    nodes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Surveyed:
    """A subgraph with what is known of each value, and its regions.

    captured: what values were, by their names: used for those of operations that these rules do not know."""

    def __init__(self, subgraph: Subgraph, graph: Graph, captured: Mapping[str, TensorSpec | None] = {}) -> None:
        self.subgraph, self.graph, self.captured = subgraph, graph, captured
        self.reasons: dict[str, str] = {}
        """Why an operation is left alone."""
        self.values: dict[str, Argument] = {}
        self.libraries: set[str] = set()
        """Operations that libraries compute."""
        self.into: dict[str, str] = {}
        """Operations that change an input of the subgraph, with the input."""
        self.inputs = {node.name for node in graph.inputs}
        self._lower()

    def _lower(self) -> None:
        specs = {each.name: each for each in self.subgraph.inputs}
        lowering = Lowering({})
        for node in self.graph.nodes:
            if node.kind is NodeKind.INPUT:
                spec = specs.get(node.name)
                if spec is not None:
                    with suppress(Unsupported):
                        lowering.known[node.name] = stored(node.name, spec.shape, known_dtype(spec.dtype))
                continue
            missing = [name for name in node.inputs if name not in lowering.known]
            if missing:
                self.reasons[node.name] = f"{missing[0]} is not known"
            else:
                try:
                    lowering.known[node.name] = self._result(node, lowering)
                except Unsupported as problem:
                    self.reasons[node.name] = str(problem)
                    with suppress(Unsupported):
                        lowering.known[node.name] = shape_only(node, lowering)
            spec = self.captured.get(node.name)
            if node.name not in lowering.known and spec is not None:
                with suppress(Unsupported):
                    lowering.known[node.name] = stored(node.name, spec.shape, known_dtype(spec.dtype))
        self.values = lowering.known

    def _result(self, node: Node, lowering: Lowering) -> Argument:
        """The result of an operation, as a tensor in memory if a library computes it. Raises Unsupported."""
        label = operator_label(node)
        if label in WRITTEN_WHERE_COVERED:
            with suppress(Unsupported):
                return lowering.lowered(node)
        if label in LIBRARY:
            self.libraries.add(node.name)
            return shape_only(node, lowering)
        return lowering.lowered(node)

    def knows(self, names: Collection[str]) -> bool:
        """Whether these are operations of the subgraph, and all that they read is known."""
        found = [self.graph.by_name.get(name) for name in names]
        return all(node is not None and {node.name, *node.inputs} <= self.values.keys() for node in found)

    def fusible(self, node: Node, *, library: bool) -> bool:
        """Whether a region may hold this operation."""
        if node.name in self.reasons or node.name not in self.values:
            return False
        if is_random(node) or is_switch(node) or self.storage[node.name] in self.disturbed:
            return False
        if node.name in self.libraries:
            return library and operator_label(node) in WRITTEN_LIBRARY
        value = self.values[node.name]
        return _is_tensors(value) and all(_is_tensors(self.values.get(name)) for name in node.inputs)

    @cached_property
    def storage(self) -> Mapping[str, str]:
        """Operations and inputs, with the one that owns the memory of their values."""
        shared = storage_of(self.graph)
        place = {node.name: number for number, node in enumerate(self.graph.nodes)}
        last = {shared[ref.name]: place[node.name] for node in self.graph.operations for ref in changed(node)}

        def copies(node: Node) -> bool:
            # what nothing changes any more may be read from either memory
            settled = last_part(node) not in VIEWS and place[node.name] > last.get(shared[node.name], -1)
            return not changed(node) and (settled or self._converts(node))

        return storage_of(self.graph, copies)

    def _converts(self, node: Node) -> bool:
        """Whether the result has another dtype than the operand, and so memory of its own."""
        result, operand = (self.values.get(name) for name in (node.name, next(iter(node.inputs), "")))
        if not isinstance(result, Value) or not isinstance(operand, Value) or operator_label(node) == "view":
            return False
        return result.dtype.name != operand.dtype.name

    @cached_property
    def disturbed(self) -> frozenset[str]:
        """What owns memory that operations change in place, and others may see it: those must stay in their order."""
        return frozenset(
            self.storage[ref.name]
            for node in self.graph.operations
            if changed(node) and not self._may_return_anew(node)
            for ref in changed(node)
        )

    def _may_return_anew(self, node: Node) -> bool:
        """Whether an operation that works in place may be part of a region."""
        known = node.name in self.values and node.name not in self.reasons and node.target != "operator.setitem"
        return known and _is_tensors(self.values[node.name]) and self._unobserved(node)

    def _unobserved(self, node: Node) -> bool:
        """Whether nobody else sees what the operation changes in place: it might as well return something new."""
        storage = self.storage
        for ref in changed(node):
            root = storage[ref.name]
            if root in self.inputs:
                if ref.name != root or not self._replaces(node, root):
                    return False
                self.into[node.name] = root
                continue
            alike = {name for name, each in storage.items() if each == root and name != node.name}
            later = False
            for each in self.graph.operations:
                if later and storage[each.name] != root and any(name in alike for name in each.inputs):
                    return False
                if later and each.name in alike:
                    alike.discard(each.name)
                later = later or each.name == node.name
            if any(name in self.graph.returned for name in alike):
                return False
        return True

    def _replaces(self, node: Node, name: str) -> bool:
        """Whether the operation changes an input, which nothing else reads, element by element."""
        value, before = self.values[node.name], self.values[name]
        if not isinstance(value, Pointwise) or not isinstance(before, Stored) or value.dtype.name != before.dtype.name:
            return False
        alike = len(value.shape) == len(before.shape) and all(a.seems(b) for a, b in zip(value.shape, before.shape))
        return alike and any(each is before for each in value.operands) and self.graph.users[name] == (node.name,)

    def is_view(self, node: Node) -> bool:
        """Whether it computes nothing: its result lies in the memory of what it reads."""
        value = self.values[node.name]
        if changed(node):
            return False
        reads = [self.values.get(name) for name in node.inputs]
        if operator_label(node) == "getitem" and any(isinstance(each, tuple | list) for each in reads):
            return self.is_view(self.graph.by_name[node.inputs[0]])
        if isinstance(value, tuple | list):
            return all(_shows(each, reads) for each in value)
        return _shows(value, reads) and (any(value is each for each in reads) or strides_of(value) is not None)

    def regions(self, *, library: bool = False) -> list[FusedRegion]:
        """The regions, in order. library: also of operations that are left to libraries otherwise."""
        inside = {node.name for node in self.graph.operations if self.fusible(node, library=library)}
        for _ in range(len(self.graph.nodes) + 1):
            inside = self._without_parts(inside)
            found = [self._trimmed(each) for each in self._components(inside)]
            outside = set().union(*(drop for _, drop in found)) if found else set()
            if not outside:
                return [self.region(names) for names, _ in found if self._computes(names)]
            inside -= outside
        return []

    def views(self) -> list[FusedRegion]:
        """Regions that compute nothing: views of one tensor."""
        inside = {
            node.name for node in self.graph.operations if self.fusible(node, library=False) and self.is_view(node)
        }
        found = [self.region(names) for names in self._components(self._without_parts(inside)) if len(names) > 1]
        return [
            each for each in found
            if len(each.inputs) == 1 and all(isinstance(self.values[name], View) for name in each.outputs)
        ]  # fmt: skip

    def _without_parts(self, inside: set[str]) -> set[str]:
        """Leave outside what takes a tensor from a tuple that is outside: patterns begin at single tensors."""
        kept = set(inside)
        for node in self.graph.operations:
            outside = [name for name in node.inputs if name not in kept]
            if any(isinstance(self.values.get(name), tuple | list) for name in outside):
                kept.discard(node.name)
        return kept

    def _components(self, inside: set[str]) -> list[set[str]]:
        """Connected operations between which no path leads outside."""
        depth: dict[str, int] = {}
        for node in self.graph.nodes:
            mine = node.name in inside
            depth[node.name] = max(
                (
                    depth[name] + ((name in inside) != mine)
                    for name in node.inputs
                    if name in depth and (name in inside or depth[name])
                ),
                default=0,
            )
        parent = {name: name for name in inside}

        def find(name: str) -> str:
            while parent[name] != name:
                parent[name] = parent[parent[name]]
                name = parent[name]
            return name

        for node in self.graph.operations:
            if node.name in inside:
                for name in node.inputs:
                    if name in inside and depth[name] == depth[node.name]:
                        parent[find(name)] = find(node.name)
        groups: dict[str, set[str]] = {}
        for node in self.graph.operations:
            if node.name in inside:
                groups.setdefault(find(node.name), set()).add(node.name)
        return list(groups.values())

    def _escapes(self, name: str, names: set[str]) -> bool:
        return (
            name in self.graph.returned
            or name in self.into
            or any(user not in names for user in self.graph.users[name])
        )

    def _trimmed(self, names: set[str]) -> tuple[set[str], set[str]]:
        """The operations without views at the end of what others compute, and those that must be outside of every
        region."""
        left = set(names)
        drop: set[str] = set()
        order = [node for node in self.graph.operations if node.name in names]
        changing = True
        while changing:
            changing = False
            for node in reversed(order):
                if node.name not in left or not self.is_view(node) or not self._escapes(node.name, left):
                    continue
                if self._is_kept(node, left):
                    continue
                left.discard(node.name)
                # something inside reads it, or it is a view of something outside
                is_read = any(user in left for user in self.graph.users[node.name])
                if is_read or not any(name in names for name in node.inputs):
                    drop.add(node.name)
                changing = True
        return left, drop

    def _storage(self, name: str) -> str:
        """The operation or input in whose memory a value lies."""
        while name not in self.inputs and self.is_view(self.graph.by_name[name]):
            name = next(each for each in self.graph.by_name[name].inputs if _is_tensors(self.values.get(each)))
        return name

    def _is_kept(self, node: Node, left: set[str]) -> bool:
        """Whether an escaping view stays: a pass can return it if what it lies in is computed by the pass."""
        return self._storage(node.name) in left and isinstance(self.values[node.name], Value)

    def _computes(self, names: set[str]) -> bool:
        return any(not self.is_view(self.graph.by_name[name]) for name in names)

    def region(self, names: set[str]) -> FusedRegion:
        nodes = [node for node in self.graph.operations if node.name in names]
        inputs = dict.fromkeys(name for node in nodes for name in node.inputs if name not in names)
        outputs = tuple(node.name for node in nodes if self._escapes(node.name, names))
        return FusedRegion(tuple(node.name for node in nodes), tuple(inputs), outputs)


def _shows(value: Argument, reads: Sequence[Argument]) -> bool:
    """Whether a value lies in the memory of one of these."""
    if any(value is each for each in reads):
        return True
    if not isinstance(value, View) or isinstance(root_of(value), Number):
        return False
    inside = value.operand
    while isinstance(inside, View) and not any(inside is each for each in reads):
        inside = inside.operand
    return any(inside is each for each in reads)


def _is_tensors(value: Argument) -> bool:
    return isinstance(value, Value) or (isinstance(value, tuple | list) and all(isinstance(e, Value) for e in value))
