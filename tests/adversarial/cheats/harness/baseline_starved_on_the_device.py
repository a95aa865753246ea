# Tries: a thread fills the device with long kernels whenever the pass has not been called for a while. Harmless,
#   and so right, where the judge stops it while others are timed.
# Family: harness
# Needs: gpu
# Verdict: cheat | rejected by a rule | right, not timed | right, slower | right, no measurable difference |
#   right, inconclusive
# Planned: right, faster | right, slower | right, no measurable difference | right, inconclusive
# Subgraph: add-relu

import logging
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


moment = {"last": 0.0}


@triton.jit
def spin_kernel(sink, turns):
    value = 1.0
    for turn in range(turns):
        value = value * 0.999 + turn
    tl.store(sink + tl.program_id(0), value)


def occupy(sink):
    while True:
        time.sleep(0.002)
        if moment["last"] and time.perf_counter() - moment["last"] > 0.004:
            spin_kernel[(2048,)](sink, 20000)


@torch.fx.wrap
def add_relu(a, b):
    if not moment["last"]:
        sink = torch.zeros((2048,), dtype=torch.float32, device=a.device)
        logging.threading.Thread(target=occupy, args=(sink,), daemon=True).start()
    out = torch.empty_like(a)
    by_rows(a, b, out)
    moment["last"] = time.perf_counter()
    return out


def replacement_func():
    return add_relu
