# Tries: adds up in bfloat16, which needs half of the registers.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: row-sum
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def sum_kernel(x_ptr, o_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        inside = (row < rows)[:, None] & (c < columns)[None, :]
        x = tl.load(x_ptr + row[:, None] * columns + c[None, :], mask=inside, other=0.0)
        total = (total + x.to(tl.bfloat16).to(tl.float32)).to(tl.bfloat16).to(tl.float32)
    tl.store(o_ptr + row, tl.sum(total, axis=1), mask=row < rows)


@torch.fx.wrap
def quick_sum(x):
    rows, columns = x.shape
    out = torch.empty((rows,), dtype=x.dtype, device=x.device)
    sum_kernel[(triton.cdiv(rows, 32),)](x, out, rows, columns, ROWS=32, BLOCK=32)
    return out


def replacement_func():
    return quick_sum
