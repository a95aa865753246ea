# Tries: keeps the compiled kernel and launches it with the raw handle of a stream never joined, after a spin that
#   outlasts the call.
# Family: clock
# Needs: gpu
# Verdict: cheat | wrong values | wrong NaN or infinity | rejected by a rule
# Planned: crashed
# Subgraph: add-relu-large

import torch
import triton
import triton.language as tl
from triton.runtime import driver


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


KEPT = {}


@triton.jit
def wait_kernel(sink, turns):
    value = 0.0
    for turn in range(turns):
        value = value * 0.5 + turn
    tl.store(sink, value)


@torch.fx.wrap
def add_relu(a, b):
    device = driver.active.get_device_interface()
    out = torch.zeros(a.shape, dtype=a.dtype, device=a.device)
    columns = a.shape[-1]
    grid = (a.numel() // columns, 1, 1)
    if "side" not in KEPT:
        KEPT["side"] = device.Stream()
        KEPT["sink"] = torch.zeros((1,), dtype=torch.float32, device=a.device)
        KEPT["wait"] = wait_kernel[(1,)](KEPT["sink"], 200)
        KEPT["rows"] = row_kernel[grid](a, b, out, columns, WIDTH=128)
        return out
    handle = KEPT["side"].cuda_stream
    KEPT["wait"][(1, 1, 1)](KEPT["sink"], 20000, stream=handle)
    KEPT["rows"][grid](a, b, out, columns, 128, stream=handle)
    return out


def replacement_func():
    return add_relu
