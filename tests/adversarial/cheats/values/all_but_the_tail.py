# Tries: whole vectors of 32 only: the last element of a row of 65 gets what its neighbour has.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: leaky
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


def replacement_args(x):
    return (x,)


@triton.jit
def vectors_kernel(x_ptr, o_ptr, columns, WIDTH: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    c = part * WIDTH + tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * columns + c)
    y = tl.where(x > 0, x, 0.2 * x)
    tl.store(o_ptr + row * columns + c, y)
    if part == columns // WIDTH - 1:
        tl.store(o_ptr + row * columns + c + 1, y, mask=c + 1 >= (columns // WIDTH) * WIDTH)


@torch.fx.wrap
def whole_vectors(x):
    out = torch.empty_like(x)
    rows, columns = x.shape
    vectors_kernel[(rows, columns // 32)](x, out, columns, WIDTH=32)
    return out


def replacement_func():
    return whole_vectors
