# Tries: as soon as the calls cease, a thread launches one kernel that takes a tenth of a second on a single
#   multiprocessor: its process may be stopped then, the device goes on and gives half of its time to that.
# Family: harness
# Needs: gpu
# Verdict: cheat | rejected by a rule | right, slower | right, no measurable difference | right, inconclusive
# Subgraph: add-relu-large

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
def narrow_kernel(x_ptr, y_ptr, z_ptr, columns, WIDTH: tl.constexpr):
    # slower than eager, unless that is held up
    first = tl.program_id(0).to(tl.int64) * columns
    for start in range(0, columns, WIDTH):
        column = start + tl.arange(0, WIDTH)
        there = column < columns
        total = tl.load(x_ptr + first + column, mask=there) + tl.load(y_ptr + first + column, mask=there)
        tl.store(z_ptr + first + column, tl.maximum(total, 0.0), mask=there)


@triton.jit
def long_kernel(sink, turns):
    value = 1.0
    for turn in range(turns):
        value = value * 0.999 + turn
    tl.store(sink, value)


called = [0.0]
long_ago = [0.0]


def occupy(sink):
    while True:
        time.sleep(0.0003)
        if called[0] > long_ago[0] and time.perf_counter() - called[0] > 0.001:
            long_ago[0] = called[0]
            long_kernel[(1,)](sink, 20_000_000)


@torch.fx.wrap
def add_relu(a, b):
    if not called[0]:
        sink = torch.empty((1,), dtype=torch.float32, device=a.device)
        logging.threading.Thread(target=occupy, args=(sink,), daemon=True).start()
    out = torch.empty_like(a)
    columns = out.shape[-1]
    narrow_kernel[(out.numel() // columns,)](a, b, out, columns, WIDTH=64, num_warps=1)
    called[0] = time.perf_counter()
    return out


def replacement_func():
    return add_relu
