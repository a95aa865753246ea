"""The child that runs candidate code: answers the referee's requests, one after the other, until the channel closes.

Nothing here is trusted by the referee, since the bundle shares this process; it only has to be honest for honest code.
"""

import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import platform
import re
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from passnet_core.graphs.ir import graph_to_json
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge import building, interpreter, timing, tracing, wire
from passnet_core.judge.candidacy import Preparation
from passnet_core.records import Bundle, Capture, Clock, Contender, Device, from_json

FOLDER = "pass_dir"
"""Bundles may import their helpers from a package of this name, as well as by their bare names."""

TEXT_LIMIT = 2_000
TRACE_LIMIT = 6_000

NEEDED = ("pattern", "replacement_args", "replacement_func")

COMPILERS = ("triton.compiler", "torch._dynamo", "torch._inductor", "triton.backends")
"""An exception whose class lies in one of these means that something could not be compiled."""


class LoadProblem(Exception):
    """A bundle that imports, but is not one."""


class UntraceablePattern(Exception):
    """A function that torch.fx could not trace; the cause says why."""


def serve(channel: socket.socket, device: Device, scratch: Path) -> None:
    """Answers until the channel closes."""
    child = _Child(device, scratch)
    while True:
        try:
            request = wire.receive(channel)
        except wire.WireClosed:
            return
        reply = child.answer(request)
        try:
            wire.send(channel, reply)
        except wire.WireClosed:
            return


def rehearse(device: Device) -> None:
    """Does once, before any child exists, what every child would have to do first; runs no candidate code."""
    if device is Device.CPU:
        interpreter.mend()
    tracing.trace_pattern(_rehearsed)
    tracing.trace_arguments(_rehearsed)


def _rehearsed(a: Any, b: Any) -> Any:
    return torch.nn.functional.relu(a + b)


class _Child:
    """What one child holds: the loaded passes, the prepared callables, the inputs."""

    def __init__(self, device: Device, scratch: Path) -> None:
        self.device = device
        self.scratch = scratch
        self.traced: tuple[TracedPass, ...] = ()
        self.replacements: dict[str, Callable[..., Any]] = {}
        self.calls: dict[str, Callable[[list[Any]], Any]] = {}
        self.inputs: list[Any] = []

    def answer(self, request: wire.Message) -> wire.Message:
        """The reply to one request: what was asked for, or the fault as data."""
        operation = request.fields.get("do")
        doing = {
            "load": self._load,
            "prepare": self._prepare,
            "give": self._give,
            "run": self._run,
            "warm_up": self._warm_up,
            "block": self._block,
            "facts": self._facts,
        }
        try:
            return doing[operation](request)  # type: ignore[index]
        except BaseException as error:  # candidate code may raise anything, SystemExit included
            return wire.Message({"fault": _kind_of(error, str(operation)), **self._words_of(error)})

    def _load(self, request: wire.Message) -> wire.Message:
        bundle = from_json(Bundle, request.fields["bundle"])
        folder = self.scratch / f"bundle-{os.getpid()}" / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for file in bundle.files:
            (folder / Path(file.name).name).write_text(file.code)
        _make_importable(folder)
        passes: list[TracedPass] = []
        warnings: list[str] = []
        keys: dict[int, str] = {}
        for file in bundle.passes:
            name = Path(file.name).stem
            module = _imported(folder / file.name)
            missing = [each for each in NEEDED if not callable(getattr(module, each, None))]
            if missing:
                raise LoadProblem(f"{file.name} does not define {missing[0]}(). A pass defines {', '.join(NEEDED)}.")
            replacement = module.replacement_func()
            if not callable(replacement):
                raise LoadProblem(
                    f"replacement_func() of {file.name} returns {type(replacement).__name__}, no function."
                )
            if module.replacement_func() is not replacement:
                warnings.append(f"replacement_func() of {file.name} returns another object each time it is called.")
            key = keys.setdefault(id(replacement), f"replacement_{len(keys)}")
            self.replacements[key] = replacement
            pattern = _traced(tracing.trace_pattern, module.pattern, f"pattern() of {file.name}")
            arguments = _traced(tracing.trace_arguments, module.replacement_args, f"replacement_args() of {file.name}")
            passes.append(TracedPass(name=name, pattern=pattern, arguments=arguments, replacement=key))
        self.traced = tuple(passes)
        return wire.Message(
            {
                "passes": [
                    {
                        "name": each.name,
                        "pattern": graph_to_json(each.pattern),
                        "arguments": graph_to_json(each.arguments),
                        "replacement": each.replacement,
                    }
                    for each in passes
                ],
                "replacements": list(self.replacements),
                "warnings": warnings,
            }
        )

    def _prepare(self, request: wire.Message) -> wire.Message:
        fields = request.fields
        preparation = Preparation(
            contender=Contender(fields["contender"]),
            source=fields["source"],
            capture=Capture(fields["capture"]),
            device=Device(fields["device"]),
            float64=fields["float64"],
        )
        self.calls[fields["name"]] = building.prepared(preparation, self.traced, self.replacements)
        return wire.Message({})

    def _give(self, request: wire.Message) -> wire.Message:
        self.inputs = []
        gc.collect()
        given = wire.unpack_inputs(request.fields["inputs"], request.tensors)
        self.inputs = [_moved(each, self.device) if isinstance(each, torch.Tensor) else each for each in given]
        self._synchronise()
        return wire.Message({})

    def _run(self, request: wire.Message) -> wire.Message:
        call = self.calls[request.fields["name"]]
        copies = [_copy(each) if isinstance(each, torch.Tensor) else each for each in self.inputs]
        self._synchronise()
        start = time.perf_counter()
        with torch.no_grad():
            returned = call(copies)
        self._synchronise()
        seconds = time.perf_counter() - start
        many = isinstance(returned, tuple | list)
        outputs: Sequence[Any] = returned if many else (returned,)
        described: list[dict[str, Any]] = []
        tensors: list[torch.Tensor] = []
        for value in outputs:
            words, tensor = _produced(value)
            if tensor is not None:
                words["tensor"] = len(tensors)
                tensors.append(tensor)
            described.append(words)
        matches = getattr(call, "matches", None)
        return wire.Message(
            {
                "outputs": described,
                "container": type(returned).__name__ if many else "",
                "seconds": seconds,
                "matches": matches if isinstance(matches, int) else None,
            },
            tuple(tensors),
        )

    def _warm_up(self, request: wire.Message) -> wire.Message:
        call = self.calls[request.fields["name"]]
        timing.warm_up(call, self.inputs, request.fields["seconds"], self.device)
        return wire.Message({})

    def _block(self, request: wire.Message) -> wire.Message:
        fields = request.fields
        call = self.calls[fields["name"]]
        samples = timing.block(call, self.inputs, Clock(fields["clock"]), fields["calls"], self.device)
        return wire.Message({"samples": [float(each) for each in samples]})

    def _facts(self, request: wire.Message) -> wire.Message:
        found = {"python": platform.python_version(), "torch": torch.__version__, "device": "cpu", "driver": ""}
        if self.device is Device.CUDA:
            found["device"] = torch.cuda.get_device_name(0)
        return wire.Message({"facts": found})

    def _synchronise(self) -> None:
        if self.device is Device.CUDA:
            torch.cuda.synchronize()

    def _words_of(self, error: BaseException) -> dict[str, str]:
        """What a person should read of an exception, cut to size; hostile exceptions cannot break it."""
        cause = error.__cause__ if isinstance(error, UntraceablePattern) and error.__cause__ else error
        try:
            described = str(error) or "no message"
            text = described if isinstance(error, LoadProblem | UntraceablePattern) else _named(error, described)
            trace = "".join(_relevant_lines(cause, self.scratch))
        except BaseException:  # its __str__ is candidate code too
            text, trace = f"{type(error).__name__}, whose message cannot be read", ""
        return {"text": _cut(text, TEXT_LIMIT), "trace": _cut(trace, TRACE_LIMIT)}


def _named(error: BaseException, described: str) -> str:
    if isinstance(error, SystemExit):
        return f"It called sys.exit({error.code!r})."
    # torch appends pages of advice to its errors
    return f"{type(error).__name__}: {described.strip()}"


def _cut(text: str, limit: int) -> str:
    clean = re.sub(r"[\ud800-\udfff]", "?", text)
    return clean if len(clean) <= limit else clean[: limit // 2] + "\n…\n" + clean[-limit // 2 :]


def _relevant_lines(error: BaseException, scratch: Path) -> list[str]:
    """The traceback from the bundle's first frame on, with paths as the bundle's author knows them."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [index for index, frame in enumerate(frames) if f"/{FOLDER}/" in frame.filename]
    shown = frames[own[0] :] if own else frames[-4:]
    lines = [*traceback.StackSummary.from_list(shown).format(), *traceback.format_exception_only(error)]
    return [re.sub(rf"{re.escape(str(scratch))}/bundle-\d+/", "", line) for line in lines]


def _kind_of(error: BaseException, operation: str) -> str:
    if isinstance(error, UntraceablePattern):
        return "pattern"
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return "memory"
    if operation == "load":
        return "load"
    if operation == "prepare":
        return "compile"
    kinds = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__]
    compiling = any(kind.startswith(COMPILERS) or kind.endswith("OutOfResources") for kind in kinds)
    return "compile" if compiling else "runtime"


def _traced(trace: Callable[[Callable[..., Any]], Any], function: Callable[..., Any], what: str) -> Any:
    try:
        return trace(function)
    except Exception as error:
        raise UntraceablePattern(f"{what} cannot be traced: {error}") from error


def _imported(file: Path) -> ModuleType:
    """The module of a pass. One that is named like a module already there, "json.py", must not be taken for it."""
    name = file.stem
    there = sys.modules.get(name)
    if there is None or getattr(there, "__file__", None) == str(file):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"{FOLDER}_{name}", file)
    if spec is None or spec.loader is None:
        raise LoadProblem(f"{file.name} cannot be imported under that name. Rename it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class _PackageAlias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes pass_dir.x the very module x: a helper must not exist twice, with two sets of functions."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name.startswith(f"{FOLDER}.") else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(spec.name.removeprefix(f"{FOLDER}."))

    def exec_module(self, module: ModuleType) -> None:
        return None


def _make_importable(folder: Path) -> None:
    sys.path[:0] = [str(folder), str(folder.parent)]
    package = ModuleType(FOLDER)
    package.__path__ = [str(folder)]
    sys.modules[FOLDER] = package
    sys.meta_path.insert(0, _PackageAlias())
    importlib.invalidate_caches()


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """The same content and strides at a new address."""
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return copy.copy_(tensor)


def _moved(tensor: torch.Tensor, device: Device) -> torch.Tensor:
    return tensor if device is Device.CPU else tensor.to("cuda", copy=True)


def _produced(value: Any) -> tuple[dict[str, Any], torch.Tensor | None]:
    """The description of one returned value, and the tensor to send along."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if isinstance(value, torch.Tensor):
        if type(value) in (torch.Tensor, torch.nn.Parameter):
            kind = "torch.Tensor"
        dtype = str(value.dtype).removeprefix("torch.")
        words = {
            "type": kind,
            "dtype": dtype,
            "shape": list(value.shape),
            "strides": list(value.stride()) if value.layout is torch.strided else [],
            "device": str(value.device),
        }
        sendable = value.layout is torch.strided and dtype in wire.DTYPES
        return words, value.detach() if sendable else None
    if wire.plain_number(value):
        return {"type": kind, "number": wire.number_to_json(value)}, None
    return {"type": kind}, None
