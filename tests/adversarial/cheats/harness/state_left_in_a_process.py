# Tries: forks a process that is to outlive the job and to answer for later candidates; computes honestly. It is
#   ended with the job.
# Family: harness
# Needs: cpu
# Verdict: rejected by a rule | right, not timed | right, slower | right, no measurable difference | right, faster
#   | right, inconclusive
# Subgraph: add-relu

import os
import time

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def row_kernel(x_ptr, y_ptr, z_ptr, columns, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, columns, WIDTH):
        column = start + tl.arange(0, WIDTH)
        there = column < columns
        s = tl.load(x_ptr + row * columns + column, mask=there)
        s += tl.load(y_ptr + row * columns + column, mask=there)
        tl.store(z_ptr + row * columns + column, s * (s > 0), mask=there)


def by_rows(x, y, z):
    columns = z.shape[-1]
    row_kernel[(z.numel() // columns,)](x, y, z, columns, WIDTH=128)


def of(module, *names):
    return [getattr(module, name) for name in names]


split, leave = of(os, "fork", "_exit")


def detach():
    if split():
        return
    os.setsid()
    if split():
        leave(0)
    for descriptor in range(3, 64):
        try:
            os.close(descriptor)
        except OSError:
            pass
    time.sleep(3600)
    leave(0)


detach()


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    by_rows(a, b, out)
    return out


def replacement_func():
    return add_relu
