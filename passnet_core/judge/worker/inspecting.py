"""Inspect a subgraph without computing it: the shapes and dtypes of its nodes, and a baseline's code for it.

Runs in the witness, on fake tensors, so that neither memory nor time depends on their size. TorchInductor is stopped
once it has written its code, before the code is compiled."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensorMode

from passnet_core.errors import BadInput
from passnet_core.fx import signatures, tracing
from passnet_core.graphs.ir import Graph, Node, NodeKind
from passnet_core.graphs.source import parse
from passnet_core.judge.protocol.messages import Given, Propagated
from passnet_core.judge.worker import building
from passnet_core.records import BASELINE_NAMES, Baseline, Device, InductorCode, NodeValue, TensorForm

MOST_CHARACTERS = 500_000
MOST_VALUES = 20_000
REASON_CHARACTERS = 300
EXPLANATIONS: Mapping[str, str] = {
    "DynamicOutputShapeException": "its shape depends on the content of its inputs",
    "DataDependentOutputException": "it reads the content of a tensor",
}
"""Explanations of exceptions that torch raises on fake tensors without a helpful message."""
NEVER_CALLED = ("get_args", "benchmark_compiled_module")
"""Functions that Inductor adds for people who run its code by hand."""


def propagated(source: str, given: Sequence[Given], device: Device) -> Propagated:
    """The shape and dtype of every node, given the inputs'. Raises BadInput for source that must not be executed."""
    graph = _graph(source)
    values: list[NodeValue] = []
    unknown: list[str] = []
    first = ""
    with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
        known: dict[str, Any] = dict(zip((node.name for node in graph.inputs), _tensors(given, device), strict=True))
        for node in graph.nodes:
            if any(name not in known for name in node.inputs):
                unknown.append(node.name)
                continue
            if node.kind is not NodeKind.INPUT:
                try:
                    known[node.name] = _called(node, known)
                except Exception as error:  # operations may raise anything on fake tensors
                    first = first or f"{node.name} ({node.target}): {_reason(error)}"
                    unknown.append(node.name)
                    continue
            if tensors := _forms(known[node.name]):
                values.append(NodeValue(node.name, tensors))
    problem = f"{len(unknown)} of {len(graph.nodes)} values are not known, the first at {first}." if unknown else ""
    return Propagated(tuple(values[:MOST_VALUES]), problem)


def generated(source: str, given: Sequence[Given], device: Device, baseline: Baseline) -> InductorCode | str:
    """The code of TorchInductor as this baseline for these shapes, or a sentence that says why there is none. Raises
    BadInput for source that must not be executed."""
    graph = _graph(source)
    if problem := _compiler_problem(device):
        return problem
    try:
        text = _written(graph, given, device, building.INDUCTOR_OPTIONS[baseline])
    except Exception as error:  # Inductor may raise anything, and its internals change between versions
        return (
            f"{BASELINE_NAMES[baseline]}, torch {torch.__version__}, does not compile this subgraph: {_reason(error)}."
        )
    launches, library_calls = launched(text)
    return InductorCode(_cut(text), launches, library_calls)


def launched(code: str) -> tuple[int, int]:
    """How much one call of Inductor's output code launches: (kernels that it generated, calls of library kernels)."""
    module = ast.parse(code)
    kernels = {
        target.id
        for statement in module.body
        if isinstance(statement, ast.Assign) and _path(statement.value).startswith("async_compile.")
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    own = library = 0
    for path in _calls(module):
        root = path.partition(".")[0]
        own += path in kernels or (root in kernels and path.endswith(".run"))
        library += root in ("extern_kernels", "aten") or path.startswith("torch.ops.")
    return own, library


def _calls(module: ast.Module) -> Iterator[str]:
    """The dotted path of every call within a module's functions."""
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name not in NEVER_CALLED:
            for node in ast.walk(statement):
                if isinstance(node, ast.Call):
                    yield _path(node)


def _path(node: ast.expr) -> str:
    """The dotted path of a name, or of the function of a call; empty for anything else."""
    match node:
        case ast.Call(func=function):
            return _path(function)
        case ast.Attribute(value=value, attr=name):
            return f"{before}.{name}" if (before := _path(value)) else ""
        case ast.Name(id=name):
            return name
    return ""


def _graph(source: str) -> Graph:
    graph = parse(source)
    if problem := signatures.refusal(graph):
        raise BadInput(problem)
    return graph


def _tensors(given: Sequence[Given], device: Device) -> list[Any]:
    return [
        torch.empty(each.shape, dtype=getattr(torch, each.dtype), device=device.value)
        if isinstance(each, TensorForm)
        else each
        for each in given
    ]


def _called(node: Node, known: Mapping[str, Any]) -> Any:
    args = signatures.filled(node.args, known)
    kwargs = {name: signatures.filled(value, known) for name, value in node.kwargs}
    if node.kind is NodeKind.METHOD:
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    return signatures.resolve(node.target)(*args, **kwargs)


def _forms(value: Any) -> tuple[TensorForm, ...]:
    """The form of a tensor, or of each tensor in a tuple or list; empty for anything else."""
    values = value if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(each, torch.Tensor) for each in values):
        return ()
    return tuple(TensorForm(tuple(map(int, each.shape)), str(each.dtype).removeprefix("torch.")) for each in values)


def _written(graph: Graph, given: Sequence[Given], device: Device, options: building.Options) -> str:
    """Run Inductor until it has written its code, and return that."""
    import torch._dynamo
    import torch._inductor
    from torch._functorch import config as functorch_config
    from torch._inductor import config
    from torch._inductor.graph import GraphLowering

    seen: list[str] = []

    class Written(Exception):
        """Raised to stop Inductor once its code is written."""

    def written(code: str) -> None:
        seen.append(code)
        raise Written

    torch._dynamo.reset()
    module = torch.fx.GraphModule(torch.nn.Module(), tracing.fx_of_graph(graph))
    with FakeTensorMode():
        inputs = _tensors(given, device)
    compilation, tensors, _ = building.for_inductor(module, inputs)
    # without caches: a hit would leave no code to read
    cached = config.patch(fx_graph_cache=False, fx_graph_remote_cache=False)
    traced = functorch_config.patch(enable_autograd_cache=False, enable_remote_autograd_cache=False)
    with torch.no_grad(), cached, traced, mock.patch.object(GraphLowering, "save_output_code", written):
        try:
            torch._inductor.compile(compilation, [inputs[index] for index in tensors], options)
        except Exception:  # Inductor wraps Written in an exception of its own
            if not seen:
                raise
    if not seen:
        raise RuntimeError("it generates no code")
    return seen[0]


def _compiler_problem(device: Device) -> str:
    """Why Inductor cannot write code here, or empty. On a CPU, it asks a C++ compiler what the processor supports."""
    if device is not Device.CPU:
        return ""
    try:
        from torch._inductor.cpp_builder import get_cpp_compiler
    except ImportError:
        return ""
    try:
        get_cpp_compiler()
    except Exception:  # Inductor has no common base class for its errors
        return "TorchInductor needs a C++ compiler on a CPU, and there is none. Install g++."
    return ""


def _reason(error: BaseException) -> str:
    """The cause in one line, without torch's advice."""
    explanation = EXPLANATIONS.get(type(error).__name__)
    lines = str(error).strip().splitlines()
    return explanation or (lines[0] if lines else type(error).__name__).rstrip(".!")[:REASON_CHARACTERS]


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n# {len(text) - MOST_CHARACTERS} more characters are left out\n"
