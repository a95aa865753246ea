"""From the operations of a graph to Values: what each computes, where eager rounds, and which dtype it has."""

from collections.abc import Mapping

from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Slice
from passnet_core.graphs.ir import Value as Given
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.activations import ACTIVATIONS
from passnet_core.solvers.rules.lowering.arguments import Argument, Literal, Operation
from passnet_core.solvers.rules.lowering.arithmetic import ARITHMETIC
from passnet_core.solvers.rules.lowering.conditions import CONDITIONS
from passnet_core.solvers.rules.lowering.conversions import CONVERSIONS, attribute
from passnet_core.solvers.rules.lowering.convolutions import CONVOLUTIONS
from passnet_core.solvers.rules.lowering.creation import CREATION
from passnet_core.solvers.rules.lowering.indexing import INDEXING
from passnet_core.solvers.rules.lowering.normalisations import NORMALISATIONS
from passnet_core.solvers.rules.lowering.products import PRODUCTS
from passnet_core.solvers.rules.lowering.rearrangements import REARRANGEMENTS
from passnet_core.solvers.rules.lowering.reductions import REDUCTIONS
from passnet_core.solvers.rules.lowering.sampling import SAMPLING
from passnet_core.solvers.rules.lowering.scans import SCANS
from passnet_core.solvers.rules.lowering.signatures import SIGNATURES, bound_arguments
from passnet_core.solvers.rules.lowering.unary import UNARY
from passnet_core.solvers.rules.lowering.views import VIEWS
from passnet_core.solvers.rules.lowering.windows import WINDOWS
from passnet_core.solvers.rules.values import Stored, Value

__all__ = ["Argument", "Literal", "Lowering"]

OPERATIONS: Mapping[str, Operation] = {
    **ARITHMETIC,
    **UNARY,
    **ACTIVATIONS,
    **CONDITIONS,
    **CONVERSIONS,
    **REDUCTIONS,
    **SCANS,
    **NORMALISATIONS,
    **VIEWS,
    **INDEXING,
    **REARRANGEMENTS,
    **CREATION,
    **PRODUCTS,
    **CONVOLUTIONS,
    **WINDOWS,
    **SAMPLING,
}
"""The operations that are covered, by label."""


class Lowering:
    """Turns the nodes of a graph, in order, into Values. known: what the inputs are."""

    def __init__(self, known: Mapping[str, Argument]) -> None:
        self.known: dict[str, Argument] = dict(known)

    def run(self, graph: Graph) -> None:
        """Lower all operations. Raises Unsupported, naming the first operation that is not covered."""
        for node in graph.operations:
            self.known[node.name] = self.lowered(node)

    def lowered(self, node: Node) -> Argument:
        """The result of an operation whose operands are known. Raises Unsupported."""
        label = operator_label(node)
        args = [self.resolved(each) for each in node.args]
        kwargs = {name: self.resolved(value) for name, value in node.kwargs}
        try:
            if node.kind is NodeKind.CALL and node.target == "builtins.getattr":
                return attribute(*args)
            if label in SIGNATURES:
                args, kwargs = [], bound_arguments(label, args, kwargs, node)
            if label not in OPERATIONS:
                raise Unsupported(label)
            found = OPERATIONS[label](*args, **kwargs)
        except (TypeError, LookupError, ValueError, AttributeError, AssertionError, ArithmeticError) as problem:
            # a function of this package was given arguments that it does not know
            raise Unsupported(f"{label} as it is called here") from problem
        if isinstance(found, Value) and not isinstance(found, Stored) and found not in self.known.values():
            found.name = node.name
        return found

    def resolved(self, value: Given) -> Argument:
        """An argument with what is known of the values that it names."""
        match value:
            case Ref(name):
                return self.known[name]
            case Listed(items):
                return [self.resolved(each) for each in items]
            case tuple():
                return tuple(self.resolved(each) for each in value)
            case Slice(start, stop, step):
                return slice(self.resolved(start), self.resolved(stop), self.resolved(step))
        return value
