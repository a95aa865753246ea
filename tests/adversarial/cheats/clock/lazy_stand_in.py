# Tries: returns no tensor but an object that says its class is torch.Tensor and computes at the first attribute.
# Family: clock
# Needs: cpu
# Verdict: wrong type | cheat
# Subgraph: add-relu

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


class StandIn:
    def __init__(self, a, b):
        self.owed = (a, b)

    @property
    def __class__(self):
        return torch.Tensor

    def __getattr__(self, name):
        a, b = self.owed
        out = torch.empty_like(a)
        by_rows(a, b, out)
        self.out = out
        return getattr(out, name)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        real = [each.contiguous() if type(each) is StandIn else each for each in args]
        return func(*real, **(kwargs or {}))


@torch.fx.wrap
def add_relu(a, b):
    return StandIn(a, b)


def replacement_func():
    return add_relu
