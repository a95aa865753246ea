"""Collect the code that Triton compiles for the kernels that one call of a bundle launches. Nothing is judged.

Runs in a candidate worker that does nothing else. On CUDA, these are the kernels that were compiled and launched. On a
CPU, no kernel runs: the arguments of each launch are recorded, and a separate program, in the same confinement and
without the interpreter, compiles the same functions for a GPU that is not there. The candidate reports this about
itself, so the referee treats and shows it as a claim."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

from passnet_core.judge.protocol.messages import TEXT_CHARACTERS, TEXTS_CHARACTERS
from passnet_core.records import Device

CAPABILITY = 90
"""The compute capability, times ten, that kernels are compiled for on a machine without a GPU."""
WARP = 32
MOST_KERNELS = 12
PROBLEM_CHARACTERS = 2000
TEXTS = ("ttir", "ttgir", "ptx")

Row = dict[str, Any]


class OpaqueArgument(Exception):
    """A launch argument that cannot be passed to another process."""


def kernels(call: Callable[[], object], device: Device, folder: Path) -> list[Row]:
    """The kernels that a call launches, each once, in the order of their first launch. folder: of the bundle's files.

    Raises what the call raises; on a CPU only if it launched nothing, since kernels leave their results unwritten."""
    rows = _compiled_on_device(call) if device is Device.CUDA else _compiled_elsewhere(call, folder)
    return _shortened(rows[:MOST_KERNELS], (str(folder.parent) + "/", str(Path(triton.__path__[0]).parent) + "/"))


# --- on a GPU --------------------------------------------------------------------------------------------------------


def _compiled_on_device(call: Callable[[], object]) -> list[Row]:
    # the first call may launch kernels for autotuning as well
    call()
    seen: list[Any] = []
    with _launches(seen):
        call()
    torch.cuda.synchronize()
    counts: dict[str, int] = {}
    for kernel in seen:
        counts[kernel.hash] = counts.get(kernel.hash, 0) + 1
    first = {kernel.hash: kernel for kernel in reversed(seen)}
    capability = "{}.{}".format(*torch.cuda.get_device_capability())
    return [
        {
            **_facts(first[each], capability),
            "ran": True,
            "launches": counts[each],
            "registers": getattr(first[each], "n_regs", None),
            "spills": getattr(first[each], "n_spills", None),
        }
        for each in counts
    ]


@contextlib.contextmanager
def _launches(seen: list[Any]) -> Iterator[None]:
    """Append each compiled kernel to this list as it is launched."""
    from triton.runtime.jit import JITFunction

    run = JITFunction.run

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        kernel = run(self, *args, **kwargs)
        if kernel is not None and not kwargs.get("warmup"):
            seen.append(kernel.result() if hasattr(kernel, "result") else kernel)
        return kernel

    JITFunction.run = noted
    try:
        yield
    finally:
        JITFunction.run = run


def _facts(kernel: Any, capability: str) -> Row:
    """The texts and the metadata of a compiled kernel."""
    metadata = kernel.metadata
    return {
        "name": str(getattr(kernel.src, "name", kernel.name)),
        "target": capability,
        "num_warps": getattr(metadata, "num_warps", None),
        "num_stages": getattr(metadata, "num_stages", None),
        "shared_bytes": getattr(metadata, "shared", None),
        **{kind: str(kernel.asm.get(kind, "")) for kind in TEXTS},
    }


# --- without a GPU ---------------------------------------------------------------------------------------------------


def _compiled_elsewhere(call: Callable[[], object], folder: Path) -> list[Row]:
    launches: list[Row] = []
    try:
        with _skipped(launches):
            call()
    except Exception:  # candidate code, which reads results that no kernel has written
        if not launches:
            raise
    counts: dict[str, int] = {}
    for each in launches:
        text = json.dumps(each)
        counts[text] = counts.get(text, 0) + 1
    distinct = [json.loads(text) for text in counts][:MOST_KERNELS]
    if not distinct:
        return []
    rows = _compiled_by_program([each for each in distinct if "problem" not in each], folder)
    compiled = iter(rows)
    return [
        {
            **(each if "problem" in each else next(compiled)),
            "target": _dotted(CAPABILITY),
            "ran": False,
            "launches": count,
        }
        for each, count in zip(distinct, counts.values())
    ]


@contextlib.contextmanager
def _skipped(launches: list[Row]) -> Iterator[None]:
    """Append each launch to this list instead of running it in the interpreter."""
    from triton.runtime.interpreter import InterpretedFunction

    run = InterpretedFunction.run

    def noted(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        if warmup:
            return
        try:
            launches.append(
                {
                    **_function(self.fn),
                    "args": [_described(each) for each in args],
                    "kwargs": {name: _described(each) for name, each in kwargs.items()},
                }
            )
        except OpaqueArgument as problem:
            launches.append({"name": str(self.fn.__name__), "problem": str(problem)})

    InterpretedFunction.run = noted
    try:
        yield
    finally:
        InterpretedFunction.run = run


def _function(function: Any) -> Row:
    code = function.__code__
    return {"name": function.__name__, "file": Path(code.co_filename).name, "line": code.co_firstlineno}


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
        return {"function": _function(value.fn)}
    raise OpaqueArgument(f"It is launched with a {type(value).__name__}. A GPU is needed to compile it for that type.")


def _compiled_by_program(launches: Sequence[Row], folder: Path) -> list[Row]:
    """Compile these launches in a program without Triton's interpreter."""
    if not launches:
        return []
    question, answer = folder.parent / "launches.json", folder.parent / "compiled.json"
    question.write_text(json.dumps(launches))
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    argv = [sys.executable, "-m", "passnet_core.judge", "compile", str(folder), str(question), str(answer)]
    ended = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, check=False)
    try:
        rows = json.loads(answer.read_text())
    except (OSError, ValueError):
        rows = []
    if isinstance(rows, list) and len(rows) == len(launches):
        return rows
    problem = f"Triton's compiler ended with status {ended.returncode} and gave no answer."
    return [{"name": each["name"], "problem": problem} for each in launches]


def main(folder: Path, question: Path, answer: Path) -> None:
    """The separate program: import the bundle without the interpreter, and compile the launches in question."""
    from passnet_core.judge.worker import loading

    loading.make_importable(folder)
    launches = json.loads(question.read_text())
    answer.write_text(json.dumps([_answered(each, folder) for each in launches]))


def _answered(launch: Row, folder: Path) -> Row:
    try:
        return _facts(_compiled(launch, folder), _dotted(CAPABILITY))
    except Exception as error:  # of Triton or of the bundle
        text = str(error).strip() or "no message"
        return {"name": launch["name"], "problem": f"It does not compile: {type(error).__name__}: {text}"}


def _compiled(launch: Row, folder: Path) -> Any:
    """Compile as JITFunction.run does, for a GPU that need not be there."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend
    from triton.runtime.jit import create_function_from_signature

    function = _found(launch, folder)
    args = [_restored(each, folder) for each in launch["args"]]
    kwargs = {name: _restored(each, folder) for name, each in launch["kwargs"].items()} | {"debug": False}
    target = GPUTarget("cuda", CAPABILITY, WARP)
    backend = make_backend(target)
    bind = create_function_from_signature(function.signature, function.params, backend)
    bound, specialization, options = bind(*args, **kwargs)
    options, signature, constants, attributes = function._pack_args(backend, kwargs, bound, specialization, options)
    source = ASTSource(function, signature, constants, attributes)
    return triton.compile(source, target=target, options=options.__dict__)


def _found(wanted: Row, folder: Path) -> Any:
    """The bundle's JIT function at this file and line, without the decorators around it."""
    from triton.runtime.jit import JITFunction

    from passnet_core.judge.worker import loading

    module = loading.imported(folder / wanted["file"])
    for value in vars(module).values():
        while value is not None and not isinstance(value, JITFunction):
            value = getattr(value, "fn", None)
        if value is not None and _function(value.fn) == {key: wanted[key] for key in ("name", "file", "line")}:
            return value
    raise LookupError(f"{wanted['name']} is not defined at the top level of {wanted['file']}. Move it there.")


class _Pointer:
    """A stand-in for a tensor that has only what Triton needs to specialize a kernel."""

    def __init__(self, dtype: torch.dtype, aligned: bool) -> None:
        self.dtype = dtype
        self.address = 0 if aligned else 1

    def data_ptr(self) -> int:
        return self.address


def _restored(described: Row, folder: Path) -> Any:
    """The inverse of _described."""
    match described:
        case {"dtype": str(dtype), "aligned": bool(aligned)}:
            return _Pointer(getattr(torch, dtype), aligned)
        case {"value": value}:
            return value
        case {"type": str(name)}:
            return tl.dtype(name)
        case {"items": list(items)}:
            return tuple(_restored(each, folder) for each in items)
        case {"function": wanted}:
            return _found(wanted, folder)
    raise ValueError(f"Not an argument: {str(described)[:80]}")


def _dotted(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"


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
            most = min(left, PROBLEM_CHARACTERS if kind == "problem" else TEXT_CHARACTERS)
            more = f"\n… {len(text) - most} more characters are left out" if len(text) > most else ""
            kept[kind] = text[:most] + more
            left -= min(len(text), most)
        shortened.append(kept)
    return shortened
