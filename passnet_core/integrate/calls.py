"""What replaced matches call: the pass's arguments, its replacement, and prepared weights."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch

from passnet_core.fx.modules import Function, Hook, Packing, module_of, placed_passes
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, references, substituted
from passnet_core.graphs.placement import placed
from passnet_core.graphs.rewriting import TracedPass, needed_inputs

T = TypeVar("T")


def apart(function: Callable[[], T]) -> T:
    """Call a function whose tensors stay when the call ends, or may: in a thread of its own, since what this one
    allocates while a CUDA graph is warmed up must be the graph's."""
    if not torch.cuda.is_available():
        return function()
    stream, inference = torch.cuda.current_stream(), torch.is_inference_mode_enabled()

    def run() -> T:
        with torch.cuda.stream(stream), torch.inference_mode(inference), torch.no_grad():
            return function()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


@dataclass(frozen=True)
class Callee:
    """A pass whose call takes those of the pattern's inputs that pattern or replacement read, instead of the
    replacement's arguments: so the pattern can be computed from them too.

    traced: with the key that stands for it, and the inputs as its arguments. digest: that of its bundle. given: the
    names of the inputs in replacement_args, by which prepare() knows them. pattern: takes the same inputs. arguments:
    takes them by the names in given, and calls the replacement."""

    traced: TracedPass
    digest: str
    given: tuple[str, ...]
    pattern: Graph
    arguments: Graph
    replacement: Function
    hook: Hook | None

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

    def function(self, weights: Sequence[str]) -> "tuple[Function, PreparedCall | None]":
        """The replacement as a function of the inputs, and the call in it that prepares weights, if there is one.
        weights: those of given that are parameters of the model."""
        names = self.hook.names if self.hook is not None else ()
        places = {name: place for place, name in enumerate(names) if name in weights}
        call = PreparedCall(self.replacement, Packing(self.hook.prepare, places)) if self.hook and places else None
        return module_of(self.arguments, {self.traced.replacement: call or self.replacement}).forward, call


def callee(traced: TracedPass, digest: str, key: str, replacement: Function, hook: Hook | None) -> Callee:
    """A pass that is called with the pattern's inputs. digest: that of its bundle. key: stands for it in graphs; each
    pass has its own."""
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
        replace(traced, arguments=as_they_are, replacement=key),
        digest,
        tuple(second.name for second in inputs),
        Graph((*(first for first, _ in pairs), *traced.pattern.operations), traced.pattern.result),
        Graph((*inputs, *traced.arguments.operations, called), Ref(called.name)),
        replacement,
        hook,
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


class PreparedCall:
    """Calls a replacement function with weights that prepare() has packed: anew for each call, so that every change of
    a weight counts, or, if the weights are frozen, once."""

    def __init__(self, function: Function, packing: Packing) -> None:
        self.function, self.packing, self.places = function, packing, list(packing.weights.values())
        self.frozen = False
        self.args: Sequence[Any] = ()
        self.state: list[tuple[int, int]] | None = None
        self.packed: list[Any] = []

    def __call__(self, *args: Any) -> Any:
        given = list(args)
        for place, value in zip(self.places, self._packed(args) if self.frozen else self.packing(args)):
            given[place] = value
        return self.function(*given)

    def refresh(self) -> None:
        """Pack frozen weights again, into the memory of those packed before, which a CUDA graph may read."""
        if self.state is None:
            return
        self.state = self._seen(self.args)
        for place, after in enumerate(self.packing(self.args)):
            before = self.packed[place]
            if isinstance(before, torch.Tensor) and before.shape == after.shape and before.dtype == after.dtype:
                before.copy_(after)
            else:
                self.packed[place] = after

    def _packed(self, args: Sequence[Any]) -> list[Any]:
        state = self._seen(args)
        if state != self.state:
            self.args = [each if place in self.places else None for place, each in enumerate(args)]
            self.packed, self.state = apart(lambda: self.packing(args)), state
        return self.packed

    def _seen(self, args: Sequence[Any]) -> list[tuple[int, int]]:
        """What tells most changes of the weights: where they are, and their versions."""
        weights = [args[place] for place in self.places]
        return [(each.data_ptr(), 0 if each.is_inference() else each._version) for each in weights]
