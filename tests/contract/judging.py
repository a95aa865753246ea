"""Shared by the tests of the judge: a small subgraph, passes for it, and jobs."""

import functools
import threading
from dataclasses import dataclass, field
from pathlib import Path

from passnet_core.execution.backends.base import Backend, JobEvent
from passnet_core.records import (
    Bundle,
    Device,
    EvalSpec,
    Job,
    Outcome,
    PassFile,
    Profile,
    Stage,
    Subgraph,
    TensorSpec,
)
from tests.waiting import seconds

ADD_RELU = """
import torch
from torch import device

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1;  in_0 = in_1 = None
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False);  tmp_0 = None
        return (tmp_1,)
"""

PATTERN = """
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)

"""

KERNEL = """
@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    total = tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, RESULT, mask=mask)


@torch.fx.wrap
def add_relu(a, b):
    HOSTILE
    out = torch.empty_like(a)
    count = a.numel()
    add_relu_kernel[(triton.cdiv(count, 256),)](a, b, out, count, BLOCK=256)
    return out


def replacement_func():
    return add_relu
"""

RIGHT = PATTERN + KERNEL.replace("RESULT", "tl.where(total > 0, total, 0.0)").replace("HOSTILE", "pass")
WRONG = PATTERN + KERNEL.replace("RESULT", "total").replace("HOSTILE", "pass")


def hostile_at_import(statement: str) -> str:
    """The right pass with a statement that runs at import."""
    return f"import ctypes, os, signal, sys, time\n{statement}\n{RIGHT}"


def hostile_in_call(statement: str) -> str:
    """The right pass with a statement that runs in each call of its replacement."""
    right = KERNEL.replace("RESULT", "tl.where(total > 0, total, 0.0)")
    return f"import ctypes, os, signal, sys, time\n{PATTERN}{right.replace('HOSTILE', statement)}"


def subgraph(shape: tuple[int, ...] = (4, 33), dtype: str = "float32", code: str = ADD_RELU) -> Subgraph:
    inputs = tuple(TensorSpec(name, shape, dtype, mean=0.1, std=1.0) for name in ("in_0", "in_1"))
    return Subgraph(id=f"{dtype}/0/add-relu", task_id="add-relu", source_model="none", code=code, inputs=inputs)


def bundle(*codes: str, helpers: tuple[PassFile, ...] = ()) -> Bundle:
    return Bundle(tuple(PassFile(f"pass_{index}.py", code) for index, code in enumerate(codes)), helpers)


@functools.cache
def ample_s() -> float:
    """The deadline in seconds of a job that is about something else. It is the same in all of them, as it is part of
    their digests."""
    return seconds(240)


def job(
    code: str | Bundle,
    stage: Stage = Stage.VERIFY,
    *,
    deadline_s: float | None = None,
    device: Device = Device.CPU,
    profile: Profile = Profile.STRICT,
) -> Job:
    asked = code if isinstance(code, Bundle) else bundle(code)
    spec = EvalSpec(stage=stage, device=device, profile=profile, deadline_s=deadline_s or ample_s(), seed=1)
    return Job(subgraph(), asked, spec)


def hostile_job(code: str, stage: Stage = Stage.VERIFY, *, deadline_s: float | None = None) -> Job:
    """A job under PassNet's rules, which let hostile imports through, so that only the processes can stop them."""
    return job(code, stage, deadline_s=deadline_s, profile=Profile.PASSNET)


@dataclass
class Listener:
    """Remembers the events of a job. reached: is set once the job is in the phase that is awaited."""

    events: list[JobEvent] = field(default_factory=list)
    awaited: str = ""
    reached: threading.Event = field(default_factory=threading.Event)

    def __call__(self, event: JobEvent) -> None:
        self.events.append(event)
        if event.phase == self.awaited:
            self.reached.set()

    @property
    def stages(self) -> list[str]:
        return list(dict.fromkeys(event.phase for event in self.events))


def judged(backend: Backend, asked: Job) -> Outcome:
    """Judge a job without listening to its events or cancelling it."""
    return backend.run(asked, lambda event: None, threading.Event())


def said(pid: int, name: str) -> bytes:
    """What /proc says of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
