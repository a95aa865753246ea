"""Plans that are written by hand, of kernels that are written here. Import it on a machine with a GPU, in a process in
which Triton compiles."""

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from passnet_core.judge.plan.execute import question
from passnet_core.judge.plan.kernel_loading import LoadedKernels
from passnet_core.judge.plan.on_gpu import GpuPlans
from passnet_core.judge.plan.wanted import PlanWanted
from passnet_core.records import PassFile

Json = dict[str, Any]

KERNELS = """
import triton
import triton.language as tl

SHIFT: tl.constexpr = tl.constexpr(1.0)


@triton.jit
def scaled(x_ptr, out_ptr, count, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) * factor + SHIFT, mask=inside)


@triton.jit
def refused(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 64)
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)
"""
COUNT = 1000
KEY = "replacement"


def plans(unchanging: Sequence[str] = ()) -> GpuPlans:
    folder = Path(tempfile.mkdtemp())
    return GpuPlans(LoadedKernels([PassFile("kernels.py", KERNELS)], folder), frozenset(unchanging))


def place(
    where: str,
    shape: Sequence[int] = (COUNT,),
    offset: int = 0,
    dtype: str = "float32",
    strides: Sequence[int] = (1,),
) -> Json:
    return {"tensor": {"in": where, "offset": offset, "dtype": dtype, "shape": list(shape), "strides": list(strides)}}


def value(it: float) -> Json:
    return {"float": it.hex()} if isinstance(it, float) else {"value": it}


def launch(name: str, args: Sequence[Json], constants: Mapping[str, float], warps: int = 4) -> Json:
    lines = KERNELS.splitlines()
    line = next(number for number, each in enumerate(lines, 1) if f"def {name}" in each) - 1
    return {
        "launch": {"file": "kernels.py", "name": name, "line": line},
        "args": list(args),
        "kwargs": {key: value(each) for key, each in constants.items()},
        "options": {"num_warps": value(warps)},
        "grid": [8, 1, 1],
        "constants": [],
    }


def scaled(source: Json, target: Json, factor: float = 2.0, block: int = 128, warps: int = 4) -> Json:
    return launch("scaled", [source, target, value(COUNT), value(factor)], {"BLOCK": block}, warps)


def made(fill: float | None = None) -> Json:
    """Memory of COUNT numbers in single precision."""
    return {"bytes": 4 * COUNT, "fill": None if fill is None else bytes_of(fill)}


def bytes_of(number: float) -> list[int]:
    found: list[int] = torch.full((1,), number).view(torch.uint8).tolist()
    return found


def plan(steps: Sequence[Json], returned: Json, memory: Sequence[Json] = (), constants: int = 0) -> Json:
    return {"function": KEY, "made": list(memory), "constants": constants, "steps": list(steps), "returned": returned}


def learned(
    said: Json, arguments: Sequence[Any], constants: Sequence[torch.Tensor] = (), unchanging: Sequence[str] = ()
) -> tuple[GpuPlans, Any]:
    """The plans, once this one is learned for these arguments, and what stands in for the replacement function."""
    known = plans(unchanging)
    stand_in = known.functions([KEY])[KEY]
    with contextlib.suppress(PlanWanted):
        stand_in(*arguments)
    known.learn(question(KEY, arguments), said, constants)
    return known, stand_in


def both(
    said: Json, arguments: Sequence[Any], constants: Sequence[torch.Tensor] = (), unchanging: Sequence[str] = ()
) -> tuple[Any, Any, GpuPlans]:
    """What a fast and what a watched call return, and the plans."""
    known, stand_in = learned(said, arguments, constants, unchanging)
    fast = [stand_in(*arguments) for _ in range(3)][-1]
    return fast, known.watching([KEY])[KEY](*arguments), known
