"""What Triton makes of a bundle's kernels: the texts of those that one call launches. Nothing is judged.

Runs in a child that holds the bundle and lives for this alone. On CUDA the kernels are those that were compiled and
launched. On a CPU nothing is launched: the arguments of each launch are noted, and a program of its own, in the same
confinement and without the interpreter, compiles the same functions for a GPU that is not there. All of it is told by
the process that it is about: the referee takes it for a claim, and shows it as one.
"""

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
"""Of the GPU for which kernels are compiled where there is none."""
WARP = 32
MOST_KERNELS = 12
PROBLEM_CHARACTERS = 2000
TEXTS = ("ttir", "ttgir", "ptx")

Row = dict[str, Any]


class Unspeakable(Exception):
    """A launch with an argument that cannot be handed to another process."""


def kernels(call: Callable[[], object], device: Device, folder: Path) -> list[Row]:
    """The kernels that a call launches, each once, in the order of their first launch. folder: of the bundle's files.

    Raises what the call raises; on a CPU, where kernels leave their results unwritten, only if it launched nothing.
    """
    rows = _compiled_on_device(call) if device is Device.CUDA else _compiled_elsewhere(call, folder)
    return _shortened(rows[:MOST_KERNELS], (str(folder.parent) + "/", str(Path(triton.__path__[0]).parent) + "/"))


# --- on a GPU --------------------------------------------------------------------------------------------------------


def _compiled_on_device(call: Callable[[], object]) -> list[Row]:
    # what is tuned or compiled for the first time launches more than the call itself
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
    """While it lasts, compiled kernels are noted as they are launched."""
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
    """Of a compiled kernel, what its texts and its metadata say."""
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
    except Exception:  # candidate code, on results that no kernel has written
        if not launches:
            raise
    counts: dict[str, int] = {}
    for each in launches:
        told = json.dumps(each)
        counts[told] = counts.get(told, 0) + 1
    asked = [json.loads(told) for told in counts][:MOST_KERNELS]
    if not asked:
        return []
    rows = _asked_of_the_compiler([each for each in asked if "problem" not in each], folder)
    found = iter(rows)
    return [
        {
            **(each if "problem" in each else next(found)),
            "target": _spoken(CAPABILITY),
            "ran": False,
            "launches": launches_of_it,
        }
        for each, launches_of_it in zip(asked, counts.values())
    ]


@contextlib.contextmanager
def _skipped(launches: list[Row]) -> Iterator[None]:
    """While it lasts, the interpreter runs no kernel, and launches are noted."""
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
        except Unspeakable as problem:
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
    """An argument of a launch, as data: of a tensor what decides how a kernel is compiled."""
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
    raise Unspeakable(f"It is launched with an argument of type {type(value).__name__}, which is not compiled here.")


def _asked_of_the_compiler(asked: Sequence[Row], folder: Path) -> list[Row]:
    """The same launches compiled by a program in which Triton does not interpret."""
    if not asked:
        return []
    question, answer = folder.parent / "launches.json", folder.parent / "compiled.json"
    question.write_text(json.dumps(asked))
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    argv = [sys.executable, "-m", "passnet_core.judge", "compile", str(folder), str(question), str(answer)]
    ended = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, check=False)
    try:
        rows = json.loads(answer.read_text())
    except (OSError, ValueError):
        rows = []
    if isinstance(rows, list) and len(rows) == len(asked):
        return rows
    problem = f"Triton's compiler gave no answer: it ended with status {ended.returncode}."
    return [{"name": each["name"], "problem": problem} for each in asked]


def main(folder: Path, question: Path, answer: Path) -> None:
    """The program: imports the bundle without the interpreter, and compiles what is asked."""
    from passnet_core.judge.worker import loading

    loading.make_importable(folder)
    asked = json.loads(question.read_text())
    answer.write_text(json.dumps([_answered(each, folder) for each in asked]))


def _answered(asked: Row, folder: Path) -> Row:
    try:
        return _facts(_compiled(asked, folder), _spoken(CAPABILITY))
    except Exception as error:  # Triton's own, and the bundle's
        text = str(error).strip() or "no message"
        return {"name": asked["name"], "problem": f"It does not compile: {type(error).__name__}: {text}"}


def _compiled(asked: Row, folder: Path) -> Any:
    """As JITFunction.run does it, for a GPU that need not be there."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend
    from triton.runtime.jit import create_function_from_signature

    function = _found(asked, folder)
    args = [_restored(each, folder) for each in asked["args"]]
    kwargs = {name: _restored(each, folder) for name, each in asked["kwargs"].items()} | {"debug": False}
    target = GPUTarget("cuda", CAPABILITY, WARP)
    backend = make_backend(target)
    bind = create_function_from_signature(function.signature, function.params, backend)
    bound, specialization, options = bind(*args, **kwargs)
    options, signature, constants, attributes = function._pack_args(backend, kwargs, bound, specialization, options)
    source = ASTSource(function, signature, constants, attributes)
    return triton.compile(source, target=target, options=options.__dict__)


def _found(asked: Row, folder: Path) -> Any:
    """The function of the bundle that stands at this place, out of what decorates it."""
    from triton.runtime.jit import JITFunction

    from passnet_core.judge.worker import loading

    module = loading.imported(folder / asked["file"])
    for value in vars(module).values():
        while value is not None and not isinstance(value, JITFunction):
            value = getattr(value, "fn", None)
        if value is not None and _function(value.fn) == {key: asked[key] for key in ("name", "file", "line")}:
            return value
    raise LookupError(f"{asked['name']} is not at the top of {asked['file']}.")


class _Pointer:
    """A tensor as far as Triton asks what to compile for."""

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
        case {"function": asked}:
            return _found(asked, folder)
    raise ValueError(f"Not an argument: {str(described)[:80]}")


def _spoken(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"


def _shortened(rows: Sequence[Row], folders: Sequence[str]) -> list[Row]:
    """Without where files lie, and within what a reply may hold."""
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
