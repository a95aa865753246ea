"""From the operations of a graph to Values: what each computes, where eager rounds, and which dtype it has."""

from collections.abc import Mapping
from functools import wraps

from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Slice
from passnet_core.graphs.ir import Value as Given
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.kinds import several
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.activations import ACTIVATIONS
from passnet_core.solvers.rules.lowering.arguments import Argument, Literal, Operation
from passnet_core.solvers.rules.lowering.arithmetic import ARITHMETIC
from passnet_core.solvers.rules.lowering.conditions import CONDITIONS
from passnet_core.solvers.rules.lowering.conversions import CONVERSIONS, attribute
from passnet_core.solvers.rules.lowering.convolutions import CONVOLUTIONS
from passnet_core.solvers.rules.lowering.creation import CREATION
from passnet_core.solvers.rules.lowering.indexing import INDEXING
from passnet_core.solvers.rules.lowering.losses import LOSSES
from passnet_core.solvers.rules.lowering.normalisations import NORMALISATIONS
from passnet_core.solvers.rules.lowering.pointwise import cast
from passnet_core.solvers.rules.lowering.products import PRODUCTS
from passnet_core.solvers.rules.lowering.rearrangements import REARRANGEMENTS
from passnet_core.solvers.rules.lowering.reductions import REDUCTIONS
from passnet_core.solvers.rules.lowering.sampling import SAMPLING
from passnet_core.solvers.rules.lowering.signatures import bound_arguments
from passnet_core.solvers.rules.lowering.special import SPECIAL
from passnet_core.solvers.rules.lowering.unary import UNARY
from passnet_core.solvers.rules.lowering.views import VIEWS, laid_out
from passnet_core.solvers.rules.lowering.windows import WINDOWS
from passnet_core.solvers.rules.values import Stored, Value

__all__ = ["Argument", "Literal", "Lowering"]

_COPIED = (
    "alias", "detach", "diagonal", "expand", "narrow", "permute", "select", "split", "split_with_sizes", "squeeze", "t",
    "transpose", "unbind", "unfold", "unsqueeze", "view",
)  # fmt: skip
"""Views of which torch has a twin that copies."""


def _copying(view: Operation) -> Operation:
    @wraps(view)
    def copies(*args: Argument, **kwargs: Argument) -> Argument:
        found = view(*args, **kwargs)
        return tuple(map(laid_out, found)) if isinstance(found, tuple) else laid_out(found)

    return copies


_VIEWS = {**VIEWS, **INDEXING, **WINDOWS, **CONVERSIONS}

OPERATIONS: Mapping[str, Operation] = {
    **{f"{label}_copy": _copying(_VIEWS[label]) for label in _COPIED},
    **UNARY,
    **SPECIAL,
    **ARITHMETIC,
    **ACTIVATIONS,
    **CONDITIONS,
    **CONVERSIONS,
    **REDUCTIONS,
    **LOSSES,
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
"""The operations that are covered, by label, or by target where other functions have the same label."""


LEFT = {label: reason for reason, labels in several("left").items() for label in labels}
"""Why an operation is left to PyTorch, by label."""


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
        try:
            if node.kind is NodeKind.CALL and node.target == "builtins.getattr":
                return attribute(*map(self.resolved, node.args))
            operation = OPERATIONS.get(node.target) or OPERATIONS.get(label)
            if operation is None:
                raise Unsupported(f"{label} ({LEFT[label]})" if label in LEFT else label)
            args, kwargs = bound_arguments(node, operation, self.resolved)
            found = operation(*args, **kwargs)
        except (TypeError, LookupError, ValueError, AttributeError, AssertionError, ArithmeticError) as problem:
            # a function of this package was given arguments that it does not know
            raise Unsupported(f"{label} as it is called here") from problem
        operand = self.known.get(node.inputs[0]) if node.target.endswith("_") and node.inputs else None
        if isinstance(found, Value) and isinstance(operand, Value) and found.dtype.name != operand.dtype.name:
            found = cast(found, operand.dtype)  # what works in place keeps the dtype
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
