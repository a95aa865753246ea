"""Collect the code that Triton compiles for the kernels that one call of a bundle launches.

This is done in a candidate worker that does nothing else. On CUDA, these are the kernels that were compiled and
launched. On a CPU, no kernel runs: the arguments of each launch are recorded, and the same functions are compiled for a
GPU that is not there. The candidate reports this about itself, so the referee treats and shows it as a claim."""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from passnet_core.judge.plan.record import function_of
from passnet_core.judge.protocol.messages import TEXT_CHARACTERS, TEXTS_CHARACTERS
from passnet_core.judge.worker import compiler_process
from passnet_core.judge.worker.compiler_process import TEXTS, CompilerProcess, Row
from passnet_core.records import Device, PassFile

MOST_KERNELS = 12
COMPILING_S = 80.0
"""How long compiling all kernels of a call for a GPU that is not there may take."""
PROBLEM_CHARACTERS = 2000
BUNDLE_FOLDER = re.compile(r"""[^\s"']*/bundle-\d+/""")
"""The path of a worker's folder in a text."""


class OpaqueArgument(Exception):
    """A launch argument that cannot be passed to another process."""


def kernels(call: Callable[[], object], device: Device, folder: Path) -> list[Row]:
    """The kernels that a call launches, each once, in the order of their first launch. folder: of the bundle's files.

    Raises what the call raises; on a CPU only if it launched nothing, since kernels leave their results unwritten."""
    rows = _compiled_on_device(call) if device is Device.CUDA else _compiled_elsewhere(call, folder)
    return _shortened(rows[:MOST_KERNELS], (str(folder.parent) + "/", str(Path(triton.__path__[0]).parent) + "/"))


# --- on a GPU --------------------------------------------------------------------------------------------------------


def _compiled_on_device(call: Callable[[], object]) -> list[Row]:
    compiled: list[Any] = []
    launched: list[Any] = []
    with _compilations(compiled):
        # the first call may launch kernels for autotuning as well
        call()
        # a bundle may keep a compiled kernel, and launch it without its function: the hook sees that too
        with _hooked(lambda fields: launched.append(fields.get("function"))):
            call()
    torch.cuda.synchronize()
    by_function = {kernel.function: kernel for kernel in compiled if kernel.function is not None}
    seen = [by_function[each] for each in launched if each in by_function]
    counts = Counter(kernel.hash for kernel in seen)
    first = {kernel.hash: kernel for kernel in reversed(seen)}
    capability = "{}.{}".format(*torch.cuda.get_device_capability())
    return [
        {
            **compiler_process.facts(first[each], capability),
            "ran": True,
            "launches": counts[each],
            "registers": getattr(first[each], "n_regs", None),
            "spills": getattr(first[each], "n_spills", None),
        }
        for each in counts
    ]


@contextlib.contextmanager
def _hooked(told: Callable[[Mapping[str, Any]], object]) -> Iterator[None]:
    """Have Triton tell of each launch of a compiled kernel, such as its name and function."""
    knobs = triton.knobs.runtime
    chain = knobs.launch_enter_hook

    def hook(metadata: Any) -> None:
        told(metadata.get() if metadata is not None else {})

    if hasattr(chain, "add"):
        chain.add(hook)
        try:
            yield
        finally:
            chain.remove(hook)
    else:
        knobs.launch_enter_hook = hook
        try:
            yield
        finally:
            knobs.launch_enter_hook = chain


@contextlib.contextmanager
def _compilations(seen: list[Any]) -> Iterator[None]:
    """Append each compiled kernel to this list that Triton finds or makes for a launch, or without one."""
    from triton.runtime.jit import JITFunction

    run = JITFunction.run

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        kernel = run(self, *args, **kwargs)
        if kernel is not None:
            seen.append(kernel.result() if hasattr(kernel, "result") else kernel)
        return kernel

    with mock.patch.object(JITFunction, "run", noted):
        yield


# --- without a GPU ---------------------------------------------------------------------------------------------------


def _compiled_elsewhere(call: Callable[[], object], folder: Path) -> list[Row]:
    launches: list[Row] = []
    try:
        with _skipped(launches):
            call()
    except Exception:  # candidate code, which reads results that no kernel has written
        if not launches:
            raise
    counts = Counter(map(json.dumps, launches))
    distinct = [json.loads(text) for text in counts][:MOST_KERNELS]
    if not distinct:
        return []
    files = [PassFile(each.name, each.read_text()) for each in sorted(folder.glob("*.py"))]
    described = [each for each in distinct if "problem" not in each]
    with contextlib.closing(CompilerProcess(files, folder.parent / "compiling")) as process:
        rows = process.compiled(described, seconds=COMPILING_S)
    compiled = iter(rows)
    return [
        {
            **{
                name: value
                for name, value in (each if "problem" in each else next(compiled)).items()
                if name != "refusal"
            },
            "target": compiler_process.TARGET,
            "ran": False,
            "launches": count,
        }
        for each, count in zip(distinct, counts.values())
    ]


@contextlib.contextmanager
def _skipped(launches: list[Row]) -> Iterator[None]:
    """Append each launch to this list instead of running it in the interpreter."""
    from triton.runtime.interpreter import InterpretedFunction

    from passnet_core.judge.gpu_on_cpu import launching

    def noted(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        if warmup or launching.trials:
            return
        try:
            launches.append(
                {
                    **function_of(self.fn),
                    "args": [_described(each) for each in args],
                    "kwargs": {name: _described(each) for name, each in kwargs.items()},
                }
            )
        except OpaqueArgument as problem:
            launches.append({"name": str(self.fn.__name__), "problem": str(problem)})

    with mock.patch.object(InterpretedFunction, "run", noted):
        yield


def _described(value: Any) -> Any:
    """A launch argument as data. Of a tensor, only what affects how a kernel is compiled."""
    value = getattr(value, "value", value) if isinstance(value, tl.constexpr) else value
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype).removeprefix("torch."), "aligned": value.data_ptr() % 16 == 0}
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    if isinstance(value, tl.dtype):
        return {"type": value.name}
    if isinstance(value, tuple | list):
        return {"items": [_described(each) for each in value]}
    if hasattr(value, "fn") and hasattr(value.fn, "__code__"):
        return {"function": function_of(value.fn)}
    if isinstance(value, TensorDescriptor):
        names = ("shape", "strides", "block_shape", "padding", "round_f32_to_tf32")
        facts = {name: getattr(value, name) for name in names}
        sizes = {
            name: list(each) if isinstance(each, Sequence) and name != "padding" else each
            for name, each in facts.items()
        }
        return {"descriptor": _described(value.base), **sizes}
    raise OpaqueArgument(f"It is launched with a {type(value).__name__}. A GPU is needed to compile it for that type.")


def _shortened(rows: Sequence[Row], folders: Sequence[str]) -> list[Row]:
    """The rows without the paths of folders, cut to the size that a reply may have."""
    left = TEXTS_CHARACTERS
    shortened = []
    for row in rows:
        kept = dict(row)
        for kind in (*TEXTS, "problem"):
            text = str(row.get(kind, ""))
            for folder in folders:
                text = text.replace(folder, "")
            # what another worker of this bundle had compiled names that worker's folder
            text = BUNDLE_FOLDER.sub("", text)
            most = min(left, PROBLEM_CHARACTERS if kind == "problem" else TEXT_CHARACTERS)
            more = f"\n… {len(text) - most} more characters are left out" if len(text) > most else ""
            kept[kind] = text[:most] + more
            left -= min(len(text), most)
        shortened.append(kept)
    return shortened
