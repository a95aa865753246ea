"""Compile kernels for a GPU that need not be there, in a process that has a bundle's kernels and nothing else of it.

The process is a fork of a worker on a CPU, whose Triton interprets. It imports Triton anew, without the interpreter."""

import contextlib
import json
import os
import re
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from passnet_core.judge.worker.kernel_loading import LoadedKernels
from passnet_core.records import PassFile

CAPABILITY = 90
"""The compute capability, times ten, that kernels are compiled for on a machine without a GPU."""
TARGET = f"{CAPABILITY // 10}.{CAPABILITY % 10}"
WARP = 32
SHARED_BYTES = 232_448
"""How much shared memory a program may have on that GPU."""
SENTENCE_CHARACTERS = 300
QUOTED = re.compile(r"^\w+\((['\"])(.*)\1,?\)$", re.DOTALL)
"""An exception as Python writes it, ValueError('its message')."""
TEXTS = ("ttir", "ttgir", "ptx")

Row = dict[str, Any]


def answers(files: Sequence[PassFile], launches: Sequence[Row], folder: Path, *, seconds: float) -> list[Row]:
    """What Triton makes of each launch: the facts of a compiled kernel, or its problem.

    files: of the bundle. launches: each with the "name", "file" and "line" of its function, and its "args" and "kwargs"
    as described by whoever recorded them. folder: takes what the process writes. seconds: for all of them. If the
    compiler refuses a launch, its answer has a refusal: a sentence for the author of the kernel."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.close(reader)
            _answer(files, launches, folder, writer)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    text, ended = _read(reader, time.monotonic() + seconds)
    if not ended:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    problem = f"Triton's compiler ended with status {status} and gave no answer."
    if not ended:
        problem = f"Triton's compiler gave no answer within {seconds:.0f} s."
    rows: list[Row] = []
    for line in text.split(b"\n")[:-1]:
        with contextlib.suppress(ValueError):
            rows.append(json.loads(line))
    return [*rows[: len(launches)], *({"name": each["name"], "problem": problem} for each in launches[len(rows) :])]


def _read(reader: int, deadline: float) -> tuple[bytes, bool]:
    """All that can be read until the deadline, and whether that is the end."""
    parts: list[bytes] = []
    with open(reader, "rb", buffering=0) as stream:
        while (left := deadline - time.monotonic()) > 0:
            if select.select([stream], [], [], left)[0]:
                part = stream.read(1 << 16)
                if not part:
                    return b"".join(parts), True
                parts.append(part)
    return b"".join(parts), False


# --- in the process --------------------------------------------------------------------------------------------------


def _answer(files: Sequence[PassFile], launches: Sequence[Row], folder: Path, writer: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TRITON_CACHE_DIR"] = str(folder / "triton")
    without_interpreter()
    kernels = LoadedKernels(files, folder / "kernels")
    with open(writer, "wb") as stream:
        for each in launches:
            stream.write(json.dumps(_answered(each, kernels)).encode() + b"\n")
            # whole after each: the next one may take too long
            stream.flush()


def without_interpreter() -> None:
    """Import Triton, and what torch has built on it, anew in this process, as they are where a GPU is."""
    os.environ.pop("TRITON_INTERPRET", None)
    for name in list(sys.modules):
        interpreting = name.partition(".")[0] == "triton" and not name.startswith("triton._C")
        if interpreting or name.startswith("torch._inductor.runtime"):
            del sys.modules[name]
    # not getattr(torch, "_inductor"), which would import it
    vars(sys.modules.get("torch._inductor", sys)).pop("runtime", None)
    import triton  # noqa: F401


def _answered(launch: Row, kernels: LoadedKernels) -> Row:
    """The facts of a compiled kernel, or its problem. refusal: the same in a sentence, if the compiler is at fault."""
    name = launch["name"]
    try:
        function = kernels.function(*_place(launch))
        args = [_restored(each, kernels) for each in launch["args"]]
        kwargs = {key: _restored(each, kernels) for key, each in launch["kwargs"].items()}
    except Exception as error:  # of the bundle, or because it is written in a way that this process cannot follow
        return {"name": name, "problem": _problem(error)}
    try:
        found = facts(_compiled(function, args, kwargs), TARGET)
    except Exception as error:  # of Triton
        return {"name": name, "problem": _problem(error), "refusal": _refusal(name, error, kernels.folder)}
    # an autotuner would pass over such a configuration
    if (found["shared_bytes"] or 0) > SHARED_BYTES and not launch.get("tuned"):
        said = f"{name} needs {found['shared_bytes']} bytes of shared memory, and a GPU has {SHARED_BYTES}."
        found["refusal"] = f"{said} Use smaller blocks or fewer stages."
    return found


def _problem(error: Exception) -> str:
    return f"It does not compile: {type(error).__name__}: {str(error).strip() or 'no message'}"


def _refusal(name: str, error: BaseException, folder: Path) -> str:
    """The compiler's message in one sentence, with the line of the bundle."""
    said, where = "", ""
    cause: BaseException | None = error
    while cause is not None:
        source, node = getattr(cause, "src", None), getattr(cause, "node", None)
        text = str(getattr(cause, "error_message", None) or ("" if source else cause))
        said = QUOTED.sub(r"\2", text.strip()) or said
        where = _bundle_line(source, getattr(node, "lineno", 0), folder) or where
        cause = cause.__cause__
    words = " ".join(said.split()) or type(error).__name__
    cut = words if len(words) <= SENTENCE_CHARACTERS else f"{words[:SENTENCE_CHARACTERS]}…"
    return f"{name}{where} does not compile for a GPU: {cut.rstrip('.')}."


def _bundle_line(source: object, line: int, folder: Path) -> str:
    """Where a line of a function is in the bundle, as ", pass.py line 12,"; empty if the function is elsewhere."""
    if not isinstance(source, str) or not line:
        return ""
    for file in sorted(folder.glob("*.py")):
        before, found, _ = file.read_text().partition(source.strip())
        if found:
            return f", {file.name} line {before.count(chr(10)) + line},"
    return ""


def _compiled(function: Any, args: list[Any], given: dict[str, Any]) -> Any:
    """Compile as JITFunction.run does, for a GPU that need not be there."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend
    from triton.runtime.jit import create_function_from_signature

    kwargs = given | {"debug": False}
    target = GPUTarget("cuda", CAPABILITY, WARP)
    backend = make_backend(target)
    bind = create_function_from_signature(function.signature, function.params, backend)
    bound, specialization, options = bind(*args, **kwargs)
    options, signature, constants, attributes = function._pack_args(backend, kwargs, bound, specialization, options)
    source = ASTSource(function, signature, constants, attributes)
    return triton.compile(source, target=target, options=options.__dict__)


def _place(function: Row) -> tuple[str, str, int]:
    return function["file"], function["name"], function["line"]


class _Pointer:
    """A stand-in for a tensor that has only what Triton needs to specialize a kernel."""

    def __init__(self, dtype: torch.dtype, aligned: bool) -> None:
        self.dtype = dtype
        self.address = 0 if aligned else 1

    def data_ptr(self) -> int:
        return self.address


def _restored(described: Row, kernels: LoadedKernels) -> Any:
    """A launch argument, or what stands for it."""
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor

    match described:
        case {"dtype": str(dtype), "aligned": bool(aligned)}:
            return _Pointer(getattr(torch, dtype), aligned)
        case {"value": value}:
            return value
        case {"float": str(text)}:
            return float.fromhex(text)
        case {"type": str(name)}:
            return tl.dtype(name)
        case {"torch": str(name)}:
            return getattr(torch, name)
        case {"items": list(items)}:
            return tuple(_restored(each, kernels) for each in items)
        case {"descriptor": dict(base), **facts}:
            return TensorDescriptor(_restored(base, kernels), **facts)
        case {"function": wanted}:
            return kernels.function(*_place(wanted))
    raise ValueError(f"Not an argument: {str(described)[:80]}")


def facts(kernel: Any, capability: str) -> Row:
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
