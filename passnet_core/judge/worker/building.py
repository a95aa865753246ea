"""Build callables from source: eager, its other forms, Inductor, and the rewritten graph. Runs in the workers.

Source is never executed as received: it is parsed, checked against the known operations, and emitted anew."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from passnet_core.errors import BadInput
from passnet_core.fx import signatures, tracing
from passnet_core.fx.modules import (
    Function,
    Hook,
    Packing,
    attribute,
    globals_of,
    module_of,
    placed_passes,
    with_packed,
)
from passnet_core.graphs.effects import is_random
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Slice, Symbol, Value
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.graphs.source import parse
from passnet_core.judge.protocol.messages import Preparation
from passnet_core.judge.worker.moving import moved
from passnet_core.operations.binding import bind
from passnet_core.records import Baseline, Capture, Contender

RANDOM_SEED = 1024
"""The seed before each call of a graph that draws random numbers, so that every contender draws the same."""

Options = dict[str, Any] | None
"""Entries of Inductor's configuration for one compilation, which Inductor sets meanwhile and then sets back; None: as
they are."""

INDUCTOR_OPTIONS: Mapping[Baseline, Options] = {
    Baseline.INDUCTOR: None,
    Baseline.EAGER_ROUNDING: {"emulate_precision_casts": True},
}
"""How each baseline has Inductor compile."""

NARROW = frozenset({"torch.float16", "torch.bfloat16", "torch.float32"})
NARROWING_METHODS = frozenset({"half", "bfloat16", "float"})


@dataclass
class Prepared:
    """A callable that takes the list of its inputs. matches: of compiled passes, how many were rewritten so far."""

    function: Function
    matches: int | None = None
    before: tuple[Callable[[], object], ...] = field(default=())
    namespaces: list[dict[str, Any]] = field(default_factory=list)
    """The globals in which its modules look up the replacement functions."""
    replacements: dict[str, Function] = field(default_factory=dict)
    """The replacement functions by key. Modules that are made later call what is here then."""
    packings: tuple[Packing, ...] = ()
    packed: list[Any] = field(default_factory=list)

    def __call__(self, inputs: Sequence[Any]) -> Any:
        for each in self.before:
            each()
        return self.function(*inputs, *self.packed)

    def bound(self, inputs: Sequence[Any]) -> tuple[Function, tuple[Any, ...]]:
        """A function and its arguments that make a call on these inputs, with nothing else to do in between."""
        return (self, (inputs,)) if self.before else (self.function, (*inputs, *self.packed))

    @property
    def weights(self) -> frozenset[int]:
        """The indices of the inputs that the bundle prepares."""
        return frozenset(index for packing in self.packings for index in packing.weights.values())

    def pack(self, inputs: Sequence[Any]) -> None:
        """Have the bundle prepare the weights among these inputs, for all calls until this is called again."""
        self.packed = [value for packing in self.packings for value in packing(inputs)]

    @contextmanager
    def replaced(self, functions: Mapping[str, Function]) -> Iterator[None]:
        """Have the modules call these functions in place of the replacements, also modules that are made meanwhile."""
        before = dict(self.replacements)
        self._use(functions)
        try:
            yield
        finally:
            self._use(before)

    def _use(self, functions: Mapping[str, Function]) -> None:
        self.replacements.update(functions)
        for namespace in self.namespaces:
            namespace.update({name: each for name, each in functions.items() if name in namespace})


def prepared(
    preparation: Preparation,
    traced: Sequence[TracedPass],
    replacements: Mapping[str, Function],
    hooks: Mapping[str, Hook] | None = None,
) -> "Prepared":
    """Build the callable for a preparation. Raises BadInput for source that must not be executed.

    Compilation happens in the first call, since it needs the inputs, and is valid for their shapes only. hooks: by
    replacement key."""
    rewritten = preparation.contender is Contender.PASSES and preparation.capture is Capture.DIRECT
    functions = dict(replacements) if rewritten else {}
    graph = parse(preparation.source)
    problem = signatures.refusal(graph, frozenset(functions))
    if problem:
        raise BadInput(problem)
    packings: tuple[Packing, ...] = ()
    if hooks and preparation.weights:
        if not rewritten:
            raise BadInput("prepare(weights) works in direct capture only. Choose that, or remove prepare(weights).")
        graph, packings = with_packed(graph, hooks, preparation.weights)
    call = _prepared(preparation, graph, traced, replacements, functions)
    call.packings = packings
    if any(is_random(node) for node in graph.operations):
        call.before = (_seed,)
    return call


def _prepared(
    preparation: Preparation,
    graph: Graph,
    traced: Sequence[TracedPass],
    replacements: Mapping[str, Function],
    functions: Mapping[str, Function],
) -> Prepared:
    if preparation.float64:
        return Prepared(_in_double(module_of(in_float64(graph), {})))
    if preparation.moved:
        return Prepared(moved(module_of(graph, {})))
    match preparation.contender, preparation.capture:
        case Contender.BASELINE, Capture.COMPILED:
            options = INDUCTOR_OPTIONS[preparation.baseline]
            return Prepared(_compiled(module_of(graph, {}), "inductor", options))
        case Contender.BASELINE, Capture.DIRECT:
            return _inductor_direct(module_of(graph, {}), INDUCTOR_OPTIONS[preparation.baseline])
        case Contender.PASSES, Capture.COMPILED:
            here = placed_passes(traced, preparation.device.value)
            backend = _RewritingBackend(here, dict(replacements))
            compiled = _compiled(module_of(graph, {}), backend)
            call = Prepared(compiled, matches=0, replacements=backend.functions)
            backend.report_to = call
            return call
    module = module_of(graph, functions)
    return Prepared(module, namespaces=[globals_of(module)], replacements=dict(functions))


def _seed() -> None:
    torch.manual_seed(RANDOM_SEED)


# --- float64 ---------------------------------------------------------------------------------------------------------


def in_float64(graph: Graph) -> Graph:
    """The same computation with float64 wherever it names a narrower float. Random numbers are drawn as before."""
    return Graph(tuple(_widened(node) for node in graph.nodes), graph.result)


def _widened(node: Node) -> Node:
    if node.kind is NodeKind.INPUT or is_random(node):
        return node
    if node.kind is NodeKind.METHOD and node.target in NARROWING_METHODS:
        return replace(node, target="double")
    return replace(
        node,
        args=tuple(_wide(each) for each in node.args),
        kwargs=tuple((name, _wide(each)) for name, each in node.kwargs),
    )


def _wide(value: Value) -> Value:
    match value:
        case Symbol(path):
            return Symbol("torch.float64") if str(signatures.constant(path)) in NARROW else value
        case Listed(items):
            return Listed(tuple(_wide(each) for each in items))
        case Slice(start, stop, step):
            return Slice(_wide(start), _wide(stop), _wide(step))
        case tuple():
            return tuple(_wide(each) for each in value)
    return value


def _in_double(function: Function) -> Function:
    """Run a function in float64: with floating-point inputs widened, and float64 as the default dtype of torch.zeros
    and the like. Inputs that it changes in place are written back, rounded to their dtype."""

    def call(*inputs: Any) -> Any:
        wide = [_doubled(each) for each in inputs]
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            returned = function(*wide)
        finally:
            torch.set_default_dtype(before)
        for given, computed in zip(inputs, wide):
            if computed is not given and computed._version:
                given.copy_(computed)
        return returned

    return call


def _doubled(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    if isinstance(value, torch.Tensor) and value.is_complex():
        return value.to(torch.complex128)
    return value


# --- torch.compile ---------------------------------------------------------------------------------------------------


def _compiled(module: torch.nn.Module, backend: Any, options: Options = None) -> Function:
    """torch.compile in its default mode, from a clean state. Shapes are static: other shapes compile again."""
    torch._dynamo.reset()
    compiled: Function = torch.compile(module, backend=backend, dynamic=False, options=options)
    return compiled


@dataclass
class _RewritingBackend:
    """A backend of torch.compile that applies the passes to Dynamo's graph and runs the result without compiling it."""

    passes: Sequence[TracedPass]
    functions: dict[str, Function]
    report_to: Prepared | None = None

    def __call__(self, captured: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Function:
        reading = tracing.graph_of_fx(captured.graph)
        rewriting = rewrite(reading.graph, self.passes, bind=bind)
        if self.report_to is not None:
            matches = sum(len(report.matches) for report in rewriting.reports)
            self.report_to.matches = (self.report_to.matches or 0) + matches
        module = module_of(rewriting.graph, self.functions)
        if self.report_to is not None:
            self.report_to.namespaces.append(globals_of(module))
        constants = tuple(attribute(captured, path) for path in reading.attributes.values())
        if not constants:
            return module.forward
        return lambda *inputs: module.forward(*inputs, *constants)


def _inductor_direct(module: torch.nn.Module, options: Options) -> Prepared:
    """Inductor on the captured graph, without Dynamo's guards, so that the shapes must stay the same in all calls."""

    def compile_first(*inputs: Any) -> Any:
        call.function = _inductor(module, inputs, options)
        return call.function(*inputs)

    call = Prepared(compile_first)
    return call


def _inductor(module: torch.nn.Module, inputs: Sequence[Any], options: Options = None) -> Function:
    """The module, compiled for tensors of these shapes. Numbers among the inputs become constants."""
    torch._dynamo.reset()
    traced = torch.fx.GraphModule(torch.nn.Module(), tracing.fx_graph(module))
    traced, tensors, bare = for_inductor(traced, inputs)
    compiled: Function = torch._inductor.compile(traced, [inputs[index] for index in tensors], options)
    if len(tensors) == len(inputs) and not bare:
        return compiled

    def call(*given: Any) -> Any:
        results = compiled(*(given[index] for index in tensors))
        return results[0] if bare else results

    return call


def for_inductor(traced: torch.fx.GraphModule, inputs: Sequence[Any]) -> tuple[torch.fx.GraphModule, list[int], bool]:
    """Change a module in place to a form that Inductor accepts: numbers among the inputs become constants, and it
    returns a tuple. Return the module, the indices of its remaining inputs, and whether its result was a bare value."""
    tensors = [index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
    for index, node in enumerate(traced.graph.find_nodes(op="placeholder")):
        if index not in tensors:
            node.replace_all_uses_with(inputs[index])
            traced.graph.erase_node(node)
    bare = _return_tuple(traced.graph)
    traced.recompile()
    return traced, tensors, bare


def rehearse() -> None:
    """Compile something small with Inductor, so that it is loaded."""
    graph = torch.fx.symbolic_trace(lambda a: torch.relu(a + 1))
    example = torch.ones(64, device="cuda")
    _inductor(torch.fx.GraphModule(torch.nn.Module(), graph.graph), [example])(example)


def _return_tuple(graph: torch.fx.Graph) -> bool:
    """Make the graph return a tuple, as Inductor requires. Return whether its result was a bare value before."""
    (output,) = graph.find_nodes(op="output")
    (result,) = output.args
    if isinstance(result, tuple | list):
        return False
    output.args = ((result,),)
    return True
