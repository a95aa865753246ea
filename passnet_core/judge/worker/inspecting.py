"""What eager and TorchInductor make of a subgraph: what its nodes give, and generated code. Nothing is computed.

Runs in the witness. Tensors have no content here, so that neither memory nor time depends on their size. TorchInductor
is stopped when it has written its code, before that is compiled.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensorMode

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph, Node, NodeKind
from passnet_core.graphs.source import parse
from passnet_core.judge.protocol import signatures
from passnet_core.judge.protocol.messages import Given, Propagated
from passnet_core.judge.worker import building, tracing
from passnet_core.records import Device, InductorCode, NodeValue, TensorForm

MOST_CHARACTERS = 500_000
MOST_VALUES = 20_000
REASON_CHARACTERS = 300
MEANT: Mapping[str, str] = {
    "DynamicOutputShapeException": "its shape depends on the content of its inputs",
    "DataDependentOutputException": "it reads the content of a tensor",
}
"""What torch says of tensors without content only by the names of its exceptions."""
NOT_OF_A_CALL = ("get_args", "benchmark_compiled_module")
"""Functions that Inductor adds for people who run its code by hand."""


def propagated(source: str, given: Sequence[Given], device: Device) -> Propagated:
    """What every node gives for inputs of these shapes. Raises BadInput for source that must not be executed."""
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
                except Exception as error:  # whatever an operation raises on tensors without content
                    first = first or f"{node.name} ({node.target}): {_reason(error)}"
                    unknown.append(node.name)
                    continue
            if tensors := _forms(known[node.name]):
                values.append(NodeValue(node.name, tensors))
    problem = f"{len(unknown)} of {len(graph.nodes)} values are not known, the first at {first}." if unknown else ""
    return Propagated(tuple(values[:MOST_VALUES]), problem)


def generated(source: str, given: Sequence[Given], device: Device) -> InductorCode | str:
    """TorchInductor's code for inputs of these shapes, or in a sentence why there is none. Raises BadInput for source
    that must not be executed."""
    graph = _graph(source)
    if problem := _compiler_problem(device):
        return problem
    try:
        text = _written(graph, given, device)
    except Exception as error:  # Inductor's own: its private parts differ from version to version
        return f"TorchInductor {torch.__version__} does not compile this subgraph: {_reason(error)}."
    launches, library_calls = launched(text)
    return InductorCode(_cut(text), launches, library_calls)


def launched(code: str) -> tuple[int, int]:
    """What one call of Inductor's output code launches: (its own kernels, calls of a library's)."""
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
    """The paths of all that the functions of a module call."""
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name not in NOT_OF_A_CALL:
            for node in ast.walk(statement):
                if isinstance(node, ast.Call):
                    yield _path(node)


def _path(node: ast.expr) -> str:
    """The dotted path of a name, or of what is called; empty for anything else."""
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
    """A tensor, or tensors in a tuple or list; empty for anything else."""
    values = value if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(each, torch.Tensor) for each in values):
        return ()
    return tuple(TensorForm(tuple(map(int, each.shape)), str(each.dtype).removeprefix("torch.")) for each in values)


def _written(graph: Graph, given: Sequence[Given], device: Device) -> str:
    """The code as Inductor writes it."""
    import torch._dynamo
    import torch._inductor
    from torch._functorch import config as functorch_config
    from torch._inductor import config
    from torch._inductor.graph import GraphLowering

    seen: list[str] = []

    class Written(Exception):
        """Raised to stop Inductor once its code is there."""

    def written(code: str) -> None:
        seen.append(code)
        raise Written

    torch._dynamo.reset()
    module = torch.fx.GraphModule(torch.nn.Module(), tracing.fx_of_graph(graph))
    with FakeTensorMode():
        inputs = _tensors(given, device)
    compilation, tensors, _ = building.for_inductor(module, inputs)
    # nothing is kept, and nothing that was kept may stand in for the code
    cached = config.patch(fx_graph_cache=False, fx_graph_remote_cache=False)
    traced = functorch_config.patch(enable_autograd_cache=False, enable_remote_autograd_cache=False)
    with torch.no_grad(), cached, traced, mock.patch.object(GraphLowering, "save_output_code", written):
        try:
            torch._inductor.compile(compilation, [inputs[index] for index in tensors])
        except Exception:  # Inductor wraps what stops it
            if not seen:
                raise
    if not seen:
        raise RuntimeError("it generates no code")
    return seen[0]


def _compiler_problem(device: Device) -> str:
    """On a CPU, Inductor's code depends on the C++ compiler, which it asks what the processor can do."""
    if device is not Device.CPU:
        return ""
    try:
        from torch._inductor.cpp_builder import get_cpp_compiler
    except ImportError:
        return ""
    try:
        get_cpp_compiler()
    except Exception:  # Inductor's own
        return "TorchInductor needs a C++ compiler on a CPU, and there is none. Install g++."
    return ""


def _reason(error: BaseException) -> str:
    """The cause in one line, without torch's advice."""
    meant = MEANT.get(type(error).__name__)
    lines = str(error).strip().splitlines()
    return meant or (lines[0] if lines else type(error).__name__).rstrip(".!")[:REASON_CHARACTERS]


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n# {len(text) - MOST_CHARACTERS} more characters are left out\n"
