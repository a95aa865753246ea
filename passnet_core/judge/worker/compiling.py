"""Collect the code that Triton compiles for the kernels that one call of a bundle launches, or find out whether they
compile at all.

The code is collected in a candidate worker that does nothing else. On CUDA, these are the kernels that were compiled
and launched. On a CPU, no kernel runs: the arguments of each launch are recorded, and a separate program, in the same
confinement and without the interpreter, compiles the same functions for a GPU that is not there. The candidate reports
this about itself, so the referee treats and shows it as a claim."""

import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from passnet_core.judge.protocol.messages import TEXT_CHARACTERS, TEXTS_CHARACTERS
from passnet_core.judge.worker.kernel_sources import source_of
from passnet_core.records import Device

CAPABILITY = 90
"""The compute capability, times ten, that kernels are compiled for on a machine without a GPU."""
WARP = 32
SHARED_BYTES = 232_448
"""How much shared memory a program may have on that GPU."""
MOST_KERNELS = 12
MOST_JUDGED = 32
"""Distinct launches of a bundle that are compiled to find out whether they compile."""
SENTENCE_CHARACTERS = 300
QUOTED = re.compile(r"^\w+\((['\"])(.*)\1,?\)$", re.DOTALL)
"""An exception as Python writes it, ValueError('its message')."""
PROBLEM_CHARACTERS = 2000
BUNDLE_FOLDER = re.compile(r"""[^\s"']*/bundle-\d+/""")
"""The path of a worker's folder in a text."""
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
            **{
                name: value
                for name, value in (each if "problem" in each else next(compiled)).items()
                if name != "refusal"
            },
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

    from passnet_core.judge.worker import launching

    run = InterpretedFunction.run

    def noted(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        if warmup or launching.trials:
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
    if isinstance(value, TensorDescriptor):
        names = ("shape", "strides", "block_shape", "padding", "round_f32_to_tf32")
        facts = {name: getattr(value, name) for name in names}
        sizes = {
            name: list(each) if isinstance(each, Sequence) and name != "padding" else each
            for name, each in facts.items()
        }
        return {"descriptor": _described(value.base), **sizes}
    raise OpaqueArgument(f"It is launched with a {type(value).__name__}. A GPU is needed to compile it for that type.")


def _compiled_by_program(launches: Sequence[Row], folder: Path, seconds: float | None = None) -> list[Row]:
    """Compile these launches in a program without Triton's interpreter, which has so many seconds for all of them."""
    if not launches:
        return []
    question, answer = folder.parent / "launches.json", folder.parent / "compiled.json"
    question.write_text(json.dumps(launches))
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    argv = [sys.executable, "-m", "passnet_core.judge", "compile", str(folder), str(question), str(answer)]
    answer.unlink(missing_ok=True)
    try:
        ended = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, check=False, timeout=seconds)
        problem = f"Triton's compiler ended with status {ended.returncode} and gave no answer."
    except subprocess.TimeoutExpired:
        problem = f"Triton's compiler gave no answer within {seconds:.0f} s."
    try:
        rows = json.loads(answer.read_text())
    except (OSError, ValueError):
        rows = []
    rows = rows if isinstance(rows, list) else []
    return [*rows[: len(launches)], *({"name": each["name"], "problem": problem} for each in launches[len(rows) :])]


def main(folder: Path, question: Path, answer: Path) -> None:
    """The separate program: import the bundle without the interpreter, and compile the launches in question."""
    from passnet_core.judge.worker import loading

    loading.make_importable(folder)
    launches = json.loads(question.read_text())
    answers: list[Row] = []
    for each in launches:
        answers.append(_answered(each, folder))
        # whole after each: the next one may take too long
        written = answer.with_suffix(".part")
        written.write_text(json.dumps(answers))
        written.replace(answer)


def _answered(launch: Row, folder: Path) -> Row:
    """The facts of a compiled kernel, or its problem. refusal: the same in a sentence, if the compiler is at fault."""
    name = launch["name"]
    try:
        prepared = _prepared(launch, folder)
    except Exception as error:  # of the bundle, or because it is written in a way that this program cannot follow
        return {"name": name, "problem": _problem(error)}
    try:
        facts = _facts(_compiled(*prepared), _dotted(CAPABILITY))
    except Exception as error:  # of Triton
        return {"name": name, "problem": _problem(error), "refusal": _refusal(name, error, folder)}
    # an autotuner would pass over such a configuration
    if (facts["shared_bytes"] or 0) > SHARED_BYTES and not launch.get("tuned"):
        said = f"{name} needs {facts['shared_bytes']} bytes of shared memory, and a GPU has {SHARED_BYTES}."
        facts["refusal"] = f"{said} Use smaller blocks or fewer stages."
    return facts


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


def _prepared(launch: Row, folder: Path) -> tuple[Any, list[Any], dict[str, Any]]:
    """The function of a launch and its arguments."""
    args = [_restored(each, folder) for each in launch["args"]]
    return _found(launch, folder), args, {name: _restored(each, folder) for name, each in launch["kwargs"].items()}


def _compiled(function: Any, args: list[Any], given: dict[str, Any]) -> Any:
    """Compile as JITFunction.run does, for a GPU that need not be there."""
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
        case {"descriptor": dict(base), **facts}:
            return TensorDescriptor(_restored(base, folder), **facts)
        case {"function": wanted}:
            return _found(wanted, folder)
    raise ValueError(f"Not an argument: {str(described)[:80]}")


# --- judged ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def recorded(launches: list[Row]) -> Iterator[None]:
    """Append each launch in this context to the list, as far as it determines what is compiled; it runs all the same.

    Equal launches are appended once. Those that this process cannot describe are left out."""
    from triton.runtime.interpreter import InterpretedFunction

    from passnet_core.judge.worker import launching

    run = InterpretedFunction.run
    seen: set[str] = set()

    def noted(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        with contextlib.suppress(OpaqueArgument):
            row = _typed(self, args, kwargs) | {"tuned": bool(launching.tuned)}
            if (text := json.dumps(row, sort_keys=True)) not in seen:
                seen.add(text)
                launches.append(row)
        return run(self, *args, grid=grid, warmup=warmup, **kwargs)

    InterpretedFunction.run = noted
    try:
        yield
    finally:
        InterpretedFunction.run = run


def _typed(kernel: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Row:
    """A launch with the types of its arguments instead of their values, except for those that are constants."""
    constants = {
        name for name, each in kernel.fn.__annotations__.items() if "constexpr" in str(getattr(each, "__name__", each))
    }
    options = {name for name in kwargs if name not in kernel.arg_names}

    def described(name: str, value: Any) -> Any:
        return _described(value if name in constants | options else _standing_for(value))

    return {
        **_function(kernel.fn),
        "args": [described(name, value) for name, value in zip(kernel.arg_names, args)],
        "kwargs": {name: described(name, value) for name, value in kwargs.items()},
    }


def _standing_for(value: Any) -> Any:
    """A number for which the same is compiled: Triton tells apart 1, multiples of 16, and integers of other widths."""
    if isinstance(value, tuple | list):
        return tuple(_standing_for(each) for each in value)
    if isinstance(value, float):
        return 1.5
    if isinstance(value, bool) or not isinstance(value, int) or value == 1:
        return value
    wide = 0 if -(1 << 31) <= value < 1 << 31 else 1 << 40 if value < 1 << 63 else 1 << 63
    return wide + (16 if value % 16 == 0 else 3)


def compile_problems(
    launches: Sequence[Row], folder: Path, kept: Path | None = None, *, seconds: float = 60.0
) -> list[str]:
    """What keeps recorded launches from compiling for compute capability 9.0, a sentence each; empty: all compile.

    folder: of the bundle's files. kept: a folder of earlier answers, which are used again for the same kernel source
    and all it names, the same argument types and the same Triton; whoever can write there decides what is answered.
    seconds: for compiling all of them. What cannot be described, found or compiled in that time is no problem.
    Compiling runs in a program of its own, which imports the bundle: call it only where candidate code may run."""
    asked = {_digest(each, folder): each for each in launches[:MOST_JUDGED]}
    known = {digest: said for digest in asked if kept is not None and (said := _kept(kept, digest)) is not None}
    missing = {digest: each for digest, each in asked.items() if digest not in known}
    for digest, row in zip(missing, _compiled_by_program(list(missing.values()), folder, seconds)):
        known[digest] = str(row.get("refusal", ""))
        # an answer that says nothing may say more the next time
        if kept is not None and ("problem" not in row or "refusal" in row):
            kept.mkdir(parents=True, exist_ok=True)
            (kept / f"{digest}.json").write_text(json.dumps({"refusal": known[digest]}))
    return list(dict.fromkeys(known[digest] for digest in asked if known[digest]))


def _digest(launch: Row, folder: Path) -> str:
    """Of everything that decides whether a launch compiles, and of the place that the answer names."""
    kernel = source_of(launch["name"], folder / launch["file"])
    parts = [kernel, json.dumps(launch, sort_keys=True), importlib.metadata.version("triton"), str(CAPABILITY)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _kept(kept: Path, digest: str) -> str | None:
    try:
        found = json.loads((kept / f"{digest}.json").read_text())
    except (OSError, ValueError):
        return None
    return str(found["refusal"]) if isinstance(found, dict) and "refusal" in found else None


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
            # what another worker of this bundle had compiled names that worker's folder
            text = BUNDLE_FOLDER.sub("", text)
            most = min(left, PROBLEM_CHARACTERS if kind == "problem" else TEXT_CHARACTERS)
            more = f"\n… {len(text) - most} more characters are left out" if len(text) > most else ""
            kept[kind] = text[:most] + more
            left -= min(len(text), most)
        shortened.append(kept)
    return shortened
