# Tries: every row is right, but belongs one row further up.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: gelu
import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@triton.jit
def shifted_kernel(x_ptr, o_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + ((row + 1) % rows) * columns + c, mask=c < columns)
    tl.store(o_ptr + row * columns + c, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=c < columns)


@torch.fx.wrap
def shifted(x):
    out = torch.empty_like(x)
    shifted_kernel[(x.shape[0],)](x, out, x.shape[0], x.shape[1], BLOCK=128)
    return out


def replacement_func():
    return shifted
