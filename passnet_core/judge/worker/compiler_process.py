"""Compile kernels for a GPU that need not be there, in a process that has a bundle's kernels and nothing else of it.

The process is a fork of a worker on a CPU, whose Triton interprets. It imports Triton anew, without the interpreter."""

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from passnet_core.judge.plan.kernel_loading import LoadedKernels
from passnet_core.judge.worker import error_places
from passnet_core.records import PassFile

CAPABILITY = 90
"""The compute capability, times ten, that kernels are compiled for on a machine without a GPU."""
TARGET = f"{CAPABILITY // 10}.{CAPABILITY % 10}"
WARP = 32
SHARED_BYTES = 232_448
"""How much shared memory a program may have on that GPU."""
SENTENCE_CHARACTERS = 300
TEXTS = ("ttir", "ttgir", "ptx")

Row = dict[str, Any]


class CompilerProcess:
    """A fork of this process that compiles a bundle's kernels.

    Start it before this process runs any kernel: Triton's native part then learns the interpreter's classes, and would
    not know those that the compiler has. files: of the bundle. folder: takes what the process writes."""

    def __init__(self, files: Sequence[PassFile], folder: Path) -> None:
        asking, self._ask = os.pipe()
        self._answers, answering = os.pipe()
        self._text = b""
        self._ended = ""
        self.pid = os.fork()
        if self.pid == 0:
            status = 70
            try:
                _close_all_but(asking, answering)
                _serve(files, folder, asking, answering)
                status = 0
            finally:
                os._exit(status)
        os.close(asking)
        os.close(answering)

    def compiled(self, launches: Sequence[Row], *, seconds: float) -> list[Row]:
        """What Triton makes of each launch: the facts of a compiled kernel, or its problem.

        launches: each with the "name", "file" and "line" of its function, its "args" and "kwargs" as described by
        whoever recorded them, and perhaps the "constants" of files that it names. seconds: for all of them. If the
        compiler refuses a launch, its answer has a refusal: a sentence for the author of the kernel."""
        rows: list[Row] = []
        with contextlib.suppress(BrokenPipeError):
            if not self._ended:
                _write(self._ask, json.dumps(list(launches)).encode() + b"\n")
        deadline = time.monotonic() + seconds
        while len(rows) < len(launches) and (line := self._line(deadline)):
            rows.append(json.loads(line))
        if len(rows) < len(launches):
            # what it still answers would be taken for later answers
            self.close(f"Triton's compiler gave no answer within {seconds:.0f} s.")
        return [*rows, *({"name": each["name"], "problem": self._ended} for each in launches[len(rows) :])]

    def close(self, reason: str = "Triton's compiler was ended.") -> None:
        """End the process. reason: what is said of launches that it has not answered, unless it has ended by itself."""
        if self._ended:
            return
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            reason = f"Triton's compiler ended with status {os.waitstatus_to_exitcode(status)} and gave no answer."
        else:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self._ended = reason
        os.close(self._ask)
        os.close(self._answers)

    def _line(self, deadline: float) -> bytes:
        """The next line of the process; empty if it has ended or takes too long."""
        while b"\n" not in self._text:
            left = deadline - time.monotonic()
            if self._ended or left <= 0 or not select.select([self._answers], [], [], left)[0]:
                return b""
            if not (part := os.read(self._answers, 1 << 16)):
                # it may not have become a zombie yet
                time.sleep(0.05)
                return b""
            self._text += part
        line, _, self._text = self._text.partition(b"\n")
        return line


# --- in the process --------------------------------------------------------------------------------------------------


def _close_all_but(*kept: int) -> None:
    """Close the descriptors that were inherited, such as the worker's channel."""
    for each in os.listdir("/proc/self/fd"):
        if int(each) > 2 and int(each) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(each))


def _serve(files: Sequence[PassFile], folder: Path, asking: int, answering: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TRITON_CACHE_DIR"] = str(folder / "triton")
    loaded: dict[str, LoadedKernels] = {}

    def kernels_of(launch: Row) -> LoadedKernels:
        """The kernels, which find the constants of their files as they were at this launch. Triton compiles them in
        once."""
        constants = launch.get("constants", ())
        known = json.dumps(constants)
        if known not in loaded:
            kernels = LoadedKernels(files, folder / "kernels")
            for each in constants:
                kernels.set_constant(each["file"], each["name"], _restored(each["value"], kernels))
            loaded[known] = kernels
        return loaded[known]

    interpreting = True
    with open(asking, "rb") as asked:
        for line in asked:
            if interpreting:
                without_interpreter()
                interpreting = False
            for each in json.loads(line):
                # one after the other: the next one may take too long
                _write(answering, json.dumps(_answered(each, kernels_of)).encode() + b"\n")


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def without_interpreter() -> None:
    """Import Triton, and what torch has built on it, anew in this process, as they are where a GPU is."""
    from triton.runtime.cache import triton_key

    os.environ.pop("TRITON_INTERPRET", None)
    for name in list(sys.modules):
        interpreting = name.partition(".")[0] == "triton" and not name.startswith("triton._C")
        if interpreting or name.startswith("torch._inductor.runtime"):
            del sys.modules[name]
    # not getattr(torch, "_inductor"), which would import it
    vars(sys.modules.get("torch._inductor", sys)).pop("runtime", None)
    import triton

    # it hashes all of Triton's files, which has been done before the fork
    triton.runtime.cache.triton_key = triton_key
    triton.runtime.driver.set_active(_TargetDriver())


def _answered(launch: Row, kernels_of: Callable[[Row], LoadedKernels]) -> Row:
    """The facts of a compiled kernel, or its problem. refusal: the same in a sentence, if the compiler is at fault."""
    name = launch["name"]
    try:
        kernels = kernels_of(launch)
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
    """The compiler's message in a sentence, with the line of the bundle, and what to do about it."""
    found = error_places.places(error, folder)
    place = error_places.at_fault(found) if found else None
    where = f", {place.file} line {place.line}," if place else ""
    words = " ".join(error_places.message(error).split())
    cut = words if len(words) <= SENTENCE_CHARACTERS else f"{words[:SENTENCE_CHARACTERS]}…"
    return error_places.with_remedy(f"{name}{where} does not compile for a GPU: {cut.rstrip('.')}.")


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


class _TargetDriver:
    """Triton's driver for the GPU that is compiled for, of which functions of constants may ask the target."""

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", CAPABILITY, WARP)


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
        case {"constexpr": inner}:
            return tl.constexpr(_restored(inner, kernels))
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
