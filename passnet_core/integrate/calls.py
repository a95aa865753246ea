"""What replaced matches call: the pass's arguments, and the plans of its replacement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from passnet_core.fx.modules import Function, module_of, placed_passes
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, references, substituted
from passnet_core.graphs.placement import placed
from passnet_core.graphs.rewriting import TracedPass, needed_inputs
from passnet_core.integrate.plans import BundlePlans, PlannedCall


@dataclass(frozen=True)
class Callee:
    """A pass whose call takes those of the pattern's inputs that pattern or replacement read, instead of the
    replacement's arguments: so the pattern can be computed from them too.

    traced: with the key that stands for it, and the inputs as its arguments. plans, key: those of its bundle, and the
    replacement's in it. given: the names of the inputs in replacement_args, by which prepare() knows them. pattern:
    takes the same inputs. arguments: takes them by the names in given, and calls the replacement."""

    traced: TracedPass
    plans: BundlePlans
    key: str
    given: tuple[str, ...]
    pattern: Graph
    arguments: Graph

    @property
    def digest(self) -> str:
        """That of its bundle."""
        return self.plans.bundle.digest

    @property
    def prepares(self) -> tuple[str, ...]:
        """For each argument of the replacement the name by which prepare(weights) gets it, or an empty string; empty if
        nothing is prepared."""
        return self.plans.loaded.hooks.get(self.key, ())

    def placed(self, device: str) -> "Callee":
        """The same on this device, "cpu" or "cuda", which device literals of pattern and arguments then name."""
        (traced,) = placed_passes([self.traced], device)
        return replace(
            self, traced=traced, pattern=placed(self.pattern, device), arguments=placed(self.arguments, device)
        )

    def filled(self, args: Sequence[Value]) -> "Callee":
        """The same for a match with these arguments, which takes only those that are values of the graph: the others
        are constants of the match."""
        constants = [(place, value) for place, value in enumerate(args) if not isinstance(value, Ref)]
        return replace(
            self,
            given=tuple(name for name, value in zip(self.given, args) if isinstance(value, Ref)),
            pattern=_filled(self.pattern, dict(constants)),
            arguments=_filled(self.arguments, dict(constants)),
        )

    def function(self, weights: Sequence[str]) -> tuple[Function, PlannedCall]:
        """The replacement as a function of the inputs, and the call in it. weights: those of given that are parameters
        of the model."""
        places = {name: place for place, name in enumerate(self.prepares) if name in weights}
        call = PlannedCall(self.plans, self.key, places)
        return module_of(self.arguments, {self.traced.replacement: call.function()}).forward, call


def callee(traced: TracedPass, plans: BundlePlans, name: str, key: str) -> Callee:
    """A pass of a bundle that is called with the pattern's inputs. name: of the pass. key: stands for it in graphs;
    each pass has its own."""
    pattern, given = traced.pattern.inputs, traced.arguments.inputs
    needed = set(needed_inputs(traced)) | set(references(traced.pattern.result))
    needed |= {name for node in traced.pattern.operations for name in node.inputs}
    pairs = [(first, second) for first, second in zip(pattern, given) if first.name in needed]
    result = traced.arguments.result
    arguments = result if isinstance(result, tuple) else (result,)
    called = Node("called", NodeKind.CALL, key, arguments)
    inputs = tuple(second for _, second in pairs)
    as_they_are = Graph(traced.arguments.inputs, tuple(Ref(second.name) for second in inputs))
    return Callee(
        replace(traced, name=name, arguments=as_they_are, replacement=key),
        plans,
        traced.replacement,
        tuple(second.name for second in inputs),
        Graph((*(first for first, _ in pairs), *traced.pattern.operations), traced.pattern.result),
        Graph((*inputs, *traced.arguments.operations, called), Ref(called.name)),
    )


def _filled(graph: Graph, constants: Mapping[int, Value]) -> Graph:
    """The graph with constants in place of its inputs at these places."""
    values = {node.name: constants[place] for place, node in enumerate(graph.inputs) if place in constants}
    nodes = (
        replace(
            node,
            args=tuple(substituted(value, values) for value in node.args),
            kwargs=tuple((name, substituted(value, values)) for name, value in node.kwargs),
        )
        for node in graph.nodes
        if node.name not in values
    )
    return Graph(tuple(nodes), substituted(graph.result, values))
