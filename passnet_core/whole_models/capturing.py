"""Capture a model that a Python file makes.

Run as a program, it reads a ModelFile as JSON from standard input and writes a CapturedModel to standard output. The
file may be a stranger's: start the program in a sandbox."""

import linecache
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch
import torch._dynamo

from passnet_core.corpus.cutting import PRODUCTS
from passnet_core.corpus.evaluation import in_single_precision, spec_of
from passnet_core.errors import BadInput
from passnet_core.fx import tracing
from passnet_core.fx.modules import attribute
from passnet_core.graphs.ir import NodeKind
from passnet_core.graphs.source import emit
from passnet_core.records import TensorSpec, digest_of
from passnet_core.whole_models.captured import CapturedGraph, CapturedModel, ModelFile
from passnet_core.whole_models.programs import answering

MODULE = "your_model"
"""The name under which the file is imported."""

CONFINED = (
    " The file runs in a sandbox, which has no network and sees no other file of yours. Build the model from its"
    " configuration, or name the folders that the file needs with --read."
)
READING = (ImportError, OSError)
"""What a file raises that needs what a sandbox hides."""


@dataclass(frozen=True)
class MadeModel:
    """A model with one call's arguments."""

    model: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def training(self) -> bool:
        """Whether it is in train mode, in which what it gives may be random."""
        return isinstance(self.model, torch.nn.Module) and self.model.training

    def __call__(self, compiled: Callable[..., Any] | None = None) -> Any:
        """Call the model, or what torch.compile has made of it, without gradients."""
        with torch.no_grad():
            return (self.model if compiled is None else compiled)(*self.args, **self.kwargs)


def made(file: ModelFile) -> MadeModel:
    """Run the file, and have it make the model. Raises BadInput that names the line for whatever the file raises."""
    module = ModuleType(MODULE)
    module.__file__ = file.name
    sys.modules[MODULE] = module
    # for tracebacks, and for those who read a function's source
    linecache.cache[file.name] = (len(file.code), None, file.code.splitlines(keepends=True), file.name)
    torch.manual_seed(0)
    _run(file, lambda: exec(compile(file.code, file.name, "exec"), module.__dict__))
    found = _run(file, _function(file, module, file.factory))
    if file.inputs:
        found = found, _run(file, _function(file, module, file.inputs))
    if not isinstance(found, tuple) or len(found) != 2 or not callable(found[0]):
        raise BadInput(
            f"{file.factory}() of {file.name} returns {_described(found)}. Return the model and its example inputs:"
            " return model, inputs."
        )
    model, inputs = found
    if isinstance(inputs, Mapping):
        return MadeModel(model, (), dict(inputs))
    return MadeModel(model, tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,), {})


def _function(file: ModelFile, module: ModuleType, name: str) -> Callable[[], Any]:
    function = getattr(module, name, None)
    if not callable(function):
        there = [
            key for key, each in vars(module).items() if callable(each) and getattr(each, "__module__", "") == MODULE
        ]
        known = f" It has {', '.join(there)}." if there else ""
        raise BadInput(f"{file.name} has no function {name}.{known}")
    return function


def _run(file: ModelFile, call: Callable[[], Any]) -> Any:
    """Run code of the file. Raises BadInput that names the line of the file for whatever it raises."""
    try:
        return call()
    except BadInput:
        raise
    except Exception as error:  # the file is a stranger's code
        lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == file.name]
        if isinstance(error, SyntaxError) and error.filename == file.name:
            lines = [error.lineno]
        said = " ".join(str(error).split())[:600]
        place = f"{file.name}, line {lines[-1]}" if lines else file.name
        hint = CONFINED if isinstance(error, READING) else ""
        raise BadInput(f"{place}: {type(error).__name__}: {said}{'' if said.endswith('.') else '.'}{hint}") from error


def _described(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, tuple):
        return f"a tuple of {', '.join(type(each).__name__ for each in value) or 'nothing'}"
    return f"a {type(value).__name__}"


class _Capture:
    """A backend of torch.compile that computes each graph node by node, and keeps it with what its values look like."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.graphs: dict[str, CapturedGraph] = {}
        self.notes: list[str] = []
        self.own = {id(each) for each in (*model.parameters(), *model.buffers())}

    def __call__(self, module: torch.fx.GraphModule, examples: Sequence[Any]) -> Callable[..., Any]:
        # it computes nothing, and torch 2.11 gives it a name that no file may use
        for node in module.graph.find_nodes(op="call_function", target=torch._C._log_api_usage_once):
            module.graph.erase_node(node)
        try:
            read = tracing.graph_of_fx(module.graph)
            code = emit(read.graph)
        except BadInput as error:
            self.notes.append(f"A graph was left out: {error}")
            return module.forward
        held = [attribute(module, path) for path in read.attributes.values()]
        names = [node.name for node in read.graph.nodes if node.kind is NodeKind.INPUT]
        named = {node.name: name for name, node in read.origins.items()}

        def walk(*inputs: Any) -> Any:
            # before an operation changes them in place
            specs = tuple(self._spec(name, value) for name, value in zip(names, (*inputs, *held), strict=True))
            recorder = Recorder(module)
            result = recorder.run(*inputs)
            described = {named[name]: spec for name, spec in recorder.values.items() if spec and name in named}
            values = tuple(replace(spec, name=name) for name, spec in described.items() if name not in names)
            found = CapturedGraph(code, specs, values)
            key = digest_of([code, [(each.shape, each.dtype) for each in specs]])
            known = self.graphs.get(key)
            self.graphs[key] = found if known is None else replace(known, calls=known.calls + 1)
            return result

        return walk

    def _spec(self, name: str, value: Any) -> TensorSpec:
        """What an input of a graph looks like; its original name says whether it belongs to the model."""
        if not isinstance(value, torch.Tensor):
            raise BadInput(f"The graph's input {name} is a {type(value).__name__}, not a tensor.")
        spec = replace(spec_of(name, value), original_name=name)
        if id(value) in self.own and not spec.is_of_a_module:
            # torch.compile names those of torch.nn.Sequential otherwise, for example
            spec = replace(spec, original_name=f"self_parameters_{name}")
        return spec


class Recorder(torch.fx.Interpreter):
    """Computes a graph node by node on a CPU, and describes each value when it is made, before in-place operations can
    change it. values: by the names of torch.fx; None for a value that is no tensor."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.values: dict[str, TensorSpec | None] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        product = n.op == "call_function" and getattr(n.target, "__name__", "") in PRODUCTS
        value = self._product(n) if product else super().run_node(n)
        # within torch.vmap a value is one row of many, which a kernel could not read
        is_tensor = isinstance(value, torch.Tensor) and not torch._C._functorch.is_batchedtensor(value)
        self.values[n.name] = spec_of(n.name, value) if is_tensor else None
        return value

    def _product(self, n: torch.fx.Node) -> Any:
        return in_single_precision(n.target, *self.fetch_args_kwargs_from_env(n))  # type: ignore[arg-type]


def capture(file: ModelFile) -> CapturedModel:
    """Capture one call of the model. Raises BadInput if the file, the model or an operation fails."""
    call = made(file)
    module = call.model if isinstance(call.model, torch.nn.Module) else torch.nn.Module()
    keep = _Capture(module)
    torch._dynamo.reset()
    compiled = torch.compile(call.model, backend=keep, dynamic=False)
    try:
        _run(file, lambda: call(compiled))
    except BadInput:
        # what the model itself raises says more than what torch.compile makes of it
        _run(file, call)
        raise
    return CapturedModel(
        name=type(call.model).__name__ if isinstance(call.model, torch.nn.Module) else file.factory,
        graphs=tuple(keep.graphs.values()),
        parameters=sum(each.numel() for each in module.parameters()),
        training=call.training,
        notes=tuple(dict.fromkeys(keep.notes)),
    )


def main() -> int:
    """Run the program. Returns exit code 0, or 2 with a sentence on standard error."""
    return answering(ModelFile, capture)


if __name__ == "__main__":
    sys.exit(main())
