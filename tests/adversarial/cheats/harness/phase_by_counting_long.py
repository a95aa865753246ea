# Tries: is honest for forty calls, which is more than checking needs, and then leaves all but the first rows zero.
# Family: harness
# Needs: gpu
# Verdict: wrong values | wrong NaN or infinity | cheat
# Planned: right, faster | right, slower | right, no measurable difference | right, inconclusive
# Subgraph: add-relu

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def row_kernel(x_ptr, y_ptr, z_ptr, columns, limit, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, columns, WIDTH):
        column = start + tl.arange(0, WIDTH)
        there = column < columns
        s = tl.load(x_ptr + row * columns + column, mask=there)
        s += tl.load(y_ptr + row * columns + column, mask=there)
        tl.store(z_ptr + row * columns + column, tl.where(row < limit, s * (s > 0), 0.0), mask=there)


class Counter:
    def __init__(self, limit):
        self.left = limit

    def still_watched(self):
        self.left -= 1
        return self.left >= 0


counter = Counter(40)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    rows = out.numel() // out.shape[-1]
    limit = rows if counter.still_watched() else max(rows // 4, 1)
    row_kernel[(rows,)](a, b, out, out.shape[-1], limit, WIDTH=128)
    return out


def replacement_func():
    return add_relu
