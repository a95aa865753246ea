"""The functions that replaced matches call: the pass's arguments, its replacement, and prepared weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from passnet_core.fx.modules import Function, Hook, Packing, module_of, placed_passes
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, references
from passnet_core.graphs.placement import placed
from passnet_core.graphs.rewriting import TracedPass, needed_inputs


class PassFailed(RuntimeError):
    """A replacement function raised an exception. The cause is that exception."""


@dataclass(frozen=True)
class Callee:
    """A pass whose call takes the pattern's inputs, as far as the pass reads them, instead of the replacement's
    arguments.

    traced: with the key that stands for it. digest: that of its bundle. names: of the pattern's inputs that the call
    gets, in order. given: their names in replacement_args, by which prepare() knows them."""

    traced: TracedPass
    digest: str
    names: tuple[str, ...]
    given: tuple[str, ...]
    arguments: Graph
    replacement: Function
    hook: Hook | None

    def placed(self, device: str) -> "Callee":
        """The same on this device, "cpu" or "cuda", which device literals of pattern and arguments then name."""
        (traced,) = placed_passes([self.traced], device)
        return replace(self, traced=traced, arguments=placed(self.arguments, device))

    def function(self, weights: Sequence[str]) -> Function:
        """What a match calls. weights: those of given that are parameters of the model."""
        compute = module_of(self.arguments, {self.traced.replacement: self._called(weights)}).forward
        name = self.traced.name

        def call(*inputs: Any) -> Any:
            try:
                return compute(*inputs)
            except Exception as error:  # the replacement is the bundle's own code
                raise PassFailed(
                    f"The replacement of pass {name} raised {type(error).__name__}: {error}. Leave this pass out of its"
                    " bundle, or compile the model without the bundle."
                ) from error

        call.__name__ = call.__qualname__ = name
        return call

    def _called(self, weights: Sequence[str]) -> Function:
        """The replacement function, which gets prepared weights if the pass prepares any of these."""
        if self.hook is None or not set(self.hook.names) & set(weights):
            return self.replacement
        places = {name: place for place, name in enumerate(self.hook.names) if name in weights}
        return _Prepared(self.replacement, Packing(self.hook.prepare, places))


def callee(
    traced: TracedPass, digest: str, key: str, replacement: Function, hook: Hook | None, *, also: bool
) -> Callee:
    """A pass that is called with the pattern's inputs. digest: that of its bundle. key: stands for it in graphs; each
    pass has its own. also: give it the inputs too that only the pattern reads, so that the pattern can be computed from
    them."""
    pattern, given = traced.pattern.inputs, traced.arguments.inputs
    needed = set(needed_inputs(traced))
    if also:
        needed |= {name for node in traced.pattern.operations for name in node.inputs}
        needed |= set(references(traced.pattern.result))
    kept = [(first.name, second.name) for first, second in zip(pattern, given) if first.name in needed]
    inputs = tuple(Node(second, NodeKind.INPUT, second) for _, second in kept)
    result = traced.arguments.result
    arguments = result if isinstance(result, tuple) else (result,)
    called = Node("called", NodeKind.CALL, key, arguments)
    computing = Graph((*inputs, *traced.arguments.operations, called), Ref(called.name))
    as_they_are = Graph(traced.arguments.inputs, tuple(Ref(second) for _, second in kept))
    renamed = replace(traced, arguments=as_they_are, replacement=key)
    names, given_names = (tuple(each) for each in zip(*kept)) if kept else ((), ())
    return Callee(renamed, digest, names, given_names, computing, replacement, hook)


class _Prepared:
    """Calls a replacement function with prepared weights, which are prepared again when the weights have changed."""

    def __init__(self, function: Function, packing: Packing) -> None:
        self.function, self.packing, self.places = function, packing, list(packing.weights.values())
        self.state: list[tuple[int, int]] | None = None
        self.packed: list[Any] = []

    def __call__(self, *args: Any) -> Any:
        weights = [args[place] for place in self.places]
        state = [(each.data_ptr(), 0 if each.is_inference() else each._version) for each in weights]
        if state != self.state:
            self.packed = self.packing(args)
            self.state = state
        given = list(args)
        for place, value in zip(self.places, self.packed):
            given[place] = value
        return self.function(*given)
