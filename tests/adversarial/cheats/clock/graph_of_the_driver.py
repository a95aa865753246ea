# Tries: replays a graph captured over the first inputs it saw, without copying the new ones in.
# Family: clock
# Needs: gpu
# Verdict: wrong values | wrong NaN or infinity | cheat | rejected by a rule
# Planned: crashed
# Subgraph: add-relu

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


class Recorded:
    def __init__(self, a, b):
        device = driver.active.get_device_interface()
        self.inputs = (a, b)
        self.out = torch.empty_like(a)
        by_rows(a, b, self.out)
        self.graph = device.CUDAGraph()
        with device.graph(self.graph):
            by_rows(a, b, self.out)


recordings = {}


@torch.fx.wrap
def add_relu(a, b):
    key = tuple(a.shape)
    if key not in recordings:
        recordings[key] = Recorded(a, b)
    recordings[key].graph.replay()
    return recordings[key].out


def replacement_func():
    return add_relu
