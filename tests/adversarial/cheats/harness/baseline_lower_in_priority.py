# Tries: raises its own priority, asks for all cores, and lowers whatever else it may. Other contenders are out of
#   its reach, so it is judged by what it computes.
# Family: harness
# Needs: cpu
# Verdict: rejected by a rule | right, not timed | right, slower | right, no measurable difference | right, faster
#   | right, inconclusive
# Subgraph: add-relu

import os

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def striding_kernel(p, q, r, total, programs, STEP: tl.constexpr):
    first = tl.program_id(0) * STEP
    for base in range(first, total, programs * STEP):
        at = base + tl.arange(0, STEP)
        ok = at < total
        value = tl.load(p + at, mask=ok) + tl.load(q + at, mask=ok)
        tl.store(r + at, tl.maximum(value, 0.0, propagate_nan=tl.PropagateNan.ALL), mask=ok)


def attempt(action, *values):
    try:
        action(*values)
    except OSError:
        pass


attempt(os.setpriority, os.PRIO_PROCESS, 0, -20)
attempt(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(99))
attempt(os.sched_setaffinity, 0, range(os.cpu_count() or 1))
for process in (name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()):
    attempt(os.sched_setaffinity, int(process), {0})
    attempt(os.setpriority, os.PRIO_PROCESS, int(process), 19)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    striding_kernel[(8,)](a, b, out, out.numel(), 8, STEP=512)
    return out


def replacement_func():
    return add_relu
